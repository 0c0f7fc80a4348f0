"""Run one program on untrusted text: no shell, no environment, no names from the change, bounded in time and output.

Whatever goes wrong has one of few named reasons. What the program writes to standard error is kept for our own
decisions and never becomes part of a message: analyzers have printed environment variables and other files there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reviewbot.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reviewbot.contracts import GapReason

try:
    import resource
except ImportError:  # pragma: no cover - a system without POSIX limits
    resource = None  # type: ignore[assignment]

SAFE_PATH: Final = "/usr/bin:/bin"
"""Where a program may look for others. Nothing that the caller's environment says."""

_STDOUT, _STDERR = 1, 2

_REAP_SECONDS: Final = 5.0
"""A killed process is collected at once; this only bounds the wait where the system is overloaded."""


class ProgramError(ToolError):
    """A program gave no usable answer. The text never quotes what the program wrote."""

    def __init__(self, reason: GapReason, message: str, *, duration_ms: int = 0, status: int | None = None) -> None:
        super().__init__(message)
        self.reason: GapReason = reason
        self.duration_ms = duration_ms
        self.status = status


@dataclass(frozen=True)
class Limits:
    """What one run may use. All but time and output hold only where the system can set them from outside."""

    seconds: float = 30.0
    stdout_bytes: int = 16 * 1024 * 1024
    stderr_bytes: int = 1024 * 1024
    memory_bytes: int = 2 * 1024 * 1024 * 1024
    file_bytes: int = 16 * 1024 * 1024
    open_files: int = 256


@dataclass(frozen=True)
class Finished:
    """A program that ended by itself with a status that it may end with."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    """For decisions of ours only; never shown, logged or stored."""
    duration_ms: int
    limits: tuple[str, ...]
    """The resource limits that were in force, by name; empty where the system cannot set them from outside."""


async def run_program(
    program: Path,
    arguments: Sequence[str],
    files: Mapping[str, str],
    *,
    limits: Limits = Limits(),
    exit_codes: frozenset[int] = frozenset({0}),
) -> Finished:
    """Run `program` with `arguments`, and the folder of `files` where there are any, in an empty working folder.

    The keys of `files` are names of our own making. Raises ProgramError with the reason missing_program, crashed
    (any status outside `exit_codes`), timeout or flooded. Nothing of the run is left behind, also after a cancellation.
    """
    name = program.name
    with _workspace(files) as root:
        watch = _Watch(limits)
        try:
            folder = [str(root / "files")] if files else []
            transport = await _start(program, [*arguments, *folder], root, watch)
        except OSError as error:
            raise ProgramError("missing_program", f"{name} cannot be started ({type(error).__name__})") from None
        in_force = _restrict(transport.get_pid(), limits)
        try:
            async with asyncio.timeout(limits.seconds):
                await watch.done
        except TimeoutError:
            message = f"{name} gave no answer in {limits.seconds:g} s"
            raise ProgramError("timeout", message, duration_ms=watch.ms()) from None
        finally:
            await _end(transport, watch)
        return _finished(name, transport, watch, in_force, exit_codes)


def _finished(
    name: str,
    transport: asyncio.SubprocessTransport,
    watch: _Watch,
    in_force: tuple[str, ...],
    exit_codes: frozenset[int],
) -> Finished:
    if watch.flooded:
        raise ProgramError("flooded", f"{name} wrote more than it may and was stopped", duration_ms=watch.ms())
    code = transport.get_returncode()
    if code is None or code not in exit_codes:
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        raise ProgramError("crashed", f"{name} ended with {how}", duration_ms=watch.ms(), status=code)
    return Finished(code, bytes(watch.output[_STDOUT]), bytes(watch.output[_STDERR]), watch.ms(), in_force)


class _Watch(asyncio.SubprocessProtocol):
    """Collects what a program writes. `done` is set when it has ended, or has written too much."""

    def __init__(self, limits: Limits) -> None:
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
            _settle(self.done)

    def process_exited(self) -> None:
        """The process itself has been collected."""
        _settle(self.exited)

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and nobody holds its output any more."""
        del exc
        _settle(self.done)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _start(program: Path, arguments: Sequence[str], root: Path, watch: _Watch) -> asyncio.SubprocessTransport:
    transport, _ = await asyncio.get_running_loop().subprocess_exec(
        lambda: watch,
        str(program),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        cwd=root / "empty",
        env={"PATH": SAFE_PATH, "HOME": str(root / "home"), "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    return transport


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch) -> None:
    """Kill the whole group, whoever is left of it, close our ends and collect the process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    transport.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REAP_SECONDS):
            await watch.exited


def _restrict(pid: int, limits: Limits) -> tuple[str, ...]:
    """Limit a process that has just started. The names of what was set; a process that is already gone has none."""
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:  # pragma: no cover - only Linux sets limits from outside
        return ()
    cpu_seconds = int(limits.seconds) + 1
    wanted = {
        "memory": (resource.RLIMIT_AS, limits.memory_bytes),
        "cpu": (resource.RLIMIT_CPU, cpu_seconds),
        "file_size": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "open_files": (resource.RLIMIT_NOFILE, limits.open_files),
        "core": (resource.RLIMIT_CORE, 0),
    }
    set_now: list[str] = []
    for name, (kind, value) in wanted.items():
        with contextlib.suppress(OSError, ValueError):
            prlimit(pid, kind, (value, value))
            set_now.append(name)
    return tuple(set_now)


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
