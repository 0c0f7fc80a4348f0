"""One run for many callers: whoever asks while it is under way waits for it, whoever asks soon after gets its value."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")


@dataclass
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class SharedRuns(Generic[T]):
    """Values by key, at most `capacity` of them, least recently used out first. An error is told and forgotten."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[str, T] = OrderedDict()
        self._flights: dict[str, _Flight[T]] = {}

    def __len__(self) -> int:
        """How many values and runs are held."""
        return len(self._values) + len(self._flights)

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The value for a key, made once. Raises what `make` raises. With its last caller a run is cancelled."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.ensure_future(make()))
        flight.waiters += 1
        try:
            value = await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                await self._land(key, flight)
        self._keep(key, value)
        return value

    async def _land(self, key: str, flight: _Flight[T]) -> None:
        """Forget a run that nobody waits for any more, and end it where it is still under way."""
        self._flights.pop(key, None)
        if not flight.task.done():
            flight.task.cancel()
            await asyncio.gather(flight.task, return_exceptions=True)

    def _keep(self, key: str, value: T) -> None:
        self._values[key] = value
        while len(self._values) > self._capacity:
            self._values.popitem(last=False)
