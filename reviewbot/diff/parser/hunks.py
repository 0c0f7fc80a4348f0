"""Reading one hunk. Its header's counts are authoritative: what they do not cover is no part of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import Hunk

NO_NEWLINE = b"\\ No newline at end of file"
"""The one form that we keep; other programs translate it."""

_HEADER = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: (.*))?", re.DOTALL)
"""At most nine ASCII digits: no number has more lines, and no conversion can be made slow."""

_MARKS = frozenset((b"+", b"-", b" "))
_MAX_TAIL = 4
"""A character of UTF-8 has at most this many bytes."""


class Header(NamedTuple):
    """The numbers of a hunk's header and the text behind them."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: bytes

    @property
    def old_first(self) -> int:
        """The first line of the old side at or behind this hunk; with no line on that side it counts from behind."""
        return self.old_start + (not self.old_count)

    @property
    def new_first(self) -> int:
        """The same of the new side."""
        return self.new_start + (not self.new_count)


class Body(NamedTuple):
    """The marked lines of a hunk. `fault` says in words what is wrong; `at` is the line where reading stopped."""

    rows: Sequence[bytes]
    at: int
    added: int = 0
    removed: int = 0
    fault: str = ""
    ended: bool = False
    """The input ended before the hunk did."""
    closed: bool = False
    """It says that a line has no newline: no hunk can follow."""


def header(line: bytes) -> Header | None:
    """Read a hunk header; None where it is not one, or names no possible lines."""
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    old, old_rows, new, new_rows, heading = match.groups()
    old_start, old_count = int(old), 1 if old_rows is None else int(old_rows)
    new_start, new_count = int(new), 1 if new_rows is None else int(new_rows)
    if not (old_count or new_count) or (old_count and not old_start) or (new_count and not new_start):
        return None
    return Header(old_start, old_count, new_start, new_count, heading or b"")


def read_body(lines: Sequence[bytes], start: int, head: Header) -> Body:
    """Read the rows below a header, the first of which is `lines[start]`.

    An empty line is an empty context line, as git writes it with diff.suppressBlankEmpty.
    """
    old, new, at, added, removed, closed = head.old_count, head.new_count, start, 0, 0, False
    end = len(lines)
    while (old > 0 or new > 0) and at < end:
        mark = lines[at][:1]
        if mark == b"+":
            new -= 1
            added += 1
        elif mark == b"-":
            old -= 1
            removed += 1
        elif not mark or mark == b" " or lines[at] == b"\r":
            old -= 1
            new -= 1
        elif mark == b"\\" and at > start:
            closed = True
        else:
            return Body((), at, fault=f"{mark.decode('latin-1')!a} marks no line of a hunk, or the hunk is too short")
        if old < 0 or new < 0:
            return Body((), at, fault="the lines of the hunk do not add up to the counts in its header")
        at += 1
    ended = old > 0 or new > 0
    if at < end and lines[at].startswith(b"\\ "):
        closed = True
        at += 1
    rows = lines[start:at]
    fault = _after_the_end(rows) if closed else ""
    return Body(rows, at, added, removed, fault, ended, closed)


def _after_the_end(rows: Sequence[bytes]) -> str:
    """Say so where a line follows on the side whose last line has no newline."""
    closed, previous = "", ""
    for row in rows:
        mark = row[:1].decode("latin-1").strip("\r") or " "
        if mark == "\\":
            closed += "+-" if previous == " " else previous
        elif closed and (mark == " " or mark in closed):
            return "a line follows the one that has no newline"
        previous = mark
    return ""


def shorten(head: Header, body: Body, *, drop_last: bool) -> tuple[Header, Body]:
    """Make the header of a hunk that the end of the input cut off fit the rows that came.

    `drop_last` leaves out the last row, which may be cut itself.
    """
    rows = body.rows[:-1] if drop_last else body.rows
    marks = [row[:1] for row in rows]
    added, removed = marks.count(b"+"), marks.count(b"-")
    both = len(marks) - added - removed - marks.count(b"\\")
    head = head._replace(old_count=removed + both, new_count=added + both)
    return head, body._replace(rows=rows, added=added, removed=removed)


def clip(row: bytes, limit: int) -> bytes:
    """Cut a row to at most `limit` bytes, not inside a character."""
    if len(row) <= limit:
        return row
    for size in range(limit, limit - _MAX_TAIL, -1):
        if row[size] & 0xC0 != 0x80:  # noqa: PLR2004 - a byte that continues a character in UTF-8
            return row[:size]
    return row[:limit]


def make(head: Header, rows: Sequence[bytes]) -> Hunk:
    """Turn read rows into the model; markers of empty lines and of missing newlines get their one form."""
    body = b"\n".join([_canonical(row) if row[:1] not in _MARKS else row for row in rows])
    return Hunk(
        old_start=head.old_start,
        old_count=head.old_count,
        new_start=head.new_start,
        new_count=head.new_count,
        heading=head.heading.decode("utf-8", "replace"),
        body=body.decode("utf-8", "replace"),
    )


def _canonical(row: bytes) -> bytes:
    return NO_NEWLINE if row.startswith(b"\\") else b" " + row
