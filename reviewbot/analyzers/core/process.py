"""Run one program on untrusted text: no shell, no environment, no names from the change, bounded in time and output.

Every failure has one of a few named reasons. Standard error of the program is read for decisions and never becomes part
of a message: analyzers have printed environment variables and other files there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewbot.analyzers.core.confinement import Confinement, ProgramLimits, confinement_here, limit_outside
from reviewbot.domain.contracts import GapReason
from reviewbot.domain.errors import ToolError
from reviewbot.threads import settle

SAFE_PATH: Final = "/usr/bin:/bin"
"""Where a program may look for others. Nothing that the caller's environment says."""

FOLDER: Final = "{folder}"
"""In an argument: the folder with the files."""

ISOLATION: Final = ("empty_folder", "scrubbed_environment", "time", "output")
"""What `run_program` does on every system; resource limits come on top where the system has them."""

_STDOUT, _STDERR = 1, 2

_LIMITS: Final = ProgramLimits()

_NOT_STARTED: Final = frozenset({126, 127})
"""How the wrappers end where there is no such program, or none that can be run."""

_REAP_SECONDS: Final = 5.0
"""A killed process is collected at once; this only bounds the wait where the system is overloaded."""


class ProgramError(ToolError):
    """A program gave no usable answer. The text never quotes what the program wrote."""

    def __init__(
        self, reason: GapReason, message: str, *, duration_ms: int = 0, status: int | None = None, output: bytes = b""
    ) -> None:
        """`output` is what a program had written when it was stopped for writing too much."""
        super().__init__(message)
        self.output = output
        self.reason: GapReason = reason
        self.duration_ms = duration_ms
        self.status = status


@dataclass(frozen=True)
class Finished:
    """The result of a program that ended by itself with an accepted exit status."""

    stdout: bytes
    stderr: bytes
    """For decisions only; never shown, logged or stored."""
    duration_ms: int
    limits: tuple[str, ...]
    """What was in force beside time and output, by name; empty where the system has nothing of it."""


async def run_program(
    program: Path,
    arguments: Sequence[str],
    files: Mapping[str, str],
    *,
    limits: ProgramLimits = _LIMITS,
    confinement: Confinement | None = None,
    statuses: Collection[int] = (0,),
) -> Finished:
    """Run `program` with `arguments`, in which FOLDER stands for the folder of `files`, in an empty working folder.

    The keys of `files` are names of our own making. Raises ProgramError with the reason missing_program, crashed
    (any status but one of `statuses`), timeout or flooded. Nothing of the run is left behind, also after a
    cancellation. `confinement` is by default the best that this system has.
    """
    # The first time it is tried out, by starting a program: not in the way of everything else that runs.
    name = program.name
    confined = await asyncio.to_thread(confinement_here) if confinement is None else confinement
    with _workspace(files) as root:
        watch = _Watch(limits)
        try:
            folder = str(root / "files")
            command = confined.command(program, [each.replace(FOLDER, folder) for each in arguments], limits)
            transport, from_outside = await _start(command, root, watch, limits)
        except OSError as error:
            raise ProgramError("missing_program", f"{name} cannot be started ({type(error).__name__})") from None
        in_force = confined.in_force(limits, from_outside)
        try:
            async with asyncio.timeout(limits.seconds):
                await watch.done
        except TimeoutError:
            message = f"{name} gave no answer in {limits.seconds:g} s"
            raise ProgramError("timeout", message, duration_ms=watch.ms()) from None
        finally:
            await _end(transport, watch)
        if confined.start and transport.get_returncode() in _NOT_STARTED:
            raise ProgramError("missing_program", f"{name} cannot be started", duration_ms=watch.ms())
        return _finished(name, transport.get_returncode(), statuses, watch, in_force)


def _finished(
    name: str, code: int | None, statuses: Collection[int], watch: _Watch, in_force: tuple[str, ...]
) -> Finished:
    if watch.flooded:
        message = f"{name} wrote more than it may and was stopped"
        raise ProgramError("flooded", message, duration_ms=watch.ms(), output=bytes(watch.output[_STDOUT]))
    if code not in statuses:
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        raise ProgramError("crashed", f"{name} ended with {how}", duration_ms=watch.ms(), status=code)
    return Finished(bytes(watch.output[_STDOUT]), bytes(watch.output[_STDERR]), watch.ms(), in_force)


class _Watch(asyncio.SubprocessProtocol):
    """Collects what a program writes. `done` is set when it has ended, or has written too much."""

    def __init__(self, limits: ProgramLimits) -> None:
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.output = {_STDOUT: bytearray(), _STDERR: bytearray()}
        self.flooded = False
        self._room = {_STDOUT: limits.stdout_bytes, _STDERR: limits.stderr_bytes}
        self._began = time.monotonic()

    def ms(self) -> int:
        """Milliseconds since the start."""
        return round((time.monotonic() - self._began) * 1000)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what there is room for."""
        held = self.output[fd]
        held += data[: self._room[fd] - len(held)]
        if len(held) >= self._room[fd]:
            self.flooded = True
            settle(self.done)

    def process_exited(self) -> None:
        """The process itself has been collected."""
        settle(self.exited)

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and no process holds its output open any more."""
        del exc
        settle(self.done)


async def _start(
    command: Sequence[str], root: Path, watch: _Watch, limits: ProgramLimits
) -> tuple[asyncio.SubprocessTransport, tuple[str, ...]]:
    """Start the program; which limits were set from outside. Where this is cancelled, nothing of it is left."""

    async def start() -> tuple[asyncio.SubprocessTransport, tuple[str, ...]]:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: watch,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            cwd=root / "empty",
            env={"PATH": SAFE_PATH, "HOME": str(root / "home"), "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        # At once, and also where a wrapper does it inside: it repeats the program's signal, and must not dump core.
        return transport, limit_outside(transport.get_pid(), limits)

    starting = asyncio.ensure_future(start())
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio itself would close the transport first; see `_end`.
        with contextlib.suppress(OSError):
            await _end((await starting)[0], watch)
        raise


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch) -> None:
    """Kill what is left of the process group, collect the process and close our ends of its pipes.

    With a wrapper the group's death is that of the pid namespace: a child that has left the group goes as well. The
    process is collected before the transport is closed: closing polls it, and where that collects it, asyncio's own
    thread no longer finds it, says "Unknown child process pid" on standard error and makes up a status.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REAP_SECONDS):
                await watch.exited
    finally:
        transport.close()


@contextlib.contextmanager
def _workspace(files: Mapping[str, str]) -> Iterator[Path]:
    """A fresh folder with `empty` to work in, `home`, and `files` with the texts; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        for name in ("empty", "home", "files"):
            (root / name).mkdir()
        for name, text in files.items():
            (root / "files" / name).write_bytes(text.encode("utf-8", "replace"))
        yield root
