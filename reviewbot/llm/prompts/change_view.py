"""The change as text: its files, each with whole hunks, the definitions around them and line numbers of both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import dedent
from types import MappingProxyType
from typing import NamedTuple

from reviewbot.diff.rows import SEPARATOR, Row, hunk_rows, payload_rows
from reviewbot.domain.contracts import Hunk, Payload
from reviewbot.review.plan.slices import enclosing

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


Pushed = Mapping[str, Sequence[Hunk]]
"""What was pushed to files of which the rest was read before, by path."""
NOTHING_READ: Pushed = MappingProxyType({})


def change_view(
    slices: Sequence[Payload],
    lines_of: LinesOf = no_lines,
    pushed: Pushed = NOTHING_READ,
    *,
    whole_files: bool = False,
) -> str:
    """All slices, those of one file together. Lines carry their number on the new side, removed lines none.

    `lines_of` gives the new side of a file, for the definitions around each hunk; with `whole_files` everything between
    the hunks is shown as well. The files of `pushed` are shown as the push left them, with its marks.
    """
    by_file: dict[str, list[Payload]] = {}
    for payload in slices:
        by_file.setdefault(payload.file_path, []).append(payload)
    return "\n\n".join(
        _whole_file_view(parts, lines_of(path))
        if whole_files
        else _file_view(parts, lines_of(path), pushed.get(path, ()))
        for path, parts in by_file.items()
    )


def hunk_views(payload: Payload, pushed: Sequence[Hunk] = ()) -> Iterator[tuple[HunkRow, ...]]:
    """The rows of each hunk of a slice, as `change_view` writes them."""
    rows: dict[int, list[Row]] = {}
    for index, row in payload_rows(payload):
        rows.setdefault(index, []).append(row)
    for found in rows.values():
        yield tuple(HunkRow(row.new, _line(row)) for row in (_as_pushed(found, pushed) if pushed else found))


def _as_pushed(rows: Iterable[Row], pushed: Iterable[Hunk]) -> Iterator[Row]:
    """The new side of some rows with the marks of a push, and what it removed above each of them."""
    added: set[int] = set()
    removed: defaultdict[int, list[Row]] = defaultdict(list)
    for hunk in pushed:
        following = hunk.new_start
        for row in hunk_rows(hunk):
            if row.new is None:
                removed[following].append(row)
                continue
            following = row.new + 1
            if row.kind == "+":
                added.add(row.new)
    following = 0
    for row in rows:
        if row.new is not None:
            yield from removed[row.new]
            following = row.new + 1
            yield row._replace(kind="+" if row.new in added else " ")
    yield from removed[following]


def new_lines(rows: Sequence[HunkRow]) -> range:
    """The lines of the new side that a hunk shows; empty for one that only removes."""
    numbers = [row.number for row in rows if row.number is not None]
    return range(numbers[0], numbers[-1] + 1) if numbers else range(0)


def _heading(payload: Payload) -> str:
    renamed = f" (was {payload.old_path})" if payload.old_path else ""
    return f"### {payload.file_path}{renamed} [{payload.language}]"


def _whole_file_view(parts: Sequence[Payload], whole: Sequence[str]) -> str:
    """The new side with its changes in place. A removed line stands where it was."""
    lines = [_heading(parts[0])]
    between = [f"{number:5}  {line}" for number, line in enumerate(whole, 1)]
    hunks = [pair for payload in parts for pair in zip(payload.starts, hunk_views(payload), strict=False)]
    shown = 0
    for (_, start), rows in sorted(hunks, key=lambda hunk: hunk[0][1]):
        numbers = new_lines(rows)
        # A hunk that only removes lines stands behind the line that it names.
        lines += [*between[shown : start - 1 if numbers else start], *(row.text for row in rows)]
        shown = max(shown, numbers.stop - 1 if numbers else start)
    return "\n".join([*lines, *between[shown:]])


def _file_view(parts: Sequence[Payload], whole: Sequence[str], pushed: Sequence[Hunk]) -> str:
    lines = [_heading(parts[0])]
    for payload in parts:
        headings = [line for line in payload.code.split("\n") if line.startswith("@@")]
        for heading, rows in zip(headings, hunk_views(payload, pushed), strict=False):
            shown = new_lines(rows)
            around = " > ".join(line.strip() for line in enclosing(whole, shown.start)) if shown else ""
            text = "\n".join(row.text for row in rows)
            if pushed:  # Each character of a small push counts, and the diff's heading is of lines that are not shown.
                heading, text = SEPARATOR, dedent(text)  # noqa: PLW2901 - a heading of its own
            lines += [f"@@ in {around}" if around else heading, text]
    return "\n".join(lines)


def _line(row: Row) -> str:
    number = BLANK if row.new is None else f"{row.new:5}"
    return f"{number} {row.kind}{row.text}"
