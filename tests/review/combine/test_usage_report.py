"""Accounts: who cost what, by the usage ledger where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from reviewbot.domain.contracts import ChangeSet, FileChange, Usage
from reviewbot.domain.ports import TaskResult
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer, usages
from reviewbot.review.combine.visibility import Rules
from tests.make import MakePlan, MakeResult, MakeTask
from tests.reading_cases import read

ONE = Usage(calls=1, input_tokens=100, cost_usd=0.5)
TWO = Usage(calls=3, input_tokens=300, cost_usd=1.5)


class Ledger:
    """A usage ledger with fixed entries."""

    def __init__(self, spent: Mapping[str, Usage]) -> None:
        self._spent = spent

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        return self._spent


@pytest.fixture
def done(a_task: MakeTask, a_result: MakeResult) -> TaskResult:
    """A task whose last attempt made one call."""
    usage = {"calls": 1, "input_tokens": 100, "cost_usd": 0.5}
    return TaskResult(a_task(), (a_result(usage=usage, duration_ms=9),), done=True)


def test_the_books_know_of_attempts_that_failed_and_go_first(done: TaskResult, a_plan: MakePlan) -> None:
    [row] = usages(a_plan(done.task), [done], {"logic": TWO})

    assert (row.worker, row.tasks, row.duration_ms, row.usage) == ("logic", 1, 9, TWO)


def test_without_books_the_results_have_the_word(done: TaskResult, a_plan: MakePlan) -> None:
    assert [row.usage for row in usages(a_plan(done.task), [done], None)] == [ONE]


def test_who_is_not_in_the_books_has_spent_nothing_in_this_run(done: TaskResult, a_plan: MakePlan) -> None:
    """What an earlier run paid for is in its result, and not in this one's bill."""
    assert [row.usage for row in usages(a_plan(done.task), [done], {})] == [Usage()]


def test_whoever_else_asked_has_a_row_after_the_workers(done: TaskResult, a_plan: MakePlan) -> None:
    spent = {"style": ONE, "other": ONE, "reader": TWO, "logic": ONE, "planner": Usage(), "judge": ONE}

    rows = usages(a_plan(done.task), [done], spent)

    assert [(row.worker, row.tasks) for row in rows] == [
        ("logic", 1),
        ("reader", 0),
        ("judge", 0),
        ("other", 0),
        ("style", 0),
    ]


def test_a_review_by_rules_tells_what_the_books_say(
    done: TaskResult,
    a_plan: MakePlan,
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
) -> None:
    synthesizer = RuledSynthesizer(
        Rules({"logic": 80}, 50), ReviewFacts("claude", usage_ledger=Ledger({"logic": ONE, "verifier": TWO}))
    )

    review = asyncio.run(synthesizer.synthesize(a_change(a_file()), a_plan(done.task), {done.task.task_id: done}))

    assert (review.usage, review.engine) == (ONE + TWO, "claude")


def test_the_model_that_read_a_file_is_named_among_those_that_looked(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
) -> None:
    end = TaskResult(a_task(), (a_result(readings=(read(models=("claude-sonnet",), analyzers=("ruff",)),)),), done=True)
    synthesizer = RuledSynthesizer(Rules({"logic": 80}, 50), ReviewFacts("claude"))

    review = asyncio.run(synthesizer.synthesize(a_change(a_file()), a_plan(end.task), {end.task.task_id: end}))

    [entry] = review.coverage
    assert (entry.state, entry.models, entry.analyzers) == ("reviewed", ("claude-sonnet",), ("ruff",))
