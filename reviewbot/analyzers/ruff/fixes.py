"""Turn ruff's safe fixes into replacements of whole lines of the new side.

Ruff says how far a fix may be trusted (https://docs.astral.sh/ruff/linter/#fix-safety); "safe" keeps what the code
means. A fix that reaches beyond the lines of its own report, such as an import at the top of the file, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_MAX_CHARS = 4_000
"""Characters that the replacement of a candidate may have."""

_BOM = "\ufeff"
"""Ruff does not count it as a column."""

_MAX_EDITS = 50
"""Of one fix; more of them rewrite a table, and the result is too long to be read."""


class Edit(NamedTuple):
    """Text in the place of what stands from `start` up to `end`; both are (row, column), 1-based, in characters."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def edits_of(fix: object) -> tuple[Edit, ...]:
    """The edits of a fix in ruff's JSON, in their order; none of one that is not safe, or has another form."""
    if not isinstance(fix, Mapping) or fix.get("applicability") != "safe" or not isinstance(fix.get("edits"), list):
        return ()
    edits = [_edit(each) for each in fix["edits"][: _MAX_EDITS + 1]]
    read = tuple(sorted(edit for edit in edits if edit is not None))
    return read if len(read) == len(edits) <= _MAX_EDITS else ()


def replacement_of(edits: Sequence[Edit], first: int, rows: Sequence[str]) -> str | None:
    """What takes the place of `rows`, of which the first has the number `first`, joined by LF; "" deletes them.

    None where there is no fix, where a part of it lies elsewhere, or where it does not leave whole lines.
    """
    if not edits or any("\r" in row.removesuffix("\r") or row.startswith(_BOM) for row in rows):
        return None
    lines = [row.removesuffix("\r") + "\n" for row in rows]
    block = "".join(lines)
    end = len(block)
    for edit in reversed(edits):
        start, stop = (_offset(place, first, lines) for place in (edit.start, edit.end))
        if start is None or stop is None or not start <= stop <= end:
            return None
        block, end = block[:start] + edit.text.replace("\r\n", "\n") + block[stop:], start
    # One empty line would be written like a deletion, and is not one.
    if block == "\n" or (block and not block.endswith("\n")) or len(block) > _MAX_CHARS:
        return None
    return block.removesuffix("\n")


def _edit(item: object) -> Edit | None:
    if not isinstance(item, Mapping):
        return None
    start, end, text = _place(item.get("location")), _place(item.get("end_location")), item.get("content")
    return None if start is None or end is None or not isinstance(text, str) else Edit(start, end, text)


def _place(item: object) -> tuple[int, int] | None:
    if not isinstance(item, Mapping):
        return None
    row, column = item.get("row"), item.get("column")
    return (row, column) if type(row) is int and type(column) is int and row >= 1 and column >= 1 else None


def _offset(place: tuple[int, int], first: int, lines: Sequence[str]) -> int | None:
    """Where in the lines, joined, a place is; None where it is outside. Their end is the start of the next row."""
    at, column = place[0] - first, place[1]
    if at == len(lines) and column == 1:
        return sum(map(len, lines))
    if not 0 <= at < len(lines) or column > len(lines[at]):
        return None
    return sum(map(len, lines[:at])) + column - 1
