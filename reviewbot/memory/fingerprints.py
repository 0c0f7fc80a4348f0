"""Fingerprints of findings: the same defect keeps its name from run to run while the file around it moves.

A fingerprint is made from the path, the enclosing symbol, the statement at the place and the kind of mistake: its cause
from the closed list where a model named one, else the category of the rule. Line numbers, the message, the confidence,
the rule, the free words of a category and the sources have no part in it: they change while the defect stays.

It survives lines inserted above or below, another indentation, other quotes and line breaks, brackets and commas that a
formatter adds, and a function that moves within its file. It does not survive a change of the statement itself, or a
formatter that puts two statements of one row on two: then the defect is new. Where the statement is not known the
finding's own lines take its place, and a formatter that leaves the finding on another part of it renames it. Renamed
files and code that moved to another file get another name; `reviewbot.memory.matching` follows them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from reviewbot.domain.contracts import Finding, Review
from reviewbot.redact.mask import redact
from reviewbot.review.verify.verifier import by_a_model_alone

SCHEME = "reviewbot/v2"
"""What this way to name findings is called. Another way needs another name, or old names would be compared with it."""

CODE_DIGITS = 16
"""Hexadecimal digits of a digest of code alone, which is only compared within one pull request."""

MAX_ROW_CODES, MIN_ROW_CHARS = 6, 8
"""Rows of a place that have a digest of their own, and the characters that such a row has at least."""

_HEX_DIGITS = 32
"""128 bits: two defects of one repository never share a name by chance."""

_DROPPED = str.maketrans({'"': "'", "`": "'", "(": None, ")": None, ";": None})
"""Quotes, and what formatters put around or behind an expression."""

_JOINED = re.compile(r"""["'][ \t\r]{1,200}["']""")
"""Between two texts that Python joins, which a formatter may write as one."""


class CodePlace(NamedTuple):
    """Where a finding stands: the code there, and the line on which that begins."""

    code: str
    line: int


PlaceOf = Callable[[Finding], CodePlace]
"""The statement around a finding, or its own lines where that is not known."""


def known_place(finding: Finding) -> CodePlace:
    """The place by the finding alone: the lines that it covers."""
    return CodePlace(finding.evidence, finding.line)


class Identity(NamedTuple):
    """A finding's name, and what the name is made of."""

    name: str
    """32 hexadecimal digits."""
    path: str
    symbol: str
    kind: str
    code: str
    """Digest of the normal form of the code at its place."""
    line: int
    rows: int
    """How many lines the code at its place has."""
    row_codes: tuple[str, ...] = ()
    """Digests of these lines, where they hold more than a bracket or a word."""


def of_review(review: Review, place_of: PlaceOf = known_place) -> dict[Finding, str]:
    """The fingerprint of each finding that a review has anywhere.

    Those that are not shown are counted as well: whether one crosses the threshold does not rename the next one.
    """
    return {finding: each.name for finding, each in identities(all_of(review), place_of).items()}


def identities(findings: Iterable[Finding], place_of: PlaceOf = known_place) -> dict[Finding, Identity]:
    """The identity of each finding. Equal code at several places of a symbol is distinguished by its order there."""
    found = list(dict.fromkeys(findings))
    places = {each: place_of(each) for each in found}
    codes = {each: normal(place.code) for each, place in places.items()}
    names = _name_findings({each: (each.path, each.symbol, kind_of(each), codes[each]) for each in found}, places)
    return {
        each: Identity(
            name,
            each.path,
            each.symbol,
            kind_of(each),
            code_digest(codes[each]),
            places[each].line,
            places[each].code.count("\n") + 1,
            _row_codes(places[each].code),
        )
        for each, name in names.items()
    }


def _row_codes(code: str) -> tuple[str, ...]:
    """Digests of the rows that are more than a bracket or a word, of a few."""
    rows = [normal(row) for row in code.split("\n")[:MAX_ROW_CODES]]
    return tuple(code_digest(row) for row in rows if len(row) >= MIN_ROW_CHARS)


def kind_of(finding: Finding) -> str:
    """The kind of mistake: a model's cause, from a closed list, before its free words; a program's category."""
    if finding.cause not in (None, "other") and by_a_model_alone(finding):
        return finding.cause
    return finding.category


def code_digest(code: str) -> str:
    """The digest of code in its normal form."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:CODE_DIGITS]


def digest(*parts: str | int) -> str:
    """A name for these parts: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps([SCHEME, *parts]).encode()).hexdigest()[:_HEX_DIGITS]


def _name_findings(keys: Mapping[Finding, _Key], places: Mapping[Finding, CodePlace]) -> dict[Finding, str]:
    """Name findings by their keys; those with equal keys also by the order of their places, and at one place."""
    alike: dict[_Key, list[tuple[int, Finding]]] = defaultdict(list)
    for finding, key in keys.items():
        alike[key].append((places[finding].line, finding))
    named: dict[Finding, str] = {}
    for key, group in alike.items():
        lines = {line: nth for nth, line in enumerate(sorted({line for line, _ in group}))}
        here: dict[int, int] = defaultdict(int)
        for line, finding in sorted(group, key=lambda each: _order(each[1])):
            named[finding] = digest(*key, lines[line], here[line])
            here[line] += 1
    return named


def normal(code: str) -> str:
    """Code without what a formatter may change, and with its secrets masked: a new password is no new defect."""
    rows = (row.rstrip().removesuffix("\\") for row in redact(code).split("\n"))
    text = "".join(_JOINED.sub("", " ".join(rows)).split())
    for closer in ")]}":
        text = text.replace(f",{closer}", closer)
    text = text.translate(_DROPPED).replace("\\'", "'").removesuffix(",")
    return redact(text)  # a name and its secret may have stood on two rows


_Key = tuple[str, str, str, str]
"""Path, symbol, kind, and the code in its normal form."""


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
