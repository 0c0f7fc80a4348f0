"""Confine a program: limits on its resources and, on Linux, namespaces of its own without any network.

The system's own `unshare` and `prlimit` stand in front of the program, so that everything is in force before its first
instruction. Whether a system lets us do that is found out by doing it: containers, AppArmor and old kernels do not.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

UNSHARE: Final = Path("/usr/bin/unshare")
PRLIMIT: Final = Path("/usr/bin/prlimit")
TRUE: Final = Path("/usr/bin/true")
"""Where util-linux and coreutils put them. The caller's PATH is not asked: it may name programs of the change."""

SEPARATE: Final = ("user_namespace", "network", "pid_namespace")
"""In force where the program has namespaces of its own. A user namespace also keeps our environment from it: the files
of another process in /proc are shut. With the first program of a pid namespace all that it has started is killed."""

_UNPRIVILEGED_ID: Final = "65534"
"""The program's user in its namespace. A user other than root has no capabilities there, also where we are root."""

_NAMESPACES: Final = ("--user", f"--map-user={_UNPRIVILEGED_ID}", f"--map-group={_UNPRIVILEGED_ID}", "--net", "--pid",
                      "--fork", "--kill-child")  # fmt: skip

_COUNTED_APART: Final = (5, 14)
"""The Linux that began to count the processes of a user by namespace. Before, ours and the user's all counted."""

_PROBE_SECONDS: Final = 5.0
"""The probe takes 7 ms; this bounds it where the system hangs."""


@dataclass(frozen=True)
class ProgramLimits:
    """What one run may use. Time and output hold everywhere; processes only in a namespace; the others on Linux."""

    seconds: float = 30.0
    stdout_bytes: int = 16 * 1024 * 1024
    stderr_bytes: int = 1024 * 1024
    memory_bytes: int = 2 * 1024 * 1024 * 1024
    file_bytes: int = 16 * 1024 * 1024
    open_files: int = 256
    processes: int = 512
    """Threads count as well, and analyzers start one for each processor."""


class _Limit(NamedTuple):
    """One resource limit: its name in reports, prlimit's flag, the system's number, and the value."""

    name: str
    flag: str
    kind: int
    value: int


@dataclass(frozen=True)
class Confinement:
    """The way to start programs here. Without `start` they begin at once and are limited right after, from outside."""

    start: tuple[str, ...] = ()
    """What stands in front of prlimit's own arguments."""
    processes: bool = False
    """Whether the number of processes can be limited."""

    def command(self, program: Path, arguments: Sequence[str], limits: ProgramLimits) -> list[str]:
        """The command line that runs `program` confined."""
        if not self.start:
            return [str(program), *arguments]
        flags = [f"--{limit.flag}={limit.value}" for limit in self._limits(limits)]
        return [*self.start, *flags, "--", str(program), *arguments]

    def in_force(self, limits: ProgramLimits, outside: tuple[str, ...]) -> tuple[str, ...]:
        """By name, what confines such a run; `outside` is what could be limited from outside."""
        return (*(limit.name for limit in self._limits(limits)), *SEPARATE) if self.start else outside

    def _limits(self, limits: ProgramLimits) -> list[_Limit]:
        every = _resource_limits(limits)
        return every if self.processes else [limit for limit in every if limit.name != "processes"]


OPEN: Final = Confinement()
"""No wrapper: what is left where the system has no namespaces for us."""


@cache
def confinement_here() -> Confinement:
    """Find out how programs can be confined on this system: tried once per process, which takes a few milliseconds."""
    return probe(UNSHARE, PRLIMIT)


def probe(unshare: Path, prlimit: Path, seconds: float = _PROBE_SECONDS) -> Confinement:
    """Run `true` in the whole chain; return the chain where that succeeds, else `OPEN`."""
    start = (str(unshare), *_NAMESPACES, "--", str(prlimit))
    wanted = Confinement(start, processes=os.geteuid() != 0 and counts_apart(os.uname().release))
    command = wanted.command(TRUE, (), ProgramLimits())
    try:
        done = subprocess.run(  # noqa: S603 - an argument list of our own, absolute paths
            command, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return OPEN
    return wanted if done.returncode == 0 else OPEN


def counts_apart(release: str) -> bool:
    """Whether a Linux of this release counts processes by namespace. Root's are never limited by their number."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", release)
    return found is not None and (int(found[1]), int(found[2])) >= _COUNTED_APART


def limit_outside(pid: int, limits: ProgramLimits) -> tuple[str, ...]:
    """Limit a process that has just started and return the names of the limits set; none where it is already gone."""
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:  # pragma: no cover - only Linux sets limits from outside
        return ()
    set_now: list[str] = []
    for limit in _resource_limits(limits):
        if limit.name == "processes":  # outside of a namespace all processes of the user would count
            continue
        with contextlib.suppress(OSError, ValueError):
            prlimit(pid, limit.kind, (limit.value, limit.value))
            set_now.append(limit.name)
    return tuple(set_now)


def _resource_limits(limits: ProgramLimits) -> list[_Limit]:
    """The limits, none above what we ourselves may use."""
    wanted = (
        _Limit("memory", "as", resource.RLIMIT_AS, limits.memory_bytes),
        _Limit("cpu", "cpu", resource.RLIMIT_CPU, int(limits.seconds) + 1),
        _Limit("file_size", "fsize", resource.RLIMIT_FSIZE, limits.file_bytes),
        _Limit("open_files", "nofile", resource.RLIMIT_NOFILE, limits.open_files),
        _Limit("core", "core", resource.RLIMIT_CORE, 0),
        _Limit("processes", "nproc", resource.RLIMIT_NPROC, limits.processes),
    )
    return [limit._replace(value=_within(limit.value, resource.getrlimit(limit.kind)[1])) for limit in wanted]


def _within(value: int, hard: int) -> int:
    return value if hard < 0 else min(value, hard)  # a negative one is no limit at all
