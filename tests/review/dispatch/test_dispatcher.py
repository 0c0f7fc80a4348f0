"""The dispatcher: everything at once within bounds, what waits waits, and the deadline holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Failure,
    Gap,
    Outcome,
    ReviewTask,
    WorkerResult,
)
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.dispatcher import Dispatcher
from reviewbot.review.gaps import gaps_of
from tests.make import (
    Dispatch,
    MakeEscalation,
    MakeFailure,
    MakeFinding,
    MakePayload,
    MakePlan,
    MakeResult,
    MakeTask,
    MakeWorker,
    reasons_of_gaps,
)

Results = Mapping[str, WorkerResult]

SOON_S = 0.3
"""A deadline. No test waits for it: the time of the loop leaps there."""


# --- all at once, within bounds


def test_ready_tasks_all_run_at_once(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    tasks = [a_task(f"logic:{n}.py#1") for n in range(5)]
    everybody = asyncio.Barrier(len(tasks))

    async def together(task: ReviewTask) -> Outcome:
        await everybody.wait()  # nobody goes on before all have come
        return WorkerResult(task_id=task.task_id)

    ends = dispatch(a_plan(*tasks), a_worker({task.task_id: together for task in tasks}))

    assert all(end.answered for end in ends.values())


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_tasks_run_than_there_are_slots(
    concurrency: int, a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    tasks = [a_task(f"logic:{n}.py#1") for n in range(9)]
    crowd = asyncio.Barrier(concurrency)

    async def in_a_crowd(task: ReviewTask) -> Outcome:
        await crowd.wait()  # the slots really are used, all of them
        return WorkerResult(task_id=task.task_id)

    worker = a_worker({task.task_id: in_a_crowd for task in tasks})
    ends = dispatch(a_plan(*tasks), worker, concurrency=concurrency)

    assert all(end.answered for end in ends.values())
    assert worker.most == concurrency


def test_tasks_of_one_reader_take_one_slot_together(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    tasks = [a_task(f"logic:{n}.py#1", reader=f"reader-{n // 3}") for n in range(9)]
    crowd = asyncio.Barrier(6)  # all tasks of two readers: the third reader's cannot make up for one that is missing

    async def in_a_crowd(task: ReviewTask) -> Outcome:
        if task.reader != "reader-2":
            await crowd.wait()
        return WorkerResult(task_id=task.task_id)

    worker = a_worker({task.task_id: in_a_crowd for task in tasks})
    ends = dispatch(a_plan(*tasks), worker, concurrency=2)

    assert all(end.answered for end in ends.values())
    assert worker.most == 6


def test_results_are_matched_by_id_though_they_come_in_any_order(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    tasks = [a_task(f"logic:{n}.py#1") for n in range(4)]
    turns = [asyncio.Event() for _ in tasks]
    turns[-1].set()

    def last_first(number: int) -> Callable[[ReviewTask], Any]:
        async def answer(task: ReviewTask) -> Outcome:
            await turns[number].wait()
            turns[number - 1].set()
            return a_result(task.task_id, duration_ms=number)

        return answer

    ends = dispatch(a_plan(*tasks), a_worker({task.task_id: last_first(n) for n, task in enumerate(tasks)}))

    assert list(ends) == [task.task_id for task in tasks]
    assert [end.results[0].task_id for end in ends.values()] == list(ends)
    assert [end.results[0].metadata.duration_ms for end in ends.values()] == [0, 1, 2, 3]


def test_an_empty_plan_ends_at_once(a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker) -> None:
    assert dispatch(a_plan(), a_worker()) == {}


# --- dependencies


def test_a_task_runs_after_those_it_depends_on_and_is_given_their_results(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    first, second = a_task("logic:a.py#1"), a_task("style:a.py#1")
    third = a_task("judge:a.py#1", depends_on=(first.task_id, second.task_id))
    found = a_result(first.task_id, findings=(a_finding(),))
    worker = a_worker({first.task_id: found})

    dispatch(a_plan(first, second, third), worker)

    assert worker.asked[-1] == (third.task_id, 0)
    assert worker.given[third.task_id] == {
        first.task_id: WorkerResult(task_id=first.task_id, findings=found.findings),
        second.task_id: WorkerResult(task_id=second.task_id),
    }
    assert worker.given[first.task_id] == {}


def test_a_task_that_waits_takes_no_slot(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    chain = [a_task("logic:a.py#1")]
    for n in range(2, 5):
        chain.append(a_task(f"logic:a.py#{n}", depends_on=(chain[-1].task_id,)))

    worker = a_worker()
    dispatch(a_plan(*chain), worker, concurrency=1)

    assert [task_id for task_id, _ in worker.asked] == [task.task_id for task in chain]


@pytest.mark.parametrize("trouble", ["failure", "timeout", "person", "crash of ours"])
def test_a_task_that_needs_a_result_that_did_not_come_is_a_named_gap(
    *,
    trouble: str,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_failure: MakeFailure,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    first = a_task("logic:a.py#1")
    second = a_task("judge:a.py#1", depends_on=(first.task_id,))
    outcomes: dict[str, object] = {
        "failure": a_failure(),
        "timeout": an_escalation("timeout"),
        "person": an_escalation("out_of_scope"),
        "crash of ours": KeyError("wiring"),
    }
    worker = a_worker({first.task_id: outcomes[trouble]})

    ends = dispatch(a_plan(first, second), worker)

    message = "it needs the result of logic:a.py#1, which did not come"
    assert reasons_of_gaps(ends[second.task_id]) == [("dependency", message)]
    assert second.task_id not in worker.given


def test_half_a_result_is_no_result_for_a_task_that_waits(
    *,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    first = a_task("logic:a.py#1", payload=a_payload("+x = 1", "+y = 2"))
    second = a_task("judge:a.py#1", depends_on=(first.task_id,))
    worker = a_worker({"logic:a.py#1": an_escalation("timeout"), "logic:a.py#1.2": KeyError("wiring")})

    ends = dispatch(a_plan(first, second), worker)

    assert [result.task_id for result in ends[first.task_id].results] == ["logic:a.py#1.1"]
    assert [end.gaps[0].reason for end in ends.values()] == ["crashed", "dependency"]


def test_what_depends_on_a_named_gap_is_one_too(
    a_task: MakeTask, a_plan: MakePlan, a_failure: MakeFailure, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    first = a_task("logic:a.py#1")
    second = a_task("style:a.py#1", depends_on=(first.task_id,))
    third = a_task("judge:a.py#1", depends_on=(second.task_id,))

    ends = dispatch(a_plan(first, second, third), a_worker({first.task_id: a_failure()}))

    assert [end.gaps[0].reason for end in ends.values()] == ["breaker", "dependency", "dependency"]


@pytest.mark.parametrize("failed", [Failure(task_id="t", reason="crashed", message="no"), KeyError("wiring")])
def test_a_task_that_can_do_without_runs_without_the_result(
    failed: object, a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    first, second = a_task("logic:a.py#1"), a_task("style:a.py#1")
    third = a_task("judge:a.py#1", depends_on=(first.task_id, second.task_id), needs_dependencies=False)
    worker = a_worker({first.task_id: failed})

    ends = dispatch(a_plan(first, second, third), worker)

    assert ends[third.task_id].answered
    assert set(worker.given[third.task_id]) == {second.task_id}


# --- the deadline


def test_the_deadline_turns_what_is_late_into_gaps_and_keeps_the_rest(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, trace: Any, a_worker: MakeWorker
) -> None:
    quick, slow = a_task("logic:a.py#1"), a_task("style:a.py#1")
    waiting = a_task("judge:a.py#1", depends_on=(slow.task_id,), needs_dependencies=False)

    async def never(task: ReviewTask) -> Outcome:
        return await asyncio.Future()

    ends = dispatch(a_plan(quick, slow, waiting), a_worker({slow.task_id: never}), deadline_s=SOON_S)

    assert ends[quick.task_id].answered
    late = ("deadline", "the review's deadline of 0.3 s was reached first")
    assert reasons_of_gaps(ends[slow.task_id]) == reasons_of_gaps(ends[waiting.task_id]) == [late]
    assert [event["task_id"] for event in trace.of("task_failed")] == [slow.task_id, waiting.task_id]


def test_late_tasks_are_cancelled_in_the_order_in_which_they_wait(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    """A semaphore searches its queue for each of them: in any other order 18,000 of them took a second."""
    tasks = [a_task(f"logic:{n}.py#1") for n in range(60)]
    cancelled: list[str] = []

    async def never(task: ReviewTask) -> Outcome:
        try:
            return await asyncio.Future()
        finally:
            cancelled.append(task.task_id)

    dispatch(
        a_plan(*tasks), a_worker({task.task_id: never for task in tasks}), deadline_s=SOON_S, concurrency=len(tasks)
    )

    assert cancelled == [task.task_id for task in tasks]


def test_the_half_that_had_answered_at_the_deadline_is_kept(
    *,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    a_result: MakeResult,
    a_finding: MakeFinding,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task("logic:a.py#1", payload=a_payload("+x = 1", "+y = 2"))
    half = a_result("logic:a.py#1.1", findings=(a_finding(),))

    async def never(task: ReviewTask) -> Outcome:
        return await asyncio.Future()

    worker = a_worker({"logic:a.py#1": an_escalation("timeout"), "logic:a.py#1.1": half, "logic:a.py#1.2": never})
    end = dispatch(a_plan(task), worker, deadline_s=SOON_S)["logic:a.py#1"]

    assert end.results == (half,)
    assert [gap.reason for gap in end.gaps] == ["deadline"]


def test_an_interrupted_run_leaves_nothing_running(
    a_task: MakeTask, a_plan: MakePlan, journal: Any, trace: Any, clock: Any
) -> None:
    stopped: list[str] = []
    started = asyncio.Event()

    async def until_stopped(task: ReviewTask, results: Results) -> Outcome:
        try:
            started.set()
            return await asyncio.Future()
        finally:
            stopped.append(task.task_id)

    async def interrupted() -> None:
        dispatcher = Dispatcher(
            attempt=until_stopped,
            retarget=lambda task, worker: None,
            journal=journal,
            run_id="run",
            trace=trace,
            clock=clock,
            concurrency=1,
            deadline_s=60,
        )
        run = asyncio.create_task(dispatcher.dispatch(a_plan(a_task("logic:a.py#1"), a_task("logic:b.py#1"))))
        await started.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(interrupted())

    assert stopped == ["logic:a.py#1"]


# --- how a task ended


def test_a_task_counts_as_answered_only_without_a_gap(a_task: MakeTask, a_result: MakeResult) -> None:
    gap = Gap(path="a.py", worker="logic", reason="crashed", message="no")
    answered = TaskResult(a_task(), results=(a_result(),), done=True)

    assert answered.answered
    assert not replace(answered, gaps=(gap,)).answered
    assert not replace(answered, results=(a_result(), a_result(gaps=(gap,)))).answered, "only programs have looked"
    assert not replace(answered, done=False).answered, "what an escalation brought so far is no answer"


def test_the_gap_of_one_program_takes_no_answer_back(a_task: MakeTask, a_result: MakeResult) -> None:
    gap = Gap(path="a.py", worker="logic", reason="crashed", message="no", tool="ruff")

    assert TaskResult(a_task(), results=(a_result(gaps=(gap,)),), done=True).answered


def test_a_result_without_its_model_is_a_failure_to_whoever_needs_it_and_to_the_trace(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, dispatch: Dispatch, trace: Any, a_worker: MakeWorker
) -> None:
    first = a_task("logic:a.py#1")
    second = a_task("judge:a.py#1", depends_on=(first.task_id,))
    programs = a_result(first.task_id, gaps=gaps_of(first, "bad_answer", "given up after 3 failures: prose"))

    ends = dispatch(a_plan(first, second), a_worker({first.task_id: programs}))

    assert ends[first.task_id].results == (programs,)
    assert [gap.reason for gap in ends[second.task_id].gaps] == ["dependency"]
    assert [event["task_id"] for event in trace.of("task_failed")] == [first.task_id, second.task_id]
    assert trace.of("task_finished") == []
