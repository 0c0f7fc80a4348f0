"""Texts that are handed on to a reader with little room, and what was left out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.ports import Commit, Snapshot

MAX_TEXT = 40_000
"""Characters of one file: some thousand lines, or ten thousand tokens."""

MAX_COMMITS = 5
"""Of a history. Older ones say little of why the lines are as they are."""


@dataclass(frozen=True)
class Text:
    """A file of one side."""

    path: str
    text: str
    truncated: bool
    """Its end is left out."""


@dataclass(frozen=True)
class History:
    """The commits behind some lines of the old side, newest first."""

    commits: tuple[Commit, ...]
    truncated: bool
    """There are older ones."""


def capped(path: str, text: str | None, limit: int = MAX_TEXT) -> Text | None:
    """The start of a text up to a whole line, at most `limit` characters; None for None."""
    if text is None or len(text) <= limit:
        return None if text is None else Text(path, text, truncated=False)
    end = text.rfind("\n", 0, limit) + 1
    return Text(path, text[: end or limit], truncated=True)


def history(snapshot: Snapshot, path: str, first: int, last: int) -> History:
    """The newest commits that touched some lines of the old side."""
    commits = snapshot.history(path, first, last, MAX_COMMITS + 1)
    return History(commits[:MAX_COMMITS], len(commits) > MAX_COMMITS)
