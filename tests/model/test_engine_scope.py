"""Each worker keeps to its job: what matters of another's is told for the verifier, and the rest is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Plan
from reviewbot.errors import EngineError, RefusedError
from reviewbot.model.scope import PLAINLY
from reviewbot.ports import Answer, Escalated, Settled
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
    looked = ("ruff",) if worker == "security" else ("claude:opus-x", "ruff")
    assert escalated.partial.metadata.readers == looked, "to hand the floor's job away is no look"


@pytest.mark.parametrize(
    ("worker", "category", "owner"),
    [("logic", "SQL-Injection", "security"), ("performance", "wrong-value", "logic"), ("style", "xss", "security")],
)
@pytest.mark.parametrize("severity", ["critical", "warning"])
def test_a_grave_finding_that_is_plainly_anothers_is_told_for_the_verifier_and_moves_no_task(
    worker: str, category: str, owner: str, severity: str, an_engine: Make, fake_model: Make, said: Make,
    reported: Make, an_order: Make, a_task: Make, trace: Any,
) -> None:  # fmt: skip
    model = fake_model(said(reported(category=category, severity=severity, message="not mine"), reported()))
    answer = work(an_engine(model), an_order(a_task(f"{worker}:x")))

    assert isinstance(answer, Answer)
    assert [found.category for found in answer.candidates] == [category, "race"]
    assert answer.metadata.readers == ("claude:opus-x", "ruff"), "its own task is done"
    assert trace.of("out_of_scope") == [
        {
            "task_id": f"{worker}:x",
            "path": "src/app.py",
            "message": "not mine",
            "told": True,
            "better_worker": owner,
            "category": category,
            "severity": severity,
        }
    ]


@pytest.mark.parametrize(
    ("worker", "category", "severity", "owner"),
    [
        ("security", "naming", "critical", "style"),
        ("logic", "style", "warning", "style"),
        ("security", "null", "info", "logic"),
        ("logic", "xss", "info", "security"),
    ],
)
def test_anothers_taste_and_remarks_are_dropped_with_the_reason_in_the_trace(
    worker: str, category: str, severity: str, owner: str, an_engine: Make, fake_model: Make, said: Make,
    reported: Make, an_order: Make, a_task: Make, trace: Any,
) -> None:  # fmt: skip
    model = fake_model(said(reported(category=category, severity=severity)))
    answer = work(an_engine(model), an_order(a_task(f"{worker}:x")))

    assert isinstance(answer, Answer)
    assert answer.candidates == ()
    assert [(event["better_worker"], event["told"]) for event in trace.of("out_of_scope")] == [(owner, False)]


def test_the_models_own_escalation_goes_first(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make
) -> None:
    why = {"reason": "ambiguous_input", "message": "cut off", "better_worker": None}
    model = fake_model(said(reported(category="style"), escalation=why))

    assert work(an_engine(model), an_order(a_task("security:x"))).reason == "ambiguous_input"


def test_a_worker_of_the_repositorys_own_may_report_anything(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make
) -> None:
    answer = work(an_engine(fake_model(said(reported(category="xss")))), an_order(a_task("licences:x")))

    assert [found.category for found in answer.candidates] == ["xss"]


def test_no_category_is_plainly_the_job_of_two() -> None:
    named = [category for categories in PLAINLY.values() for category in categories]

    assert len(named) == len(set(named))


@pytest.fixture(name="settled")
def _settled(an_engine: Make, an_order: Make, clock: Any, trace: Any, journal: Any) -> Callable[..., Any]:
    """Bring tasks to their ends with one model, as a review does; every worker exists."""

    def run(model: Any, *tasks: Any) -> dict[str, Settled]:
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
        return asyncio.run(dispatcher.dispatch(Plan(goal="g", tasks=tasks, reason="r")))

    return run


def test_two_workers_that_find_each_others_defects_ask_nobody_again_and_leave_no_gap(
    settled: Make, fake_model: Make, said: Make, reported: Make, a_task: Make
) -> None:
    both = said(reported(category="sql-injection", severity="critical"), reported(category="edge-case"))
    model = fake_model(both)
    ends = settled(model, a_task("security:x"), a_task("logic:x"))

    assert [request.purpose for request in model.requests] == ["security", "logic"]
    assert all(end.answered for end in ends.values())
    assert [item for end in ends.values() for item in (*end.gaps, *end.human)] == []


@pytest.mark.parametrize(("worker", "judged"), [("security", False), ("logic", True)])
def test_what_the_model_hands_on_is_done_by_the_other_worker_and_the_floor_names_what_it_left(
    *, worker: str, judged: bool, settled: Make, fake_model: Make, said: Make, a_task: Make
) -> None:
    why = {"reason": "out_of_scope", "message": "nothing here for me", "better_worker": "style"}
    model = fake_model(said(escalation=why), said())
    [end] = settled(model, a_task(f"{worker}:x")).values()

    assert [request.purpose for request in model.requests] == [worker, "style"]
    assert end.answered is judged
    assert [(gap.worker, gap.path, gap.reason) for gap in end.gaps] == (
        [] if judged else [("security", "src/app.py", "unsettled")]
    )


def test_a_model_that_declines_to_the_last_leaves_its_gap_to_a_person_beside_what_programs_found(
    settled: Make, fake_model: Make, a_task: Make, trace: Any
) -> None:
    [end] = settled(fake_model(RefusedError("I cannot help")), a_task("logic:x", higher_tiers=())).values()

    assert [gap.reason for result in end.results for gap in result.gaps] == ["refused"]
    assert [item.reason for item in end.human] == ["logic got no answer to this (refused): I cannot help"]
    assert [event["action"] for event in trace.of("step")] == ["human"]


def test_a_model_that_failed_to_the_last_has_not_answered(
    settled: Make, fake_model: Make, a_task: Make, trace: Any
) -> None:
    logic = a_task("logic:x")
    waiting = a_task("style:x", depends_on=("logic:x",), needs_dependencies=True)
    ends = settled(fake_model(EngineError("no JSON")), logic, waiting)

    assert not ends["logic:x"].answered
    assert [gap.reason for gap in ends["style:x"].gaps] == ["dependency"]
    assert [event["task_id"] for event in trace.of("task_failed")] == ["logic:x", "style:x"]
    assert trace.of("step")[-1]["reason"] == "given up after 3 failures: no JSON"
