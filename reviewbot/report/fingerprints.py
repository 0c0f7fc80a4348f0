"""Fingerprints of findings: the same defect keeps its name from run to run while the file around it moves.

A fingerprint is made from the path, the enclosing symbol, the statement at the place and the category. Line numbers,
the message, the confidence, the rule and who says so have no part in it: they change while the defect stays, and a
program and a model that mean the same defect name the same category.

It survives lines inserted above or below, another indentation, other quotes and line breaks, brackets and commas that a
formatter adds. It does not survive a rename of the file, a change of the statement itself, or a formatter that puts two
statements of one row on two: then the defect is new. Where the statement is not known the finding's own lines take its
place, and a formatter that leaves the finding on another part of it renames it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.redact import redact

if TYPE_CHECKING:
    from reviewbot.domain.contracts import Finding, Review

SCHEME = "reviewbot/v1"
"""What this way to name findings is called. Another way needs another name, or old names would be compared with it."""

_HEX_DIGITS = 32
"""128 bits: two defects of one repository never share a name by chance."""

_DROPPED = str.maketrans({'"': "'", "`": "'", "(": None, ")": None, ";": None})
"""Quotes, and what formatters put around or behind an expression."""

_JOINED = re.compile(r"""["'][ \t\r]{1,200}["']""")
"""Between two texts that Python joins, which a formatter may write as one."""

SymbolOf = Callable[["Finding"], str]
"""The name of the function or class around a finding; empty where it is not known."""


class Place(NamedTuple):
    """Where a finding stands: the code there, and the line on which that begins."""

    code: str
    line: int


PlaceOf = Callable[["Finding"], Place]
"""The statement around a finding, or its own lines where that is not known."""


def known_place(finding: Finding) -> Place:
    """What the finding itself knows of it: the lines that it covers."""
    return Place(finding.evidence, finding.line)


def known_symbol(finding: Finding) -> str:
    """What the finding itself knows of it."""
    return finding.symbol


def of_review(
    review: Review, symbol_of: SymbolOf = known_symbol, place_of: PlaceOf = known_place
) -> dict[Finding, str]:
    """The fingerprint of each finding that a review has anywhere.

    Those that are not shown are counted as well: whether one crosses the threshold does not rename the next one.
    """
    return fingerprints(all_of(review), symbol_of, place_of)


def fingerprints(
    findings: Iterable[Finding], symbol_of: SymbolOf = known_symbol, place_of: PlaceOf = known_place
) -> dict[Finding, str]:
    """The fingerprint of each finding. Equal code at several places of a symbol is distinguished by its order there."""
    alike: dict[_Key, list[tuple[int, Finding]]] = defaultdict(list)
    for finding in dict.fromkeys(findings):
        place = place_of(finding)
        key = _Key(finding.path, symbol_of(finding), finding.category, normal(place.code))
        alike[key].append((place.line, finding))
    named: dict[Finding, str] = {}
    for key, group in alike.items():
        lines = {line: nth for nth, line in enumerate(sorted({line for line, _ in group}))}
        here: dict[int, int] = defaultdict(int)
        for line, finding in sorted(group, key=lambda each: _order(each[1])):
            named[finding] = digest(*key, lines[line], here[line])
            here[line] += 1
    return named


def digest(*parts: str | int) -> str:
    """A name for these parts: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps([SCHEME, *parts]).encode()).hexdigest()[:_HEX_DIGITS]


def normal(code: str) -> str:
    """Code without what a formatter may change, and with its secrets masked: a new password is no new defect."""
    rows = (row.rstrip().removesuffix("\\") for row in redact(code).split("\n"))
    text = "".join(_JOINED.sub("", " ".join(rows)).split())
    for closer in ")]}":
        text = text.replace(f",{closer}", closer)
    text = text.translate(_DROPPED).replace("\\'", "'").removesuffix(",")
    return redact(text)  # a name and its secret may have stood on two rows


class _Key(NamedTuple):
    path: str
    symbol: str
    category: str
    code: str


def _order(finding: Finding) -> tuple[str, str, int, int, int]:
    """Of one statement. Rows come last: a formatter may put on one row what stood on several."""
    return (finding.rule, finding.type, finding.cwe or 0, finding.line, finding.end_line)


def all_of(review: Review) -> Iterator[Finding]:
    """Each finding that a review has anywhere; one may come twice."""
    yield from review.findings
    for conflict in review.conflicts:
        yield from conflict.findings
    yield from (item.finding for item in review.human if item.finding is not None)
    yield from (entry.finding for entry in review.withheld)
