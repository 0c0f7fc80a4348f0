"""The review's deadline: it counts from where the review began, and takes nothing that was known before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Escalation, Outcome, ReviewTask, WorkerResult
from reviewbot.domain.errors import DeadlineError
from tests.make import Dispatch, MakePlan, MakeTask, MakeWorker

LONG_S = 500.0
"""A deadline that no test waits for."""


async def soon(task: ReviewTask) -> Outcome:
    """An answer that takes a moment, and so is too late where there is no time at all."""
    await asyncio.sleep(0.02)
    return WorkerResult(task_id=task.task_id)


@pytest.mark.parametrize(
    ("now", "started", "gaps"),
    [
        (0.0, None, []),
        (9_000.0, None, []),  # it begins with this plan
        (9_000.0, 9_000.0, []),
        (9_000.0, 9_000.0 - LONG_S / 2, []),
        (9_000.0, 9_000.0 - LONG_S, ["deadline"]),
        (9_000.0, 1.0, ["deadline"]),
    ],
)
def test_the_deadline_counts_from_where_the_review_began(
    now: float,
    started: float | None,
    gaps: list[str],
    a_task: MakeTask,
    a_plan: MakePlan,
    dispatch: Dispatch,
    a_worker: MakeWorker,
    clock: Any,
) -> None:
    task, clock.now = a_task(), now

    ends = dispatch(a_plan(task), a_worker({task.task_id: soon}), deadline_s=LONG_S, started=started)

    assert [gap.reason for gap in ends[task.task_id].gaps] == gaps
    assert ends[task.task_id].answered == (not gaps)


def test_the_deadline_adds_to_the_gaps_that_a_task_has_and_takes_none(
    a_task: MakeTask,
    a_plan: MakePlan,
    dispatch: Dispatch,
    a_worker: MakeWorker,
    an_escalation: Callable[..., Escalation],
) -> None:
    """The floor's worker has passed its task on, and the other one never answers."""
    task = a_task("security:src/app.py#1")
    never: Callable[[ReviewTask], Any] = lambda _task: asyncio.Event().wait()  # noqa: E731 - it has no other use
    worker = a_worker(
        {
            task.task_id: an_escalation("out_of_scope", better_worker="style"),
            f"{task.task_id}>style": never,
        }
    )

    end = dispatch(a_plan(task), worker, deadline_s=0.2)[task.task_id]

    assert [gap.reason for gap in end.gaps] == ["unsettled", "deadline"]
    assert end.gaps[1].message == "the review's deadline of 0.2 s was reached first"


@pytest.mark.parametrize(
    ("fault", "reason", "message"),
    [
        (DeadlineError("too late"), "deadline", "the review's deadline of 500 s was reached first"),
        (KeyError("wiring"), "crashed", "KeyError outside of the worker"),
        (asyncio.CancelledError(), "crashed", "CancelledError outside of the worker"),
    ],
    ids=["late", "broken", "cancelled"],
)
def test_what_breaks_outside_of_the_worker_costs_one_task_by_its_own_reason(
    *,
    fault: BaseException,
    reason: str,
    message: str,
    a_task: MakeTask,
    a_plan: MakePlan,
    dispatch: Dispatch,
    a_worker: MakeWorker,
    trace: Any,
) -> None:
    broken, whole = a_task("logic:a.py#1"), a_task("logic:b.py#1")

    ends = dispatch(a_plan(broken, whole), a_worker({broken.task_id: fault}), deadline_s=LONG_S)

    assert [(gap.reason, gap.message) for gap in ends[broken.task_id].gaps] == [(reason, message)]
    assert trace.of("task_failed") == [{"task_id": broken.task_id, "reason": reason, "message": message}]
    assert ends[whole.task_id].answered
