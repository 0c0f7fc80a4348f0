"""What a finding is called from one run to the next: the same defect keeps its name while the file around it moves.

A fingerprint is made from the path, the enclosing symbol, the code at the place and the category. Line numbers, the
message, the confidence, the rule and who says so have no part in it: they change while the defect stays, and a program
and a model that mean the same defect name the same category.

It survives lines inserted above or below, another indentation, other quotes and line breaks, brackets and commas that a
formatter adds, as long as the finding covers the same code. It does not survive a rename of the file, a change
of the code itself, or a formatter that leaves the finding on another part of the statement: then the defect is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.redact import redact

if TYPE_CHECKING:
    from reviewbot.contracts import Finding, Review

SCHEME = "reviewbot/v1"
"""What this way to name findings is called. Another way needs another name, or old names would be compared with it."""

_HEX_DIGITS = 32
"""128 bits: two defects of one repository never share a name by chance."""

_DROPPED = str.maketrans({'"': "'", "`": "'", "(": None, ")": None, ";": None})
"""Quotes, and what formatters put around or behind an expression."""

SymbolOf = Callable[["Finding"], str]
"""The name of the function or class around a finding; empty where it is not known."""


def known_symbol(finding: Finding) -> str:
    """What the finding itself knows of it."""
    return finding.symbol


def of_review(review: Review, symbol_of: SymbolOf = known_symbol) -> dict[Finding, str]:
    """The fingerprint of each finding that a review has anywhere.

    Those that are not shown are counted as well: whether one crosses the threshold does not rename the next one.
    """
    return fingerprints(_all_of(review), symbol_of)


def fingerprints(findings: Iterable[Finding], symbol_of: SymbolOf = known_symbol) -> dict[Finding, str]:
    """The fingerprint of each finding. Equal code at several places of a symbol is told apart by its order there."""
    alike: dict[_Key, list[Finding]] = defaultdict(list)
    for finding in dict.fromkeys(findings):
        alike[_key(finding, symbol_of(finding))].append(finding)
    named: dict[Finding, str] = {}
    for key, group in alike.items():
        lines = {line: nth for nth, line in enumerate(sorted({finding.line for finding in group}))}
        here: dict[int, int] = defaultdict(int)
        for finding in sorted(group, key=_order):
            named[finding] = digest(*key, lines[finding.line], here[finding.line])
            here[finding.line] += 1
    return named


def digest(*parts: str | int) -> str:
    """A name for these parts: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps([SCHEME, *parts]).encode()).hexdigest()[:_HEX_DIGITS]


def normal(code: str) -> str:
    """Code without what a formatter may change, and with its secrets masked: a new password is no new defect."""
    rows = (row.rstrip().removesuffix("\\") for row in redact(code).split("\n"))
    text = "".join("".join(rows).split())
    for closer in ")]}":
        text = text.replace(f",{closer}", closer)
    return text.translate(_DROPPED)


class _Key(NamedTuple):
    path: str
    symbol: str
    category: str
    code: str


def _key(finding: Finding, symbol: str) -> _Key:
    return _Key(finding.path, symbol, finding.category, normal(finding.evidence))


def _order(finding: Finding) -> tuple[int, int, str, str, int]:
    """Of equal code on one line; nothing in it changes from run to run."""
    return (finding.line, finding.end_line, finding.rule, finding.type, finding.cwe or 0)


def _all_of(review: Review) -> Iterator[Finding]:
    yield from review.findings
    for conflict in review.conflicts:
        yield from conflict.findings
    yield from (item.finding for item in review.human if item.finding is not None)
    yield from (entry.finding for entry in review.withheld)
