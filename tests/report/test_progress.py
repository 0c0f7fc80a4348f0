from __future__ import annotations

import io
import os
import pty
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reviewbot.report.progress import Progress, ProgressState

READER = {"event": "reader_started", "reader": "reader-1", "tasks": ["security:a.py", "logic:b.py"]}


def call(dollars: float, subject: str = "reader-1") -> dict[str, Any]:
    return {"event": "call", "purpose": "read", "subject": subject, "usage": {"cost_usd": dollars}}


def task(event: str, name: str) -> dict[str, Any]:
    return {"event": event, "task_id": name}


def state_after(*events: dict[str, Any], total: int = 3) -> ProgressState:
    state = ProgressState(since=0.0)
    state.take({"event": "plan_made", "total": total}, 0.0)
    for event in events:
        state.take(event, 10.0)
    return state


def test_the_plan_sets_the_total_and_the_clock_runs() -> None:
    assert list(state_after().lines(75.0)) == ["reviewing 0/3  1:15"]


def test_running_ended_and_failed_tasks_are_counted_on_the_first_line() -> None:
    names = ("security:a.py", "logic:a.py", "style:a.py")
    started = [task("task_started", name) for name in names]
    ended = [task("task_finished", names[0]), task("task_failed", names[2])]

    assert list(state_after(*started).lines(1.0)) == ["reviewing 0/3  0:01  style:a.py and 2 more"]
    assert list(state_after(*started, *ended).lines(1.0)) == ["reviewing 2/3, 1 failed  0:01  logic:a.py"]


def test_each_reader_has_a_line_with_its_clock_its_calls_its_cost_and_what_it_looks_up() -> None:
    tool = {"event": "tool_call", "task_id": "reader-1", "tool": "read_file"}
    state = state_after(READER, call(0.011), call(0.5, "no reader"), call(0.011), tool)

    assert list(state.lines(40.0)) == [
        "reviewing 0/3  0:40  $0.52",
        "  reader-1, security:a.py and 1 more  0:30  2 calls  $0.02  read_file",
    ]


def test_a_reader_ends_with_the_last_of_its_tasks_also_when_they_fail() -> None:
    state = state_after(READER, call(0.02), task("task_finished", "security:a.py"))

    assert state.take(task("task_failed", "logic:b.py"), 20.0) == (
        "reviewing 2/3, 1 failed  0:20  $0.02; reader-1, security:a.py and 1 more ends after 0:10  1 call  $0.02"
    )
    assert list(state.lines(20.0)) == ["reviewing 2/3, 1 failed  0:20  $0.02"]


def test_an_unknown_event_changes_nothing() -> None:
    assert state_after({"event": "calibrated", "task_id": "t"}) == state_after()


def test_more_ends_than_planned_never_show_a_total_below_them() -> None:
    state = state_after(*(task("task_finished", str(number)) for number in range(5)))

    assert list(state.lines(0.0)) == ["reviewing 5/5  0:00"]


def test_names_are_escaped() -> None:
    state = state_after(task("task_started", "a\x1b[2J\nb\u202e"))

    assert list(state.lines(0.0)) == ["reviewing 0/3  0:00  a\\x1b[2J\\nb<U+202E>"]


def test_a_log_has_a_line_when_a_reader_starts_and_when_it_ends_and_none_without_readers() -> None:
    plain, read = io.StringIO(), io.StringIO()
    ends = [task("task_finished", "security:a.py"), task("task_finished", "logic:b.py")]
    for stream, events in ((plain, ends), (read, [READER, call(0.02), *ends])):
        progress = Progress(stream, {}, clock=lambda: 5.0)
        for event in ({"event": "plan_made", "total": 2}, *events):
            progress.on_event(event)
        progress.close()

    assert plain.getvalue() == ""
    assert read.getvalue().splitlines() == [
        "reviewbot: reviewing 0/2  0:00; reader-1, security:a.py and 1 more starts",
        "reviewbot: reviewing 2/2  0:00  $0.02; reader-1, security:a.py and 1 more ends after 0:00  1 call  $0.02",
    ]


@pytest.mark.parametrize(("environ", "quiet"), [({"CI": "true"}, False), ({}, True)])
def test_nothing_is_written_in_ci_or_when_it_is_asked_to_be_quiet(environ: dict[str, str], *, quiet: bool) -> None:
    stream = io.StringIO()

    Progress(stream, environ, quiet=quiet).on_event(READER)

    assert stream.getvalue() == ""


@contextmanager
def terminal() -> Iterator[tuple[io.TextIOWrapper, int]]:
    """A stream whose other end is a terminal, and the file descriptor that the terminal is read from."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as stream:
        yield stream, leader
    os.close(leader)


def read_until(leader: int, wanted: str, seconds: float = 120.0) -> str:
    """What the terminal was sent until `wanted` is in it."""
    seen, until = "", time.monotonic() + seconds
    while wanted not in seen:
        assert time.monotonic() < until, seen
        if select.select([leader], [], [], 0.2)[0]:
            seen += os.read(leader, 65_536).decode()
    return seen


def test_a_terminal_shows_the_lines_anew_without_an_event_and_the_end_clears_them() -> None:
    now = [0.0]
    with terminal() as (stream, leader):
        progress = Progress(stream, {"TERM": "xterm"}, clock=lambda: now[0])
        for event in ({"event": "plan_made", "total": 2}, READER):
            progress.on_event(event)
        read_until(leader, "0 calls")
        now[0] = 61.0
        later = read_until(leader, "1:01  0 calls")
        progress.close()
        stream.write("the report\n")
        stream.flush()
        end = read_until(leader, "the report")

    assert "reviewing 0/2  1:01" in later
    assert "\x1b[2K" in end
    assert "\x1b[?25l" not in later, "a killed program would leave the cursor hidden"


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines() -> None:
    with terminal() as (stream, leader):
        Progress(stream, {"TERM": "dumb"}, clock=lambda: 0.0).on_event(READER)
        stream.flush()
        seen = read_until(leader, "starts")

    assert seen.strip() == "reviewbot: reviewing 0/0  0:00; reader-1, security:a.py and 1 more starts"
