"""A snapshot in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from reviewbot.domain.ports import Commit, Occurrence


class InMemorySnapshot:
    """Both sides of some files, and nothing around them; remembers which names it was asked for.

    `searchable`: words are found in the files of the head. `whole`: those are the whole tree.
    """

    def __init__(
        self,
        head: Mapping[str, str | bytes] | None = None,
        base: Mapping[str, str] | None = None,
        *,
        searchable: bool = False,
        whole: bool = False,
        commits: tuple[Commit, ...] = (),
    ) -> None:
        self.after, self.before = head or {}, base or {}
        self.searchable, self.whole, self.commits = searchable, whole, commits
        self.asked: list[str] = []
        self.searches: list[str] = []
        self.histories: list[tuple[str, int]] = []

    def head(self, path: str) -> str | None:
        self.asked.append(path)
        text = self.after.get(path)
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else text

    def base(self, path: str) -> str | None:
        self.asked.append(path)
        return self.before.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        self.searches.append(word)
        if not self.searchable:
            return None
        whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        found = [
            Occurrence(path, number, line)
            for path, data in self.contents(sorted(self.after))
            for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1)
            if whole.search(line)
        ]
        return tuple(found[:limit])

    def files(self) -> tuple[str, ...] | None:
        return tuple(sorted(self.after)) if self.whole else None

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        texts = ((path, self.after[path]) for path in paths if path in self.after)
        return ((path, text if isinstance(text, bytes) else text.encode()) for path, text in texts)

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        self.histories.append((path, limit))
        return self.commits
