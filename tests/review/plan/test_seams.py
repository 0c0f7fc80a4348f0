"""Names that cross the parts of a large change: one more task sees both sides, and nothing counts it as a review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import ChangeSet, Escalation, Failure, FileChange, Gap, Payload, Plan, ReviewTask
from reviewbot.domain.ports import TaskResult, WorkerSet
from reviewbot.review.dispatch.retry_policy import next_step, split
from reviewbot.review.gaps import gaps_of
from reviewbot.review.plan.bundling import BundlingPlanner, with_readers
from reviewbot.review.plan.planner import PlanLimits, make_plan, retarget
from reviewbot.review.plan.seams import MAX_NAMES, MAX_NOTED, MAX_ROWS, PARTS_OF_A_SEAM, seam_notes, with_seams
from tests.make import MakePayload, MakePlan


@pytest.fixture(scope="session", name="a_parted_plan")
def _a_parted_plan(a_plan: MakePlan, a_task: Callable[..., ReviewTask]) -> MakePlan:
    """One task of the worker logic for each part, which is given by its slices."""

    def make(*parts: Sequence[Payload]) -> Plan:
        tasks = (
            a_task(f"logic:part{n}", payload=first, more=tuple(more), reader=f"reader-{n}")
            for n, (first, *more) in enumerate(parts, 1)
        )
        return a_plan(*tasks)

    return make


@pytest.fixture
def crossing(a_parted_plan: MakePlan, a_payload: MakePayload) -> Plan:
    """Four parts, two of which share a name; beside each side stands a hunk without it."""
    return a_parted_plan(
        [a_payload("+x = 1", " def reserve_seat(n):\n-    return n\n+    return n or None", path="shop/seats.py")],
        [a_payload("+y = reserve_seat(5)", "+z = 1", path="web/order.py")],
        [a_payload("+a = 1", path="mail/a.py")],
        [a_payload("+reserve_seat(1)", path="tests/test_seats.py")],
    )


def seams(plan: Plan) -> list[ReviewTask]:
    return [task for task in with_seams(plan).tasks if task.seam]


def test_a_seam_task_shows_the_hunks_of_both_sides_alone_and_says_what_to_do(crossing: Plan) -> None:
    made = with_seams(crossing)

    *before, seam = made.tasks
    assert tuple(before) == crossing.tasks
    assert (seam.worker, seam.type, seam.reader, seam.seam) == ("logic", "logic", "seam-1", ("reserve_seat",))
    assert [(each.file_path, each.code, each.starts) for each in seam.slices] == [
        ("shop/seats.py", "@@\n def reserve_seat(n):\n-    return n\n+    return n or None", ((101, 101),)),
        ("web/order.py", "@@\n+y = reserve_seat(5)", ((1, 1),)),
    ]
    assert "Names: `reserve_seat`." in seam.instruction
    assert "held against its definition" in seam.success_criterion
    assert seam.constraints.max_tokens == before[0].constraints.max_tokens // 2
    assert seam.constraints.tier == before[0].constraints.tier
    assert made.reason.endswith("; 1 seam task for 1 of 1 name used across parts")


def test_where_nothing_crosses_or_parts_are_few_there_is_none(
    crossing: Plan, a_parted_plan: MakePlan, a_payload: MakePayload
) -> None:
    assert with_seams(crossing.model_copy(update={"tasks": crossing.tasks[:3]})).tasks == crossing.tasks[:3]
    quiet = a_parted_plan(*([a_payload("+x = 1", path=f"{n}.py")] for n in range(8)))
    assert with_seams(quiet) == quiet


def test_what_one_reader_sees_on_both_sides_does_not_cross(
    crossing: Plan, a_task: Callable[..., ReviewTask], a_plan: MakePlan
) -> None:
    one, other, *rest = crossing.tasks
    # Another worker's task of the same reader shows it the other side.
    beside = a_task("security:order", worker="security", payload=other.payload, reader=one.reader)

    assert with_seams(a_plan(one, other, beside, *rest)).tasks == (one, other, beside, *rest)


def test_tests_and_files_that_only_analyzers_read_are_no_side(crossing: Plan, a_plan: MakePlan) -> None:
    one, other, *rest = crossing.tasks
    tests = other.payload.model_copy(update={"file_path": "tests/order.py"})
    alone = other.model_copy(update={"programs_only": True, "worker": "style", "reader": ""})

    assert seams(a_plan(one, other.model_copy(update={"payload": tests}), *rest)) == []
    fourth = rest[0].model_copy(update={"task_id": "logic:other"})
    assert seams(a_plan(one, alone, *rest, fourth)) == []


def test_names_whose_definition_changed_come_first_and_what_does_not_fit_is_counted(
    a_parted_plan: MakePlan, a_payload: MakePayload
) -> None:
    around = "\n".join([" y = 1"] * (MAX_ROWS - 9))
    definer = a_payload(" def kept_name(x):\n+    x = 1", f"+def changed_name(x):\n{around}", path="a.py")
    user = a_payload("+kept_name(1)\n+changed_name(1)\n+z = 1\n+z = 2\n+z = 3\n+z = 4\n+z = 5", path="b.py")

    plan = a_parted_plan([definer], [user], [a_payload(path="c.py")], [a_payload(path="d.py")])

    assert [task.seam for task in seams(plan)] == [("changed_name",)]
    assert with_seams(plan).reason.endswith("1 seam task for 1 of 2 names used across parts")


@given(parts=st.integers(1, 17), names=st.integers(0, 60))
def test_there_is_at_most_one_for_every_fourth_part_and_each_is_bounded(
    parts: int, names: int, a_parted_plan: MakePlan, a_payload: MakePayload
) -> None:
    definer = a_payload("\n".join(["+x = 1", *(f"+def crossing_{n}():" for n in range(names))]), path="a.py")
    user = a_payload("\n".join(["+x = 1", *(f"+crossing_{n}()" for n in range(names))]), path="b.py")
    others = [[a_payload(path=f"c{n}.py")] for n in range(parts - 2)]

    made = seams(a_parted_plan([definer], [user], *others)) if parts > 1 else seams(a_parted_plan([definer]))

    assert len(made) <= parts // PARTS_OF_A_SEAM
    assert all(0 < len(task.seam) <= MAX_NAMES for task in made)
    told = [name for task in made for name in task.seam]
    assert len(set(told)) == len(told)
    assert bool(made) == bool(names and parts >= PARTS_OF_A_SEAM)


def test_a_plan_of_rules_for_a_large_change_has_one(
    a_worker_set: Callable[..., WorkerSet],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Any],
) -> None:
    filled = "\n".join(["+x = 1"] * 8)
    files = [a_file(f"{name}/own.py", a_hunk(filled)) for name in "abcd"]
    files += [a_file("a/seats.py", a_hunk(f"+def reserve_seat(n):\n{filled}"))]
    files += [a_file("d/order.py", a_hunk(f"+reserve_seat(1)\n{filled}"))]
    limits = PlanLimits(part_lines=9)
    plan = make_plan(a_change(*files), a_worker_set(), lambda _c, _l: True, lambda _p: None, limits)

    class Inner:
        async def plan(self, change: ChangeSet) -> Plan:
            return plan

        async def more(self, change: ChangeSet, _plan: Plan, settled: object) -> Plan | None:
            return plan

    planner = BundlingPlanner(Inner(), "standard", ())
    made = asyncio.run(planner.plan(ChangeSet()))

    assert made == with_readers(plan, "standard", ())
    [seam] = [task for task in made.tasks if task.seam]
    assert seam.paths == ("a/seats.py", "d/order.py")
    assert len({task.reader for task in made.tasks}) == len(made.tasks)
    further = asyncio.run(planner.more(ChangeSet(), made, {}))
    assert further is not None
    assert not any(task.seam for task in further.tasks), "a second round has none"


# --- what becomes of it


def test_its_gaps_and_what_goes_to_a_person_name_the_names(crossing: Plan) -> None:
    [seam] = seams(crossing)

    gaps = gaps_of(seam, "timeout", "no answer within 60 s")
    step = next_step(seam, Escalation(task_id=seam.task_id, reason="ambiguous_input", message="which one?"))
    asked_again = next_step(
        seam.model_copy(update={"failures": 2}),
        Escalation(task_id=seam.task_id, reason="ambiguous_input", message="which one?"),
    )

    said = "names across parts (reserve_seat): no answer within 60 s"
    assert gaps == tuple(
        Gap(path=path, worker="logic", reason="timeout", message=said, task_id="logic:seam-1")
        for path in ("shop/seats.py", "web/order.py")
    )
    assert step.action == "retry"
    assert asked_again.human is not None
    assert asked_again.human.reason.startswith("logic (names across parts: reserve_seat) could not settle this")


def test_it_is_never_parted_for_its_sides_belong_together(crossing: Plan) -> None:
    [seam] = seams(crossing)

    assert split(seam) is None
    assert split(seam.model_copy(update={"seam": ()})) is not None
    late = Escalation(task_id=seam.task_id, reason="timeout", message="no answer")
    assert next_step(seam, late).action == "retry"


def test_another_worker_that_it_moves_to_gets_its_words(crossing: Plan, a_worker_set: Any, a_card: Any) -> None:
    [seam] = seams(crossing)

    moved = retarget(a_worker_set(a_card("security")), seam, "security")

    assert moved is not None
    assert (moved.worker, moved.seam, moved.slices) == ("security", seam.seam, seam.slices)
    assert (moved.instruction, moved.success_criterion) == (seam.instruction, seam.success_criterion)


def test_a_review_says_that_it_was_done_and_not_so_where_it_was_not(crossing: Plan, a_result: Any) -> None:
    plan = with_seams(crossing)
    seam = plan.tasks[-1]
    done = TaskResult(seam, results=(a_result(seam.task_id),), done=True)
    failed = Failure(task_id=seam.task_id, reason="budget", message="nothing is left")
    lost = TaskResult(seam, gaps=next_step(seam, failed).gaps)

    [note] = seam_notes(plan, {seam.task_id: done})
    assert note.endswith("One more reader saw both sides of names that cross them: reserve_seat.")
    many = seam.model_copy(update={"seam": tuple(f"name_{n}" for n in range(MAX_NOTED + 3))})
    [long] = seam_notes(crossing.model_copy(update={"tasks": (many,)}), {many.task_id: done})
    assert long.endswith(f"name_{MAX_NOTED - 1}, and 3 more.")
    assert seam_notes(plan, {seam.task_id: lost}) == ()
    assert seam_notes(plan, {}) == ()
    assert seam_notes(crossing, {}) == ()
