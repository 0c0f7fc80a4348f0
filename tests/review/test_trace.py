"""The trace: events in order with their time, told to a listener, written out as JSON that spoils no terminal."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import InputError
from reviewbot.review.trace import FIRST, TRACE_VERSION, Event, Trace, read_trace, write_trace

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(st.text(max_size=8).filter(lambda name: name not in ("event", "hash")), JSON, max_size=3)
EVENTS = st.lists(st.builds(lambda kind, fields: {"event": kind, **fields}, st.text(max_size=8), FIELDS), max_size=5)

THREE: list[Event] = [{"event": kind, "at_ms": n} for n, kind in enumerate(("plan_made", "step", "review"))]


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


def test_a_listener_hears_each_event_as_it_happens(clock: Any) -> None:
    heard: list[Event] = []
    trace = Trace(clock, heard.append)

    trace.record("plan", total=2)

    assert heard == trace.events == [{"event": "plan", "at_ms": 0, "total": 2}]


def test_the_whole_trace_is_json_with_its_version(clock: Any) -> None:
    trace = Trace(clock)
    trace.record("step", reason="because")

    text = write_trace(trace.events)

    assert text.endswith("\n")
    assert json.loads(text)["trace_version"] == TRACE_VERSION
    assert read_trace(text) == trace.events


@pytest.mark.parametrize("name", ["\x1b[31mred.py", "na\u202eyp.ev", "schrödinger.py", "\x9b2J"])
def test_a_name_in_a_trace_cannot_spoil_a_terminal(name: str, clock: Any) -> None:
    trace = Trace(clock)
    trace.record("task_started", path=name)

    text = write_trace(trace.events)

    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["events"][0]["path"] == name


def test_an_empty_trace_is_valid(clock: Any) -> None:
    text = write_trace(Trace(clock).events)

    assert json.loads(text) == {"trace_version": TRACE_VERSION, "events": []}
    assert read_trace(text) == []


def test_what_is_no_json_is_refused_when_it_is_recorded(clock: Any) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        Trace(clock).record("step", reason=object())


def test_a_long_trace_is_kept_in_a_fifth_of_its_size_and_read_as_it_was(clock: Any) -> None:
    trace, reason = Trace(clock), "answered in the schema, \U0001f511 \ud800 and \n and \x7f; " * 8
    tracemalloc.start()
    try:
        for number in range(4_000):
            trace.record("step", task_id=f"logic:pkg/mod{number}.py#1", reason=reason, gaps=[], tier="large")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(trace) == 4_000
    assert [event["task_id"] for event in trace] == [f"logic:pkg/mod{number}.py#1" for number in range(4_000)]
    assert {event["reason"] for event in trace} == {reason}
    assert held * 5 < sum(len(json.dumps(event)) for event in trace)


@given(events=EVENTS)
def test_what_was_written_is_read_again(events: list[Event]) -> None:
    text = write_trace(events)

    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert read_trace(text) == events


def test_each_record_carries_the_hash_of_the_one_before_and_of_itself() -> None:
    records = json.loads(write_trace(THREE))["events"]

    last = FIRST
    for event, record in zip(THREE, records, strict=True):
        own = json.dumps(event, sort_keys=True, separators=(",", ":"))
        last = hashlib.sha256(f"{last}\n{own}".encode()).hexdigest()
        assert record == {**event, "hash": last}


def edited(change: Any) -> str:
    whole = json.loads(write_trace(THREE))
    change(whole["events"])
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda events: events[1].update(at_ms=7), r"record 2 of the trace \(step\)"),
        (lambda events: events[0].update(more="x"), r"record 1 of the trace \(plan_made\)"),
        (lambda events: events.pop(1), r"record 2 of the trace \(review\)"),
        (lambda events: events.reverse(), r"record 1 of the trace \(review\)"),
        (lambda events: events.insert(2, dict(events[1])), r"record 3 of the trace \(step\)"),
        (lambda events: events[2].pop("hash"), r"record 3 of the trace \(review\)"),
        (lambda events: events.append(7), "record 4 of the trace is no event"),
        (lambda events: events.append({"hash": "x"}), "record 4 of the trace is no event"),
    ],
    ids=["changed", "added to", "left out", "moved", "repeated", "unhashed", "a number", "no kind"],
)
def test_the_first_record_that_does_not_fit_is_named(change: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_trace(edited(change))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "7", '{"events": 1}', '{"trace_version": "2", "events": {}}', "[" * 100_000,
        '{"trace_version":"2","events":[{"event":"a","x":NaN}]}',
        '{"trace_version":"2","events":[{"event":"a","x":1e999}]}',
        '{"trace_version":"2","events":[{"event":"a","event":"b"}]}',
    ],
)  # fmt: skip
def test_what_is_no_trace_is_said_to_be_none(text: str) -> None:
    with pytest.raises(InputError, match="this is no trace"):
        read_trace(text)


@pytest.mark.parametrize("version", ['"1"', '"3"', "2", "null"])
def test_another_version_is_refused(version: str) -> None:
    with pytest.raises(InputError, match="not written in version 2"):
        read_trace(f'{{"trace_version": {version}, "events": []}}')


def test_order_and_layout_of_the_file_do_not_matter() -> None:
    whole = json.loads(write_trace(THREE))
    whole["events"] = [dict(sorted(record.items(), reverse=True)) for record in whole["events"]]

    assert read_trace(json.dumps(whole, indent=4)) == THREE


def test_a_record_that_is_nested_without_end_is_bad_input() -> None:
    for depth in (500, 990, 5_000, 60_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        with pytest.raises(InputError, match="trace"):
            read_trace(f'{{"trace_version":"2","events":[{{"event":"a","x":{nested}}}]}}')
