"""Compute a value once for many concurrent callers, and cache it for as long as its key is of use."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from reviewbot.domain.ports import ChangedFile

K = TypeVar("K")
T = TypeVar("T")


def once_per_file(function: Callable[[ChangedFile], T]) -> Callable[[ChangedFile], T]:
    """Cache the value of a function of a file for as long as the file lives. The value must not refer to the file."""
    made: WeakKeyDictionary[ChangedFile, tuple[Lock, list[T]]] = WeakKeyDictionary()

    @wraps(function)
    def remembered(file: ChangedFile) -> T:
        lock, value = made.setdefault(file, (Lock(), []))
        with lock:  # tools ask at the same time, and one of them does the work
            if not value:
                value.append(function(file))
            return value[0]

    return remembered


@dataclass
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class _Shared(Generic[K, T]):
    """Values by key. An error is raised to the callers that wait for it and is not cached."""

    def __init__(self, values: MutableMapping[K, T]) -> None:
        self._values = values
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        """How many values and runs are held."""
        return len(self._values) + len(self._flights)

    async def get(self, key: K, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The value for a key, made once. Raises what `make` raises. With its last caller a run is cancelled."""
        if key in self._values:
            self._used(key)
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
        self._values[key] = value
        self._used(key)
        return value

    async def _land(self, key: K, flight: _Flight[T]) -> None:
        """Forget a run that no caller waits for any more, and cancel it where it is still under way."""
        self._flights.pop(key, None)
        if not flight.task.done():
            flight.task.cancel()
            await asyncio.gather(flight.task, return_exceptions=True)

    def _used(self, key: K) -> None:
        """Note that a value was asked for."""


class SharedRuns(_Shared[str, T]):
    """Values by key, at most `capacity` of them, least recently used out first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._recent: OrderedDict[str, T] = OrderedDict()
        super().__init__(self._recent)

    def _used(self, key: str) -> None:
        self._recent.move_to_end(key)
        while len(self._recent) > self._capacity:
            self._recent.popitem(last=False)


class FileRuns(_Shared[ChangedFile, T]):
    """Values by file, each as long as its file. A value must not refer to the file."""

    def __init__(self) -> None:
        super().__init__(WeakKeyDictionary())
