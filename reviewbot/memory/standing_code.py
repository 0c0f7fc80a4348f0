"""Whether the code of a remembered finding still stands in its file, and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Literal

from reviewbot.context.statements import Statements
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import DESCRIPTION, TITLE, FileChange
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.fingerprints import code_digest, normal

CurrentLine = int | Literal["gone", "unknown"]
"""The line on which the code begins now; or that it is gone, or that the file cannot be read."""

MAX_STATEMENTS = 4
"""Statements in a row that are looked for in any form; of more, those with as many rows as before."""

MAX_LINES = 60_000
"""Of a file in which code is looked for, times the heights of that code: a few seconds."""

Text = Callable[[str], str | None]
"""The new side of a file; None where it is not at hand."""

Listing = Callable[[], Collection[str] | None]
"""The names of all files of the head; None where they are not at hand."""


def gone_check(files: Iterable[FileChange], listing: Listing) -> Callable[[str], bool]:
    """Whether a file that cannot be read is known not to be in the head: deleted, or added and left out again."""
    states = {file.path: file.status for file in files}

    def is_gone(path: str) -> bool:
        if path in states or path in (TITLE, DESCRIPTION):
            return states.get(path) == "deleted"
        there = listing()
        return there is not None and path not in there

    return is_gone


def standing_codes(
    records: Iterable[Record], path_now: Mapping[str, str], text: Text, gone: Callable[[str], bool]
) -> dict[str, CurrentLine]:
    """Where the code of each record stands, by the record's name.

    Args:
        records: those that the review did not report again.
        path_now: new names of renamed files by their old ones.
        text: the head.
        gone: whether a file is known not to be there any more.
    """
    found: dict[str, CurrentLine] = {}

    def path_of(record: Record) -> str:
        return path_now.get(record.path, record.path)

    for path, group in groupby(sorted(records, key=path_of), key=path_of):
        of_file = list(group)
        content = text(path)
        places = {} if content is None else code_places(content, path, {each.rows for each in of_file if each.code})
        for record in of_file:
            if not record.code or places is None or (content is None and not gone(path)):
                found[record.name] = "unknown"
            else:
                lines = places.get(record.code, [])
                found[record.name] = min(lines, key=partial(_distance, record.line)) if lines else "gone"
    return found


def _distance(here: int, there: int) -> int:
    return abs(here - there)


def code_places(content: str, path: str, heights: Collection[int]) -> dict[str, list[int]] | None:
    """The lines on which code begins, by its digest: all of these heights; None for a file that is too large."""
    lines = content.split("\n")
    if len(lines) * max(1, len(heights)) > MAX_LINES:
        return None
    places = [(at + 1, "\n".join(lines[at : at + rows])) for rows in heights for at in range(len(lines) - rows + 1)]
    if language_of(path) == "python":
        places += _statements(content, heights)
    found: dict[str, list[int]] = defaultdict(list)
    for line, code in places:
        found[code_digest(normal(code))].append(line)
    return found


def _statements(content: str, heights: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield statements that follow each other, as the place of a finding holds them.

    Those that have one of these heights together, and up to `MAX_STATEMENTS` of any: a formatter may have changed it.
    """
    every = Statements(content).over(1, content.count("\n") + 1)
    highest = max(heights, default=0)
    for at in range(len(every)):
        code = ""
        for count, statement in enumerate(every[at : at + highest + MAX_STATEMENTS]):
            code = f"{code}\n{statement.code}" if count else statement.code
            height = code.count("\n") + 1
            if count < MAX_STATEMENTS or height in heights:
                yield every[at].first, code
            if count >= MAX_STATEMENTS and height >= highest:
                break
