"""The trace: events in order with their time, told to a listener, written out as JSON that spoils no terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reviewbot.trace import TRACE_VERSION, Event, Trace


def test_events_stand_in_order_with_the_time_since_the_start(clock: Any) -> None:
    clock.now = 5.0
    trace = Trace(clock)
    trace.record("plan", total=2)
    clock.now = 5.25
    trace.record("task_started", task_id="logic:a.py#1")

    assert trace.events == [
        {"event": "plan", "at_ms": 0, "total": 2},
        {"event": "task_started", "at_ms": 250, "task_id": "logic:a.py#1"},
    ]
    assert trace.elapsed_ms() == 250


def test_a_listener_hears_each_event_as_it_happens(clock: Any) -> None:
    heard: list[Event] = []
    trace = Trace(clock, heard.append)

    trace.record("plan", total=2)

    assert heard == trace.events == [{"event": "plan", "at_ms": 0, "total": 2}]


def test_the_whole_trace_is_json_with_its_version(clock: Any) -> None:
    trace = Trace(clock)
    trace.record("step", reason="because")

    text = trace.as_json()

    assert text.endswith("\n")
    assert json.loads(text) == {"trace_version": TRACE_VERSION, "events": trace.events}


@pytest.mark.parametrize("name", ["\x1b[31mred.py", "na\u202eyp.ev", "schrödinger.py", "\x9b2J"])
def test_a_name_in_a_trace_cannot_spoil_a_terminal(name: str, clock: Any) -> None:
    trace = Trace(clock)
    trace.record("task_started", path=name)

    text = trace.as_json()

    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["events"][0]["path"] == name


def test_an_empty_trace_is_valid(clock: Any) -> None:
    assert json.loads(Trace(clock).as_json()) == {"trace_version": TRACE_VERSION, "events": []}


def test_what_is_no_json_is_refused_when_it_is_written(clock: Any) -> None:
    trace = Trace(clock)
    trace.record("step", reason=object())

    with pytest.raises(TypeError, match="not JSON serializable"):
        trace.as_json()
