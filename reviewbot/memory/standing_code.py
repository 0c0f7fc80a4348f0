"""Whether the code of a remembered finding still stands in its file, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Literal

from reviewbot.context.statements import Statements
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.fingerprints import code_digest, normal

Standing = int | Literal["gone", "unknown"]
"""The line on which the code begins now; or that it is gone, or that the file cannot be read."""

MAX_STATEMENTS = 4
"""Statements in a row that one finding covers; what covers more is followed by its lines."""

MAX_LINES = 20_000
"""Of a file in which code is looked for."""

Text = Callable[[str], str | None]
"""The new side of a file; None where it is not at hand."""


def standing_codes(
    records: Iterable[Record], path_now: Mapping[str, str], text: Text, gone: Callable[[str], bool]
) -> dict[str, Standing]:
    """Where the code of each record stands, by the record's name.

    Args:
        records: those that the review did not report again.
        path_now: new names of renamed files by their old ones.
        text: the head.
        gone: whether a file is known not to be there any more.
    """
    found: dict[str, Standing] = {}

    def path_of(record: Record) -> str:
        return path_now.get(record.path, record.path)

    for path, group in groupby(sorted(records, key=path_of), key=path_of):
        content = text(path)
        for record in group:
            if not record.code or (content is None and not gone(path)):
                found[record.name] = "unknown"
            else:
                found[record.name] = "gone" if content is None else _line_in(content, path, record)
    return found


def _line_in(content: str, path: str, record: Record) -> Standing:
    lines = content.split("\n")
    if len(lines) > MAX_LINES:
        return "unknown"
    places = _statements(content) if language_of(path) == "python" else iter(())
    starts = [line for line, code in places if code_digest(normal(code)) == record.code]
    if not starts:
        windows = (
            (at + 1, "\n".join(lines[at : at + record.rows])) for at in range(max(0, len(lines) - record.rows + 1))
        )
        starts = [line for line, code in windows if code_digest(normal(code)) == record.code]
    nearest = min(((abs(line - record.line), line) for line in starts), default=None)
    return "gone" if nearest is None else nearest[1]


def _statements(content: str) -> Iterator[tuple[int, str]]:
    """Yield up to `MAX_STATEMENTS` statements in a row, as the place of a finding holds them."""
    every = Statements(content).over(1, content.count("\n") + 1)
    for at in range(len(every)):
        for count in range(1, min(MAX_STATEMENTS, len(every) - at) + 1):
            yield every[at].first, "\n".join(each.code for each in every[at : at + count])
