"""Run the one coroutine of a command, so that a stop at any moment ends it in order."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


def run_to_end(work: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run `work()` to its result. A SIGINT or SIGTERM cancels it, and is a KeyboardInterrupt when all has ended.

    The loop stands before the coroutine is made, and the coroutine is closed also where it never began: with
    `asyncio.run` an interrupt in between leaves one behind that Python complains of.
    """
    results: list[T] = []
    with asyncio.Runner() as runner:
        runner.get_loop()
        coroutine = _stoppable(work, results)
        try:
            runner.run(coroutine)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            coroutine.close()
    return results[0]


async def _stoppable(work: Callable[[], Coroutine[None, None, T]], results: list[T]) -> None:
    """The loop itself cares for SIGINT, but not where a shell began us in the background; so SIGTERM is ours.

    The result is no result of the task: `signal.getsignal` writes out the task, and a review of 5,000 files takes 3 s.
    """
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        results.append(await work())
        return
    before = signal.getsignal(signal.SIGTERM)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        results.append(await work())
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)
