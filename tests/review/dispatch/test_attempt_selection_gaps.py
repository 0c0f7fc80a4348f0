"""A second round beside the first: which gaps of an answer it closes, and which it must leave named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Gap, WorkerResult
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.attempt_selection import join_rounds, reduce_findings
from tests.make import MakeFinding, MakePlan, MakeResult, MakeTask

NAME = "logic:src/app.py#1"
MODEL = ("model:medium",)


def gap(path: str = "src/app.py", **fields: Any) -> Gap:
    return Gap(**{"path": path, "worker": "logic", "reason": "breaker", "message": "given up", **fields})


@pytest.fixture(scope="session", name="second_try")
def _second_try(a_task: MakeTask, a_plan: MakePlan) -> Callable[..., TaskResult]:
    """The task after a second round that ended as told, from a first one that brought `result`."""

    def run(result: WorkerResult, *later: WorkerResult) -> TaskResult:
        task, again = a_task(NAME), a_task(f"{NAME}~2", worker="logic")
        second = TaskResult(again, later, done=True)
        _, ends = join_rounds(
            a_plan(task), a_plan(again), {NAME: TaskResult(task, (result,), (gap(),))}, {f"{NAME}~2": second}
        )
        return ends[NAME]

    return run


def test_a_gap_of_another_file_is_let_be(
    second_try: Callable[..., TaskResult], a_result: MakeResult, a_finding: MakeFinding
) -> None:
    elsewhere = gap("b.py", reason="bad_answer", tool="ruff")

    end = second_try(a_result(gaps=(elsewhere, gap())), a_result(f"{NAME}~2", findings=(a_finding(),)))

    assert [result.gaps for result in end.results] == [(elsewhere,), ()]


def test_a_second_try_that_brought_only_what_programs_found_closes_nothing_and_says_it_once(
    second_try: Callable[..., TaskResult], a_result: MakeResult, a_finding: MakeFinding
) -> None:
    missed, flooded, of_tool = gap(reason="bad_answer"), gap(reason="flooded"), gap(reason="crashed", tool="ruff")
    later = a_result(f"{NAME}~2", findings=(a_finding(),), gaps=(missed, flooded, of_tool))

    end = second_try(a_result(), later)

    assert not end.answered
    assert end.gaps == (gap(),)
    assert [result.gaps for result in end.results] == [(), (flooded, of_tool)]
    assert end.results[1].findings == (a_finding(),)


def test_a_choice_among_models_drops_nothing_that_a_program_found(a_finding: MakeFinding) -> None:
    """Not even what it says twice of one line, for what models said of one cause is one."""
    program = [a_finding(evidence="os.system(name)"), a_finding(evidence="os.system(name)  # again")]
    models = [a_finding(sources=("model:x",), confidence=each, message=f"said at {each}") for each in (70, 90, 80)]

    left = reduce_findings([*program, *models])

    assert [finding for finding in left if finding in program] == program
    assert [finding for finding in left if finding not in program] == [models[1]]
