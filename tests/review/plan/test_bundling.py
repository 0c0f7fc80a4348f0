"""Which tasks share a reader."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet, Effort, Plan, ReviewTask
from reviewbot.review.plan.bundling import BundlingPlanner, bundle_readers
from tests.make import MakeTask


@pytest.fixture
def a_task_on(a_task: MakeTask, a_payload: Any) -> MakeTask:
    """A worker's task on some files."""

    def make(worker: str, *paths: str, lines: int = 1, **fields: Any) -> ReviewTask:
        first, *more = (a_payload("\n".join(["+x = 1"] * lines), path=path) for path in paths or ("src/app.py",))
        name = f"{worker}:{'+'.join(paths)}"
        return a_task(name, worker=worker, type=worker, payload=first, more=tuple(more), **fields)

    return make


def readers(*tasks: ReviewTask, effort: Effort = "standard", foreign: tuple[str, ...] = ()) -> list[str]:
    return [task.reader for task in bundle_readers(Plan(goal="g", tasks=tasks, reason="r"), effort, foreign).tasks]


def test_tasks_on_one_change_share_a_reader_also_where_one_has_other_files(a_task_on: MakeTask) -> None:
    tasks = (a_task_on("logic", "a.py", "b.py"), a_task_on("security", "b.py"), a_task_on("style", "README.md"))

    assert readers(*tasks) == ["reader-1"] * 3
    assert readers(*tasks, effort="quick") == ["reader-1"] * 3


def test_the_plan_names_its_effort(a_task_on: MakeTask) -> None:
    assert (
        bundle_readers(Plan(goal="g", tasks=(a_task_on("logic", "a.py"),), reason="r"), "quick", ()).effort == "quick"
    )


def test_at_the_effort_deep_each_task_has_its_own(a_task_on: MakeTask) -> None:
    tasks = (a_task_on("logic", "a.py"), a_task_on("security", "a.py"))

    assert readers(*tasks, effort="deep") == ["reader-1", "reader-2"]


def test_a_task_of_other_models_of_the_repository_or_that_waits_has_its_own(
    a_task_on: MakeTask, a_task: MakeTask
) -> None:
    logic = a_task_on("logic", "a.py")
    cheap = a_task_on("style", "a.py")
    cheap = cheap.model_copy(update={"constraints": cheap.constraints.model_copy(update={"tier": "large"})})
    waiting = a_task_on("performance", "a.py", depends_on=(logic.task_id,))

    assert readers(logic, cheap) == ["reader-1", "reader-2"]
    assert readers(logic, a_task_on("licence", "a.py"), foreign=("licence",)) == ["reader-1", "reader-2"]
    assert readers(logic, waiting, a_task_on("security", "a.py")) == ["reader-1", "reader-2", "reader-1"]


def test_two_parts_have_a_reader_each_and_a_task_goes_to_the_reader_of_its_files(a_task_on: MakeTask) -> None:
    tasks = (
        a_task_on("logic", "a.py"),
        a_task_on("logic", "b.py"),
        a_task_on("security", "b.py"),
        a_task_on("style", "a.py"),
    )

    assert readers(*tasks) == ["reader-1", "reader-2", "reader-2", "reader-1"]


def test_no_reader_is_shown_more_than_it_can_hold(a_task_on: MakeTask) -> None:
    tasks = (a_task_on("logic", "a.py", lines=1_000), a_task_on("security", "b.py", lines=1_000))

    assert readers(*tasks) == ["reader-1", "reader-2"]


def test_a_task_for_analyzers_alone_has_no_reader(a_task_on: MakeTask) -> None:
    assert readers(a_task_on("logic", "a.py", programs_only=True)) == [""]


def test_the_planner_bundles_both_rounds_and_says_so_before_they_run(a_task_on: MakeTask) -> None:
    made = Plan(goal="g", tasks=(a_task_on("logic", "a.py"),), reason="r")

    class Inner:
        further: Plan | None = made

        async def plan(self, change: ChangeSet) -> Plan:
            return made

        async def more(self, change: ChangeSet, plan: Plan, settled: object) -> Plan | None:
            return self.further

    inner, begun = Inner(), list[str]()
    planner = BundlingPlanner(inner, "standard", (), lambda each: begun.extend(task.reader for task in each.tasks))

    async def run() -> None:
        assert (await planner.plan(ChangeSet())).tasks[0].reader == "reader-1"
        further = await planner.more(ChangeSet(), made, {})
        assert further is not None
        inner.further = None
        assert await planner.more(ChangeSet(), made, {}) is None

    asyncio.run(run())

    assert begun == ["reader-1", "second-reader-1"]
