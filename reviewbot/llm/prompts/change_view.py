"""The change as text: its files, each with whole hunks, the definitions around them and line numbers of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.contracts import Payload
from reviewbot.diff.rows import Row, payload_rows
from reviewbot.supervisor.slices import enclosing

BLANK = "     "

LinesOf = Callable[[str], Sequence[str]]
"""The lines of the new side of a file; none where it is not at hand."""


class HunkRow(NamedTuple):
    """A row of a hunk as a model sees it, and its line on the new side; None for a removed one."""

    number: int | None
    text: str


def no_lines(_path: str) -> Sequence[str]:
    """No file is at hand."""
    return ()


def change_view(slices: Sequence[Payload], lines_of: LinesOf = no_lines) -> str:
    """All slices, those of one file together. Lines carry their number on the new side, removed lines none.

    `lines_of` gives the new side of a file, for the definitions around each hunk.
    """
    by_file: dict[str, list[Payload]] = {}
    for payload in slices:
        by_file.setdefault(payload.file_path, []).append(payload)
    return "\n\n".join(_file_view(parts, lines_of(path)) for path, parts in by_file.items())


def hunk_views(payload: Payload) -> Iterator[tuple[HunkRow, ...]]:
    """The rows of each hunk of a slice, as `change_view` writes them."""
    rows: dict[int, list[Row]] = {}
    for index, row in payload_rows(payload):
        rows.setdefault(index, []).append(row)
    for found in rows.values():
        yield tuple(HunkRow(row.new, _line(row)) for row in found)


def new_lines(rows: Sequence[HunkRow]) -> range:
    """The lines of the new side that a hunk shows; empty for one that only removes."""
    numbers = [row.number for row in rows if row.number is not None]
    return range(numbers[0], numbers[-1] + 1) if numbers else range(0)


def changed_files(slices: Iterable[Payload]) -> dict[str, tuple[int, int]]:
    """By path: how many lines were added and removed."""
    counts: dict[str, tuple[int, int]] = {}
    for payload in slices:
        added, removed = counts.get(payload.file_path, (0, 0))
        for _, row in payload_rows(payload):
            added, removed = added + (row.kind == "+"), removed + (row.kind == "-")
        counts[payload.file_path] = (added, removed)
    return counts


def _file_view(parts: Sequence[Payload], whole: Sequence[str]) -> str:
    first = parts[0]
    renamed = f" (was {first.old_path})" if first.old_path else ""
    lines = [f"### {first.file_path}{renamed} [{first.language}]"]
    for payload in parts:
        headings = [line for line in payload.code.split("\n") if line.startswith("@@")]
        for heading, rows in zip(headings, hunk_views(payload), strict=False):
            shown = new_lines(rows)
            around = " > ".join(line.strip() for line in enclosing(whole, shown.start)) if shown else ""
            lines += [f"@@ in {around}" if around else heading, *(row.text for row in rows)]
    return "\n".join(lines)


def _line(row: Row) -> str:
    number = BLANK if row.new is None else f"{row.new:5}"
    return f"{number} {row.kind}{row.text}"
