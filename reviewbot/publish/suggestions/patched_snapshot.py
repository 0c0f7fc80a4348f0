"""A snapshot with a patch to one file of a change, in memory. Nothing is written anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewbot.context.word_search import lines_with, whole_word
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import FileChange, Hunk
from reviewbot.domain.ports import Commit, Occurrence, Snapshot


@dataclass(frozen=True)
class Patch:
    """`new` in the place of lines `line` to `end_line`. Lines are without LF; a CR at their end is a part of them."""

    line: int
    end_line: int
    new: tuple[str, ...]

    def text(self, lines: Sequence[str]) -> str:
        """The lines of a file, joined, with the patch in them."""
        return "\n".join([*lines[: self.line - 1], *self.new, *lines[self.end_line :]])

    def touched_lines(self, lines: Sequence[str]) -> tuple[int, int, tuple[str, ...]]:
        """The lines that really change: first and last (last < first for mere insertions), and their new text."""
        old = lines[self.line - 1 : self.end_line]
        head = next((n for n, (a, b) in enumerate(zip(old, self.new, strict=False)) if a != b), None)
        head = min(len(old), len(self.new)) if head is None else head
        rest, other = old[head:], self.new[head:]
        pairs = zip(reversed(rest), reversed(other), strict=False)
        tail = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(rest), len(other)))
        return self.line + head, self.end_line - tail, tuple(other[: len(other) - tail])


class PatchedSnapshot:
    """A snapshot with another text on the new side of one file."""

    def __init__(self, snapshot: Snapshot, path: str, text: str) -> None:
        self._snapshot = snapshot
        self._path = path
        self._text = text

    def head(self, path: str) -> str | None:
        """The new side."""
        return self._text if path == self._path else self._snapshot.head(path)

    def base(self, path: str) -> str | None:
        """The old side, as it is."""
        return self._snapshot.base(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """As the snapshot finds it, and in the other text."""
        # The file's own lines may fill the limit and be others here: they are counted beside it.
        mine = tuple(lines_with(self._path, self._text, whole_word(word)))
        found = self._snapshot.search(word, limit + len(mine))
        if found is None:
            return None
        others = (each for each in found if each.path != self._path)
        return tuple(sorted((*others, *mine), key=lambda each: (each.path, each.line)))[:limit]

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """Of the old side, as it is."""
        return self._snapshot.history(path, limit)


def hunk_at(file: FileChange, first: int, last: int) -> Hunk | None:
    """The hunk that shows all of these lines of the new side; None where no single one does."""
    for hunk in file.hunks:
        shown = {row.new for row in hunk_rows(hunk)}
        if shown.issuperset(range(first, last + 1)):
            return hunk
    return None


def added_lines(hunk: Hunk) -> frozenset[int]:
    """The lines of the new side that a hunk added."""
    return frozenset(row.new for row in hunk_rows(hunk) if row.kind == "+" and row.new is not None)


def patch_change(file: FileChange, hunk: Hunk, first: int, last: int, new: Sequence[str]) -> FileChange:
    """The change of the file with other added lines in the place of lines `first` to `last`, all in `hunk`.

    Where `last` is before `first` the new lines stand before line `first`.
    """
    delta = len(new) - (last - first + 1)
    at = file.hunks.index(hunk)
    other = hunk.model_copy(
        update={"body": "\n".join(_body(hunk, first, last, new)), "new_count": hunk.new_count + delta}
    )
    below = (each.model_copy(update={"new_start": each.new_start + delta}) for each in file.hunks[at + 1 :])
    return file.model_copy(update={"hunks": (*file.hunks[:at], other, *below)})


def _body(hunk: Hunk, first: int, last: int, new: Sequence[str]) -> Iterator[str]:
    number, put = hunk.new_start, False
    for line in hunk.body.split("\n"):
        is_new = line[:1] in ("+", " ")
        if is_new and number >= first and not put:
            yield from (f"+{each}" for each in new)
            put = True
        if not (is_new and first <= number <= last):
            yield line
        number += is_new
    if not put:
        yield from (f"+{each}" for each in new)
