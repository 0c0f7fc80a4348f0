"""Which categories of findings are plainly another worker's job, whoever writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reviewbot.contracts import Candidate

PLAINLY: Mapping[str, frozenset[str]] = {
    "security": frozenset({
        "security", "code-injection", "command-injection", "cookie", "cors", "csrf", "deserialization",
        "header-injection", "ldap-injection", "nosql-injection", "open-redirect", "path-traversal", "secret",
        "sql-injection", "ssrf", "template-injection", "tls", "weak-cryptography", "weak-random",
        "xpath-injection", "xss", "xxe",
    }),
    "logic": frozenset({
        "logic", "api-misuse", "edge-case", "null", "off-by-one", "stale-caller", "wrong-condition", "wrong-value",
    }),
    "performance": frozenset({
        "performance", "allocation", "blocking-call", "file-in-loop", "frame-rows", "invariant-in-loop",
        "process-in-loop", "quadratic", "query-in-loop", "request-in-loop", "sequential-await",
    }),
    "style": frozenset({"style", "convention", "formatting", "indentation", "naming", "repository-rule", "typo"}),
}  # fmt: skip
"""By task type. What two workers may fairly report, such as a race, a leak or a missing check, is in none of them."""

_OWNERS = {category: owner for owner, categories in PLAINLY.items() for category in categories}


class Sorted(NamedTuple):
    """A worker's findings by whose job they are, each group in the order of the answer."""

    told: tuple[Candidate, ...]
    """Its own, and what matters of another's."""
    foreign: tuple[Candidate, ...]
    """All that is plainly another's, told or not."""


def sorted_by_scope(task_type: str, candidates: Iterable[Candidate]) -> Sorted:
    """Part a worker's findings by whose job they are. A type that is none of ours may report anything."""
    found = tuple(candidates)
    if task_type not in PLAINLY:
        return Sorted(found, ())
    told = tuple(each for each in found if owner_of(each) in (task_type, None) or matters(each))
    return Sorted(told, tuple(each for each in found if owner_of(each) not in (task_type, None)))


def owner_of(candidate: Candidate) -> str | None:
    """The one worker whose job this plainly is; None where several could report it."""
    return _OWNERS.get(candidate.category.lower())


def matters(foreign: Candidate) -> bool:
    """Whether another's finding is told all the same: the verifier judges it, and it may be all that anybody saw."""
    # No taste, and no remark, of somebody who was not asked for it.
    return foreign.severity != "info" and owner_of(foreign) != "style"
