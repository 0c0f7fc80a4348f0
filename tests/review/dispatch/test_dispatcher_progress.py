"""The dispatcher: what has finished is in the journal, and a killed run goes on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import (
    Escalation,
    Failure,
    Gap,
    Outcome,
    Plan,
    ReviewTask,
    WorkerResult,
)
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.dispatcher import Dispatcher
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
)

Results = Mapping[str, WorkerResult]


def test_what_has_finished_is_not_asked_again(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, trace: Any, a_worker: MakeWorker
) -> None:
    plan = a_plan(*(a_task(f"logic:{n}.py#1") for n in range(3)))
    first = dispatch(plan, a_worker())

    again = a_worker()
    second = dispatch(plan, again)

    assert again.asked == []
    assert second == first
    assert len(trace.of("resumed")) == 3


def test_another_run_does_not_take_over_the_progress(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    plan = a_plan(a_task())
    dispatch(plan, a_worker())

    other = a_worker()
    dispatch(plan, other, run_id="other")

    assert len(other.asked) == 1


@pytest.mark.parametrize("reason", ["crashed", "bad_answer"])
def test_a_task_that_failed_is_tried_again_by_the_next_run(
    reason: str, a_task: MakeTask, a_plan: MakePlan, a_failure: MakeFailure, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    task = a_task()
    failed = dispatch(a_plan(task), a_worker({task.task_id: a_failure(reason)}))
    assert not failed[task.task_id].answered

    again = a_worker()
    ends = dispatch(a_plan(task), again)

    assert ends[task.task_id].answered
    assert len(again.asked) == 1


def test_a_task_that_was_cut_off_is_tried_again_by_the_next_run(
    a_task: MakeTask, a_plan: MakePlan, an_escalation: MakeEscalation, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    task = a_task()
    assert not dispatch(a_plan(task), a_worker({task.task_id: an_escalation("timeout")}))[task.task_id].answered

    assert dispatch(a_plan(task), a_worker())[task.task_id].answered


def test_a_result_with_a_gap_in_it_is_tried_again_by_the_next_run(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    task = a_task()
    gap = Gap(path="src/app.py", worker="logic", reason="missing_program", message="no ruff")
    dispatch(a_plan(task), a_worker({task.task_id: a_result(gaps=(gap,))}))

    again = a_worker()
    dispatch(a_plan(task), again)

    assert len(again.asked) == 1


def test_a_task_that_answered_at_its_second_attempt_is_not_asked_again(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_failure: MakeFailure,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task()
    answers = {task.task_id: [a_failure("bad_answer"), a_result()]}
    first = dispatch(a_plan(task), a_worker(answers))

    again = a_worker(answers)
    second = dispatch(a_plan(task), again)

    assert again.asked == []
    assert second == first


@pytest.mark.parametrize("stored", ["", "{", '{"kind": "result"}', '{"kind": "song"}', "null"])
def test_an_entry_that_cannot_be_read_is_done_again(
    stored: str, a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, journal: Any, a_worker: MakeWorker
) -> None:
    task = a_task()
    dispatch(a_plan(task), a_worker())
    [key] = journal.store
    journal.put(key, stored)
    worker = a_worker()

    ends = dispatch(a_plan(task), worker)

    assert ends[task.task_id].answered
    assert len(worker.asked) == 1


def test_an_answer_comes_out_of_the_journal_as_it_went_in(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task()
    result = a_result(
        findings=(a_finding(message="„naïve“ \x1b[31m\u202e\x00", evidence="\r\n\f", cwe=78),),
        usage={"cost_usd": 0.1, "input_tokens": 3},
        duration_ms=12,
    )
    dispatch(a_plan(task), a_worker({task.task_id: result}))

    assert dispatch(a_plan(task), a_worker())[task.task_id].results == (result,)


BEHAVIOURS = st.sampled_from(("answers", "climbs", "refines", "splits", "moves", "recovers", "asks a person"))


def behaving(how: str, a_finding: MakeFinding) -> Callable[[ReviewTask], Any]:
    """An answer that depends on the task alone, so that two runs can be compared."""
    said = {"climbs": "confidence_too_low", "refines": "ambiguous_input", "splits": "timeout", "moves": "out_of_scope"}

    async def answer(task: ReviewTask) -> Outcome:
        line = task.payload.starts[0][1]
        result = WorkerResult(task_id=task.task_id, findings=(a_finding(path=task.payload.file_path, line=line),))
        if how == "asks a person":
            return Escalation(task_id=task.task_id, reason="out_of_scope", message="nobody's")
        if how == "answers" or task.failures:
            return result
        if how == "recovers":
            return Failure(task_id=task.task_id, reason="bad_answer", message="prose")
        return Escalation.model_validate(
            {
                "task_id": task.task_id,
                "reason": said[how],
                "message": "because",
                "better_worker": "style" if how == "moves" else None,
            }
        )

    return answer


@pytest.mark.slow
@settings(max_examples=40)  # each runs three whole plans
@given(hows=st.lists(BEHAVIOURS, min_size=1, max_size=5), data=st.data())
def test_a_run_that_was_killed_anywhere_and_resumed_gives_the_same_results(
    hows: list[str],
    data: st.DataObject,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    a_finding: MakeFinding,
) -> None:
    tasks = [a_task(f"logic:{n}.py#1", payload=a_payload("+x = 1", "+y = 2", path=f"{n}.py")) for n in range(len(hows))]
    behaviour = {task.payload.file_path: behaving(how, a_finding) for task, how in zip(tasks, hows, strict=True)}
    whole = _Killable(behaviour, at=None)
    expected = asyncio.run(whole.run(a_plan(*tasks)))

    store: dict[str, str] = {}
    killed = _Killable(behaviour, at=data.draw(st.integers(0, len(whole.asked) - 1)), store=store)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(killed.run(a_plan(*tasks)))
    finished = {tuple(key.split("/")[1:3]) for key in store}
    resumed = _Killable(behaviour, at=None, store=store)

    assert asyncio.run(resumed.run(a_plan(*tasks))) == expected
    assert not finished & {(task_id, str(failures)) for task_id, failures in resumed.asked}


def moved(task: ReviewTask, worker: str) -> ReviewTask:
    return task.model_copy(update={"task_id": f"{task.task_id}>{worker}", "worker": worker})


class _Killable:
    """A run that is cancelled when a certain attempt begins, as Ctrl-C would do it."""

    def __init__(self, behaviour: Mapping[str, Any], at: int | None, store: dict[str, str] | None = None) -> None:
        self.behaviour, self.at = behaviour, at
        self.store: dict[str, str] = {} if store is None else store
        self.asked: list[tuple[str, int]] = []

    async def run(self, plan: Plan) -> dict[str, TaskResult]:
        dispatcher = Dispatcher(
            attempt=self._attempt,
            retarget=moved,
            journal=self,
            run_id="run",
            trace=self,
            clock=_NoClock(),
            concurrency=2,
            deadline_s=60,
        )
        self._running = asyncio.create_task(dispatcher.dispatch(plan))
        return await self._running

    async def _attempt(self, task: ReviewTask, results: Results) -> Outcome:
        if len(self.asked) == self.at:
            self._running.cancel()
        self.asked.append((task.task_id, task.failures))
        await asyncio.sleep(0)
        outcome: Outcome = await self.behaviour[task.payload.file_path](task)
        return outcome

    def get(self, key: str) -> str | None:
        return self.store.get(key)

    def put(self, key: str, value: str) -> None:
        self.store[key] = value

    def record(self, event: str, **fields: object) -> None:
        """Nobody listens."""


class _NoClock:
    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def test_another_task_of_the_same_name_does_not_take_over_the_progress(
    a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    dispatch(a_plan(a_task()), a_worker())

    for other in (
        a_task(payload=a_payload("+y = 2")),
        a_task(instruction="look at it once more"),
        a_task(tier="large"),
    ):
        worker = a_worker()
        dispatch(a_plan(other), worker)
        assert len(worker.asked) == 1


def test_what_was_given_to_a_task_is_part_of_its_question(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    dispatch: Dispatch,
    a_worker: MakeWorker,
    journal: Any,
) -> None:
    first, second = a_task("logic:a.py#1"), a_task("style:a.py#1", depends_on=("logic:a.py#1",))
    dispatch(a_plan(first, second), a_worker())
    for key in [key for key in journal.store if key.startswith("run/logic")]:
        del journal.store[key]

    again = a_worker({first.task_id: a_result(first.task_id, findings=(a_finding(),))})
    dispatch(a_plan(first, second), again)

    assert [name for name, _ in again.asked] == ["logic:a.py#1", "style:a.py#1"]


def test_all_progress_of_a_run_lies_under_its_name(
    a_task: MakeTask, a_plan: MakePlan, dispatch: Dispatch, a_worker: MakeWorker, journal: Any
) -> None:
    dispatch(a_plan(a_task("logic:a.py#1"), a_task("logic:a.py#1~2")), a_worker())

    assert [key.rpartition("/")[0] for key in sorted(journal.store)] == ["run/logic:a.py#1/0", "run/logic:a.py#1~2/0"]
