"""Which of several answers counts: the latest attempt, the best attempt, and a second round beside the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Gap, HumanItem, Plan, ReviewTask, WorkerResult
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.attempt_selection import beaten, join_rounds, reduce_findings, select_attempts, standing
from tests.make import MakeFinding, MakePayload, MakePlan, MakeResult, MakeTask

NAME = "logic:src/app.py#1"
MODEL = ("model:medium",)


def findings(results: Sequence[WorkerResult]) -> list[list[str]]:
    return [[finding.message for finding in result.findings] for result in results]


def gap(path: str = "src/app.py", **fields: Any) -> Gap:
    return Gap(**{"path": path, "worker": "logic", "reason": "breaker", "message": "given up", **fields})


# --- attempts at one task


def test_of_two_attempts_the_later_one_speaks_where_both_name_the_cause(
    a_result: MakeResult, a_finding: MakeFinding
) -> None:
    early = a_finding(message="may be None", sources=MODEL, line=3)
    late = a_finding(message="is None when the cart is empty", sources=("model:large",), line=3)

    assert findings(standing([a_result(findings=(early,)), a_result(findings=(late,))])) == [[], [late.message]]


def test_what_the_later_attempt_is_silent_about_stays_a_candidate(a_result: MakeResult, a_finding: MakeFinding) -> None:
    early = a_finding(message="may be None", sources=MODEL, confidence=85)

    [first, _] = standing([a_result(findings=(early,)), a_result()])

    assert first.findings == (early,), "nobody has refuted it, and its confidence is the verifier's"


@pytest.mark.parametrize(
    "other", [{"line": 9}, {"path": "b.py"}, {"type": "logic"}, {"category": "cost"}, {"sources": ("ruff",)}]
)
def test_another_place_kind_cause_or_source_is_another_finding(
    other: dict[str, Any], a_result: MakeResult, a_finding: MakeFinding
) -> None:
    early = a_finding(message="may be None", sources=MODEL)
    late = a_finding(**{"message": "is None", "sources": MODEL, **other})

    assert findings(standing([a_result(findings=(early,)), a_result(findings=(late,))])) == [
        ["may be None"],
        ["is None"],
    ]


def test_one_weakness_by_its_number_is_one_cause(a_result: MakeResult, a_finding: MakeFinding) -> None:
    early = a_finding(message="a", category="shell", cwe=78, sources=MODEL)
    late = a_finding(message="b", category="injection", cwe=78, sources=MODEL)

    assert findings(standing([a_result(findings=(early,)), a_result(findings=(late,))])) == [[], ["b"]]


def test_what_a_program_found_falls_only_where_it_is_repeated(a_result: MakeResult, a_finding: MakeFinding) -> None:
    repeated, once = a_finding(rule="S602"), a_finding(rule="S603", message="another")
    disputed = repeated.model_copy(update={"disputed": "it is a constant"})

    first, second = standing([a_result(findings=(repeated, once)), a_result(findings=(disputed,))])

    assert (first.findings, second.findings) == ((once,), (disputed,))


def test_a_model_silences_no_program(a_result: MakeResult, a_finding: MakeFinding) -> None:
    program, model = a_finding(), a_finding(message="said by a model", sources=MODEL)

    results = [a_result(findings=(program,)), a_result(findings=(model,))]

    assert standing(results) == tuple(results)


def test_two_findings_of_one_answer_are_left_to_the_merging(a_result: MakeResult, a_finding: MakeFinding) -> None:
    results = (a_result(findings=(a_finding(sources=MODEL), a_finding(sources=MODEL, message="again"))),)

    assert standing(results) == results
    assert standing((*results, a_result()))[0] == results[0]


# --- the best of several attempts


@pytest.fixture(scope="session", name="attempts")
def _attempts(a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload) -> Callable[..., Plan]:
    def make(count: int = 2, **fields: Any) -> Plan:
        tasks = [a_task(f"logic:try{n}", payload=a_payload(path="src/app.py")) for n in range(count)]
        return a_plan(*tasks, **{"strategy": "select", **fields})

    return make


@pytest.fixture(scope="session", name="ended")
def _ended(a_result: MakeResult, a_finding: MakeFinding) -> Callable[..., TaskResult]:
    def make(task: ReviewTask, *confidences: int, gaps: int = 0, **fields: Any) -> TaskResult:
        found = tuple(
            a_finding(message=f"{task.task_id} {n}", confidence=sure, sources=MODEL, **fields)
            for n, sure in enumerate(confidences)
        )
        return TaskResult(task, (a_result(task.task_id, findings=found),), (gap(),) * gaps, done=True)

    return make


@pytest.mark.parametrize(
    ("first", "second", "loser"),
    [
        (((90,), 0), ((90, 80), 0), "logic:try0"),
        (((79, 79, 79), 0), ((80,), 0), "logic:try0"),
        (((90,), 1), ((90,), 0), "logic:try0"),
        (((90, 90), 2), ((90,), 0), "logic:try1"),
        (((90,), 0), ((90,), 0), "logic:try1"),
        (((), 0), ((), 0), "logic:try1"),
    ],
)
def test_the_best_attempt_has_most_confirmed_findings_then_fewest_gaps_then_comes_first(
    first: tuple[tuple[int, ...], int],
    second: tuple[tuple[int, ...], int],
    loser: str,
    attempts: Callable[..., Plan],
    ended: Callable[..., TaskResult],
) -> None:
    plan = attempts()
    ends = {t.task_id: ended(t, *sure, gaps=gaps) for t, (sure, gaps) in zip(plan.tasks, (first, second), strict=True)}

    winner = next(name for name in ends if name != loser)

    assert beaten(plan, ends) == {loser: winner}
    chosen = select_attempts(plan, ends)
    assert chosen[winner] == ends[winner]
    assert findings(chosen[loser].results) == [[]]


def test_an_attempt_that_does_not_count_keeps_its_cost_and_what_programs_found(
    attempts: Callable[..., Plan], ended: Callable[..., TaskResult], a_result: MakeResult, a_finding: MakeFinding
) -> None:
    plan = attempts()
    best, other = plan.tasks
    program, model = a_finding(), a_finding(sources=MODEL, confidence=10)
    lost = a_result(other.task_id, findings=(program, model), gaps=(gap(),), usage={"calls": 3})
    ends = {
        best.task_id: ended(best, 90, 95),
        other.task_id: TaskResult(other, (lost,), (gap(),), (HumanItem(path="src/app.py", reason="unsure"),)),
    }

    end = select_attempts(plan, ends)[other.task_id]

    assert [result.findings for result in end.results] == [(program,)]
    assert (end.gaps, end.human, end.results[0].gaps) == ((), (), ())
    assert end.results[0].metadata.usage.calls == 3


def test_tasks_on_other_slices_or_of_another_worker_are_no_attempts_at_one(
    a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload, ended: Callable[..., TaskResult]
) -> None:
    one = a_payload(path="a.py")
    tasks = [
        a_task("logic:a", payload=one),
        a_task("logic:b", payload=a_payload(path="b.py")),
        a_task("logic:c", payload=one, more=(a_payload(path="b.py"),)),
        a_task("style:a", payload=one),
    ]
    plan = a_plan(*tasks, strategy="select")
    ends = {task.task_id: ended(task, 90) for task in tasks}

    assert beaten(plan, ends) == {}
    assert select_attempts(plan, ends) == ends


def test_the_order_of_slices_makes_no_other_task(
    a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload, ended: Callable[..., TaskResult]
) -> None:
    one, two = a_payload(path="a.py"), a_payload(path="b.py")
    plan = a_plan(
        a_task("logic:1", payload=one, more=(two,)), a_task("logic:2", payload=two, more=(one,)), strategy="select"
    )

    assert beaten(plan, {task.task_id: ended(task) for task in plan.tasks}) == {"logic:2": "logic:1"}


@pytest.mark.parametrize("strategy", ["merge", "reduce"])
def test_nothing_is_selected_under_another_strategy(
    strategy: str, attempts: Callable[..., Plan], ended: Callable[..., TaskResult]
) -> None:
    plan = attempts(3, strategy=strategy)
    ends = {task.task_id: ended(task, 90) for task in plan.tasks}

    assert select_attempts(plan, ends) == ends


@given(data=st.data())
def test_exactly_one_attempt_counts_and_no_program_is_silenced(
    data: st.DataObject,
    attempts: Callable[..., Plan],
    ended: Callable[..., TaskResult],
    a_finding: MakeFinding,
    a_result: MakeResult,
) -> None:
    plan = attempts(data.draw(st.integers(1, 4)))
    ends: dict[str, TaskResult] = {}
    for task in plan.tasks:
        sure = data.draw(st.lists(st.integers(0, 99), max_size=3))
        end = ended(task, *sure, gaps=data.draw(st.integers(0, 2)))
        told = a_result(task.task_id, findings=(a_finding(message=task.task_id),))
        ends[task.task_id] = TaskResult(task, (*end.results, told), end.gaps, done=True)

    chosen = select_attempts(plan, ends)

    assert len(beaten(plan, ends)) == len(plan.tasks) - 1
    assert all(findings(end.results)[1] == [name] for name, end in chosen.items())


# --- reducing


def test_of_what_models_said_of_one_place_and_cause_the_surest_stays(a_finding: MakeFinding) -> None:
    said = [a_finding(message=str(sure), confidence=sure, sources=MODEL) for sure in (70, 90, 80)]
    elsewhere = a_finding(message="elsewhere", line=9, sources=MODEL)
    programs = [a_finding(confidence=50), a_finding(confidence=60, rule="S1")]

    kept = reduce_findings([*said, elsewhere, *programs])

    assert {finding.message for finding in kept if finding.sources == MODEL} == {"90", "elsewhere"}
    assert [finding for finding in kept if finding.sources != MODEL] == programs[::-1]


@given(order=st.permutations([(70, "a"), (90, "b"), (90, "c"), (10, "d")]))
def test_the_order_in_which_findings_come_does_not_show_in_what_is_reduced(
    order: list[tuple[int, str]], a_finding: MakeFinding
) -> None:
    said = [a_finding(message=message, confidence=sure, sources=MODEL) for sure, message in order]

    assert [finding.message for finding in reduce_findings(said)] == ["b"]


# --- two rounds


def test_a_gap_that_the_second_round_closed_is_gone_with_the_question_that_it_left(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_finding: MakeFinding
) -> None:
    task, again = a_task(NAME), a_task(f"{NAME}~2", worker="logic")
    partial = a_result(gaps=(gap(reason="missing_program"),))
    first = TaskResult(task, (partial,), (gap(),), (HumanItem(path="src/app.py", reason="unsure"),))
    second = TaskResult(again, (a_result(f"{NAME}~2", findings=(a_finding(),)),), done=True)

    plan, ends = join_rounds(a_plan(task), a_plan(again), {NAME: first}, {f"{NAME}~2": second})

    assert [each.task_id for each in plan.tasks] == [NAME]
    assert list(ends) == [NAME]
    assert (ends[NAME].gaps, ends[NAME].human, ends[NAME].answered) == ((), (), True)
    assert [result.gaps for result in ends[NAME].results] == [(), ()]
    assert ends[NAME].merge_results().findings == (a_finding(),)


def test_what_the_second_round_could_not_answer_is_still_missing_and_what_it_found_counts(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_finding: MakeFinding
) -> None:
    task, again = a_task(NAME), a_task(f"{NAME}~2", worker="logic")
    person = HumanItem(path="src/app.py", reason="unsure")
    first = TaskResult(task, (), (gap(),), (person,))
    partial = a_result(f"{NAME}~2", findings=(a_finding(),), usage={"calls": 2})
    second = TaskResult(again, (partial,), (gap(message="again"),), (person,))

    _, ends = join_rounds(a_plan(task), a_plan(again), {NAME: first}, {f"{NAME}~2": second})

    assert ends[NAME].gaps == (gap(),), "said once"
    assert ends[NAME].human == (person,)
    assert ends[NAME].results == (partial,)
    assert not ends[NAME].answered


def test_only_the_files_that_the_second_round_looked_at_are_no_longer_missing(
    a_task: MakeTask, a_plan: MakePlan, a_payload: MakePayload, a_result: MakeResult
) -> None:
    task = a_task("logic:both", payload=a_payload(path="a.py"), more=(a_payload(path="b.py"),))
    again = a_task("logic:both~2", payload=a_payload(path="a.py"), worker="logic")
    people = tuple(HumanItem(path=path, reason="unsure") for path in ("a.py", "b.py"))
    first = TaskResult(task, (), (gap("a.py"), gap("b.py")), people)
    second = TaskResult(again, (a_result("logic:both~2"),), done=True)

    _, ends = join_rounds(a_plan(task), a_plan(again), {"logic:both": first}, {"logic:both~2": second})

    assert [each.path for each in ends["logic:both"].gaps] == ["b.py"]
    assert [item.path for item in ends["logic:both"].human] == ["b.py"]


def test_a_gap_of_the_second_answer_is_named(a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult) -> None:
    task, again = a_task(NAME), a_task(f"{NAME}~2", worker="logic")
    of_tool = gap(reason="missing_program", message="no ruff", tool="ruff")
    second = TaskResult(again, (a_result(gaps=(of_tool,)),), done=True)

    _, ends = join_rounds(a_plan(task), a_plan(again), {NAME: TaskResult(task, (), (gap(),))}, {f"{NAME}~2": second})

    assert [result.gaps for result in ends[NAME].results] == [(of_tool,)]


def test_new_tasks_stand_beside_the_old_ones_after_what_they_waited_for(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult
) -> None:
    task, again = a_task(NAME), a_task(f"{NAME}~2", worker="logic")
    new = a_task("security:deep", depends_on=(f"{NAME}~2",))
    last = a_task("style:last", depends_on=("security:deep",))
    ends = {each.task_id: TaskResult(each, (a_result(each.task_id),), done=True) for each in (again, new, last)}

    plan, settled = join_rounds(a_plan(task), a_plan(again, new, last), {NAME: TaskResult(task, (), (gap(),))}, ends)

    assert [(each.task_id, each.depends_on) for each in plan.tasks] == [
        (NAME, ()),
        ("security:deep", (NAME,)),
        ("style:last", ("security:deep",)),
    ]
    assert list(settled) == [NAME, "security:deep", "style:last"]
    assert Plan.model_validate(plan.model_dump()) == plan, "it is a plan that holds by itself"


def test_a_task_that_was_called_so_from_the_start_is_a_task_of_its_own(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult
) -> None:
    task = a_task("logic:odd~2")
    later = TaskResult(task, (a_result("logic:odd~2"),), done=True)

    plan, ends = join_rounds(a_plan(), a_plan(task), {}, {"logic:odd~2": later})

    assert [each.task_id for each in plan.tasks] == list(ends) == ["logic:odd~2"]
