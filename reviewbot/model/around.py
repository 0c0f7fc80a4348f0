"""The definitions around the changed rows of a slice, and how much of them is shown in little room."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from reviewbot.context.enclosing import Enclosing, enclosing
from reviewbot.diff.rows import payload_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reviewbot.contracts import Payload

CUT = "... cut"
"""Stands where something was left out."""

SEEN = "... as in the slice"
"""Stands where the slice shows what would come."""

MAX_RUNS = 24
"""Runs of changed rows of one slice whose definitions are looked for."""

BIG = 300_000
"""Characters of a file in which each question takes some tenths of a second; a quarter of the runs must do there."""

MAX_LINE = 300
"""Characters of one line that are shown."""

_GAPS = 4
"""Places of one definition at which something is left out, as room is kept for."""

_DEFINES = re.compile(
    r"^([+-])[ \t]{0,80}(?:[a-z]{2,12}[ \t]{1,4}){0,5}?"
    r"(?:def|class|func|function|fn|interface|struct|trait|sub|enum)[ \t]{1,4}"
    r"(?:\([^)]{0,100}\)[ \t]{0,4})?(?:self\.)?([^\W\d]\w{0,80})",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Place:
    """A definition of the new side that the change touches. `lines` are all of it, `rows` the changed ones in it."""

    path: str
    name: str
    first: int
    lines: tuple[str, ...]
    rows: tuple[int, ...]
    seen: frozenset[int]
    """Rows that the slice shows."""

    @property
    def title(self) -> str:
        """As it is announced."""
        return f"{self.path}, {self.name}:"

    @property
    def in_slice(self) -> bool:
        """Whether the slice shows all of it."""
        return self.seen.issuperset(range(self.first, self.first + len(self.lines)))

    def shown(self, room: int) -> str:
        """All of it where there is room; else its first line, and the nearest lines that the slice does not show."""
        lines = [line[:MAX_LINE].rstrip("\r") for line in self.lines]
        if sum(len(line) + 1 for line in lines) <= room:
            return "\n".join(lines)
        room -= _GAPS * (len(SEEN) + 1)
        unseen = [index for index in range(len(lines)) if index == 0 or self.first + index not in self.seen]
        kept: set[int] = set()
        for index in sorted(unseen, key=lambda index: (index > 0, self._distance(index), index)):
            room -= len(lines[index]) + 1
            if room < 0:
                break
            kept.add(index)
        return "\n".join(self._with_gaps(lines, kept)) if kept else ""

    def _with_gaps(self, lines: Sequence[str], kept: set[int]) -> Iterator[str]:
        """Yield the lines that are kept, and for each run of others what became of them."""
        before = ""
        for index, line in enumerate(lines):
            gap = "" if index in kept else SEEN if self.first + index in self.seen else CUT
            if not gap:
                yield line
            elif gap != before:
                yield gap
            before = gap

    def _distance(self, index: int) -> int:
        row = self.first + index
        at = bisect_left(self.rows, row)
        return min(abs(row - near) for near in self.rows[max(0, at - 1) : at + 1])


def places(text: str, payload: Payload) -> tuple[Place, ...]:
    """The innermost definitions that hold changed rows of a slice, from the top, each once; `text` is its new side."""
    rows: dict[tuple[int, int, str], list[int]] = {}
    limit = MAX_RUNS if len(text) <= BIG else MAX_RUNS // 4
    for first, last in list(_runs(payload))[:limit]:
        for found in _around(text, payload.language, first, last):
            changed = range(max(first, found.first), min(last, found.last) + 1)
            rows.setdefault((found.first, found.last, found.name), []).extend(changed)
    lines = text.split("\n")
    seen = frozenset(row.new for _, row in payload_rows(payload) if row.new)
    return tuple(
        Place(
            path=payload.file_path,
            name=name,
            first=first,
            lines=tuple(lines[first - 1 : last]),
            rows=tuple(sorted(set(changed))),
            seen=seen.intersection(range(first, last + 1)),
        )
        for (first, last, name), changed in sorted(rows.items())
    )


def _around(text: str, language: str, first: int, last: int) -> list[Enclosing]:
    """The definition that holds some rows; where they are in several, those that the first and the last row are in."""
    held = enclosing(text, language, first, last)
    ends = [held] if held else [enclosing(text, language, row, row) for row in (first, last)]
    return [each for each in ends if each is not None]


def _runs(payload: Payload) -> Iterator[tuple[int, int]]:
    """First and last new row of each run of changed rows; where rows were only removed, the row above them."""
    above = [max(1, start - 1) for _, start in payload.starts]
    for (index, same), group in groupby(payload_rows(payload), key=lambda pair: (pair[0], pair[1].kind == " ")):
        numbers = [row.new for _, row in group if row.new is not None]
        above[index] = numbers[-1] if numbers else above[index]
        if not same:
            yield (numbers[0], numbers[-1]) if numbers else (above[index], above[index])


def declared(code: str, mark: str) -> Iterator[str]:
    """Yield the names that added ("+") or removed ("-") lines of a slice define."""
    for match in _DEFINES.finditer(code):
        if match[1] == mark:
            yield match[2]


def words(text: str) -> frozenset[str]:
    """Every word of a text."""
    return frozenset(re.findall(r"[^\W\d]\w*", text))


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much each of several texts gets of some room: what it needs, or as much as any other that needs more."""
    given = [0] * len(sizes)
    for rank, index in enumerate(sorted(range(len(sizes)), key=lambda index: (sizes[index], index))):
        given[index] = min(sizes[index], max(0, room) // (len(sizes) - rank))
        room -= given[index]
    return given


def fitted(text: str, room: int) -> str:
    """A text up to a whole line that leaves room to say so, where it is too long; empty where nothing of it fits."""
    if len(text) <= room:
        return text
    end = text.rfind("\n", 0, max(0, room - len(CUT)))
    return f"{text[:end]}\n{CUT}" if end > 0 else ""


def joined(parts: Iterable[tuple[str, str]], room: int) -> str:
    """Titled texts one below the other, each with its share of the room; a word where some get none."""
    known = list(parts)
    spare = sum(len(title) + 3 for title, _ in known)
    given = shares([len(text) for _, text in known], room - spare)
    cut = [(title, fitted(text, size)) for (title, text), size in zip(known, given, strict=True)]
    texts = [f"{title}\n{text}" for title, text in cut if text]
    return "\n\n".join([*texts, CUT] if len(texts) < len(known) else texts)
