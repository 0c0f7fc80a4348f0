"""What the supervisor's tests need beside the factories for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Escalation,
    Failure,
    Metadata,
    Outcome,
    Plan,
    Reading,
    ReviewTask,
    Usage,
    WorkerResult,
)
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.dispatcher import Dispatcher
from tests import leaping_loop
from tests.make import factory
from tests.reading_cases import read


def _result(
    task_id: str = "logic:src/app.py#1", *, readings: tuple[Reading, ...] | None = None, **fields: Any
) -> WorkerResult:
    """A result of an analyzer that read everything."""
    every = (read(analyzers=("ruff",)),) if readings is None else readings
    metadata = Metadata(
        readings=every, duration_ms=fields.pop("duration_ms", 0), usage=Usage(**fields.pop("usage", {}))
    )
    return WorkerResult(task_id=task_id, metadata=metadata, **fields)


def _plan(*tasks: ReviewTask, **fields: Any) -> Plan:
    return Plan(**{"goal": "review it", "tasks": tasks, "reason": "by hand", **fields})


def _escalation(reason: str, **fields: Any) -> Escalation:
    return Escalation(**{"task_id": "logic:src/app.py#1", "reason": reason, "message": "because", **fields})


def _failure(reason: str = "crashed", **fields: Any) -> Failure:
    return Failure(**{"task_id": "logic:src/app.py#1", "reason": reason, "message": "it broke", **fields})


a_result = factory(_result, "a_result")
a_plan = factory(_plan, "a_plan")
an_escalation = factory(_escalation, "an_escalation")
a_failure = factory(_failure, "a_failure")


class Worker:
    """An attempt that answers as told, by task id, and writes down who asked with what."""

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[tuple[str, int]] = []
        self.given: dict[str, Mapping[str, WorkerResult]] = {}
        self.instructions: list[str] = []
        self.errors: list[str] = []
        self.tiers: list[str] = []
        self.running = self.most = 0

    async def __call__(self, task: ReviewTask, results: Mapping[str, WorkerResult]) -> Outcome:
        self.asked.append((task.task_id, task.failures))
        self.given[task.task_id] = results
        self.instructions.append(task.instruction)
        self.errors.append(task.previous_error)
        self.tiers.append(task.constraints.tier)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._answer(task)
        finally:
            self.running -= 1

    async def _answer(self, task: ReviewTask) -> Outcome:
        answer = self.answers.get(task.task_id, WorkerResult(task_id=task.task_id))
        if isinstance(answer, list):
            answer = answer[min(task.failures, len(answer) - 1)]
        if callable(answer):
            answer = await answer(task)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, WorkerResult | Escalation | Failure)
        return answer


def moved(task: ReviewTask, worker: str) -> ReviewTask | None:
    """As the planner does it; there is no janitor."""
    if worker == "janitor":
        return None
    return task.model_copy(update={"task_id": f"{task.task_id}>{worker}", "worker": worker})


@pytest.fixture(name="dispatch")
def _dispatch(journal: Any, trace: Any, clock: Any) -> Callable[..., dict[str, TaskResult]]:
    """Run a plan with an attempt; any part of the dispatcher can be given by name."""

    def run(plan: Plan, attempt: Any, **parts: Any) -> dict[str, TaskResult]:
        known = {
            "attempt": attempt,
            "retarget": moved,
            "journal": journal,
            "run_id": "run",
            "trace": trace,
            "clock": clock,
            "concurrency": 8,
            "deadline_s": 60.0,
        }

        async def running() -> dict[str, TaskResult]:
            return await Dispatcher(**{**known, **parts}).dispatch(plan)

        return leaping_loop.run(running())

    return run


@pytest.fixture(scope="session")
def a_worker() -> type[Worker]:
    return Worker
