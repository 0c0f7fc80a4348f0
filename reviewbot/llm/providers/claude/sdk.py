"""Run the SDK in a process of its own: to load it takes two seconds of a processor, and other work waited for that."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from reviewbot.domain.errors import ConfigError
from reviewbot.llm.providers.claude.access import Access

PROGRAM = Path(__file__).with_name("sdk_process.py")
"""Its head describes what is sent and received."""

ENDED = ("failed", "ended")

Part = tuple[str, Any]
"""A kind and its value."""


class Sdk:
    """The SDK's process. It begins once, with the first request or before, and again where it ended unexpectedly.

    For any number of threads and event loops. It ends with the process that began it.
    """

    def __init__(self, program: Path = PROGRAM) -> None:
        self._program = program
        self._lock = Lock()
        self._loaded: Future[int] | None = None
        self._connection: Connection
        self._numbers = count(1)
        self._waiting: dict[int, Callable[[Part], object]] = {}

    def begin(self) -> Future[int]:
        """Begin to load the SDK. The result: how long that took, in milliseconds; ConfigError where it cannot be."""
        with self._lock:
            if self._loaded is None:
                loaded: Future[int] = Future()
                try:
                    ours, theirs = socket.socketpair()
                    self._connection = Connection(ours.detach())
                    with theirs:
                        process = _start(self._program, theirs)
                    receive = (process, self._connection, loaded)
                    Thread(target=self._receive, args=receive, name="anthropic", daemon=True).start()
                except (OSError, RuntimeError) as error:
                    # No room for a process or a thread now: the next request tries again.
                    loaded.set_exception(_unloadable(str(error)))
                    return loaded
                self._loaded = loaded
            return self._loaded

    async def load_ms(self) -> int:
        """Milliseconds that loading took, as soon as it is done. Raises ConfigError."""
        # No thread of the executor waits here: others need those. Cancelling a caller does not stop the loading.
        return await asyncio.shield(asyncio.wrap_future(self.begin()))

    async def answer(self, access: Access, params: Mapping[str, Any]) -> AsyncGenerator[Part, None]:
        """The parts of the answer to a request, and a failure as its last part. Stops the request when it is closed.

        Raises ConfigError where the SDK cannot be loaded.
        """
        await self.load_ms()
        parts: asyncio.Queue[Part] = asyncio.Queue()
        number, loop = next(self._numbers), asyncio.get_running_loop()
        try:
            with self._lock:
                self._waiting[number] = lambda part: loop.call_soon_threadsafe(parts.put_nowait, part)
                self._connection.send((number, asdict(access), params))
            while (part := await parts.get())[0] != "end":
                yield part
        except OSError:
            yield ENDED
        finally:
            if self._waiting.pop(number, None) is not None:
                with suppress(OSError), self._lock:
                    self._connection.send((number, None, None))

    def _receive(self, process: subprocess.Popen[bytes], connection: Connection, loaded: Future[int]) -> None:
        refused = False
        with suppress(EOFError, OSError):
            while True:
                number, kind, value = connection.recv()
                if kind == "loaded":
                    loaded.set_result(value)
                elif kind == "unloadable":
                    refused = True
                    loaded.set_exception(_unloadable(value))
                elif deliver := self._waiting.get(number):
                    with suppress(RuntimeError):  # the event loop of the request is closed
                        deliver((kind, value))
        process.wait()
        with self._lock:
            connection.close()
            if not loaded.done():
                loaded.set_exception(_unloadable("its process ended"))
            if not refused:
                self._loaded = None  # the next request begins another process
            waiting = [*self._waiting.values()]
            self._waiting.clear()
        for deliver in waiting:
            with suppress(RuntimeError):
                deliver(ENDED)


def _start(program: Path, connection: socket.socket) -> subprocess.Popen[bytes]:
    # Nothing is imported from the folder that happens to be the current one, nor, where that holds for this process (as
    # in the Action), from what the environment names. Its standard error goes nowhere: a caller that reads ours to its
    # end would wait for the child, also where a run ends before the SDK is loaded.
    command = [sys.executable, "-I" if sys.flags.isolated else "-P", str(program)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=connection.fileno(), stdout=nowhere, stderr=nowhere)  # noqa: S603 - itself


def _unloadable(why: str) -> ConfigError:
    return ConfigError(f"the models' SDK cannot be loaded ({why}): install it again")


@cache
def shared_sdk() -> Sdk:
    """The one of this process."""
    return Sdk()
