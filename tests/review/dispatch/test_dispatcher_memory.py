"""What a plan keeps in memory: few tasks that wait, and of what has ended no more than the review needs."""

from __future__ import annotations

import asyncio
from typing import Any

from reviewbot.domain.contracts import Metadata, Outcome, ReviewTask, ToolRun, WorkerResult
from reviewbot.review.dispatch.dispatcher import BEGUN_PER_SLOT
from tests.make import Dispatch, MakePlan, MakeTask, MakeWorker

MANY = 3 * BEGUN_PER_SLOT
"""Tasks of a plan: of one slot, most of them are not begun while the first one runs."""


def test_of_the_tasks_of_a_large_plan_few_are_begun_at_a_time(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    begun: list[int] = []

    async def count(task: ReviewTask) -> Outcome:
        begun.append(len(asyncio.all_tasks()))
        await asyncio.sleep(0)
        return WorkerResult(task_id=task.task_id)

    tasks = [a_task(f"logic:{n}.py#1") for n in range(MANY)]
    ends = dispatch(a_plan(*tasks), a_worker({task.task_id: count for task in tasks}), concurrency=1)

    assert list(ends) == [task.task_id for task in tasks]
    assert all(end.answered for end in ends.values())
    assert max(begun) <= BEGUN_PER_SLOT + 1  # with the one that runs the plan


def test_tasks_that_were_not_begun_by_the_deadline_are_gaps_like_those_that_were(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    async def hang(_task: ReviewTask) -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    tasks = [a_task(f"logic:{n}.py#1") for n in range(MANY)]
    ends = dispatch(a_plan(*tasks), a_worker({tasks[0].task_id: hang}), concurrency=1, deadline_s=0.3)

    assert [[gap.reason for gap in end.gaps] for end in ends.values()] == [["deadline"]] * MANY


def test_a_long_chain_of_tasks_comes_to_its_end_though_few_are_begun_at_a_time(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    names = [f"logic:{n}.py#1" for n in range(MANY)]
    tasks = [a_task(name, depends_on=(names[n - 1],) if n else ()) for n, name in enumerate(names)]

    worker = a_worker()
    ends = dispatch(a_plan(*tasks), worker, concurrency=1)

    assert all(end.answered for end in ends.values())
    assert [name for name, _ in worker.asked] == names


def test_the_runs_of_tools_stand_in_the_journal_and_not_in_what_is_kept_of_a_task(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker, journal: Any
) -> None:
    task, run = a_task(), ToolRun(tool="ruff", version="1.2.3", duration_ms=4)
    made = WorkerResult(task_id=task.task_id, metadata=Metadata(duration_ms=5, tool_runs=(run,)))

    end = dispatch(a_plan(task), a_worker({task.task_id: made}))[task.task_id]

    assert [(result.metadata.duration_ms, result.metadata.tool_runs) for result in end.results] == [(5, ())]
    [stored] = journal.store.values()
    assert WorkerResult.model_validate_json(stored) == made
