"""The timeline of a run: who worked when, who waited for whom, and what came of it; whatever a trace may hold."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.report.terminal.timeline import render_timeline
from reviewbot.report.timeline import Timeline, TimelineRow, span, timeline_of

LOGIC, STYLE = "logic:a.py#1", "style:a.py#1"
USAGE = {"input_tokens": 1_000, "cached_tokens": 3_000, "output_tokens": 50, "cost_usd": 0.0125, "unpriced_calls": 0}

PLAN = {
    "event": "plan_made",
    "at_ms": 0,
    "plan": {"tasks": [{"task_id": LOGIC}, {"task_id": STYLE, "depends_on": [LOGIC]}]},
}


def started(task_id: str, at: int, attempt: int = 1) -> dict[str, Any]:
    worker = task_id.partition(":")[0]
    return {"event": "task_started", "at_ms": at, "task_id": task_id, "worker": worker, "attempt": attempt}


def step(task_id: str, at: int, action: str = "done", **fields: Any) -> dict[str, Any]:
    return {"event": "step", "at_ms": at, "task_id": task_id, "action": action, "reason": "so it is", **fields}


def call(at: int, **fields: Any) -> dict[str, Any]:
    known = {"purpose": "logic", "subject": LOGIC, "tier": "large", "model": "m-1", "usage": USAGE, "stop": "end"}
    return {"event": "call", "at_ms": at, "duration_ms": 200, **known, **fields}


def rows(*events: dict[str, Any]) -> tuple[TimelineRow, ...]:
    return timeline_of(events).rows


def test_a_task_lasts_from_its_start_to_the_decision_on_it() -> None:
    assert rows(started(LOGIC, 100), step(LOGIC, 900)) == (TimelineRow(100, 900, "logic", LOGIC),)


def test_who_waited_says_for_whom() -> None:
    found = rows(PLAN, started(LOGIC, 0), step(LOGIC, 500), started(STYLE, 510), step(STYLE, 600))

    assert [(row.who, row.what, row.notes) for row in found] == [
        ("planner", "plan of 2 tasks", ()),
        ("logic", LOGIC, ()),
        ("style", STYLE, (f"after {LOGIC}",)),
    ]


@pytest.mark.parametrize(
    ("action", "fields", "note", "failed"),
    [
        ("retry", {}, "tries again: so it is", False),
        ("climb", {"tier": "large"}, "climbs to large: so it is", False),
        ("climb", {}, "climbs a tier: so it is", False),
        ("reassign", {}, "moves on: so it is", False),
        ("split", {}, "is split: so it is", False),
        ("human", {}, "goes to a person: so it is", True),
        ("give_up", {}, "given up: so it is", True),
    ],
)
def test_each_decision_ends_a_line_and_says_what_it_was(
    action: str, fields: dict[str, str], note: str, *, failed: bool
) -> None:
    [row] = rows(started(LOGIC, 0), step(LOGIC, 10, action, **fields))

    assert (row.notes, row.failed) == ((note,), failed)


def test_the_next_attempt_has_a_line_of_its_own() -> None:
    found = rows(started(LOGIC, 0), step(LOGIC, 10, "retry"), started(LOGIC, 20, 2), step(LOGIC, 30))

    assert [row.notes for row in found] == [("tries again: so it is",), ("attempt 2",)]


def test_what_happens_while_a_task_runs_stands_on_its_line() -> None:
    about = {"at_ms": 5, "task_id": LOGIC}
    [row] = rows(
        started(LOGIC, 0),
        {"event": "tool_call", "tool": "grep", "failed": True, **about},
        {"event": "tool_call", "tool": "read", **about},
        {"event": "ruling", "path": "a.py", "line": 3, "claimed": 95, "confidence": 40, "reason": "guarded", **about},
        {"event": "ruling", "path": "a.py", "line": 4, "confidence": 85, "reason": "it holds", **about},
        step(LOGIC, 10),
    )

    assert row.notes == (
        "calls grep (failed)",
        "calls read",
        "ruled on a.py:3: from 95 to 40, guarded",
        "ruled on a.py:4: to 85, it holds",
    )


def test_a_call_began_before_it_was_written_down() -> None:
    [row] = rows(call(900))

    assert (row.start_ms, row.end_ms, row.who, row.what, row.call) == (700, 900, "logic", LOGIC, True)
    assert row.notes == ("m-1 (large)", "4,000 in, 3,000 of them cached", "50 out", "$0.0125")


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({"stored": True, "usage": {}}, ("m-1 (large)", "from the journal")),
        ({"usage": {"unpriced_calls": 1}}, ("m-1 (large)", "price unknown")),
        ({"usage": {"input_tokens": 7}, "stop": "max_tokens"}, ("m-1 (large)", "7 in", "0 out", "ended by max_tokens")),
        ({"usage": None, "model": None}, ("large",)),
    ],
)
def test_a_call_says_what_it_was(fields: dict[str, Any], notes: tuple[str, ...]) -> None:
    [row] = rows(call(900, **fields))

    assert row.notes == notes


def test_a_call_without_an_answer_is_a_failure() -> None:
    failed = {"event": "call_failed", "at_ms": 50, "duration_ms": 60, "purpose": "verifier", "tier": "small",
              "error": "BudgetError", "message": "spent"}  # fmt: skip

    [row] = rows(failed)

    assert (row.start_ms, row.failed, row.notes) == (0, True, ("small", "BudgetError: spent"))


def test_what_the_deadline_cut_off_ends_there_also_where_it_never_began() -> None:
    cut = {"event": "task_failed", "at_ms": 80, "reason": "deadline", "message": "late"}

    found = rows(started(LOGIC, 10), {**cut, "task_id": LOGIC}, {**cut, "task_id": STYLE})

    assert found == (
        TimelineRow(10, 80, "logic", LOGIC, ("deadline: late",), failed=True),
        TimelineRow(80, 80, "style", STYLE, ("deadline: late",), failed=True),
    )


def test_the_end_of_a_task_that_had_its_decision_adds_nothing() -> None:
    assert rows({"event": "task_failed", "at_ms": 80, "task_id": LOGIC, "findings": 0}) == ()


def test_what_was_running_when_the_trace_ends_was_cut_off() -> None:
    [row] = rows(started(LOGIC, 10), {"event": "review", "at_ms": 70})

    assert row == TimelineRow(10, 70, "logic", LOGIC, ("cut off",), failed=True)


def test_what_came_from_the_journal_took_no_time() -> None:
    [row] = rows({"event": "resumed", "at_ms": 5, "task_id": LOGIC}, step(LOGIC, 5))

    assert row == TimelineRow(5, 5, "logic", LOGIC, ("from the journal",))


def test_what_a_synthesizer_settled_is_a_moment() -> None:
    [row] = rows({"event": "settled", "at_ms": 9, "cluster": 3, "strategy": "merge", "kept": ["x"]})

    assert row == TimelineRow(9, 9, "synthesizer", "settles", ("cluster 3, strategy merge",))


def test_who_took_a_decision_is_named_where_the_record_says_it() -> None:
    found = rows(
        {"event": "settled", "at_ms": 1, "by": "critic", "effect": "drop", "findings": [{}]},
        {"event": "part_finished", "at_ms": 2, "part": "src/a", "tasks": 7},
        {"event": "planned", "at_ms": 3, "origin": "model"},
    )

    assert [(row.who, row.what, row.notes) for row in found] == [
        ("critic", "settles", ("effect drop",)),
        ("sub-supervisor", "sums up", ("part src/a, tasks 7",)),
        ("planner", "plans", ("origin model",)),
    ]


def test_the_totals_count_calls_decisions_tokens_and_dollars() -> None:
    events = [
        started(LOGIC, 0), step(LOGIC, 1, "retry"), started(LOGIC, 1, 2), step(LOGIC, 2, "retry"),
        started(LOGIC, 3, 3), step(LOGIC, 4, "climb"), call(5), call(6, usage={"unpriced_calls": 1}),
    ]  # fmt: skip

    assert timeline_of(events).totals == (
        "2 calls", "2 retries", "1 climb", "4,000 tokens in", "50 out", "$0.01 and 1 call of unknown price",
    )  # fmt: skip
    assert timeline_of([]) == Timeline((), 0, ())


def test_a_span_is_told_in_words() -> None:
    assert span(TimelineRow(1_500, 2_000, "a", "b")) == "1.5 s +500 ms"


def test_a_page_has_bars_on_the_scale_of_the_run() -> None:
    events = [started(LOGIC, 0), call(400), step(LOGIC, 500), started(STYLE, 500), step(STYLE, 1_000)]

    page = render_timeline(timeline_of(events), width=90, colour=False).split("\n")

    assert page[0].startswith("1.0 s in all: 1 call, 4,000 tokens in, 50 out, $0.01")
    assert page[3] == "[###############...............] logic  logic:a.py#1  0 ms +500 ms"
    assert page[4] == "[......======..................] logic  logic:a.py#1  200 ms +200 ms"
    assert page[-2] == "[...............###############] style  style:a.py#1  500 ms +500 ms"


def test_a_moment_is_one_column_also_at_the_end() -> None:
    page = render_timeline(
        Timeline((TimelineRow(10, 10, "a", "b"), TimelineRow(0, 0, "a", "b")), 10, ()), width=30, colour=False
    )

    assert "[.........|]" in page
    assert "[|.........]" in page


@pytest.mark.slow
def test_a_flood_of_lines_and_notes_is_counted() -> None:
    row = TimelineRow(0, 1, "a", "b", tuple(f"n{n}" for n in range(20)))

    page = render_timeline(Timeline((row,) * 2_100, 1, ()), width=80, colour=False)

    assert page.count("and 8 more\n") == 2_000
    assert "... and 100 more lines; the trace has all of them.\n" in page


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_a_page_keeps_to_its_width(width: int) -> None:
    long = {"purpose": "logic", "subject": "logic:" + "d/" * 60 + "#1"}
    events = [PLAN, call(500, **long), started(LOGIC, 0), step(LOGIC, 500, "retry")]

    page = render_timeline(timeline_of(events), width=width, colour=False)

    # A bar, a name and its times stay on one line, and a name that is wider than the page is not torn.
    rows = [line for line in page.split("\n") if len(line.split()) > 1 and "d/d/" not in line]
    assert max(len(line) for line in rows) <= max(width, 40)


def test_failures_are_coloured_and_colour_changes_no_word() -> None:
    timeline = timeline_of([started(LOGIC, 0), step(LOGIC, 5, "give_up")])

    assert "\x1b[31m" in render_timeline(timeline, width=80, colour=True)
    assert "\x1b" not in render_timeline(timeline, width=80, colour=False)


VALUES = st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9) | st.lists(st.text(max_size=3))
FIELDS = ("at_ms", "task_id", "worker", "attempt", "action", "reason", "message", "purpose", "subject", "tier",
          "model", "usage", "duration_ms", "stored", "stop", "plan", "tool", "path", "line", "claimed",
          "confidence")  # fmt: skip
KINDS = ("plan_made", "planned", "part_finished", "selected", "task_started", "resumed", "result", "step",
         "task_failed", "call", "call_failed", "tool_call", "ruling", "settled", "review")  # fmt: skip
PLANS = st.fixed_dictionaries(
    {"tasks": st.lists(st.fixed_dictionaries({"task_id": VALUES, "depends_on": VALUES}) | VALUES)}
)
USAGES = st.dictionaries(st.sampled_from(tuple(USAGE)), VALUES)
RECORDS = st.builds(
    lambda kind, fields, plan, usage: {"event": kind, **plan, **usage, **fields},
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8),
    st.fixed_dictionaries({"plan": PLANS | VALUES}),
    st.fixed_dictionaries({"usage": USAGES | VALUES}),
)
HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(events=st.lists(RECORDS, max_size=8), width=st.integers(1, 130))
def test_no_trace_breaks_the_page_or_acts_on_a_terminal(events: list[dict[str, Any]], width: int) -> None:
    page = render_timeline(timeline_of(events), width=width, colour=False).replace("\u200d", "")

    assert [char for char in page if char != "\n" and unicodedata.category(char) in HIDDEN] == []
