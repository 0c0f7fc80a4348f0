"""The table of ruff's rules: which of them speak, for which tool, and how far each is trusted.

The table is data (`reviewbot/data/ruff_rules.toml`, with its date and source); what is not in it never speaks.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args

from reviewbot.contracts import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA = 1
_PERCENT = 100


@dataclass(frozen=True)
class Rule:
    """One rule of ruff as one tool reports it."""

    code: str
    tool: str
    severity: Severity
    category: str
    confidence: int
    cwe: int | None = None
    true: int | None = None
    """Reports that were right on annotated code; None where nothing was counted. `false` likewise."""
    false: int | None = None
    trigger: str = ""
    fragments: bool = True
    tests: bool = True
    words: tuple[str, ...] = ()
    words_confidence: int | None = None
    unless: tuple[str, ...] = ()
    once: bool = False
    call: bool = False

    def confidence_on(self, line: str) -> int:
        """How far a report on this line is trusted, 0-100."""
        lowered = line.lower()
        if self.words_confidence is not None and any(word in lowered for word in self.words):
            return self.words_confidence
        return self.confidence

    def speaks_on(self, line: str, *, in_tests: bool) -> bool:
        """Whether a report on this line is passed on at all."""
        return (self.tests or not in_tests) and not any(idiom in line for idiom in self.unless)


@dataclass(frozen=True)
class RuleTable:
    """All rules by code, and where they come from."""

    version: str
    """The version of the program that the table was written for."""
    date: str
    source: str
    rules: Mapping[str, Rule]

    def of_tool(self, tool: str) -> Mapping[str, Rule]:
        """The rules that one tool reports, by code."""
        return {code: rule for code, rule in self.rules.items() if rule.tool == tool}

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that the table speaks of, in alphabetical order."""
        return tuple(sorted({rule.tool for rule in self.rules.values()}))


def packaged_rules() -> RuleTable:
    """The table that comes with the package."""
    return read_rules((files("reviewbot") / "data" / "ruff_rules.toml").read_text("utf-8"))


def read_rules(text: str) -> RuleTable:
    """A table from TOML. Raises ValueError where it says something unknown or twice."""
    table = tomllib.loads(text)
    if table.get("schema") != _SCHEMA:
        raise ValueError(f"the rule table has schema {table.get('schema')!r}, not {_SCHEMA}")
    rules: dict[str, Rule] = {}
    for group in table["group"]:
        for rule in _rules_of(group):
            if rule.code in rules:
                raise ValueError(f"{rule.code} stands twice in the rule table")
            rules[rule.code] = rule
    return RuleTable(str(table["version"]), str(table["date"]), str(table["source"]), rules)


def _rules_of(group: dict[str, Any]) -> list[Rule]:
    known = {field.name for field in fields(Rule)} - {"code"} | {"codes"}
    if unknown := set(group) - known:
        raise ValueError(f"the rule table does not know {min(unknown)!r}")
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in group.items() if key != "codes"
    }
    rules = [Rule(code=code, **values) for code in group["codes"]]
    for rule in rules:
        if rule.severity not in get_args(Severity) or not 0 <= rule.confidence <= _PERCENT:
            raise ValueError(f"{rule.code} has no valid severity and confidence")
    return rules
