"""Lines at which a host takes a comment: those of the new side that the change shows."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.diff.rows import commentable
from reviewbot.domain.contracts import ChangeSet


class LineSpan(NamedTuple):
    """Lines `first` to `last` of the new side, 1-based."""

    first: int
    last: int


class Shown:
    """The lines that a change shows, hunk by hunk."""

    def __init__(self, change: ChangeSet) -> None:
        self._hunks: dict[str, list[frozenset[int]]] = defaultdict(list)
        for file in change.files:
            if file.status != "deleted":
                self._hunks[file.path] += [commentable([hunk]) for hunk in file.hunks]

    def span(self, path: str, first: int, last: int) -> LineSpan | None:
        """Both lines where one hunk shows them, else the last one alone, else None."""
        hunks = self._hunks.get(path, [])
        if first < last and any(first in lines and last in lines for lines in hunks):
            return LineSpan(first, last)
        return LineSpan(last, last) if any(last in lines for lines in hunks) else None


def api_path(label: str) -> str | None:
    """The name of a file as it is in the repository; None where no JSON text can hold it."""
    try:
        return to_bytes(label).decode("utf-8")
    except UnicodeDecodeError:
        return None
