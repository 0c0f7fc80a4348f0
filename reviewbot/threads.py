"""Work in a thread that nobody has to wait for.

The threads of `asyncio.to_thread` are joined when the loop ends and again when the interpreter does, so that one scan
that never comes back would hold up a review that has long been finished.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """The value of a function, computed beside the loop. Raises what it raises.

    Whoever stops waiting leaves the thread behind: it cannot be stopped, holds up nothing, and dies with the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    values: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            values.append(function())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)
        with contextlib.suppress(RuntimeError):  # the loop has ended without us
            loop.call_soon_threadsafe(_settle, done)

    threading.Thread(target=work, name="reviewbot-scan", daemon=True).start()
    await done
    if errors:
        raise errors[0]
    return values[0]


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
