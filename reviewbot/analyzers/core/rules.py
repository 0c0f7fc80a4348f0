"""The tables of rules: which of them are reported, by which tool, and how far each is trusted.

The tables are data (`reviewbot/data/rules/*.toml`, one per program or family of checks); no other rule is reported.
How far a rule is trusted comes from its counts (`reviewbot.review.calibration`); without any, from its own estimate.
"""

from __future__ import annotations

import re
import tomllib
from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, get_args

from reviewbot.diff.vendored import is_packed
from reviewbot.domain.contracts import Severity
from reviewbot.review.calibration import Calibration, packaged_calibration
from reviewbot.tables import made_once, packaged_text

WORDS = ":named"
"""What the name of a rule ends with where a word on the line changes how far it is trusted."""

_NAME, _QUOTED = "{name}", re.compile(r"`([^`]+)`")
_NONE = Calibration()
_SCHEMA = 1
_PERCENT = 100


_WRITTEN_CHARS = 1_000
"""A longer line was written by a program, such as a bundler."""

WRITTEN_CAP = 70
"""The most that is trusted what rules of quality say of code that was copied or generated."""


@dataclass(frozen=True)
class Rule:
    """One rule as one tool reports it. The head of `data/rules/ruff_rules.toml` says what the fields mean."""

    code: str
    tool: str
    severity: Severity
    category: str
    confidence: int
    cwe: int | None = None
    message: str = ""
    """What to say in place of the program's own words; `{name}` stands for the last name that the program quotes."""
    trigger: str = ""
    fix: str = ""
    query: str = ""
    """Of a pattern: a query of tree-sitter, which captures the code at fault as @hit."""
    needs: tuple[str, ...] = ()
    """Words of which one stands in every text that the query matches."""
    languages: tuple[str, ...] = ()
    """Of the languages of its table those that it is for; empty: all of them."""
    fragments: bool = True
    tests: bool = True
    words: tuple[str, ...] = ()
    words_confidence: int | None = None
    unless: tuple[str, ...] = ()
    hunk_confidence: int | None = None
    """What takes the place of the confidence where only a hunk was read."""
    once: bool = False
    call: bool = False

    def is_named_on(self, line: str) -> bool:
        """Whether one of the rule's words stands on this line."""
        lowered = line.lower()
        return self.words_confidence is not None and any(word in lowered for word in self.words)

    def confidence_on(self, line: str, *, whole: bool = True) -> int:
        """How far a report on this line is trusted, 0-100; `whole` as `Source` has it."""
        named = self.words_confidence is not None and self.is_named_on(line)
        plain = self.confidence if whole or self.hunk_confidence is None else self.hunk_confidence
        return min(self._cap(line), (self.words_confidence or 0) if named else plain)

    def severity_on(self, line: str) -> Severity:
        """How much a report on this line matters: nothing is critical where the rule is trusted less for it."""
        return "warning" if self.severity == "critical" and self._cap(line) < _PERCENT else self.severity

    def _cap(self, line: str) -> int:
        """The most that a report is trusted; less in lines that a program wrote, which no one mends, but for holes."""
        written = len(line) > _WRITTEN_CHARS or is_packed(line)
        return WRITTEN_CAP if written and not self.tool.endswith("security") else _PERCENT

    def message_for(self, said: str) -> str:
        """The rule's message about what a program said; the program's own where that names nothing to put in."""
        names = _QUOTED.findall(said) if _NAME in self.message else [""]
        return self.message.replace(_NAME, names[-1]) if names and self.message else said

    def name_on(self, line: str) -> str:
        """What the rule is called in a report on this line."""
        return self.code + WORDS if self.is_named_on(line) else self.code

    def speaks_on(self, line: str, *, in_tests: bool) -> bool:
        """Whether the rule is reported on this line at all."""
        return (self.tests or not in_tests) and not any(idiom in line for idiom in self.unless)


_KNOWN = {field.name for field in fields(Rule)} - {"code"} | {"codes"}
"""What a group of the table may say."""


@dataclass(frozen=True)
class RuleTable:
    """All rules by code."""

    rules: Mapping[str, Rule]

    def of_tool(self, tool: str) -> Mapping[str, Rule]:
        """The rules that one tool reports, by code."""
        return {code: rule for code, rule in self.rules.items() if rule.tool == tool}


def packaged_rules(table: str, calibration: Calibration | None = None) -> RuleTable:
    """A table that comes with the package, by the name of its file; trusted as far as its calibration says."""
    return _trusted(_packaged(table), packaged_calibration() if calibration is None else calibration)


class LateRules(UserDict[str, Rule]):
    """The rules of a tool that has a packaged table to itself, read when one of them is first asked for.

    Most reviews ask for none of most tables: a check asks when it has found something.
    """

    def __init__(self, tool: str, calibration: Calibration | None = None) -> None:
        self._tool = tool
        self._calibration = calibration

    @cached_property
    def data(self) -> dict[str, Rule]:  # type: ignore[override]  # what is cached can be set
        """By their codes, in the order of the table."""
        return dict(packaged_rules(self._tool.replace("-", "_"), self._calibration).of_tool(self._tool))


@made_once
def _packaged(table: str) -> RuleTable:
    """A table as it was written. Read once: it never changes, and every run asks for it several times."""
    return read_rules(packaged_text(f"rules/{table}.toml"))


def read_rules(text: str, calibration: Calibration = _NONE) -> RuleTable:
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
    return _trusted(RuleTable(rules), calibration)


def _trusted(table: RuleTable, calibration: Calibration) -> RuleTable:
    return replace(table, rules={code: _calibrated(rule, calibration) for code, rule in table.rules.items()})


def _rules_of(group: dict[str, Any]) -> list[Rule]:
    if unknown := set(group) - _KNOWN:
        raise ValueError(f"the rule table does not know {min(unknown)!r}")
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in group.items() if key != "codes"
    }
    rules = [Rule(code=code, **values) for code in group["codes"]]
    for rule in rules:
        if rule.severity not in get_args(Severity) or not 0 <= rule.confidence <= _PERCENT:
            raise ValueError(f"{rule.code} has no valid severity and confidence")
    return rules


def _calibrated(rule: Rule, calibration: Calibration) -> Rule:
    """The rule with the confidence that its counts carry in place of its estimates."""
    plain = calibration.confidence(rule.tool, rule.code, rule.confidence)
    named = rule.words_confidence
    if named is not None:
        named = calibration.confidence(rule.tool, rule.code + WORDS, named)
    if (plain, named) == (rule.confidence, rule.words_confidence):
        return rule
    return replace(rule, confidence=plain, words_confidence=named)
