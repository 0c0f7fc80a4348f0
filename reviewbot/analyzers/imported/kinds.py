"""Map a result of another program to a worker, and to the category that our own tools use for the same defect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.imported.results import Result
from reviewbot.tables import packaged_table

WORKERS = ("security", "performance", "style", "logic")

_FAMILY = {"ruff": "", "flake8": "", "pylint": "PL"}
"""Programs whose codes are ruff's, with what ruff puts before them. Bandit's differ in their letter."""

_TABLE = packaged_table("imported_kinds")
_CODES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (worker, re.compile(codes)) for worker, codes in _TABLE["codes"].items()
)
"""Ruff's families by worker; of several that fit the last one counts, and where none fits it is logic."""

_SECRETS = frozenset(_TABLE["secrets"])
_SECURITY = _SECRETS.union(_TABLE["security"])
"""Programs that look for nothing else, by the first word of their name."""

_TAGS: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (worker, frozenset(words)) for worker, words in _TABLE["tags"].items()
)

_HARDCODED = 798
_ALIKE: Mapping[int, int] = {int(cwe): ours for cwe, ours in _TABLE["alike"].items()}
"""Weaknesses that programs name where our rules name their neighbour."""

_SAID = {327: "weak-cryptography"}
"""Where our rules have several words for a weakness, the one that says least about the place."""

_NO_SLUG = re.compile(r"[^A-Za-z0-9_.:/@-]")
_SLUG_CHARS = 80


class ResultKind(NamedTuple):
    """Where a result belongs."""

    worker: str
    category: str
    cwe: int | None


def slug(text: str) -> str:
    """Turn a text into a name that contracts accept: never empty, of a small set of characters, and not long."""
    return _NO_SLUG.sub("-", text[: 2 * _SLUG_CHARS].strip()).strip("-")[:_SLUG_CHARS] or "unnamed"


def categories(rules: Mapping[str, Rule]) -> dict[int, str]:
    """The category of our security rules for each CWE; of several, the one that most rules have."""
    named: dict[int, Counter[str]] = {}
    for rule in rules.values():
        if rule.tool == "ruff-security" and rule.cwe is not None:
            named.setdefault(rule.cwe, Counter())[rule.category] += 1
    return {cwe: max(sorted(words), key=words.__getitem__) for cwe, words in named.items()}


class Kinds:
    """Maps results of other programs to workers, categories and rules."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules` are ours for ruff, by code: what they know, they decide."""
        self._rules = rules
        self._by_cwe = categories(rules) | _SAID

    def of(self, tool: str, result: Result) -> ResultKind:
        """The kind of one result of the program of that name."""
        program = (tool.lower().split() or [""])[0]
        code = _code(program, result.rule)
        ours = self._rules.get(code)
        if ours is not None:
            return ResultKind(ours.tool.removeprefix("ruff-"), ours.category, ours.cwe)
        worker = self._worker(program, code, result)
        cwe = _HARDCODED if program in _SECRETS and result.cwe is None else result.cwe
        category = self._category(cwe) if worker == "security" else None
        return ResultKind(worker, category or slug(result.rule.rpartition("/")[2]), cwe)

    def rule(self, tool: str, result: Result) -> str:
        """The name of the rule: ruff's code where the tables have it, else a slug of the result's rule."""
        code = _code((tool.lower().split() or [""])[0], result.rule)
        if code in self._rules:
            return code
        return slug(result.rule) if result.rule else ""

    def _worker(self, program: str, code: str, result: Result) -> str:
        if result.score > 0 or "security" in result.tags:
            return "security"
        if program in _FAMILY:
            return next((worker for worker, family in reversed(_CODES) if family.match(code)), "logic")
        by_tags = next((worker for worker, words in _TAGS if words & result.tags), None)
        if by_tags is not None:
            return by_tags
        return "security" if program in _SECURITY or self._category(result.cwe) else "logic"

    def _category(self, cwe: int | None) -> str | None:
        if cwe is None:
            return None
        return self._by_cwe.get(cwe) or self._by_cwe.get(_ALIKE.get(cwe, 0))


def _code(program: str, rule: str) -> str:
    """A rule by ruff's code for it; bandit counts as ruff does, with another letter."""
    if program == "bandit":
        return "S" + rule.removeprefix("B")
    return _FAMILY[program] + rule if program in _FAMILY else ""
