"""What a review lacks because its host did not tell it, in words for whoever reads the review."""

from __future__ import annotations

from reviewbot.adapters.github.snapshot import GithubSnapshot
from reviewbot.output.text import short_line
from reviewbot.ports import Snapshot
from reviewbot.wording import counted

NO_TREE = "the whole repository could not be looked through, only single files of it"

MAX_NAMES = 3
"""Files that are named; the others are counted."""

_NAME_CHARS, _REASON_CHARS = 120, 300


def unread(snapshot: Snapshot) -> tuple[str, ...]:
    """Notes, one line each."""
    if not isinstance(snapshot, GithubSnapshot):
        return ()
    notes = []
    if snapshot.failures:
        since = f"GitHub gave no more files from some point on{_which(snapshot.missed)}"
        notes.append(f"{since}: {_why(snapshot.failures[0])}")
    if snapshot.tree_gap:
        notes.append(f"{NO_TREE}: {_why(snapshot.tree_gap)}")
    if snapshot.absent:
        notes.append(f"these files of the head could not be had, and were not searched{_which(snapshot.absent)}")
    return tuple(notes)


def _which(missed: tuple[str, ...]) -> str:
    names = ", ".join(short_line(path, _NAME_CHARS) for path in missed[:MAX_NAMES])
    more = ", ..." if len(missed) > MAX_NAMES else ""
    return f"; {counted(len(missed), 'file')} could not be read ({names}{more})"


def _why(reason: str) -> str:
    return short_line(reason, _REASON_CHARS)
