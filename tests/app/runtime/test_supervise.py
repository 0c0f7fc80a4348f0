from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.app.runtime.supervise import Child, RestartTimings, supervise
from reviewbot.domain.errors import ExitCode

QUICK = RestartTimings(
    first_wait_s=0.01, longest_wait_s=0.02, settled_s=5.0, look_s=0.01, grace_s=10.0, wrong_wait_s=0.02
)

WAITS = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
open(sys.argv[1], "a").write(f"{__import__('os').getpid()}\\n")
while True:
    time.sleep(0.02)
"""


def child(name: str, program: str, *arguments: str, ready: Callable[[], bool] = lambda: True) -> Child:
    return Child(name, (sys.executable, "-I", "-S", "-c", program, *arguments), ready)


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_was_killed_is_started_again_and_all_end_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"

    async def story() -> int:
        running = asyncio.create_task(supervise([child("one", WAITS, str(one)), child("two", WAITS, str(two))], QUICK))
        await until(lambda: bool(pids(one) and pids(two)))
        os.kill(pids(one)[0], signal.SIGKILL)
        await until(lambda: len(pids(one)) == 2)
        os.kill(os.getpid(), signal.SIGTERM)
        return await running

    assert asyncio.run(story()) == 0
    assert not [pid for pid in (*pids(one), *pids(two)) if alive(pid)]
    assert len(pids(two)) == 1


def test_who_says_that_it_was_started_wrongly_ends_the_others(tmp_path: Path) -> None:
    wrong = child("wrong", "raise SystemExit(2)")

    code = asyncio.run(supervise([wrong, child("other", WAITS, str(tmp_path / "other"))], QUICK))

    assert code == ExitCode.USAGE
    assert not [pid for pid in pids(tmp_path / "other") if alive(pid)]


def test_who_is_not_vital_is_tried_again_and_everybody_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is accepted meanwhile waits for it."""
    starts, web = tmp_path / "starts", tmp_path / "web"
    wrong = "import sys; open(sys.argv[1], 'a').write('1\\n'); raise SystemExit(2)"
    worker = replace(child("worker", wrong, str(starts)), vital=False)

    async def story() -> int:
        running = asyncio.create_task(supervise([child("web", WAITS, str(web)), worker], QUICK))
        await until(lambda: len(pids(starts)) >= 3 and bool(pids(web)))
        assert not running.done()
        assert alive(pids(web)[0])
        os.kill(os.getpid(), signal.SIGTERM)
        return await running

    assert asyncio.run(story()) == 0
    assert len(pids(web)) == 1
    result = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "worker cannot run as it was started" in result[0].getMessage()


def test_a_child_that_cannot_be_started_now_ends_nobody(tmp_path: Path) -> None:
    place, program, one = tmp_path / "program", tmp_path / "later", tmp_path / "one"
    program.write_text(f"#!{sys.executable} -ISs\nopen({str(place)!r}, 'a').write('1\\n')\n")

    async def story() -> int:
        late = Child("late", (str(program),))
        running = asyncio.create_task(supervise([child("one", WAITS, str(one)), late], QUICK))
        await until(lambda: bool(pids(one)))
        program.chmod(0o700)
        await until(lambda: bool(pids(place)))
        os.kill(os.getpid(), signal.SIGTERM)
        return await running

    assert asyncio.run(story()) == 0
    assert len(pids(one)) == 1


def test_who_fails_over_and_over_is_given_more_and_more_time(tmp_path: Path) -> None:
    failing = "import sys; open(sys.argv[1], 'a').write('1\\n'); raise SystemExit(3)"

    async def story() -> int:
        running = asyncio.create_task(supervise([child("failing", failing, str(tmp_path / "starts"))], QUICK))
        await until(lambda: len(pids(tmp_path / "starts")) >= 4)
        os.kill(os.getpid(), signal.SIGINT)
        return await running

    assert asyncio.run(story()) == 0


def test_a_child_waits_until_it_may_be_started(tmp_path: Path) -> None:
    allowed: list[bool] = []
    asked: list[int] = []

    def ready() -> bool:
        asked.append(1)
        return bool(allowed)

    async def story() -> int:
        running = asyncio.create_task(supervise([child("late", WAITS, str(tmp_path / "late"), ready=ready)], QUICK))
        await until(lambda: len(asked) > 2)
        assert not pids(tmp_path / "late")
        allowed.append(True)
        await until(lambda: bool(pids(tmp_path / "late")))
        os.kill(os.getpid(), signal.SIGTERM)
        return await running

    assert asyncio.run(story()) == 0


def test_who_does_not_stop_is_killed(tmp_path: Path) -> None:
    deaf = WAITS.replace("sys.exit(0)", "None")

    async def story() -> int:
        pace = RestartTimings(grace_s=0.05)
        running = asyncio.create_task(supervise([child("deaf", deaf, str(tmp_path / "deaf"))], pace))
        await until(lambda: bool(pids(tmp_path / "deaf")))
        os.kill(os.getpid(), signal.SIGTERM)
        return await running

    assert asyncio.run(story()) == 0
    assert not alive(pids(tmp_path / "deaf")[0])
