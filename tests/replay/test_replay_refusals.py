"""Traces that cannot be told again: cut short, of another form, or of another review than they tell of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.delivery import replay_delivery
from reviewbot.domain.contracts import Plan, Review, ReviewTask
from reviewbot.domain.errors import InputError, ReviewbotError
from reviewbot.domain.ports import TaskResult
from reviewbot.replay.replay_review import recorded_review, replay, settle
from reviewbot.review.trace import Event, read_trace

TOKEN = "ghp_c4nAryc4nAryc4nAryc4nAryc4nAryc4nAry"
SHELL = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 95,
    "category": "injection",
    "source": "ruff",
}
LEAK = {
    **SHELL,
    "quote": f'token = "{TOKEN}"',
    "message": f'the token = "{TOKEN}" is in the code',
    "category": "secret",
}


def says(**fields: Any) -> dict[str, Any]:
    return {"findings": [{**SHELL, **fields}]}


def escalates(reason: str, **fields: Any) -> dict[str, Any]:
    return {"escalate": {"reason": reason, "message": "two readings", **fields}}


Begin = Callable[..., Any]
FOUND = [{"path": "*/cart.py", "replies": [{"findings": [LEAK]}]}, {"replies": [says()]}]
NOWHERE = [{"worker": "logic", "replies": [escalates("out_of_scope", better_worker="janitor")]}]


def without(kind: str, text: str) -> list[Event]:
    return [event for event in read_trace(text) if event["event"] != kind]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("change", "no record of the kind 'change'"),
        ("rules", "no record of the kind 'rules'"),
        ("plan_made", "the trace has no plan"),
        ("review", "the trace has no review"),
    ],
)
def test_a_trace_that_was_cut_short_says_what_it_lacks(kind: str, why: str, run: Begin) -> None:
    _, text = run().told()

    with pytest.raises(InputError, match=why):
        asyncio.run(replay(without(kind, text)))


def test_a_run_that_was_stopped_before_the_delivery_still_has_its_review(run: Begin) -> None:
    shown, text = run().told()
    events = without("delivered", text)

    told = replay_delivery(events, asyncio.run(replay(events)))

    assert told.review == shown.review


def test_another_review_than_the_recorded_one_is_a_fault_and_names_the_version(run: Begin) -> None:
    _, text = run(*FOUND).told()
    events = read_trace(text)
    next(event for event in events if event["event"] == "rules").update(max_findings=0, version="9.9.9")

    with pytest.raises(ReviewbotError, match=r"version 9\.9\.9 wrote it") as caught:
        replay_delivery(events, asyncio.run(replay(events)))

    assert caught.value.exit_code == 3


@pytest.mark.parametrize("change", [{"digest": "0"}, {"symbols": []}, {"fingerprints": []}, {"notes": ["more"]}])
def test_another_delivery_than_the_recorded_one_is_a_fault(change: dict[str, object], run: Begin) -> None:
    _, text = run(*FOUND).told()
    events = read_trace(text)
    events[-1].update(change)

    with pytest.raises(ReviewbotError, match="gives another review"):
        replay_delivery(events, asyncio.run(replay(events)))


@pytest.mark.parametrize("change", [{"symbols": 7}, {"symbols": [{}]}, {"symbols": [[]]}, {"notes": 7}])
def test_a_delivery_that_cannot_be_read_is_bad_input(change: dict[str, object], run: Begin) -> None:
    _, text = run().told()
    events = read_trace(text)
    events[-1].update(change)

    with pytest.raises(InputError, match="the delivery"):
        replay_delivery(events, asyncio.run(replay(events)))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("change", {"change": 7}),
        ("change", {"change": {"files": [{"path": "a"}]}}),
        ("rules", {"thresholds": 7}),
        ("rules", {"thresholds": {"logic": "x"}}),
        ("rules", {"together": [["a"]]}),
        ("rules", {"notes": None}),
        ("rules", {"synthesizer": "model"}),
        ("plan_made", {"plan": 7}),
        ("plan_made", {"plan": {"tasks": 7}}),
        ("plan_made", {"plan": {"tasks": [7]}}),
        ("plan_made", {"plan": {"tasks": [{"payload": {}, "more": [7]}]}}),
        ("result", {"outcome": {"kind": "other"}}),
        ("step", {"gaps": [7]}),
        ("step", {"human": {}}),
        ("review", {"verdict": "fine"}),
    ],
)
def test_a_record_of_another_form_is_bad_input(kind: str, change: dict[str, object], run: Begin) -> None:
    _, text = run(*NOWHERE).told()
    events = read_trace(text)
    next(event for event in events if event["event"] == kind).update(change)

    with pytest.raises(InputError, match="trace"):
        asyncio.run(replay(events))


def test_a_failure_for_an_unknown_reason_is_bad_input(a_task: Callable[..., ReviewTask]) -> None:
    plan = Plan(goal="g", tasks=(a_task(),), reason="r")
    failed = {"event": "task_failed", "task_id": plan.tasks[0].task_id, "reason": "boredom"}

    with pytest.raises(InputError, match="not known here"):
        settle(plan, [failed])


def test_what_belongs_to_another_plan_is_left_alone(a_task: Callable[..., ReviewTask]) -> None:
    plan = Plan(goal="g", tasks=(a_task(),), reason="r")
    events: list[Event] = [
        {"event": "step", "task_id": "logic:other#1", "root": "logic:other#1", "action": "done"},
        {"event": "task_failed", "task_id": "logic:other#1", "reason": "deadline", "message": "late"},
        {"event": "task_failed", "task_id": plan.tasks[0].task_id, "findings": 0},
    ]

    assert settle(plan, events) == {plan.tasks[0].task_id: TaskResult(plan.tasks[0])}


def test_the_recorded_review_is_the_last_one(run: Begin) -> None:
    shown, text = run().told()

    assert isinstance(recorded_review(read_trace(text)), Review)
    assert recorded_review(read_trace(text)) == shown.review
