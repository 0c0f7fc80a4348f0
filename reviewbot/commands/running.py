"""Run the one coroutine of a command, so that a stop at any moment ends it in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


def run_to_end(work: Callable[[], Coroutine[None, None, T]]) -> T:
    """What `work()` returns. An interrupt cancels it, and is raised as KeyboardInterrupt when all of it has ended.

    The loop stands before the coroutine is made, and the coroutine is closed also where it never began: with
    `asyncio.run` an interrupt in between leaves one behind that Python complains of.
    """
    with asyncio.Runner() as runner:
        runner.get_loop()
        coroutine = work()
        try:
            return runner.run(coroutine)
        finally:
            coroutine.close()
