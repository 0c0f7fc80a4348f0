"""A snapshot that searches for each word once, however many candidates of one task ask for it."""

from __future__ import annotations

from reviewbot.ports import Commit, Occurrence, Snapshot


class SearchedOnce:
    """A `Snapshot` that keeps what it found. For one task: it holds everything until it is let go."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: dict[str, tuple[int, tuple[Occurrence, ...] | None]] = {}

    def head(self, path: str) -> str | None:
        """As the snapshot has it."""
        return self._snapshot.head(path)

    def base(self, path: str) -> str | None:
        """As the snapshot has it."""
        return self._snapshot.base(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """As the snapshot finds it; it is asked again only for more lines than before."""
        asked, found = self._found.get(word, (0, None))
        if limit > asked:
            asked, found = limit, self._snapshot.search(word, limit)
            self._found[word] = (asked, found)
        return None if found is None else found[:limit]

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        """As the snapshot has it."""
        return self._snapshot.history(path, first, last, limit)
