"""Which tasks of a first round are tried once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Gap, Payload, Plan, ReviewTask, WorkerResult
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.second_round import MAX_AGAIN, plan_second_round
from reviewbot.review.gaps import gaps_of
from tests.make import MakeTask


def failed(task: ReviewTask, *reasons: Any) -> TaskResult:
    return TaskResult(task, gaps=tuple(gap for reason in reasons for gap in gaps_of(task, reason, "it broke")))


def again(*ends: TaskResult, remaining_s: float = 600.0) -> tuple[ReviewTask, ...]:
    plan = Plan(goal="review it", tasks=tuple(end.task for end in ends), reason="by hand")
    return plan_second_round(plan, {end.task.task_id: end for end in ends}, remaining_s)


@pytest.mark.parametrize("reason", ["crashed", "timeout", "bad_answer", "breaker"])
def test_what_broke_is_tried_again_one_tier_up(reason: str, a_task: MakeTask) -> None:
    task = a_task(failures=2, previous_error="no JSON")

    [found] = again(failed(task, reason))

    assert (found.task_id, found.failures, found.previous_error) == ("logic:src/app.py#1~2", 0, "")
    assert (found.constraints.tier, found.constraints.higher_tiers) == ("medium", ("large",))
    assert found.slices == task.slices


@pytest.mark.parametrize("reason", ["budget", "deadline", "refused", "unreadable", "dependency", "unsettled"])
def test_what_would_be_met_again_is_not(reason: str, a_task: MakeTask) -> None:
    assert again(failed(a_task(), reason)) == ()
    assert again(failed(a_task(), "crashed", reason)) == ()


def test_what_was_answered_or_never_settled_is_let_be(a_task: MakeTask) -> None:
    task = a_task()

    assert again(TaskResult(task, done=True)) == ()
    assert plan_second_round(Plan(goal="review it", tasks=(task,), reason="by hand"), {}, 600.0) == ()


def test_programs_are_not_run_twice(a_task: MakeTask) -> None:
    assert again(failed(a_task(programs_only=True), "crashed")) == ()


def test_at_the_top_of_the_ladder_the_same_tier_is_asked(a_task: MakeTask) -> None:
    [found] = again(failed(a_task(tier="large", higher_tiers=()), "crashed"))

    assert (found.constraints.tier, found.constraints.higher_tiers) == ("large", ())


def test_only_the_files_that_nobody_has_read_are_tried_again(
    a_task: MakeTask, a_payload: Callable[..., Payload]
) -> None:
    task = a_task(payload=a_payload(path="a.py"), more=(a_payload(path="b.py"), a_payload(path="c.py")))
    gap = Gap(path="b.py", worker="logic", reason="crashed", message="it broke")

    [found] = again(TaskResult(task, gaps=(gap,)))

    assert found.paths == ("b.py",)


def test_a_gap_of_a_file_that_the_task_does_not_name_is_nothing_to_try(a_task: MakeTask) -> None:
    gap = Gap(path="elsewhere.py", worker="logic", reason="crashed", message="it broke")

    assert again(TaskResult(a_task(), gaps=(gap,))) == ()


def test_a_gap_beside_what_programs_found_counts_as_well(a_task: MakeTask) -> None:
    task = a_task()
    gap = Gap(path="src/app.py", worker="logic", reason="bad_answer", message="no JSON")
    end = TaskResult(task, (WorkerResult(task_id=task.task_id, gaps=(gap,)),), done=True)

    assert [found.task_id for found in again(end)] == ["logic:src/app.py#1~2"]


def test_the_gap_of_one_program_is_no_reason_to_ask_a_model_again(a_task: MakeTask) -> None:
    task = a_task()
    gap = Gap(path="src/app.py", worker="logic", reason="crashed", message="it broke", tool="ruff")

    assert again(TaskResult(task, (WorkerResult(task_id=task.task_id, gaps=(gap,)),), done=True)) == ()


def test_a_file_that_cannot_be_closed_does_not_hold_up_another(
    a_task: MakeTask, a_payload: Callable[..., Payload]
) -> None:
    task = a_task(payload=a_payload(path="a.py"), more=(a_payload(path="b.py"),))
    gaps = (
        Gap(path="a.py", worker="logic", reason="crashed", message="it broke"),
        Gap(path="a.py", worker="logic", reason="refused", message="it declined"),
        Gap(path="b.py", worker="logic", reason="timeout", message="it was late"),
    )

    [found] = again(TaskResult(task, gaps=gaps))

    assert found.paths == ("b.py",)


def test_it_waits_for_nobody(a_task: MakeTask) -> None:
    first = a_task("security:src/app.py#1")
    second = a_task(depends_on=(first.task_id,))

    [found] = again(TaskResult(first, done=True), failed(second, "crashed"))

    assert (found.depends_on, found.needs_dependencies) == ((), False)


def test_without_half_of_its_time_left_a_task_is_not_tried(a_task: MakeTask) -> None:
    slow, fast = a_task("a:x#1", timeout_ms=60_000), a_task("b:x#1", timeout_ms=10_000)
    ends = [failed(slow, "crashed"), failed(fast, "crashed")]

    assert [task.task_id for task in again(*ends, remaining_s=29.9)] == ["b:x#1~2"]
    assert len(again(*ends, remaining_s=30.0)) == 2


def test_where_nearly_all_failed_the_far_end_is_down_and_is_left_alone(a_task: MakeTask) -> None:
    ends = [failed(a_task(f"logic:{n}#1"), "crashed") for n in range(MAX_AGAIN + 1)]

    assert len(again(*ends[1:])) == MAX_AGAIN
    assert again(*ends) == ()
