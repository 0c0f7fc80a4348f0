"""Supervise the App's own processes: restart those that died, and end all of them together.

A child ends when its supervisor ends, however that happens: the supervisor holds the other end of the child's standard
input, and the child stops itself when the system closes it (`follow_supervisor`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from reviewbot.domain.errors import ExitCode

VARIABLE = "REVIEWBOT_LIFELINE"
"""Set for a child whose standard input is one."""


def follow_supervisor(
    environ: Mapping[str, str], end: Callable[[], None] | None = None, descriptor: int = 0
) -> threading.Thread | None:
    """Stop this process in good order (by SIGTERM, or by `end`) once the supervisor is gone. None: no supervisor."""
    if environ.get(VARIABLE) != "stdin":
        return None
    watcher = threading.Thread(target=_watch, args=(descriptor, end or _end), name="lifeline", daemon=True)
    watcher.start()
    return watcher


def _watch(descriptor: int, end: Callable[[], None]) -> None:
    while os.read(descriptor, 1024):
        pass
    end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


logger = logging.getLogger("reviewbot.supervisor")


WRONGLY = (
    "%s cannot run as it was started; its own line above says why. Until that is mended nothing is done of what comes "
    "in, but it is accepted and kept. Started again in %.0f s; what stands in variables takes a restart of all"
)
"""For the operator who reads the log: everything else seems to be well."""


@dataclass(frozen=True)
class Child:
    """A supervised process."""

    name: str
    argv: tuple[str, ...]
    ready: Callable[[], bool] = lambda: True
    """Whether it can be started yet."""
    vital: bool = True
    """Whether all end where it says that it was started wrongly; else the others go on, and it is tried again."""


@dataclass(frozen=True)
class RestartTimings:
    """Times, in seconds."""

    first_wait_s: float = 0.2
    """Before what died is started again; for one that was killed it stays so, for one that fails it doubles."""
    longest_wait_s: float = 15.0
    settled_s: float = 20.0
    """A child that lived so long is not failing over and over."""
    look_s: float = 0.5
    """Between two looks at whether a child may be started."""
    wrong_wait_s: float = 30.0
    """Before the next start of one that says that it was started wrongly: a database may come, a lock may go."""
    grace_s: float = 60.0
    """For a child that was asked to stop; then it is killed. What it was at goes on with the next start."""


async def supervise(children: Sequence[Child], timings: RestartTimings | None = None) -> int:
    """Run until SIGTERM or SIGINT, or until a vital child says that it was started wrongly; the exit code."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    keepers = [
        asyncio.create_task(_ChildSupervisor(child, stop, timings or RestartTimings()).keep()) for child in children
    ]
    try:
        return max(await asyncio.gather(*keepers))
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


class _ChildSupervisor:
    """One child, again and again."""

    def __init__(self, child: Child, stop: asyncio.Event, timings: RestartTimings) -> None:
        self._child = child
        self._stop = stop
        self._timings = timings
        self._wait_s = timings.first_wait_s

    async def keep(self) -> int:
        while not self._stop.is_set():
            if not self._child.ready():
                await self._pause(self._timings.look_s)
                continue
            began = asyncio.get_running_loop().time()
            try:
                process = await self._start()
            except OSError as error:  # no memory, or too many processes: the others need not end for that
                logger.error("%s cannot be started (%s)", self._child.name, type(error).__name__)  # noqa: TRY400 - no bug
                await self._pause(self._timings.longest_wait_s)
                continue
            code = await self._watch(process)
            if self._stop.is_set():
                break
            logger.warning("%s ended with %d", self._child.name, code, extra={"child": process.pid})
            if code == ExitCode.USAGE and self._child.vital:
                self._stop.set()
                return code
            await self._pause(self._next_wait(code, asyncio.get_running_loop().time() - began))
        return ExitCode.REVIEWED

    async def _start(self) -> Process:
        environ = {**os.environ, VARIABLE: "stdin"}
        process = await asyncio.create_subprocess_exec(*self._child.argv, stdin=PIPE, env=environ)
        logger.info("%s started", self._child.name, extra={"child": process.pid})
        return process

    async def _watch(self, process: Process) -> int:
        """Until it ends, or until all are to end and it has."""
        ended, stopping = asyncio.create_task(process.wait()), asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                await self._end(process, ended)
            return await ended
        finally:
            stopping.cancel()

    async def _end(self, process: Process, ended: asyncio.Task[int]) -> None:
        with suppress(ProcessLookupError):
            process.terminate()
        await asyncio.wait({ended}, timeout=self._timings.grace_s)
        if not ended.done():
            logger.warning("%s did not stop in time", self._child.name, extra={"child": process.pid})
            with suppress(ProcessLookupError):
                process.kill()

    def _next_wait(self, code: int, lived_s: float) -> float:
        if code == ExitCode.USAGE:
            logger.error(WRONGLY, self._child.name, self._timings.wrong_wait_s)
            return self._timings.wrong_wait_s
        if code < 0 or lived_s >= self._timings.settled_s:
            self._wait_s = self._timings.first_wait_s
        else:
            self._wait_s = min(2 * self._wait_s, self._timings.longest_wait_s)
        return self._wait_s

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
