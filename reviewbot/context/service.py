"""Answer a review's questions about the surroundings of a change."""

from __future__ import annotations

from reviewbot.context.conventions import Conventions, conventions
from reviewbot.context.enclosing import Enclosing, enclosing
from reviewbot.diff.language import language_of
from reviewbot.domain.ports import Snapshot


class Context:
    """Questions about one snapshot. It may be asked from any thread, and waits for nothing but the snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def enclosing(self, path: str, first: int, last: int) -> Enclosing | None:
        """The definition that holds some lines of the new side; None without the file or a definition."""
        text = self._snapshot.head(path)
        return None if text is None else enclosing(text, language_of(path), first, last)

    def conventions(self, path: str) -> Conventions:
        """The repository's own rules for a path, from the base side."""
        return conventions(self._snapshot, path)
