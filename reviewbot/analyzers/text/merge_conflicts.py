"""Report committed markers of a merge conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from reviewbot.analyzers.core.changed_lines import ChangedLine, new_side
from reviewbot.analyzers.core.reports import LineScan, quote_of
from reviewbot.diff.language import kind_of
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile

_BEGIN, _BASE, _MIDDLE, _END = "<", "|", "=", ">"
_MARKER: Final = re.compile(r"(?:([<|>])\1{6}(?: .*)?|(=)={6})\r?")
"""Exactly seven, at the start of the line; git writes a label after all of them but the middle one."""

_RULE = _CATEGORY = "merge-conflict"
RULES = {_RULE: _CATEGORY}
"""The category of each of its rules."""

_CONFIDENCE = 99
_PROSE_CONFIDENCE = 70
"""A text about merging shows such markers on purpose."""


class MergeConflicts(LineScan):
    """The tool `merge-conflicts`."""

    name = "merge-conflicts"

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        prose = kind_of(file.language) == "prose"
        for lines in new_side(file):
            for first, last in _conflicts(lines, prose=prose):
                yield _candidate(file.path, first, last, prose=prose)


def _conflicts(lines: Sequence[ChangedLine], *, prose: bool) -> Iterator[tuple[ChangedLine, ChangedLine]]:
    """The first and the last line of each conflict, where an added line is one of its markers.

    A row of equals signs alone underlines a heading, and a row of `>` in prose quotes a mail: each counts only with
    the beginning of a conflict, in code the row of equals signs also with the end of one.
    """
    marked = [(match[1] or match[2], line) for line in lines if (match := _MARKER.fullmatch(line.text))]
    kinds = {kind for kind, _ in marked}
    if _BEGIN not in kinds and (prose or _END not in kinds):
        return
    conflict: list[ChangedLine] = []
    for kind, line in marked:
        if kind == _BEGIN and conflict:
            yield from _report(conflict)
            conflict = []
        conflict.append(line)
        if kind == _END:
            yield from _report(conflict)
            conflict = []
    yield from _report(conflict)


def _report(conflict: Sequence[ChangedLine]) -> Iterator[tuple[ChangedLine, ChangedLine]]:
    added = [line for line in conflict if line.added]
    if added:
        yield added[0], conflict[-1]


def _candidate(path: str, first: ChangedLine, last: ChangedLine, *, prose: bool) -> Candidate:
    return Candidate(
        severity="warning" if prose else "critical",
        path=path,
        quote=quote_of(first.text),
        message="A merge conflict has been committed with its markers",
        confidence=_PROSE_CONFIDENCE if prose else _CONFIDENCE,
        source="merge-conflicts",
        category=_CATEGORY,
        rule=_RULE,
        line=first.number,
        end_line=last.number,
        trigger="Both sides of the conflict stand in the file, and few languages can read the markers between them.",
    )
