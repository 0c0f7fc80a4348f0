"""The planner inside of a whole review: a planned order is kept, and a second round closes a gap of the first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet, FileChange, Metadata, Review, ReviewTask, WorkerCard
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Answer, WorkerSet, WorkOrder
from reviewbot.llm.agents.planner import ModelPlanner, PlanningSettings
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.execution import PlanExecutor
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from tests.fake_model import FakeModel
from tests.reading_cases import read

ASK = "Does the value of `name` reach the query unbound, and on which path?"


class Stubborn:
    """Answers nothing that can be read to the tasks that it refuses, and keeps what it was given."""

    name = "stubborn"

    def __init__(self, refuses: Callable[[ReviewTask], bool] = lambda _task: False) -> None:
        self.refuses = refuses
        self.orders: list[WorkOrder] = []

    def covers(self, card: WorkerCard, language: str) -> bool:
        return True

    async def work(self, order: WorkOrder) -> Answer:
        self.orders.append(order)
        if self.refuses(order.task):
            raise EngineError("no JSON")
        return Answer(metadata=Metadata(readings=tuple(read(path, models=("stubborn",)) for path in order.task.paths)))


def a_lead(*tasks: dict[str, Any]) -> FakeModel:
    return FakeModel({"reason": "in this order", "strategy": "merge", "tasks": tasks, "workers": []})


@pytest.fixture(name="reviewed")
def _reviewed(
    a_worker_set: Callable[..., WorkerSet],
    a_card: Callable[..., WorkerCard],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    clock: Any,
    trace: Any,
    journal: Any,
    no_snapshot: Any,
) -> Callable[[Stubborn, FakeModel], Review]:
    def reviewed(engine: Stubborn, lead: FakeModel) -> Review:
        worker_set = a_worker_set(*(a_card(name, tiers=("small", "medium")) for name in ("security", "logic")))
        change = a_change(a_file("src/a.py", added=300), a_file("src/b.py", added=300))
        routed = RoutedPlanner(worker_set, engine.covers, lambda _p: None, PlanLimits(route=True, part_lines=500))
        planner = ModelPlanner(routed, lead, trace, "You plan.", PlanningSettings(plan_above=0))
        executor = PlanExecutor(
            worker_set=worker_set,
            engine=engine,
            tools={},
            snapshot=no_snapshot,
            journal=journal,
            clock=clock,
            trace=trace,
            run_id="planned",
            concurrency=4,
            deadline_s=600.0,
        )
        synthesizer = RuledSynthesizer(Rules.of(worker_set.cards, 25), ReviewFacts(engine.name))
        setup = Setup(planner, executor, synthesizer, clock, trace)
        return asyncio.run(review(change, setup))

    return reviewed


def a_task_of(task_id: str, worker: str, *depends_on: str) -> dict[str, Any]:
    return {
        "task_id": task_id, "worker": worker, "files": ["src/a.py", "src/b.py"], "instruction": ASK,
        "success_criterion": "every path was followed", "max_tokens": 4_000, "depends_on": list(depends_on),
    }  # fmt: skip


def in_the_first_round(task: ReviewTask) -> bool:
    return not task.programs_only and "~2" not in task.task_id


def test_a_second_round_one_tier_up_closes_the_gap_of_the_first(reviewed: Callable[..., Review], trace: Any) -> None:
    engine = Stubborn(in_the_first_round)

    found = reviewed(engine, a_lead())

    assert (found.gaps, found.verdict) == ((), "clean")
    assert len(trace.of("plan_made")) == 2
    again = [(task["task_id"], task["constraints"]["tier"]) for task in trace.of("plan_made")[1]["plan"]["tasks"]]
    assert again == [("security:src/a.py#1+1~2", "medium"), ("logic:src/a.py#1+1~2", "medium")]


def test_a_gap_that_the_second_round_cannot_close_stays_named(reviewed: Callable[..., Review]) -> None:
    found = reviewed(Stubborn(lambda task: not task.programs_only), a_lead())

    assert {(gap.worker, gap.path, gap.reason) for gap in found.gaps} == {
        (worker, path, "breaker") for worker in ("security", "logic") for path in ("src/a.py", "src/b.py")
    }


def test_a_task_that_a_plan_orders_behind_another_is_given_its_result(reviewed: Callable[..., Review]) -> None:
    engine = Stubborn()

    found = reviewed(engine, a_lead(a_task_of("first", "security"), a_task_of("then", "logic", "first")))

    assert found.verdict == "clean"
    first, then = engine.orders
    assert (first.card.name, then.card.name) == ("security", "logic")
    assert list(then.dependencies) == [first.task.task_id]
    assert ASK in then.task.instruction
