"""Each worker keeps to its job: what is another's it hands on, and never tells it as its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Plan
from reviewbot.model.scope import PLAINLY, worth_moving
from reviewbot.ports import Escalated
from reviewbot.supervisor.dispatcher import Dispatcher
from reviewbot.worker import run_task

Make = Callable[..., Any]

WORKERS = ("security", "logic", "performance", "style")
OTHERS = {"security": "style", "logic": "security", "performance": "logic", "style": "performance"}
"""For each worker, one whose job it comes upon."""


def work(engine: Any, order: Any) -> Any:
    return asyncio.run(engine.work(order))


@pytest.mark.parametrize("worker", WORKERS)
def test_each_worker_refuses_another_ones_work_by_escalating(
    worker: str, an_engine: Make, fake_model: Make, said: Make, an_order: Make, a_task: Make
) -> None:
    why = {"reason": "out_of_scope", "message": "this is not mine", "better_worker": OTHERS[worker]}
    escalated = work(an_engine(fake_model(said(escalation=why))), an_order(a_task(f"{worker}:x")))

    assert isinstance(escalated, Escalated)
    assert (escalated.reason, escalated.better_worker) == ("out_of_scope", OTHERS[worker])
    assert escalated.partial is not None
    assert escalated.partial.metadata.looked == ("claude:opus-x", "ruff")


@pytest.mark.parametrize(
    ("worker", "category", "owner"),
    [
        ("security", "naming", "style"),
        ("logic", "SQL-Injection", "security"),
        ("performance", "wrong-value", "logic"),
        ("style", "query-in-loop", "performance"),
    ],
)
def test_a_finding_that_is_plainly_anothers_is_handed_on_and_never_told_as_its_own(
    worker: str, category: str, owner: str, an_engine: Make, fake_model: Make, said: Make, reported: Make,
    an_order: Make, a_task: Make, trace: Any,
) -> None:  # fmt: skip
    model = fake_model(said(reported(category="race"), reported(category=category, message="not mine")))
    escalated = work(an_engine(model), an_order(a_task(f"{worker}:x")))

    assert (escalated.reason, escalated.better_worker) == ("out_of_scope", owner)
    assert escalated.message == f"it came upon a matter of {category}: not mine"
    assert [found.category for found in escalated.partial.candidates] == ["race"]
    assert trace.of("out_of_scope") == [
        {
            "task_id": f"{worker}:x",
            "path": "src/app.py",
            "message": "not mine",
            "better_worker": owner,
            "category": category,
            "severity": "warning",
        }
    ]


def test_what_matters_little_is_left_with_its_reason_in_the_trace(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make, trace: Any
) -> None:
    model = fake_model(said(reported(category="style", severity="info")))
    answer = work(an_engine(model), an_order(a_task("security:x")))

    assert answer.candidates == ()
    assert [event["better_worker"] for event in trace.of("out_of_scope")] == ["style"]


def test_the_models_own_escalation_goes_first(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make
) -> None:
    why = {"reason": "ambiguous_input", "message": "cut off", "better_worker": None}
    model = fake_model(said(reported(category="style"), escalation=why))

    assert work(an_engine(model), an_order(a_task("security:x"))).reason == "ambiguous_input"


def test_the_worst_is_what_is_handed_on(a_candidate: Make) -> None:
    found = [
        a_candidate(category="null", severity="info", confidence=99),
        a_candidate(category="naming", severity="warning", confidence=80),
        a_candidate(category="xss", severity="critical", confidence=40),
        a_candidate(category="tls", severity="critical", confidence=50),
    ]

    assert worth_moving(found) == found[3]
    assert worth_moving(found[:1]) is None


def test_a_worker_of_the_repositorys_own_may_report_anything(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make
) -> None:
    answer = work(an_engine(fake_model(said(reported(category="xss")))), an_order(a_task("licences:x")))

    assert [found.category for found in answer.candidates] == ["xss"]


def test_no_category_is_plainly_the_job_of_two() -> None:
    named = [category for categories in PLAINLY.values() for category in categories]

    assert len(named) == len(set(named))


def test_what_is_handed_on_is_done_by_the_other_worker(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make, clock: Any,
    trace: Any, journal: Any,
) -> None:  # fmt: skip
    model = fake_model(said(reported(category="naming")), said(reported(category="naming")))
    engine = an_engine(model)
    dispatcher = Dispatcher(
        attempt=lambda task, _: run_task(engine, an_order(task)),
        retarget=lambda task, worker: task.model_copy(update={"worker": worker, "type": worker}),
        journal=journal,
        run_id="run",
        trace=trace,
        clock=clock,
        concurrency=1,
        deadline_s=60,
    )
    plan = Plan(goal="g", tasks=(a_task("security:x"),), reason="r")
    [settled] = asyncio.run(dispatcher.dispatch(plan)).values()

    assert [request.purpose for request in model.requests] == ["security", "style"]
    assert [finding.type for result in settled.results for finding in result.findings] == ["style"]
    assert settled.answered
