"""Run a function in a daemon thread, beside the event loop.

The threads of `asyncio.to_thread` are joined when the loop ends and again when the interpreter does, so that one scan
that never comes back would hold up a review that has long been finished. The threads here are reused: to start one
blocks the loop until the new thread has run, which takes milliseconds while others compute.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


_IDLE_S = 5.0
"""How long a thread without work stays."""

_STRIDE = 1_000
"""Items between two looks at whether the work is still wanted."""

_local = threading.local()


class Stopped(Exception):  # noqa: N818 - not an error: the result is not wanted any more
    """The work of this thread is not waited for any more."""


async def in_thread(function: Callable[[], T]) -> T:
    """The value of a function, computed beside the loop. Raises what it raises.

    A thread cannot be stopped from outside. When this is cancelled, `check_stopped` raises in the thread; a function
    that does not call it goes on, holds up nothing, and dies with the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    stop = threading.Event()
    # The thread may end a little later: it must not hold what it was given and what it made any longer than we do.
    todo = [function]
    values: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        _local.stop = stop
        try:
            values.append(todo.pop()())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)
        with contextlib.suppress(RuntimeError):  # the loop has ended without us
            loop.call_soon_threadsafe(settle, done)

    _pool.run(work)
    try:
        await done
    finally:
        stop.set()
    if errors:
        raise errors.pop()
    return values.pop()


class _Pool:
    """Daemon threads that take one job after another. No job waits for a thread: where all are busy, one is started."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._free = 0
        """Threads that wait for a job, less the jobs in the queue, each of which is one of these threads' next."""

    def run(self, job: Callable[[], None]) -> None:
        """Run a job, which must not raise."""
        with self._lock:
            if self._free:
                self._free -= 1
                self._jobs.put(job)
                return
        threading.Thread(target=self._work, args=([job],), name="reviewbot-scan", daemon=True).start()

    def _work(self, jobs: list[Callable[[], None]]) -> None:
        while jobs:
            jobs.pop()()
            _local.stop = None
            with self._lock:
                self._free += 1
            jobs += self._next()

    def _next(self) -> list[Callable[[], None]]:
        """The next job; none where there was nothing to do for a while."""
        while True:
            with contextlib.suppress(queue.Empty):
                return [self._jobs.get(timeout=_IDLE_S)]
            with self._lock:
                if self._free:
                    self._free -= 1
                    return []


_pool = _Pool()


def check_stopped() -> None:
    """Raise Stopped in a thread of `in_thread` whose result is not waited for any more; elsewhere do nothing."""
    stop = getattr(_local, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def stoppable(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, and look now and then whether they are still wanted. Raises Stopped."""
    for at, item in enumerate(items):
        if not at % _STRIDE:
            check_stopped()
        yield item


def settle(done: asyncio.Future[None]) -> None:
    """End a future that may have ended. For its event loop."""
    if not done.done():
        done.set_result(None)
