"""What confines a program, shown by programs that try to get out."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.core import confinement as subject
from reviewbot.analyzers.core.confinement import (
    OPEN,
    PRLIMIT,
    SEPARATE,
    TRUE,
    UNSHARE,
    Confinement,
    ProgramLimits,
    confinement_here,
    counts_apart,
    limit_outside,
    probe,
)
from reviewbot.analyzers.core.process import Finished, ProgramError, run_program

if TYPE_CHECKING:
    from collections.abc import Callable

    Program = Callable[..., Path]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and prlimit are Linux's")
CONNECT = """
import socket
try:
    socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).close()
    print('"connected"')
except OSError as error:
    print(json.dumps(type(error).__name__))
"""
TELL = """
import resource
names = {'memory': 'AS', 'cpu': 'CPU', 'file_size': 'FSIZE', 'open_files': 'NOFILE', 'core': 'CORE', 'nproc': 'NPROC'}
print(json.dumps({
    "limits": {name: resource.getrlimit(getattr(resource, 'RLIMIT_' + kind)) for name, kind in names.items()},
    "pid": os.getpid(), "uid": os.getuid(), "status": pathlib.Path('/proc/self/status').read_text(),
}))
"""
PEEK = """
try:
    print(json.dumps(len(pathlib.Path(f'/proc/{sys.argv[1]}/environ').read_bytes())))
except OSError as error:
    print(json.dumps(type(error).__name__))
"""
BOMB = "i=0; while [ $i -lt 50 ]; do sleep 600 >/dev/null 2>&1 & i=$((i + 1)); done; echo $i"
"""For a shell, which everybody can run; it gives up where it cannot fork."""


@pytest.fixture
def here() -> Confinement:
    """What this system has; the test says nothing where that is nothing."""
    if confinement_here() == OPEN:
        pytest.skip("this system lets nobody have namespaces")
    return confinement_here()


def told(program: Path, *arguments: str, confinement: Confinement, limits: ProgramLimits | None = None) -> Any:
    return json.loads(finished(program, *arguments, confinement=confinement, limits=limits).stdout)


def finished(program: Path, *arguments: str, confinement: Confinement, limits: ProgramLimits | None = None) -> Finished:
    return asyncio.run(run_program(program, arguments, {}, limits=limits or ProgramLimits(), confinement=confinement))


@pytest.fixture
def listening() -> Any:
    """The port of a socket that listens on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_program_cannot_reach_a_server_on_this_machine(program: Program, here: Confinement, listening: int) -> None:
    assert told(program(CONNECT), str(listening), confinement=here) == "OSError"


def test_without_namespaces_it_can_and_the_report_does_not_name_the_network(program: Program, listening: int) -> None:
    answer = finished(program(CONNECT), str(listening), confinement=OPEN)

    assert json.loads(answer.stdout) == "connected"
    assert not set(answer.limits) & {*SEPARATE, "processes"}


def test_the_report_names_what_is_in_force(program: Program, here: Confinement) -> None:
    answer = finished(program("pass"), confinement=here)

    counted = ("processes",) if here.processes else ()
    assert answer.limits == ("memory", "cpu", "file_size", "open_files", "core", *counted, *SEPARATE)


def test_every_limit_holds_before_the_programs_first_instruction(program: Program, here: Confinement) -> None:
    limits = ProgramLimits(seconds=20, memory_bytes=1 << 30, file_bytes=1000, open_files=32)

    now = told(program(TELL), confinement=here, limits=limits)["limits"]

    assert now["memory"] == [1 << 30] * 2
    assert (now["cpu"], now["file_size"], now["open_files"], now["core"]) == ([21, 21], [1000] * 2, [32] * 2, [0, 0])
    assert here.processes == (now["nproc"] == [512, 512])


def test_it_is_the_first_of_its_namespace_and_nobody_with_no_capability(program: Program, here: Confinement) -> None:
    now = told(program(TELL), confinement=here)

    assert (now["pid"], now["uid"]) == (1, 65534)
    assert "CapEff:\t0000000000000000" in now["status"]


def test_our_environment_cannot_be_read_from_it(program: Program, here: Confinement) -> None:
    assert told(program(PEEK), str(os.getpid()), confinement=OPEN) >= 0
    assert told(program(PEEK), str(os.getpid()), confinement=here) == "PermissionError"


@LINUX
def test_the_number_of_processes_is_limited_for_whoever_is_not_root(here: Confinement) -> None:
    become = () if os.geteuid() else ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    somebody = Confinement((*become, *here.start), processes=True)

    assert told(Path("/bin/sh"), "-c", BOMB, confinement=somebody, limits=ProgramLimits(processes=100)) == 50
    with pytest.raises(ProgramError):
        told(Path("/bin/sh"), "-c", BOMB, confinement=somebody, limits=ProgramLimits(processes=10))


def test_the_number_of_roots_processes_is_not_said_to_be_limited(here: Confinement) -> None:
    assert here.processes is (os.geteuid() != 0 and counts_apart(os.uname().release))
    assert any("nproc" in part for part in here.command(TRUE, (), ProgramLimits())) is here.processes


@LINUX
def test_where_a_wrapper_is_missing_or_fails_there_are_no_namespaces(tmp_path: Path) -> None:
    assert probe(tmp_path / "unshare", PRLIMIT) == OPEN
    assert probe(UNSHARE, tmp_path / "prlimit") == OPEN
    assert probe(Path("/usr/bin/false"), PRLIMIT) == OPEN


@LINUX
def test_a_wrapper_that_hangs_is_given_up(program: Program) -> None:
    assert probe(program("time.sleep(600)", "unshare"), PRLIMIT, seconds=0.2) == OPEN


def test_a_wrapper_that_works_is_taken(program: Program) -> None:
    passing = program("os.execv(sys.argv[sys.argv.index('--') + 1], sys.argv[sys.argv.index('--') + 1:])", "unshare")
    limiting = program("sys.exit('--core=0' not in sys.argv or sys.argv[-1] != '/usr/bin/true')", "prlimit")

    found = probe(passing, limiting)

    assert found.start[0] == str(passing)
    assert found.start[-1] == str(limiting)
    assert "--net" in found.start


@LINUX
def test_where_the_system_gives_namespaces_to_whoever_asks_they_are_taken() -> None:
    asked = ["/usr/bin/unshare", "--user", "--net", "--pid", "--fork", "/usr/bin/prlimit", "--core=0", "/usr/bin/true"]

    given = subprocess.run(asked, capture_output=True, check=False).returncode == 0

    assert (confinement_here() != OPEN) is given, "without this, what skips itself where there are none says nothing"


@LINUX
def test_what_stands_in_front_of_a_program_shuts_it_in_from_its_start(here: Confinement) -> None:
    command = here.command(Path("/opt/check"), ("--fast", "x"), ProgramLimits(seconds=7, memory_bytes=1 << 28))

    wrapped, limited = command[: command.index("--")], command[command.index("--") + 1 :]
    assert wrapped[0] == "/usr/bin/unshare"
    assert {"--user", "--net", "--pid", "--fork", "--kill-child"} < set(wrapped)
    assert limited[0] == "/usr/bin/prlimit"
    assert {"--cpu=8", f"--as={1 << 28}", "--core=0"} < set(limited)
    assert limited[limited.index("--") :] == ["--", "/opt/check", "--fast", "x"]


def test_the_system_is_asked_once() -> None:
    assert confinement_here() is confinement_here()


def test_without_a_wrapper_the_program_is_started_as_it_is() -> None:
    assert OPEN.command(TRUE, ("a", "b"), ProgramLimits()) == ["/usr/bin/true", "a", "b"]
    assert OPEN.in_force(ProgramLimits(), ("cpu",)) == ("cpu",)


def test_processes_are_counted_apart_from_linux_5_14_on() -> None:
    releases = ["5.14.0-427.el9", "6.8.0", "10.0", "5.13.19", "4.18.0-553.el8", "next"]

    assert [counts_apart(release) for release in releases] == [True, True, True, False, False, False]


def test_no_limit_is_above_our_own() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft <= hard

    command = Confinement(("w",)).command(TRUE, (), ProgramLimits(open_files=10**9))

    assert f"--nofile={hard if hard >= 0 else 10**9}" in command
    assert command[0] == "w"


@LINUX
def test_a_process_that_is_gone_has_no_limits() -> None:
    gone = os.posix_spawn("/usr/bin/true", ["true"], {})
    os.waitpid(gone, 0)

    assert limit_outside(gone, ProgramLimits()) == ()


def test_the_wrappers_are_named_by_absolute_paths() -> None:
    assert all(path.is_absolute() for path in (subject.UNSHARE, subject.PRLIMIT, subject.TRUE))
