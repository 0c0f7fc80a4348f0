"""One program on untrusted text, with real programs that behave and that do not."""

from __future__ import annotations

import asyncio
import json
import os
import select
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from reviewbot.analyzers.core.confinement import OPEN, Confinement, ProgramLimits, confinement_here
from reviewbot.analyzers.core.process import FOLDER, Finished, ProgramError, _end, _Watch, run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Program = Callable[..., Path]

CANARY = "CANARY-7f3a91"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="limits from outside and process handles are Linux's")
TELL = """
print(json.dumps({
    "argv": sys.argv[1:], "cwd": os.getcwd(), "here": os.listdir("."), "env": dict(os.environ),
    "files": {p.name: p.read_text() for p in sorted(pathlib.Path(sys.argv[-1]).iterdir())} if len(sys.argv) > 1 else {},
    "stdin": sys.stdin.read(),
}))
"""


FORKS = """
if os.fork() == 0:
    {first}
    pathlib.Path({pids!r}).write_text(open('/proc/self/stat').read().split()[0])
    time.sleep(600)
while not os.path.exists({pids!r}) or not pathlib.Path({pids!r}).read_text():
    time.sleep(0.01)
"""
"""A program with a child that would outlive it. What `/proc` calls it is its number outside."""

FORKED_S = 6
"""The limit of such a program: its child has told its number by then also where the machine has much to do."""


@pytest.fixture(params=["open", "here"])
def confinement(request: pytest.FixtureRequest) -> Confinement:
    """Every test holds without namespaces, and with them where this system has them."""
    if request.param == "open":
        return OPEN
    if confinement_here() == OPEN:
        pytest.skip("this system lets nobody have namespaces")
    return confinement_here()


def run(
    program: Path,
    *arguments: str,
    files: Mapping[str, str] | None = None,
    limits: ProgramLimits | None = None,
    confinement: Confinement | None = None,
) -> Finished:
    started = run_program(program, arguments, files or {}, limits=limits or ProgramLimits(), confinement=confinement)
    return asyncio.run(started)


def failure(
    program: Path, *arguments: str, limits: ProgramLimits | None = None, confinement: Confinement | None = None
) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        run(program, *arguments, limits=limits, confinement=confinement)
    return caught.value


def ends(pid: int) -> bool:
    """Whether a process is gone, or goes now: a signal takes a moment to arrive."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 120)[0])
    finally:
        os.close(handle)


def test_a_program_gets_its_arguments_its_files_and_nothing_on_standard_input(program: Program) -> None:
    told = json.loads(run(program(TELL), "--flag", FOLDER, files={"f0.py": "x = 1\r\n"}).stdout)

    assert told["argv"][0] == "--flag"
    assert told["files"] == {"f0.py": "x = 1\n"}
    assert told["stdin"] == ""


def test_a_program_leads_a_session_of_its_own_and_so_has_no_terminal(program: Program) -> None:
    told = json.loads(run(program("print(json.dumps([os.getsid(0), os.getpid()]))"), confinement=OPEN).stdout)

    assert told[0] == told[1]


def test_the_working_folder_is_empty_and_holds_not_even_the_files(program: Program) -> None:
    told = json.loads(run(program(TELL), FOLDER, files={"ast.py": "raise SystemExit(0)"}).stdout)

    assert told["here"] == []
    assert Path(told["argv"][0]).parent == Path(told["cwd"]).parent


def test_the_folder_is_passed_where_an_argument_names_it(program: Program) -> None:
    told = json.loads(run(program(TELL), f"--config={FOLDER}/ours", FOLDER, files={"f0.py": ""}).stdout)

    assert told["argv"][0] == f"--config={Path(told['cwd']).parent}/files/ours"


def test_a_status_that_is_accepted_is_no_crash(program: Program) -> None:
    made = program("print('found'); sys.exit(3)")

    finished = asyncio.run(run_program(made, (), {}, statuses=(0, 3)))

    assert finished.stdout == b"found\n"


def test_no_variable_of_our_environment_reaches_the_program(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("LD_PRELOAD", "")

    told = json.loads(run(program(TELL)).stdout)

    assert CANARY not in json.dumps(told)
    assert set(told["env"]) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH", "HOME", "LC_ALL"}
    assert told["env"]["PATH"] == "/usr/bin:/bin"


def test_nothing_is_left_on_the_disk(program: Program) -> None:
    told = json.loads(run(program(TELL), files={"f0.py": ""}).stdout)

    assert not Path(told["cwd"]).parent.exists()


def test_only_the_owner_can_read_the_files(program: Program) -> None:
    body = "print(oct(pathlib.Path(sys.argv[1]).parent.stat().st_mode))"

    mode = int(run(program(body), FOLDER, files={"f0.py": ""}).stdout, 8)

    assert stat.S_IMODE(mode) == 0o700


def test_a_text_that_is_no_unicode_is_written_all_the_same(program: Program) -> None:
    told = json.loads(run(program(TELL), FOLDER, files={"f0.py": "x = '\ud800'"}).stdout)

    assert told["files"]["f0.py"] == "x = '?'"


@pytest.mark.slow
@LINUX
def test_a_program_that_hangs_is_killed_with_all_its_children(
    program: Program, tmp_path: Path, confinement: Confinement
) -> None:
    pids = tmp_path / "pids"
    body = FORKS.format(first="pass", pids=str(pids)) + "time.sleep(600)"

    error = failure(program(body), limits=ProgramLimits(seconds=FORKED_S), confinement=confinement)

    assert error.reason == "timeout"
    assert f"{FORKED_S} s" in str(error)
    assert ends(int(pids.read_text()))


@pytest.mark.slow
@LINUX
def test_a_child_that_outlives_its_parent_and_holds_the_output_is_killed_too(
    program: Program, tmp_path: Path, confinement: Confinement
) -> None:
    pid = tmp_path / "pid"
    made = program(FORKS.format(first="pass", pids=str(pid)))

    if confinement == OPEN:
        assert failure(made, limits=ProgramLimits(seconds=FORKED_S), confinement=confinement).reason == "timeout"
    else:
        run(made, confinement=confinement)
    assert ends(int(pid.read_text()))


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("tail", ["", "time.sleep(600)"], ids=["parent-ends", "parent-hangs"])
def test_a_child_in_a_session_of_its_own_goes_with_the_namespace(program: Program, tmp_path: Path, tail: str) -> None:
    if confinement_here() == OPEN:
        pytest.skip("this system lets nobody have namespaces")
    pid = tmp_path / "pid"
    made = program(FORKS.format(first="os.setsid(); os.close(1); os.close(2)", pids=str(pid)) + tail)

    if tail:
        assert failure(made, limits=ProgramLimits(seconds=FORKED_S)).reason == "timeout"
    else:
        run(made)
    assert ends(int(pid.read_text()))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_floods_a_stream_is_stopped(program: Program, stream: str) -> None:
    body = f"while True: sys.{stream}.write('x' * 65536)"

    error = failure(program(body), limits=ProgramLimits(stdout_bytes=100_000, stderr_bytes=100_000))

    assert error.reason == "flooded"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_may_be_filled_up_to_its_last_byte_but_one(program: Program, stream: str) -> None:
    limits = ProgramLimits(**{f"{stream}_bytes": 100_000})
    body = f"sys.{stream}.write('x' * int(sys.argv[1]))"

    whole = run(program(body), "99999", limits=limits)

    assert getattr(whole, stream) == b"x" * 99_999
    assert failure(program(body), "100000", limits=limits).reason == "flooded"


def test_a_flood_before_a_crash_is_a_flood(program: Program) -> None:
    body = "sys.stdout.write('x' * 50); sys.stdout.flush(); sys.exit(3)"

    assert failure(program(body), limits=ProgramLimits(stdout_bytes=50)).reason == "flooded"


def test_every_end_says_how_long_it_took(program: Program) -> None:
    slow = "time.sleep(0.05)\n"

    assert run(program(slow)).duration_ms >= 50
    assert failure(program(slow + "sys.exit(3)")).duration_ms >= 50
    assert failure(program(slow + "print('x' * 99)"), limits=ProgramLimits(stdout_bytes=9)).duration_ms >= 50
    assert failure(program("time.sleep(600)"), limits=ProgramLimits(seconds=0.3)).duration_ms >= 290
    assert failure(program("time.sleep(600)"), limits=ProgramLimits(seconds=0.0001)).reason == "timeout"


def test_a_status_that_was_not_expected_is_a_crash_and_standard_error_is_not_told(program: Program) -> None:
    error = failure(program(f"sys.stderr.write('{CANARY}'); sys.exit(3)"))

    assert (error.reason, error.status) == ("crashed", 3)
    assert CANARY not in str(error)
    assert str(error) == "program ended with status 3"


def test_a_program_that_aborts_is_a_crash(program: Program, confinement: Confinement) -> None:
    error = failure(program("os.abort()"), confinement=confinement)

    assert (error.reason, error.status) in (("crashed", -6), ("crashed", -11))  # the first of a namespace has no -6
    assert str(error) == f"program ended with signal {-(error.status or 0)}"


def test_a_program_that_is_not_there_is_missing(tmp_path: Path, confinement: Confinement) -> None:
    assert failure(tmp_path / "nowhere", confinement=confinement).reason == "missing_program"


def test_a_file_that_cannot_be_run_is_missing(tmp_path: Path, confinement: Confinement) -> None:
    (tmp_path / "notes").write_text("no program")

    error = failure(tmp_path / "notes", confinement=confinement)

    assert error.reason == "missing_program"
    assert str(tmp_path) not in str(error)


@LINUX
def test_resource_limits_are_told_as_they_are_set_from_outside(program: Program) -> None:
    finished = run(program("time.sleep(0.05)"), confinement=OPEN)

    assert finished.limits == ("memory", "cpu", "file_size", "open_files", "core")


@LINUX
def test_a_program_that_takes_too_much_memory_crashes(program: Program, confinement: Confinement) -> None:
    body = "time.sleep(0.05)\nx = bytearray(1 << 30)"

    assert (
        failure(program(body), limits=ProgramLimits(memory_bytes=256 << 20), confinement=confinement).reason
        == "crashed"
    )


@LINUX
def test_a_cancelled_run_leaves_neither_process_nor_folder(
    program: Program, tmp_path: Path, confinement: Confinement
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    told = "os.getcwd() + ' ' + pathlib.Path('/proc/self/stat').read_text()"
    body = f"pathlib.Path({str(fifo)!r}).write_text({told})\ntime.sleep(600)"
    made = program(body)

    async def cancel_when_started() -> tuple[Path, int]:
        task = asyncio.ensure_future(run_program(made, (), {}, confinement=confinement))
        cwd, pid, *_ = (await asyncio.to_thread(fifo.read_text)).split()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return Path(cwd), int(pid)

    cwd, pid = asyncio.run(cancel_when_started())

    assert not cwd.parent.exists()
    assert ends(pid)


class Recorded:
    """A transport of a process that is gone: whether it had been collected when the transport was closed."""

    def __init__(self, watch: _Watch) -> None:
        self._watch = watch
        self.closed: list[bool] = []

    def get_pid(self) -> int:
        return 2**30

    def close(self) -> None:
        self.closed.append(self._watch.exited.done())


def test_a_process_is_collected_before_its_transport_is_closed() -> None:
    """Closing polls it: asyncio's own thread would find it gone, and say so on standard error."""

    async def end() -> list[bool]:
        watch = _Watch(ProgramLimits())
        transport = Recorded(watch)
        asyncio.get_running_loop().call_soon(watch.process_exited)
        await _end(cast("asyncio.SubprocessTransport", transport), watch)
        return transport.closed

    assert asyncio.run(end()) == [True]


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_that_is_cancelled_while_it_starts_leaves_no_process(
    steps: int, program: Program, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = program(f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\ntime.sleep(600)")

    async def cancel_at_once() -> None:
        task = asyncio.ensure_future(run_program(made, (), {}, confinement=OPEN))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_at_once())

    assert not (tmp_path / "pid").exists() or ends(int((tmp_path / "pid").read_text()))
    assert "Unknown child process" not in caplog.text


@pytest.mark.slow
def test_many_programs_run_side_by_side(program: Program) -> None:
    made = program("print(sys.argv[1])")

    async def all_at_once() -> list[Finished]:
        return await asyncio.gather(*(run_program(made, (str(number),), {}) for number in range(8)))

    assert [finished.stdout for finished in asyncio.run(all_at_once())] == [f"{n}\n".encode() for n in range(8)]
