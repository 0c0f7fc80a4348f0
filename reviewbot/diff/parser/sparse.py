"""A file of which only some lines are known: runs of lines of its base that are kept, and lines that were added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from reviewbot.domain.contracts import Hunk

CONTEXT = 3
"""Lines of context, as git shows them."""
_ENDLESS = 10**12
"""More lines than any file has: a run whose end no hunk shows."""


class Misfit(Exception):  # noqa: N818 - what a hunk is; it never leaves this package
    """A hunk does not fit. `line`: of the side that it was to be applied to."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Kept(NamedTuple):
    """A run of lines of the base."""

    first: int
    """Counted from 1."""
    lines: int


_Segment = _Kept | str
"""A run of the base, or one added line; the note that a line has no newline stands below it, as in a hunk."""


class _Block(NamedTuple):
    """Lines of the base, and the lines that stand in their place."""

    first: int
    """Of the base: the first line that goes, or the one above which lines are added."""
    removed: int
    added: Sequence[str]


@dataclass
class SparseFile:
    """A file after some hunks, and what they have shown of its base."""

    segments: list[_Segment]
    base: dict[int, str] = field(default_factory=dict)
    """The lines of the base that hunks have shown."""
    base_count: int | None = None
    """How many lines the base has, where that is known."""

    @classmethod
    def of_base(cls, *, exists: bool) -> Self:
        """The file before any hunk; one that does not exist has no lines."""
        return cls([_Kept(1, _ENDLESS)]) if exists else cls([], base_count=0)

    @property
    def size(self) -> int:
        """The number of segments, to which the cost of applying a hunk is proportional."""
        return len(self.segments)

    def copy(self) -> SparseFile:
        """An independent copy."""
        return SparseFile(list(self.segments), dict(self.base), self.base_count)

    def apply(self, hunks: Sequence[Hunk], *, ends: bool = False) -> None:
        """Change it; `ends`: nothing of the file is left afterwards. Raises Misfit."""
        walk = _Walk(self.segments)
        made: list[_Segment] = []
        for hunk in hunks:
            walk.copy(hunk.old_start - bool(hunk.old_count), made)
            for kind, text in _rows(hunk):
                if kind == "+":
                    made.append(text)
                    continue
                segment = walk.step()
                if (self.base.setdefault(segment.first, text) if isinstance(segment, _Kept) else segment) != text:
                    raise Misfit(walk.line)
                if kind == " ":
                    _append(made, segment)
        rest = walk.rest()
        if ends:
            runs = [segment for segment in rest if isinstance(segment, _Kept)]
            if self.base_count is None and runs:
                self.base_count = runs[-1].first - 1
            rest = []
        for segment in rest:
            _append(made, segment)
        self.segments = made

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
        base, added = 1, []
        for segment in self.segments:
            if isinstance(segment, str):
                added.append(segment)
                continue
            yield from self._block(base, segment.first - base, added)
            base, added = segment.first + segment.lines, []
        left = 0 if self.base_count is None else max(0, self.base_count - base + 1)
        yield from self._block(base, left, added)

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


class _Walk:
    """A walk over the lines of a file."""

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self._segments = list(reversed(segments))
        self.line = 0
        """The last line that was passed."""

    def step(self) -> _Segment:
        """The next line. Raises Misfit behind the last one."""
        self.line += 1
        if not self._segments:
            raise Misfit(self.line)
        segment = self._segments.pop()
        if isinstance(segment, str):
            return segment
        if segment.lines > 1:
            self._segments.append(_Kept(segment.first + 1, segment.lines - 1))
        return _Kept(segment.first, 1)

    def copy(self, line: int, made: list[_Segment]) -> None:
        """Pass all lines up to this one. Raises Misfit where it lies behind the end."""
        while self.line < line:
            segment = self._segments[-1] if self._segments else None
            if isinstance(segment, _Kept):
                self._segments.pop()
                count = min(segment.lines, line - self.line)
                if count < segment.lines:
                    self._segments.append(_Kept(segment.first + count, segment.lines - count))
                _append(made, _Kept(segment.first, count))
                self.line += count
            else:
                made.append(self.step())

    def rest(self) -> list[_Segment]:
        """What is behind the last line that was passed."""
        return self._segments[::-1]


def _append(made: list[_Segment], segment: _Segment) -> None:
    """Add a segment; a run that goes on where the last one ends is one with it."""
    last = made[-1] if made else ""
    if isinstance(segment, _Kept) and isinstance(last, _Kept) and last.first + last.lines == segment.first:
        made[-1] = _Kept(last.first, last.lines + segment.lines)
    else:
        made.append(segment)


def _rows(hunk: Hunk) -> Iterator[tuple[str, str]]:
    """Marker and text of each row; a note on a missing newline belongs to the row above it."""
    rows = hunk.body.split("\n")
    for row, below in zip(rows, [*rows[1:], ""], strict=True):
        if row[:1] != "\\":
            yield row[:1], row[1:] + (f"\n{below}" if below[:1] == "\\" else "")
