"""Two levels: how a plan is parted, what a sub-supervisor passes up, and that no part costs another one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Candidate, Dropped, Finding, Gap, HumanItem, Plan
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.partitioned_dispatch import FAN_OUT, MAX_DEPTH, aggregate, in_parts, run_in_levels
from tests.make import MakeFinding, MakePayload, MakePlan, MakeResult, MakeTask

MODEL = ("model:medium",)


@pytest.fixture(scope="session", name="planned")
def _planned(a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload) -> MakePlan:
    """A plan of one task for each path, in this order."""

    def make(*paths: str, waits: Mapping[int, tuple[int, ...]] | None = None, **fields: Any) -> Plan:
        names = [f"logic:{n}" for n in range(len(paths))]
        tasks = [
            a_task(
                name, payload=a_payload(path=path), depends_on=tuple(names[other] for other in (waits or {}).get(n, ()))
            )
            for n, (name, path) in enumerate(zip(names, paths, strict=True))
        ]
        return a_plan(*tasks, **fields)

    return make


def parts(plan: Plan) -> dict[str, list[int]]:
    return {part.name: [int(name.partition(":")[2]) for name in part.task_ids] for part in plan.parts}


# --- how a plan is parted


@pytest.mark.parametrize("fan_out", [None, 3, 4])
def test_a_plan_that_one_supervisor_can_look_after_has_one_level(fan_out: int | None, planned: MakePlan) -> None:
    plan = planned("a/x.py", "b/x.py", "c/x.py")

    assert in_parts(plan, fan_out) == plan


def test_above_the_fan_out_each_top_folder_is_a_part(planned: MakePlan) -> None:
    plan = in_parts(planned("api/a.py", "web/a.ts", "api/b.py", "README.md"), 2)

    assert parts(plan) == {"api": [0, 2], "web": [1], ".": [3]}
    assert Plan.model_validate(plan.model_dump()) == plan


def test_a_folder_with_too_many_tasks_is_parted_by_the_folders_in_it(planned: MakePlan) -> None:
    plan = in_parts(planned("src/api/a.py", "src/api/b.py", "src/web/a.ts", "src/main.py", "docs/x.md"), 2)

    assert parts(plan) == {"src/api": [0, 1], "src/web": [2], "src": [3], "docs": [4]}


def test_a_folder_that_cannot_be_parted_by_folders_is_parted_in_the_order_of_the_plan(planned: MakePlan) -> None:
    plan = in_parts(planned(*(f"src/{n}.py" for n in range(5))), 2)

    assert parts(plan) == {"src": [0, 1], "src 2": [2, 3], "src 3": [4]}


def test_tasks_that_wait_for_each_other_stay_together(planned: MakePlan) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py", "a/y.py", "b/y.py", waits={1: (0,), 3: (1, 2)}), 3)

    assert parts(plan) == {".": [0, 1, 2, 3]}, "a chain across folders has the folder that holds them all"


def test_a_chain_of_one_file_stays_in_its_folder_though_others_are_full(planned: MakePlan) -> None:
    plan = in_parts(planned("a/x.py", "a/x.py", "a/y.py", "a/y.py", waits={1: (0,), 3: (2,)}), 3)

    assert parts(plan) == {"a": [0, 1], "a 2": [2, 3]}


def test_a_plan_that_is_to_be_reduced_has_two_levels_whatever_its_size(planned: MakePlan) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py", strategy="reduce"), None)

    assert parts(plan) == {"a": [0], "b": [1]}


@pytest.mark.parametrize("strategy", ["merge", "reduce"])
def test_nothing_to_do_has_no_parts(strategy: str, planned: MakePlan) -> None:
    assert in_parts(planned(strategy=strategy), 1).parts == ()


def test_a_plan_that_has_parts_keeps_them(planned: MakePlan) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py", "c/x.py"), 1)

    assert in_parts(plan, 2) == plan


def test_a_path_of_two_thousand_folders_parts_like_any_other(planned: MakePlan) -> None:
    deep = "a/" * 2_000

    plan = in_parts(planned(*(f"{deep}{n}.py" for n in range(FAN_OUT + 1))), FAN_OUT)

    assert [len(part.task_ids) for part in plan.parts] == [FAN_OUT, 1]
    assert plan.parts[0].name == "/".join("a" * MAX_DEPTH)


PATHS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda names: "/".join(names) + ".py"),
    min_size=1,
    max_size=30,
)


@given(paths=PATHS, fan_out=st.integers(1, 6), data=st.data())
def test_every_task_is_in_one_part_with_what_it_waits_for_and_no_part_is_too_large(
    paths: list[str], fan_out: int, data: st.DataObject, planned: MakePlan
) -> None:
    waits = {n: (data.draw(st.integers(0, n - 1)),) for n in range(1, len(paths)) if data.draw(st.integers(0, 4)) == 0}
    plan = in_parts(planned(*paths, waits=waits), fan_out)
    if len(paths) <= fan_out:
        assert plan.parts == ()
        return

    home = {name: part.name for part in plan.parts for name in part.task_ids}

    assert sorted(home) == sorted(task.task_id for task in plan.tasks)
    assert all(home[task.task_id] == home[name] for task in plan.tasks for name in task.depends_on)
    if not waits:
        assert max(len(part.task_ids) for part in plan.parts) <= fan_out
    assert len({part.name for part in plan.parts}) == len(plan.parts)
    assert in_parts(planned(*paths, waits=waits), fan_out) == plan


# --- what a sub-supervisor does


def run(plan: Plan, dispatch: Callable[[Plan], Awaitable[dict[str, TaskResult]]], trace: Any) -> dict[str, TaskResult]:
    return asyncio.run(run_in_levels(plan, dispatch, trace))


def answering(ends: Mapping[str, TaskResult], seen: list[Plan] | None = None) -> Callable[[Plan], Awaitable[Any]]:
    """A dispatcher that knows how each task ends."""

    async def dispatch(plan: Plan) -> dict[str, TaskResult]:
        if seen is not None:
            seen.append(plan)
        return {task.task_id: ends[task.task_id] for task in plan.tasks}

    return dispatch


@pytest.fixture(scope="session", name="ended")
def _ended(a_result: MakeResult) -> Callable[..., dict[str, TaskResult]]:
    """How each task of a plan ended: answered, with these findings."""

    def make(plan: Plan, *found: tuple[Finding, ...]) -> dict[str, TaskResult]:
        given = found or ((),) * len(plan.tasks)
        return {
            task.task_id: TaskResult(task, (a_result(task.task_id, findings=each, usage={"calls": 1}),), done=True)
            for task, each in zip(plan.tasks, given, strict=True)
        }

    return make


def test_each_part_runs_as_a_plan_of_one_level(
    planned: MakePlan, ended: Callable[..., dict[str, TaskResult]], trace: Any
) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py", "a/y.py", waits={2: (0,)}), 2)
    seen: list[Plan] = []

    ends = run(plan, answering(ended(plan), seen), trace)

    assert [([task.task_id for task in part.tasks], part.parts) for part in seen] == [
        (["logic:0", "logic:2"], ()),
        (["logic:1"], ()),
    ]
    assert list(ends) == ["logic:0", "logic:1", "logic:2"], "in the order of the whole plan"


def test_all_parts_are_at_work_at_once(
    planned: MakePlan, ended: Callable[..., dict[str, TaskResult]], trace: Any
) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py", "c/x.py"), 1)
    everybody = asyncio.Barrier(3)

    async def together(part: Plan) -> dict[str, TaskResult]:
        await everybody.wait()
        return ended(part)

    assert len(run(plan, together, trace)) == 3


def test_a_part_tells_what_came_of_it(
    planned: MakePlan, a_finding: MakeFinding, a_result: MakeResult, a_candidate: Callable[..., Candidate], trace: Any
) -> None:
    plan = in_parts(planned("a/x.py", "a/y.py", "b/x.py"), 2)
    one, two, three = plan.tasks
    missing = Gap(path="a/y.py", worker="logic", reason="breaker", message="given up")
    person = HumanItem(path="a/y.py", reason="unsure")
    lost = Dropped(candidate=a_candidate(), reason="no such line")
    ends = {
        one.task_id: TaskResult(
            one, (a_result(findings=(a_finding(),), dropped=(lost,), usage={"calls": 2}),), done=True
        ),
        two.task_id: TaskResult(two, (a_result(findings=(a_finding(),), gaps=(missing,)),), (missing,), (person,)),
        three.task_id: TaskResult(three, (a_result(),), done=True),
    }

    told = run(plan, answering(ends), trace)

    first, second = trace.of("part_finished")
    assert {name: first[name] for name in first if name != "usage"} == {
        "part": "a", "tasks": 2, "answered": 1, "findings": 1, "repeated": 1, "gaps": 2, "people": 1,
    }  # fmt: skip
    assert first["usage"]["calls"] == 2
    assert (second["part"], second["tasks"], second["findings"]) == ("b", 1, 0)
    assert told[two.task_id].gaps == (missing,)
    assert told[two.task_id].human == (person,)
    assert told[one.task_id].results[0].dropped == (), "the trace has them"


def test_a_part_that_crashes_is_a_named_gap_for_each_of_its_tasks_and_costs_no_other_part(
    planned: MakePlan, ended: Callable[..., dict[str, TaskResult]], trace: Any
) -> None:
    plan = in_parts(planned("a/x.py", "a/y.py", "b/x.py"), 2)

    async def dispatch(part: Plan) -> dict[str, TaskResult]:
        if part.tasks[0].payload.file_path.startswith("a/"):
            raise KeyError("a fault of ours")
        return ended(part)

    ends = run(plan, dispatch, trace)

    assert [(end.task.task_id, [gap.message for gap in end.gaps]) for end in ends.values()] == [
        ("logic:0", ["KeyError in the part 'a' of the plan"]),
        ("logic:1", ["KeyError in the part 'a' of the plan"]),
        ("logic:2", []),
    ]
    assert [event["task_id"] for event in trace.of("task_failed")] == ["logic:0", "logic:1"]
    assert [event["part"] for event in trace.of("part_finished")] == ["b"]


def test_an_interrupted_run_leaves_no_part_running(planned: MakePlan, trace: Any) -> None:
    plan = in_parts(planned("a/x.py", "b/x.py"), 1)
    stopped: list[str] = []

    async def interrupted() -> None:
        started = asyncio.Barrier(3)

        async def until_stopped(part: Plan) -> dict[str, TaskResult]:
            try:
                await started.wait()
                return await asyncio.Future()
            finally:
                stopped.append(part.tasks[0].task_id)

        running = asyncio.create_task(run_in_levels(plan, until_stopped, trace))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(interrupted())

    assert sorted(stopped) == ["logic:0", "logic:1"]


def test_a_plan_to_be_reduced_passes_up_one_finding_of_models_for_a_place_and_cause(
    planned: MakePlan, ended: Callable[..., dict[str, TaskResult]], a_finding: MakeFinding, trace: Any
) -> None:
    plan = in_parts(planned("a/x.py", "a/x.py", strategy="reduce"), None)
    weak, strong = (a_finding(sources=MODEL, message=str(sure), confidence=sure) for sure in (70, 85))
    program = a_finding()

    told = run(plan, answering(ended(plan, (weak, program), (strong, program))), trace)

    assert [end.merge_results().findings for end in told.values()] == [(program,), (strong,)]
    assert [(event["findings"], event["repeated"]) for event in trace.of("part_finished")] == [(2, 2)]


# --- one level and two


def test_of_exact_repetitions_the_first_in_the_plan_stays(
    planned: MakePlan, ended: Callable[..., dict[str, TaskResult]], a_finding: MakeFinding
) -> None:
    plan = planned("a/x.py", "b/x.py")
    other = a_finding(line=2)

    told = aggregate(ended(plan, (a_finding(), a_finding()), (a_finding(), other)))

    assert [end.merge_results().findings for end in told.values()] == [(a_finding(),), (other,)]


def test_the_latest_attempt_at_a_task_speaks_for_it(
    planned: MakePlan, a_result: MakeResult, a_finding: MakeFinding
) -> None:
    [task] = planned("a/x.py").tasks
    early, late = (a_finding(sources=MODEL, message=text) for text in ("may be None", "is None"))
    end = TaskResult(task, (a_result(findings=(early,)), a_result(findings=(late,))), done=True)

    assert aggregate({task.task_id: end})[task.task_id].merge_results().findings == (late,)


FOUND = st.tuples(
    st.integers(1, 3),
    st.sampled_from(("bug", "cost")),
    st.sampled_from((("ruff",), ("bandit",), MODEL)),
    st.integers(0, 99),
)


@given(paths=PATHS, fan_out=st.integers(1, 4), data=st.data())
def test_what_reaches_the_top_does_not_depend_on_how_the_plan_was_parted(
    paths: list[str],
    fan_out: int,
    data: st.DataObject,
    planned: MakePlan,
    ended: Callable[..., dict[str, TaskResult]],
    a_finding: MakeFinding,
) -> None:
    plan = planned(*paths)
    found = [
        tuple(
            a_finding(line=line, category=category, sources=sources, confidence=sure)
            for line, category, sources, sure in data.draw(st.lists(FOUND, max_size=3))
        )
        for _ in paths
    ]
    ends = ended(plan, *found)

    class Silent:
        def record(self, event: str, **fields: object) -> None:
            """Nobody listens."""

    one = run(plan, answering(ends), Silent())
    two = run(in_parts(plan, fan_out), answering(ends), Silent())

    assert list(one.items()) == list(two.items())
    assert {f for end in two.values() for f in end.merge_results().findings} == {f for group in found for f in group}
