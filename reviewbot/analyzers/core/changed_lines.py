"""The lines of the new side of a changed file that the diff shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, groupby
from typing import NamedTuple, Self

from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.ports import ChangedFile


class ChangedLine(NamedTuple):
    """One line of the new side: its 1-based number, its text without the marker, and whether the change added it."""

    number: int
    text: str
    added: bool


@once_per_file
def new_side(file: ChangedFile) -> tuple[tuple[ChangedLine, ...], ...]:
    """The lines of each hunk that stand on the new side; a hunk that adds nothing is left out."""
    hunks = (
        tuple(ChangedLine(row.new, row.text, row.kind == "+") for row in hunk_rows(hunk) if row.new is not None)
        for hunk in file.hunks
    )
    return tuple(lines for lines in hunks if any(line.added for line in lines))


class ShownLines(dict[int, ChangedLine]):
    """The lines of the new side that the hunks show, by their numbers."""

    @classmethod
    def of(cls, file: ChangedFile) -> Self:
        """The shown lines of a file."""
        return cls((line.number, line) for lines in new_side(file) for line in lines)

    def first_added(self, numbers: Iterable[int]) -> ChangedLine | None:
        """The first of these lines that was added: what stands on lines that the change left alone is not its fault."""
        return next((self[number] for number in numbers if number in self and self[number].added), None)

    def reach(self, line: ChangedLine, last: int) -> int:
        """The number of the last line, up to `last`, that can be reached from `line` over lines that are shown."""
        return next(number for number in count(line.number) if number >= last or number + 1 not in self)


def added_lines(file: ChangedFile) -> tuple[ChangedLine, ...]:
    """The lines that the change added."""
    return tuple(line for lines in new_side(file) for line in lines if line.added)


def added_runs(file: ChangedFile) -> Iterator[list[ChangedLine]]:
    """Yield runs of added lines that follow each other."""
    for lines in new_side(file):
        for added, run in groupby(lines, lambda line: line.added):
            if added:
                yield list(run)
