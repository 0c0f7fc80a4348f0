"""A file of which only some lines are known: lines of its base that are kept, by their numbers, and lines added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewbot.domain.contracts import Hunk

CONTEXT = 3
"""Lines of context, as git shows them."""


class Misfit(Exception):  # noqa: N818 - what a hunk is; it never leaves this package
    """A hunk does not fit. `line`: of the side that it was to be applied to."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Block(NamedTuple):
    """Lines of the base, and the lines that stand in their place."""

    first: int
    """Of the base: the first line that goes, or the one above which lines are added."""
    removed: int
    added: Sequence[str]


@dataclass
class SparseFile:
    """A file after some hunks, and what they have shown of its base."""

    exists: bool
    """Whether there is a base. It goes on behind the lines that hunks have reached, until its end is known."""
    lines: list[int | str] = field(default_factory=list)
    """Each line up to there: the number of one of the base, from 1, or an added one; the note that a line has no
    newline stands below it, as in a hunk."""
    base: dict[int, str] = field(default_factory=dict)
    """The lines of the base that hunks have shown."""
    reached: int = 0
    """The last line of the base that is among `lines`, or was."""

    def copy(self) -> SparseFile:
        """An independent copy."""
        return SparseFile(self.exists, list(self.lines), dict(self.base), self.reached)

    def cost(self, hunks: Sequence[Hunk]) -> int:
        """How many lines are walked to apply some hunks."""
        return max([len(self.lines), *(hunk.old_start + hunk.old_count for hunk in hunks)])

    def apply(self, hunks: Sequence[Hunk], *, ends: bool = False) -> None:
        """Change it; `ends`: nothing of the file is left afterwards. Raises Misfit."""
        made: list[int | str] = []
        at = 0
        for hunk in hunks:
            start = hunk.old_start - bool(hunk.old_count)
            self._reach(start)
            made += self.lines[at:start]
            at = start
            for kind, text in _rows(hunk):
                if kind == "+":
                    made.append(text)
                    continue
                at += 1
                self._reach(at)
                line = self.lines[at - 1]
                if (self.base.setdefault(line, text) if isinstance(line, int) else line) != text:
                    raise Misfit(at)
                if kind == " ":
                    made.append(line)
        self.lines = made if ends else made + self.lines[at:]
        self.exists = self.exists and not ends

    def _reach(self, count: int) -> None:
        """Have so many lines. Raises Misfit where the file has fewer."""
        missing = max(0, count - len(self.lines))
        if missing and not self.exists:
            raise Misfit(len(self.lines) + 1)
        self.lines += range(self.reached + 1, self.reached + missing + 1)
        self.reached += missing

    def hunks(self) -> list[Hunk]:
        """The hunks that turn the base into this file, with the context that is known."""
        found: list[Hunk] = []
        group: list[_Block] = []
        shift = 0
        for block in self._blocks():
            if group and not self._touch(group[-1], block):
                made = self._hunk(group, shift)
                shift += made.new_count - made.old_count
                found.append(made)
                group = []
            group.append(block)
        return [*found, self._hunk(group, shift)] if group else found

    def _blocks(self) -> Iterator[_Block]:
        first = 1
        added: list[str] = []
        for line in (*self.lines, self.reached + 1):
            if isinstance(line, str):
                added.append(line)
                continue
            if added or line > first:
                yield from self._block(first, line - first, added)
            first, added = line + 1, []

    def _block(self, first: int, removed: int, added: Sequence[str]) -> Iterator[_Block]:
        """The block without the lines at its ends that came back as they were; none where nothing is left."""
        top = 0
        while top < min(removed, len(added)) and self.base.get(first + top) == added[top]:
            top += 1
        first, removed, added = first + top, removed - top, added[top:]
        while removed and added and self.base.get(first + removed - 1) == added[-1]:
            removed, added = removed - 1, added[:-1]
        if removed or added:
            yield _Block(first, removed, added)

    def _touch(self, above: _Block, below: _Block) -> bool:
        """Whether the context of two blocks meets, so that they are one hunk."""
        between = range(above.first + above.removed, below.first)
        return len(between) <= 2 * CONTEXT and all(line in self.base for line in between)

    def _hunk(self, blocks: Sequence[_Block], shift: int) -> Hunk:
        first, end = blocks[0].first, blocks[-1].first + blocks[-1].removed
        above = self._known(range(first - 1, max(0, first - 1 - CONTEXT), -1))[::-1]
        rows = [f" {self.base[line]}" for line in above]
        at = first
        for block in blocks:
            rows += [f" {self.base[line]}" for line in range(at, block.first)]
            at = block.first + block.removed
            rows += [f"-{self.base[line]}" for line in range(block.first, at)]
            rows += [f"+{text}" for text in block.added]
        rows += [f" {self.base[line]}" for line in self._known(range(end, end + CONTEXT))]
        old = sum(not row.startswith("+") for row in rows)
        new = sum(not row.startswith("-") for row in rows)
        start = first - len(above)
        return Hunk(
            old_start=start - (not old),
            old_count=old,
            new_start=start + shift - (not new),
            new_count=new,
            body="\n".join(rows),
        )

    def _known(self, lines: range) -> list[int]:
        """The first of some lines of the base, as far as all of them are known and kept."""
        known: list[int] = []
        for line in lines:
            if line not in self.base:
                break
            known.append(line)
        return known


def _rows(hunk: Hunk) -> Iterator[tuple[str, str]]:
    """Marker and text of each row; a note on a missing newline belongs to the row above it."""
    rows = hunk.body.split("\n")
    for row, below in zip(rows, [*rows[1:], ""], strict=True):
        if row[:1] != "\\":
            yield row[:1], row[1:] + (f"\n{below}" if below[:1] == "\\" else "")
