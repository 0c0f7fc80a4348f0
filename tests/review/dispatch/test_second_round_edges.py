"""The edges of the account that a run gives of itself: states of files, second tries, and plans in two levels."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Gap,
    Plan,
    ReviewTask,
)
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.partitioned_dispatch import FAN_OUT, aggregate, in_parts, run_in_levels
from reviewbot.review.dispatch.second_round import MAX_AGAIN, plan_second_round
from tests.make import MakeFinding, MakePayload, MakeResult, MakeTask

PATH = "src/app.py"


def a_gap(path: str = PATH, reason: Any = "crashed", message: str = "it broke", **fields: Any) -> Gap:
    return Gap(path=path, worker="logic", reason=reason, message=message, **fields)


# --- second tries


def again(*ends: TaskResult, remaining_s: float = 600.0) -> tuple[ReviewTask, ...]:
    plan = Plan(goal="review it", tasks=tuple(end.task for end in ends), reason="by hand")
    return plan_second_round(plan, {end.task.task_id: end for end in reversed(ends)}, remaining_s)


def test_a_second_try_has_every_slice_of_its_files_in_order_and_keeps_what_it_was_told(
    a_task: MakeTask, a_payload: MakePayload
) -> None:
    one, two, three, four = (a_payload(f"+{n}", path=path) for n, path in enumerate(("a", "b", "c", "b")))
    task = a_task(payload=one, more=(two, three, four), higher_tiers=("large",), needs_dependencies=True)

    [found] = again(TaskResult(task, gaps=(a_gap("b"), a_gap("b", "timeout"), a_gap("c", "breaker"))))

    assert (found.payload, found.more) == (two, (three, four))
    assert (found.constraints.tier, found.constraints.higher_tiers) == ("large", ())
    assert (found.worker, found.instruction, found.constraints.max_tokens) == (
        task.worker, task.instruction, task.constraints.max_tokens,
    )  # fmt: skip


def test_second_tries_stand_in_the_order_of_the_plan(a_task: MakeTask) -> None:
    ends = [TaskResult(a_task(f"{name}:x#1"), gaps=(a_gap(),)) for name in "bac"]

    assert [task.task_id for task in again(*ends)] == ["b:x#1~2", "a:x#1~2", "c:x#1~2"]


def test_what_a_program_cannot_close_does_not_hold_up_a_second_try(a_task: MakeTask) -> None:
    gaps = (a_gap(), a_gap(reason="missing_program", tool="ruff"))

    assert len(again(TaskResult(a_task(), gaps=gaps))) == 1


def test_tasks_that_are_not_tried_do_not_count_against_the_most(a_task: MakeTask) -> None:
    ends = [TaskResult(a_task(f"logic:{n}#1"), gaps=(a_gap(),)) for n in range(MAX_AGAIN)]
    others = [
        TaskResult(a_task("logic:p#1", programs_only=True), gaps=(a_gap(),)),
        TaskResult(a_task("logic:d#1"), gaps=(a_gap(reason="deadline"),)),
        TaskResult(a_task("logic:s#1", timeout_ms=900_000), gaps=(a_gap(),)),
    ]

    assert len(again(*others, *ends, remaining_s=400.0)) == MAX_AGAIN
    assert again(*others, *ends, remaining_s=450.0) == ()


def test_without_time_left_nothing_is_tried(a_task: MakeTask) -> None:
    assert again(TaskResult(a_task(timeout_ms=1), gaps=(a_gap(),)), remaining_s=0.0) == ()


# --- two levels


def placed(a_task: MakeTask, a_payload: MakePayload, *folders: tuple[str, ...]) -> Plan:
    """A plan with a task for each group of paths."""
    tasks = []
    for number, (first, *more) in enumerate(folders):
        slices = tuple(a_payload(path=path) for path in more)
        tasks.append(a_task(f"logic:{number}", payload=a_payload(path=first), more=slices))
    return Plan(goal="review it", tasks=tuple(tasks), reason="by hand")


@pytest.mark.parametrize(("count", "sizes"), [(FAN_OUT, [FAN_OUT]), (FAN_OUT + 1, [FAN_OUT, 1])])
def test_a_plan_to_be_reduced_is_cut_at_the_usual_size_where_none_is_given(
    count: int, sizes: list[int], a_task: MakeTask, a_payload: MakePayload
) -> None:
    flat = placed(a_task, a_payload, *(("a/x.py",),) * count)

    reduced = in_parts(flat.model_copy(update={"strategy": "reduce"}), None)

    assert [len(part.task_ids) for part in reduced.parts] == sizes
    assert in_parts(flat, None).parts == ()


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (("src/api/a.py", "src/apix/b.py"), "src"),
        (("src/api/a.py", "src/b.py"), "src"),
        (("src/b.py", "src/api/a.py"), "src"),
        (("src/a.py", "lib/a.py"), "."),
        (("README.md", "src/a.py"), "."),
        (("src/a.py", "src/b.py", "src/a.py"), "src"),
    ],
)
def test_a_task_of_several_files_is_in_the_folder_that_holds_them_all(
    paths: tuple[str, ...], name: str, a_task: MakeTask, a_payload: MakePayload
) -> None:
    plan = in_parts(placed(a_task, a_payload, paths, ("zoo/a.py",)), 1)

    assert [part.name for part in plan.parts] == [name, "zoo"]


def test_a_task_that_reaches_up_stays_above_the_folder_below(a_task: MakeTask, a_payload: MakePayload) -> None:
    folders = (("src/api/a.py", "src/b.py"), ("src/api/c.py",))

    assert [part.name for part in in_parts(placed(a_task, a_payload, *folders), 1).parts] == ["src", "src/api"]


def test_a_folder_that_holds_just_as_many_tasks_as_allowed_is_one_part(
    a_task: MakeTask, a_payload: MakePayload
) -> None:
    paths = ("a/b/x.py", "a/c/x.py", "d/x.py")

    plan = in_parts(placed(a_task, a_payload, *((path,) for path in paths)), 2)

    assert [(part.name, len(part.task_ids)) for part in plan.parts] == [("a", 2), ("d", 1)]


def test_a_part_that_is_cancelled_from_within_is_named_and_costs_no_other(
    a_task: MakeTask, a_payload: MakePayload, trace: Any
) -> None:
    plan = in_parts(placed(a_task, a_payload, ("a/x.py",), ("b/x.py",)), 1)

    async def dispatch(part: Plan) -> dict[str, TaskResult]:
        [task] = part.tasks
        if task.payload.file_path == "a/x.py":
            raise asyncio.CancelledError
        return {task.task_id: TaskResult(task, done=True)}

    ends = asyncio.run(run_in_levels(plan, dispatch, trace))

    assert [[(gap.path, gap.reason) for gap in end.gaps] for end in ends.values()] == [[("a/x.py", "crashed")], []]
    assert [end.done for end in ends.values()] == [False, True]


def test_what_models_say_of_one_place_in_two_tasks_is_told_twice_unless_it_is_reduced(
    a_task: MakeTask, a_result: MakeResult, a_finding: MakeFinding
) -> None:
    ends = {}
    for name, sure in (("logic:1", 90), ("logic:2", 70)):
        found = a_finding(sources=("model:medium",), confidence=sure)
        ends[name] = TaskResult(a_task(name), (a_result(name, findings=(found,)),), done=True)

    both, reduced = aggregate(ends), aggregate(ends, reducing=True)

    assert [len(end.merge_results().findings) for end in both.values()] == [1, 1]
    assert [[f.confidence for f in end.merge_results().findings] for end in reduced.values()] == [[90], []]
    assert list(reduced) == list(ends)


def test_a_part_counts_what_it_cost_over_all_attempts_and_what_its_results_miss(
    a_task: MakeTask, a_payload: MakePayload, a_result: MakeResult, a_finding: MakeFinding, trace: Any
) -> None:
    plan = in_parts(placed(a_task, a_payload, ("a/x.py",), ("b/x.py",)), 1)
    results = (
        a_result("logic:0", usage={"calls": 2, "output_tokens": 5}, gaps=(a_gap(tool="ruff"),)),
        a_result("logic:0", usage={"calls": 1}, findings=(a_finding(), a_finding(), a_finding(line=2))),
    )

    async def dispatch(part: Plan) -> dict[str, TaskResult]:
        return {task.task_id: TaskResult(task, results, (a_gap(),), done=True) for task in part.tasks}

    asyncio.run(run_in_levels(plan, dispatch, trace))

    [first, _] = trace.of("part_finished")
    assert (first["usage"]["calls"], first["usage"]["output_tokens"]) == (3, 5)
    assert (first["findings"], first["repeated"], first["gaps"], first["answered"]) == (2, 1, 2, 0)
