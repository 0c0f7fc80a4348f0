"""A snapshot in memory."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.domain.ports import Commit, Occurrence


class Files:
    """Both sides of some files, and nothing around them; remembers which names it was asked for."""

    def __init__(self, head: Mapping[str, str] | None = None, base: Mapping[str, str] | None = None) -> None:
        self.after, self.before = head or {}, base or {}
        self.asked: list[str] = []

    def head(self, path: str) -> str | None:
        self.asked.append(path)
        return self.after.get(path)

    def base(self, path: str) -> str | None:
        self.asked.append(path)
        return self.before.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        return None

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        return ()
