"""Divide the files of a change into what its readers are shown now and what an earlier head's review has read.

Pure. The lines come from `ChangeSet.read_before`; hunks are cut between rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from reviewbot.coverage.readings import spans_of_file
from reviewbot.domain.contracts import MODEL_SOURCE, ChangeSet, FileChange, FileReadBefore, Hunk, Reading

EARLIER = f"{MODEL_SOURCE}at an earlier head"
"""The reader of what was read before: which model it was is not remembered."""

Lines = Sequence[tuple[int, int]]
"""First and last lines, in order."""


class Divided(NamedTuple):
    """A file of the change in two, each without the hunks of the other; None: there is nothing of that kind."""

    now: FileChange | None
    before: FileChange | None
    head: str = ""
    """The commit at which `before` was read."""

    @property
    def reading(self) -> tuple[Reading, ...]:
        """What was read at the earlier head."""
        if self.before is None:
            return ()
        spans = spans_of_file(self.before)
        return (Reading(path=self.before.path, spans=spans, models=(EARLIER,), head=self.head),)


def divide_all(change: ChangeSet, files: Sequence[FileChange]) -> list[Divided]:
    """Each of these files of the change, divided."""
    known = {} if change.read_before is None else {each.path: each for each in change.read_before.files}
    return [divide(file, known.get(file.path)) for file in files]


def divide(file: FileChange, before: FileReadBefore | None) -> Divided:
    """One file. Of one that no earlier head's review has read everything is read now."""
    if before is None:
        return Divided(file, None)
    pieces = [piece for hunk in file.hunks for piece in _pieces(hunk, before.again)]
    now = [hunk for hunk, again in pieces if again]
    rest = [hunk for hunk, again in pieces if not again]
    return Divided(
        _with_hunks(file, now) if now else None,
        _with_hunks(file, rest) if rest or not now else None,
        before.head,
    )


def covers_line(lines: Lines, line: int) -> bool:
    """Whether a line is among these."""
    return any(first <= line <= last for first, last in lines)


def _pieces(hunk: Hunk, again: Lines) -> Iterator[tuple[Hunk, bool]]:
    """Yield the runs of rows that are read now, and those that are not, from the top.

    A removed row goes with the next line of the new side.
    """
    old, new = hunk.old_start, hunk.new_start
    rows: list[tuple[bool, int, int, str]] = []
    for text in hunk.body.split("\n"):
        kind = text[:1]
        # A note on a missing newline stays with the row above it.
        flag = rows[-1][0] if kind == "\\" and rows else covers_line(again, new)
        rows.append((flag, old, new, text))
        old += kind in (" ", "-")
        new += kind in (" ", "+")
    for flag, run in groupby(rows, key=lambda row: row[0]):
        part = list(run)
        texts = [row[3] for row in part]
        counts = {
            "old_count": sum(text[:1] in (" ", "-") for text in texts),
            "new_count": sum(text[:1] in (" ", "+") for text in texts),
        }
        starts = {"old_start": part[0][1], "new_start": part[0][2]}
        yield hunk.model_copy(update={**starts, **counts, "body": "\n".join(texts)}), flag


def _with_hunks(file: FileChange, hunks: Sequence[Hunk]) -> FileChange:
    marks = [line[:1] for hunk in hunks for line in hunk.body.split("\n")]
    return file.model_copy(
        update={"hunks": tuple(hunks), "added": marks.count("+"), "removed": marks.count("-")},
    )
