"""The texts that an analyzer is given for a changed file, and the way back from its rows to lines of the new side."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from reviewbot.analyzers.core.changed_lines import ChangedLine, new_side
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.analyzers.python.hunk_repair import repair
from reviewbot.analyzers.python.lines import logical_ends
from reviewbot.context.python_text import tokens
from reviewbot.domain.ports import ChangedFile

_BOM = "\ufeff"
"""Allowed at the start of a file, which a fragment's first line no longer is."""

MAX_CHARS = 4_000_000
"""Of a file. Of a larger one the hunks alone are read."""

MAX_TOKENS = 200_000
"""Of a file, likewise. Ruff takes up to a kilobyte for each, in a program of its own."""


@dataclass(frozen=True)
class Source:
    """One text of Python. `numbers[row - 1]` is the line of the new side that stands on a row of it, or None."""

    text: str
    numbers: tuple[int | None, ...]
    whole: bool
    """It is the file and not a hunk of it."""
    cut: bool = False
    """An added line of code is not in it."""
    tree: ast.Module | None = field(default=None, repr=False, compare=False)
    """Of a hunk that parses; a whole file is parsed by the caller that needs its tree."""

    def lines(self, first: int, last: int) -> list[int]:
        """The lines of the new side that stand on rows `first` to `last`; rows behind the end mean the last one."""
        rows = self.numbers[first - 1 : last] or self.numbers[-1:]
        return [number for number in rows if number is not None]

    def call_end(self, row: int) -> int:
        """The line on which the logical line ends that a row belongs to; 0 where that is no line of the new side."""
        return self.numbers[self.last_row(row) - 1] or 0

    def last_row(self, row: int) -> int:
        """The row on which the logical line ends that a row belongs to."""
        return self._ends[row - 1] + 1 if row <= len(self._ends) else len(self._ends)

    @cached_property
    def rows(self) -> list[str]:
        """The rows of the text as Python counts them; row n is `rows[n - 1]`."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def _ends(self) -> list[int]:
        return logical_ends(self.rows)


@once_per_file
def whole_source(file: ChangedFile) -> Source | None:
    """A whole file; None where it is not at hand, too large, or of another commit, which would shift every line."""
    if file.head is None or not is_readable(file.head) or not is_same_commit(file):
        return None
    return whole_text(file.head)


def is_same_commit(file: ChangedFile) -> bool:
    """Whether the new side of a file has the lines that the hunks show."""
    there = (file.head or "").split("\n")
    return all(
        line.number <= len(there) and there[line.number - 1].startswith(line.text.rstrip("\r"))
        for lines in new_side(file)
        for line in lines
    )


def whole_file(file: ChangedFile) -> str | None:
    """The text of a file of any language; None where it is not at hand, too large, or of another commit."""
    if file.head is not None:
        return file.head if len(file.head) <= MAX_CHARS and is_same_commit(file) else None
    if len(file.hunks) != 1 or file.base is not None or (file.hunks[0].old_count, file.hunks[0].new_start) != (0, 1):
        return None
    # A hunk of a new file is all of it.
    return "".join(f"{line.text}\n" for lines in new_side(file) for line in lines)


def is_readable(text: str) -> bool:
    """Whether a text is small enough for an analyzer to be given it as a whole."""
    return len(text) <= MAX_CHARS and tokens(text, MAX_TOKENS) <= MAX_TOKENS


def whole_text(text: str) -> Source:
    """A text as a whole file."""
    return _source(text, range(1, text.count("\n") + 2), whole=True)


def hunk_source(lines: Sequence[ChangedLine]) -> Source:
    """One hunk, made to parse on its own. Where that costs added lines, they are tried without what is around them."""
    source, lost = _repaired(lines)
    if lost:
        alone, still_lost = _repaired([line for line in lines if line.added])
        if still_lost < lost:
            source = alone
    return replace(source, cut=bool(lost))


def _repaired(lines: Sequence[ChangedLine]) -> tuple[Source, int]:
    """Some lines as a text that parses, and how many added lines of code are not in it."""
    made = repair([line.text.removeprefix(_BOM) for line in lines])
    numbers = [None if origin is None else lines[origin].number for origin in made.origin]
    kept = set(numbers)
    left_out = (line.text.strip() for line in lines if line.added and line.number not in kept)
    lost = sum(bool(text) and not text.startswith("#") for text in left_out)
    source = replace(_source(made.text, [*numbers, None], whole=False), tree=made.tree)
    return source, lost if made.parses else len(lines)


def _source(text: str, numbers: Sequence[int | None], *, whole: bool) -> Source:
    """A source from the number of each line. Python counts rows otherwise: a lone CR ends a row and no line."""
    rows: list[int | None] = []
    for line, number in zip(text.split("\n"), numbers, strict=True):
        rows += [number] * (1 + line.removesuffix("\r").count("\r"))
    return Source(text, tuple(rows), whole)
