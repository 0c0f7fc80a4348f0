"""Decide whether a finding is right, by its place alone.

A finding matches a golden in the same file whose lines are at most three apart from its own; a golden without a line
needs the same file and the same CWE. What a finding says is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reviewbot.evaluate.labels import Golden, Labels, Place, cwe_number
from reviewbot.evaluate.rows import Json

WINDOW = 3
"""Lines between a finding and a golden that still count as the same place: a call and its argument, for instance."""

MAX_SPAN = 30
"""Lines of a finding that count. One that points at half a file would match whatever is in it."""

Ruling = Literal["true", "false", "neutral"]


def judge(findings: Sequence[Json], labels: Labels) -> list[Ruling]:
    """One ruling for each finding of a case, in their order.

    Neutral is what the labels cannot say anything about: a finding of another CWE than the tested one, one that matches
    a disputed golden, and for each golden that has no place one finding in its file, the surest first.
    """
    rulings: list[Ruling] = ["neutral"] * len(findings)
    excuses = [golden for golden in labels.goldens if golden.counted and not golden.checkable]
    by_confidence = sorted(range(len(findings)), key=lambda n: -findings[n].get("confidence", 100))
    for n in by_confidence:
        finding = findings[n]
        if labels.tested_cwe in (None, cwe_number(finding.get("cwe"))):
            rulings[n] = _ruling(finding, labels.goldens, excuses)
    return rulings


def matches(finding: Json, golden: Golden) -> bool:
    """Whether a finding is at a place of a golden."""
    return any(_at(finding, place, golden.cwe) for place in golden.places)


def _ruling(finding: Json, goldens: Sequence[Golden], excuses: list[Golden]) -> Ruling:
    """The ruling on one finding; an excuse that it uses up is taken off the list."""
    hit = [golden.counted for golden in goldens if matches(finding, golden)]
    if hit:
        return "true" if any(hit) else "neutral"
    excuse = next((golden for golden in excuses if golden.file in (None, _file(finding))), None)
    if excuse is None:
        return "false"
    excuses.remove(excuse)
    return "neutral"


def _at(finding: Json, place: Place, cwe: int | None) -> bool:
    if place.file != _file(finding):
        return False
    if place.first is None or place.last is None:
        return cwe is not None and cwe_number(finding.get("cwe")) == cwe
    start = finding.get("line")
    if start is None:
        return False
    end = min(max(start, finding.get("end_line") or start), start + MAX_SPAN - 1)
    return bool(start <= place.last + WINDOW and place.first - WINDOW <= end)


def _file(finding: Json) -> str | None:
    file = finding.get("file")
    return str(file).removeprefix("./").lstrip("/") if file else None
