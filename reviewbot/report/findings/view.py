"""A finding as every report shows it: a title that names the defect, its impact, why, and what mends it.

Pure; nothing here is escaped yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.domain.contracts import Finding
from reviewbot.report.text import block, clip, one_line, short_line

TITLE_CHARS = 160
"""A longer title is a message: its first words stand in its place, and all of it below."""
_SENTENCE = re.compile(r"(?P<first>.{12,}?[^.\s])\. +(?=[A-Z`\"'(])")
"""The first sentence of a message, where another one follows."""
_PROSE_CHARS, _RULE_CHARS = 2_000, 80


class Detail(NamedTuple):
    """One thing that a finding says of itself beside its title."""

    label: str
    lead: str
    """The same in one short word, for narrow pages."""
    text: str


class Fix(NamedTuple):
    """What mends a finding: words, lines that take the place of its own, both, or neither."""

    words: str
    code: str
    """Whole lines; empty where there are none."""


def title_of(finding: Finding) -> str:
    """The defect in a few words, on one line without a full stop."""
    return _split(finding)[0]


def explanation_of(finding: Finding) -> str:
    """What the message says beyond the title; empty where that is all."""
    return _split(finding)[1]


def _split(finding: Finding) -> tuple[str, str]:
    message = short_line(finding.message, _PROSE_CHARS)
    if title := short_line(finding.title, TITLE_CHARS).rstrip("."):
        return title, "" if message.rstrip(".") == title else message
    first = _SENTENCE.match(message)
    if first is not None and len(first["first"]) <= TITLE_CHARS and first["first"].count("`") % 2 == 0:
        return first["first"], message[first.end() :]
    if len(message) <= TITLE_CHARS:
        return message.rstrip("."), ""
    return clip(message, TITLE_CHARS), message


def details_of(finding: Finding, *, backing: bool = True) -> Iterator[Detail]:
    """What a finding says of itself, in order, without empty ones; a doubt also without `backing`."""
    impact = Detail("Impact", "impact", finding.trigger)
    backed = (
        Detail("Why", "why", explanation_of(finding)),
        Detail("Seen as", "seen", finding.symptom),
        Detail("Violates", "rule", finding.contract),
        Detail("Verified", "proof", finding.judgement),
    )
    doubt = Detail("A model disputes it", "doubt", finding.disputed)
    details = (impact, *(backed if backing else ()), doubt)
    yield from (detail for detail in details if one_line(detail.text))


def fix_of(finding: Finding) -> Fix:
    """What mends a finding. A suggestion of one line is words, unless it repeats the replacement."""
    words, code = finding.suggestion, finding.replacement
    if code is not None and one_line(words) == one_line(code):
        words = ""
    if code is None and "\n" in block(words):
        words, code = "", words
    if code is not None and not code.strip():
        lines = f"lines {finding.line} to {finding.end_line}" if finding.end_line > finding.line else "this line"
        words = words if one_line(words) else f"Delete {lines}."
    return Fix(one_line(words), block(code or ""))


def mark_of(finding: Finding, doubt: str = "") -> tuple[str, str]:
    """Title and message of a mark at a line, as plain text: the code is right there, so that none is quoted."""
    rows = [f"{detail.label}: {short_line(detail.text, _PROSE_CHARS)}" for detail in details_of(finding)]
    rows += [f"Fix: {short_line(fix_of(finding).words, _PROSE_CHARS)}"] if fix_of(finding).words else []
    rule = short_line(finding.rule or finding.category, _RULE_CHARS)
    cwe = f", CWE-{finding.cwe}" if finding.cwe else ""
    rows.append(f"{rule}{cwe}, {finding.confidence}% sure")
    rows += [short_line(doubt, _PROSE_CHARS)] if doubt else []
    return title_of(finding) or rule, "\n".join(rows)
