"""Join jobs that wait for a program into one run of it: starting a program costs more than a further small file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from reviewbot.analyzers.core.process import ProgramError

J = TypeVar("J")
R = TypeVar("R")

RUNS_AT_ONCE = 2
"""Runs of one program; what comes meanwhile waits, and is the next run together."""

MAX_JOBS = 32
MAX_CHARS = 300_000
"""Of the jobs of one run, so that it keeps to the limits that a program has for one file."""


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
