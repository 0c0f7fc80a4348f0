"""The numbered lines of a hunk or of a slice. Only LF separates lines; notes on a missing newline are no rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from reviewbot.domain.contracts import ChangeSet, Hunk, Payload

SEPARATOR = "@@"
"""How the line above each hunk of `Payload.code` begins; a marked line begins with " ", "+", "-" or a backslash."""

_MIN_ROWS = 2
"""Fewer cannot be parted."""


class Row(NamedTuple):
    """One line of a hunk with its 1-based number on each side that has it."""

    kind: str
    """" " for context, "+" for added, "-" for removed."""
    old: int | None
    new: int | None
    text: str
    """Without the marker; may hold CR or any other control character."""


def hunk_rows(hunk: Hunk) -> Iterator[Row]:
    """Yield the rows of one hunk from the top."""
    return _rows(hunk.body.split("\n"), hunk.old_start, hunk.new_start)


def _rows(lines: Iterable[str], old: int, new: int) -> Iterator[Row]:
    for line in lines:
        kind = line[:1]
        if kind == "+":
            yield Row("+", None, new, line[1:])
            new += 1
        elif kind == "-":
            yield Row("-", old, None, line[1:])
            old += 1
        elif kind == " ":
            yield Row(" ", old, new, line[1:])
            old += 1
            new += 1


def side_texts(change: ChangeSet) -> Iterator[str]:
    """What the change shows of each file, the new side and the old one apart, then its title and description."""
    for file in change.files:
        rows = [row for hunk in file.hunks for row in hunk_rows(hunk)]
        yield "\n".join(row.text for row in rows if row.new is not None)
        if file.removed:
            yield "\n".join(row.text for row in rows if row.old is not None)
    yield change.title
    yield change.description


def payload_rows(payload: Payload) -> Iterator[tuple[int, Row]]:
    """Yield (index of the hunk, row) for every row of a slice, numbered from `payload.starts`.

    Raises ValueError where the slice has more hunks than starts: its lines cannot be numbered.
    """
    index = -1
    lines: list[str] = []
    for line in payload.code.split("\n"):
        if line.startswith(SEPARATOR):
            yield from _numbered(payload, index, lines)
            index += 1
            lines = []
        else:
            lines.append(line)
    yield from _numbered(payload, index, lines)


def _numbered(payload: Payload, index: int, lines: list[str]) -> Iterator[tuple[int, Row]]:
    if index < 0:
        return
    if index >= len(payload.starts):
        raise ValueError(f"the slice of {payload.file_path} has more hunks than starts")
    old, new = payload.starts[index]
    for row in _rows(lines, old, new):
        yield index, row


def code_of(hunks: Sequence[Hunk]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Give `Payload.code` and `Payload.starts` for some hunks of one file."""
    code = "\n".join(f"{SEPARATOR} {hunk.heading}".rstrip(" ") + "\n" + hunk.body for hunk in hunks)
    return code, tuple((hunk.old_start, hunk.new_start) for hunk in hunks)


def commentable(hunks: Iterable[Hunk]) -> frozenset[int]:
    """Return the new-side lines that the hunks show: where a host accepts a comment."""
    return frozenset(row.new for hunk in hunks for row in hunk_rows(hunk) if row.new is not None)


def halves(payload: Payload) -> tuple[Payload, Payload] | None:
    """Cut a slice into two of about as many rows, between hunks where there are several, else between two rows.

    None where there are no two rows to part.
    """
    hunks = [SEPARATOR + text for text in f"\n{payload.code}".split(f"\n{SEPARATOR}")[1:]]
    if len(hunks) > 1:
        sizes = list(accumulate(hunk.count("\n") for hunk in hunks))
        cut = 1 + min(range(len(hunks) - 1), key=lambda at: abs(2 * sizes[at] - sizes[-1]))
        return (
            _part(payload, "\n".join(hunks[:cut]), payload.starts[:cut]),
            _part(payload, "\n".join(hunks[cut:]), payload.starts[cut:]),
        )
    return _parted_hunk(payload) if sum(1 for _ in payload_rows(payload)) >= _MIN_ROWS else None


def _parted_hunk(payload: Payload) -> tuple[Payload, Payload]:
    heading, *lines = payload.code.split("\n")
    cut = len(lines) // 2
    # A note on a missing newline stays with the row above it.
    cut += lines[cut].startswith("\\")
    above, below = lines[:cut], lines[cut:]
    old, new = payload.starts[0]
    old += sum(line[:1] in {" ", "-"} for line in above)
    new += sum(line[:1] in {" ", "+"} for line in above)
    return (
        _part(payload, "\n".join([heading, *above]), payload.starts),
        _part(payload, "\n".join([heading, *below]), ((old, new),)),
    )


def _part(payload: Payload, code: str, starts: tuple[tuple[int, int], ...]) -> Payload:
    return payload.model_copy(update={"code": code, "starts": starts})
