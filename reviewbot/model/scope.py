"""Which categories of findings are plainly another worker's job, whoever writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.contracts import SEVERITY_ORDER, Candidate

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
    """A worker's findings by whose job they are."""

    own: tuple[Candidate, ...]
    foreign: tuple[Candidate, ...]


def sorted_by_scope(task_type: str, candidates: Iterable[Candidate]) -> Sorted:
    """Part what is plainly another's from the rest. A type that is none of ours may report anything."""
    found = list(candidates)
    if task_type not in PLAINLY:
        return Sorted(tuple(found), ())
    own = tuple(each for each in found if owner_of(each) in (task_type, None))
    return Sorted(own, tuple(each for each in found if owner_of(each) not in (task_type, None)))


def owner_of(candidate: Candidate) -> str | None:
    """The one worker whose job this plainly is; None where several could report it."""
    return _OWNERS.get(candidate.category.lower())


def worth_moving(foreign: Sequence[Candidate]) -> Candidate | None:
    """The worst of what is another's; None where nothing of it is worth another look."""
    # What matters little to one who should not judge it is not worth a task of the other.
    grave = [each for each in foreign if each.severity != "info"]
    return min(grave, key=lambda each: (SEVERITY_ORDER[each.severity], -each.confidence), default=None)
