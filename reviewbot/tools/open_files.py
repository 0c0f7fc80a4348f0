"""The changed files that are in memory: few at a time, whatever the size of the change."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from reviewbot.ports import ChangedFile


@dataclass
class _Open:
    loading: asyncio.Task[ChangedFile]
    users: int = 0


class OpenFiles:
    """At most `places` files at a time. One that is not used stays until its place is needed: another tool may ask."""

    def __init__(self, places: int, load: Callable[[str], ChangedFile]) -> None:
        """`load` reads a file by its path; it may block."""
        self._places = places
        self._load = load
        self._open: dict[str, _Open] = {}
        self._left = asyncio.Condition()

    @asynccontextmanager
    async def opened(self, path: str) -> AsyncIterator[ChangedFile]:
        """The file, as soon as there is a place for it. Raises what `load` raises."""
        entry = await self._take(path)
        try:
            yield await asyncio.shield(entry.loading)
        finally:
            entry.users -= 1
            async with self._left:
                self._left.notify_all()

    async def _take(self, path: str) -> _Open:
        async with self._left:
            await self._left.wait_for(lambda: self._has_place(path))
            entry = self._open.get(path)
            if entry is None:
                entry = self._open[path] = _Open(asyncio.ensure_future(in_thread(lambda: self._load(path))))
            entry.users += 1
            return entry

    def _has_place(self, path: str) -> bool:
        """Whether a file is open, or may be opened now; the file that was unused for longest makes place for it."""
        if path in self._open or len(self._open) < self._places:
            return True
        unused = next((name for name, entry in self._open.items() if not entry.users), None)
        if unused is not None:
            del self._open[unused]
        return unused is not None
