"""Compute a value once for many concurrent callers, and run a program once for many files.

A value is cached for as long as its key is of use. `Batches` joins jobs that wait for one program: starting it costs
more than a further small file.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from reviewbot.analyzers.core.process import ProgramError
from reviewbot.domain.ports import ChangedFile

K = TypeVar("K")
T = TypeVar("T")

J = TypeVar("J")
R = TypeVar("R")

RUNS_AT_ONCE = 2
"""Runs of one program; what comes meanwhile waits, and is the next run together."""

MAX_JOBS = 32
MAX_CHARS = 300_000
"""Of the jobs of one run, so that it keeps to the limits that a program has for one file."""


def once_per_file(function: Callable[[ChangedFile], T]) -> Callable[[ChangedFile], T]:
    """Cache the value of a function of a file for as long as the file lives. The value must not refer to the file."""
    made: WeakKeyDictionary[ChangedFile, tuple[Lock, list[T]]] = WeakKeyDictionary()

    @wraps(function)
    def memoize(file: ChangedFile) -> T:
        lock, value = made.setdefault(file, (Lock(), []))
        with lock:  # tools ask at the same time, and one of them does the work
            if not value:
                value.append(function(file))
            return value[0]

    return memoize


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


@dataclass(eq=False)
class _Entry(Generic[J, R]):
    job: J
    result: asyncio.Future[R]
    alone: bool = False
    """The run of the whole batch has failed: which of its jobs caused that is not known."""


class Batches(Generic[J, R]):
    """Runs jobs, several at a time. A run that fails is repeated for each of its jobs alone. For one event loop."""

    def __init__(self, run: Callable[[Sequence[J]], Awaitable[Sequence[R]]], chars_of: Callable[[J], int]) -> None:
        """`run` gives one result for each job, or raises ProgramError for all of them."""
        self._run = run
        self._chars_of = chars_of
        self._waiting: list[_Entry[J, R]] = []
        self._runs: dict[asyncio.Task[None], list[_Entry[J, R]]] = {}

    async def get(self, job: J) -> R:
        """Run a job and return its result. Raises ProgramError. A run is cancelled when its last caller is."""
        entry: _Entry[J, R] = _Entry(job, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        self._begin()
        try:
            return await entry.result
        finally:
            self._waiting = [each for each in self._waiting if each is not entry]
            unwanted = [
                task for task, batch in self._runs.items() if batch and all(each.result.done() for each in batch)
            ]
            for task in unwanted if entry.result.cancelled() else ():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def _begin(self) -> None:
        """Begin a run where there is room for one. What comes in the same moment is part of it."""
        if self._waiting and len(self._runs) < RUNS_AT_ONCE:
            batch: list[_Entry[J, R]] = []
            task = asyncio.create_task(self._carry_out(batch))
            self._runs[task] = batch
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._runs[task]
        self._begin()

    async def _carry_out(self, batch: list[_Entry[J, R]]) -> None:
        batch += self._next()
        try:
            results = await self._run([entry.job for entry in batch]) if batch else ()
        except Exception as error:  # noqa: BLE001 - a bug in `run` is raised where its results are waited for
            self._failed(batch, error)
            return
        for entry, result in zip(batch, results, strict=True):
            if not entry.result.done():
                entry.result.set_result(result)

    def _failed(self, batch: Sequence[_Entry[J, R]], error: Exception) -> None:
        left = [entry for entry in batch if not entry.result.done()]
        if isinstance(error, ProgramError) and len(batch) > 1:
            for entry in left:
                entry.alone = True
            self._waiting = [*left, *self._waiting]
            return
        for entry in left:
            entry.result.set_exception(error)

    def _next(self) -> list[_Entry[J, R]]:
        """The jobs of the next run, which wait no more."""
        batch: list[_Entry[J, R]] = []
        chars = 0
        for entry in self._waiting:
            chars += self._chars_of(entry.job)
            if batch and (entry.alone or batch[0].alone or len(batch) >= MAX_JOBS or chars > MAX_CHARS):
                break
            batch.append(entry)
        self._waiting = self._waiting[len(batch) :]
        return batch
