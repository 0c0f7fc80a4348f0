"""One reading of the whole change: when it is planned, what it is asked, and what it may say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.contracts import OVERVIEW, ChangeSet, Plan, Reported, ReviewTask, WorkerAnswer
from reviewbot.model.overview import (
    CARD,
    LEAST_LINES,
    MAX_CHARS,
    SURE_FROM,
    OverviewPlanner,
    overview_of,
    sure_of,
    with_overview,
)
from reviewbot.model.seats import seats_of, with_seats
from reviewbot.ports import Settled

Make = Callable[..., Any]

LINES = 1_500


@dataclass
class GivenPlanner:
    """A planner whose plan is given; writes down what else it is asked."""

    given: Plan
    asked: list[object] = field(default_factory=list)

    async def plan(self, change: ChangeSet) -> Plan:
        del change
        return self.given

    async def more(self, change: ChangeSet, plan: Plan, settled: Any) -> Plan | None:
        self.asked = [change, plan, settled]
        return plan

    def retarget(self, task: ReviewTask, worker: str) -> ReviewTask | None:
        self.asked = [task, worker]
        return task


@pytest.fixture
def divided(a_task: Make, a_payload: Make) -> Plan:
    """Two workers' tasks on three files, and one whose model is spared."""
    one, two, three = (a_payload(f"+{name} = 1", path=f"{name}/x.py") for name in "abc")
    tasks = (
        a_task("logic:b", payload=two, more=(three,)),
        a_task("logic:a", payload=one),
        a_task("security:b", worker="security", type="security", payload=two),
        a_task("style:z", worker="style", type="style", payload=a_payload("+z", path="z.py"), programs_only=True),
    )
    return Plan(goal="review it", tasks=tasks, reason="by hand")


@pytest.fixture
def a_change_of(a_change: Make, a_file: Make) -> Callable[[int], ChangeSet]:
    """A change of so many changed lines."""
    return lambda lines: a_change(a_file("a/x.py", added=lines - lines // 2, removed=lines // 2))


def test_what_models_read_in_parts_one_reads_whole_each_slice_once_and_by_file(
    divided: Plan, a_change_of: Callable[[int], ChangeSet]
) -> None:
    task = overview_of(divided, a_change_of(LEAST_LINES), LINES)

    assert task is not None
    assert [payload.file_path for payload in task.slices] == ["a/x.py", "b/x.py", "c/x.py"]
    assert (task.worker, task.task_id, task.constraints.tier) == (OVERVIEW, "overview:3 slices", "opus")
    assert task.depends_on == ()
    assert "slice" not in task.instruction, "it is the one who sees all of them"


@pytest.mark.parametrize(
    ("lines", "limit", "wanted"),
    [
        (LEAST_LINES - 1, LINES, False),
        (LEAST_LINES, LINES, True),
        (LINES, LINES, True),
        (LINES + 1, LINES, False),
        (LEAST_LINES, 0, False),
    ],
)
def test_it_is_planned_for_changes_that_are_neither_tiny_nor_too_long(
    lines: int, limit: int, *, wanted: bool, divided: Plan, a_change_of: Callable[[int], ChangeSet]
) -> None:
    assert (overview_of(divided, a_change_of(lines), limit) is not None) == wanted


def test_nobody_reads_again_what_one_worker_has_all_of(
    divided: Plan, a_change_of: Callable[[int], ChangeSet], a_task: Make
) -> None:
    first, *rest = (payload for task in divided.tasks[:2] for payload in task.slices)
    whole = a_task("logic:all", payload=first, more=tuple(rest))
    plan = divided.model_copy(update={"tasks": (*divided.tasks, whole)})

    assert overview_of(plan, a_change_of(LEAST_LINES), LINES) is None


def test_a_plan_without_work_for_models_has_no_overview(divided: Plan, a_change_of: Callable[[int], ChangeSet]) -> None:
    spared = tuple(task.model_copy(update={"programs_only": True}) for task in divided.tasks)

    for tasks in ((), spared):
        assert overview_of(divided.model_copy(update={"tasks": tasks}), a_change_of(LEAST_LINES), LINES) is None


@pytest.mark.parametrize(("over", "wanted"), [(0, True), (1, False)])
def test_more_text_than_one_reading_takes_in_is_left_to_those_who_read_parts(
    over: int, *, wanted: bool, a_change_of: Callable[[int], ChangeSet], a_task: Make, a_payload: Make
) -> None:
    half, rest = "+" + "x" * (MAX_CHARS // 2 - 1), "+" + "y" * (MAX_CHARS // 2 - 1 + over)
    tasks = [a_task(f"logic:{name}", payload=a_payload(path=name).model_copy(update={"code": text}))
             for name, text in (("a.py", half), ("b.py", rest))]  # fmt: skip
    plan = Plan(goal="review it", tasks=tuple(tasks), reason="by hand")

    assert (overview_of(plan, a_change_of(LEAST_LINES), LINES) is not None) == wanted


def test_it_stands_in_front_of_the_other_tasks_and_leaves_them_as_they_are(
    divided: Plan, a_change_of: Callable[[int], ChangeSet]
) -> None:
    plan = asyncio.run(OverviewPlanner(GivenPlanner(divided), LINES).plan(a_change_of(LEAST_LINES)))

    assert plan.tasks[0].worker == OVERVIEW
    assert plan.tasks[1:] == divided.tasks
    assert plan.model_copy(update={"tasks": divided.tasks}) == divided


def test_a_plan_that_needs_none_is_the_other_planners(divided: Plan, a_change_of: Callable[[int], ChangeSet]) -> None:
    assert asyncio.run(OverviewPlanner(GivenPlanner(divided), 0).plan(a_change_of(LEAST_LINES))) is divided


def test_second_rounds_and_new_workers_are_the_other_planners_business(
    divided: Plan, a_change_of: Callable[[int], ChangeSet]
) -> None:
    inner = GivenPlanner(divided)
    planner, change, task = OverviewPlanner(inner, LINES), a_change_of(5), divided.tasks[0]
    settled = {task.task_id: Settled(task)}

    assert asyncio.run(planner.more(change, divided, settled)) is divided
    assert inner.asked == [change, divided, settled]
    assert planner.retarget(task, "style") is task
    assert inner.asked == [task, "style"]


def test_its_card_is_in_the_crew_and_is_no_seat_of_a_plan(a_crew: Make) -> None:
    crew = with_overview(with_seats(a_crew(), 1), "Read it all.")

    assert crew.cards[-1] == CARD
    assert (crew.prompts[OVERVIEW], crew.origin[OVERVIEW]) == ("Read it all.", "package")
    assert [card.name for card in seats_of(crew)] == ["extra-1"]


@pytest.fixture
def an_overview(an_order: Make, a_task: Make) -> Any:
    """The order of such a task."""
    return replace(an_order(a_task("overview:2 slices", worker=OVERVIEW, type=OVERVIEW)), card=CARD)


def test_it_is_asked_without_the_rules_of_those_who_see_parts_and_without_tools(
    an_engine: Make, fake_model: Make, said: Make, an_overview: Any
) -> None:
    engine = an_engine(fake_model(said()))
    asyncio.run(engine.work(an_overview))

    [request] = engine.model.requests
    assert "The rules of the house." not in "".join(part.text for part in request.system)
    assert request.system[-1].text == "Look closely."
    assert request.tools == ()
    assert request.purpose == OVERVIEW


@given(claims=st.lists(st.integers(0, 100), max_size=5))
def test_only_what_it_is_sure_of_is_left_of_its_answer(claims: list[int], reported: Make) -> None:
    findings = tuple(Reported(**{"replacement": None, **reported(confidence=claim)}) for claim in claims)
    answer = WorkerAnswer(findings=findings, hints=(), escalation=None)

    assert [found.confidence for found in sure_of(answer).findings] == [n for n in claims if n >= SURE_FROM]


def test_what_it_is_not_sure_of_is_no_candidate(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_overview: Any
) -> None:
    model = fake_model(said(*(reported(confidence=claim) for claim in (SURE_FROM - 1, SURE_FROM))))

    assert [each.confidence for each in asyncio.run(an_engine(model).work(an_overview)).candidates] == [SURE_FROM]


def test_what_it_says_is_told_apart_from_what_the_same_model_says_of_a_part(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_overview: Any, an_order: Make
) -> None:
    sure = said(reported(confidence=95))
    whole = asyncio.run(an_engine(fake_model(sure)).work(an_overview))
    part = asyncio.run(an_engine(fake_model(sure)).work(an_order()))

    assert [whole.candidates[0].source, part.candidates[0].source] == ["opus-x@overview", "opus-x"]
    assert "claude:opus-x@overview" in whole.metadata.readers


def test_findings_of_every_kind_are_its_business(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_overview: Any
) -> None:
    kinds = ["sql-injection", "query-in-loop", "naming", "null"]
    model = fake_model(said(*(reported(confidence=90, category=kind, severity="info") for kind in kinds)))

    answer = asyncio.run(an_engine(model).work(an_overview))

    assert [candidate.category for candidate in answer.candidates] == kinds
