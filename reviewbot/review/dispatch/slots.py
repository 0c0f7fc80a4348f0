"""Limit how many tasks run at once. Tasks that one conversation answers take one slot together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class _Shared:
    acquired: asyncio.Task[bool]
    users: int = 0


class Slots:
    """A bounded number of slots, taken in the order of asking. For one event loop."""

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)
        self._shared: dict[str, _Shared] = {}

    @asynccontextmanager
    async def taken(self, name: str = "") -> AsyncIterator[None]:
        """Hold a slot together with all others that ask under the same name; without a name, alone."""
        if not name:
            async with self._free:
                yield
            return
        slot = self._shared.get(name)
        if slot is None:
            slot = self._shared[name] = _Shared(asyncio.create_task(self._free.acquire()))
        slot.users += 1
        try:
            await asyncio.shield(slot.acquired)
            yield
        finally:
            slot.users -= 1
            if not slot.users:
                del self._shared[name]
                if not slot.acquired.cancel() and not slot.acquired.cancelled():
                    self._free.release()
