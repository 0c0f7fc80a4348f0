"""An event loop in which no deadline is met by accident, and none is waited for: its time leaps where all wait."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, in a loop that leaps."""
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(work)


class LeapingLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still while a task or a thread of its executor works.

    Threads that were not started by the loop are not known to it: it leaps while they work.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._in_threads = 0
        super().__init__(_Leaping(self))

    def time(self) -> float:
        """Seconds since the loop was made, by its own clock."""
        return self._now

    def leap(self, seconds: float) -> bool:
        """Move the clock, unless a thread works."""
        if self._in_threads:
            return False
        self._now += seconds
        return True

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """As the loop's own; the clock stands still until it is done."""
        self._in_threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._leave_thread)
        return future

    def _leave_thread(self, _: asyncio.Future[Any]) -> None:
        self._in_threads -= 1


class _Leaping(selectors.DefaultSelector):
    """Instead of waiting for a time it moves the clock."""

    def __init__(self, loop: LeapingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events or (timeout is not None and (timeout <= 0 or self._loop.leap(timeout))):
            return events
        return super().select(None)
