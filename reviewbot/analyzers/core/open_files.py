"""Hold changed files in memory: few at a time, whatever the size of the change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from reviewbot.domain.ports import ChangedFile
from reviewbot.threads import in_thread


@dataclass
class _Open:
    loading: asyncio.Task[ChangedFile]
    users: int = 0
    chars: int = 0
    """Of its texts, once it is one of those that are worked on."""


class OpenFiles:
    """Open at most `files` files, and `chars` characters of those that are worked on; a larger file is alone.

    What tools make of a text takes a multiple of its size. A file that is not used stays until its place is needed:
    another tool may ask for it.
    """

    def __init__(self, files: int, chars: int, load: Callable[[str], ChangedFile]) -> None:
        """`load` reads a file by its path; it may block."""
        self._files = files
        self._chars = chars
        self._load = load
        self._open: dict[str, _Open] = {}
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def open_file(self, path: str) -> AsyncIterator[ChangedFile]:
        """Load the file as soon as there is room for it. Raises what `load` raises."""
        entry = await self._take(path)
        try:
            file = await asyncio.shield(entry.loading)
            await self._admit(entry, size_of(file))
            yield file
        finally:
            entry.users -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _take(self, path: str) -> _Open:
        async with self._changed:
            await self._changed.wait_for(lambda: path in self._open or self._has_place())
            entry = self._open.get(path)
            if entry is None:
                entry = self._open[path] = _Open(asyncio.ensure_future(in_thread(lambda: self._load(path))))
            entry.users += 1
            return entry

    async def _admit(self, entry: _Open, chars: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: entry.chars or self._has_room(chars))
            entry.chars = chars

    def _has_place(self) -> bool:
        return len(self._open) < self._files or self._close(next(iter(self._unused()), None))

    def _has_room(self, chars: int) -> bool:
        """Whether so many characters more may be worked on; unused files make room for them, the oldest first."""
        while (held := sum(entry.chars for entry in self._open.values())) and held + chars > self._chars:
            if not self._close(next((path for path in self._unused() if self._open[path].chars), None)):
                return False
        return True

    def _unused(self) -> list[str]:
        return [path for path, entry in self._open.items() if not entry.users]

    def _close(self, path: str | None) -> bool:
        return path is not None and self._open.pop(path, None) is not None


def size_of(file: ChangedFile) -> int:
    """The characters of a file's texts; 1 at least."""
    return max(1, len(file.head or "") + len(file.base or "") + sum(len(hunk.body) for hunk in file.hunks))
