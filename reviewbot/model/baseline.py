"""One request with the whole change: what planners, workers and verifiers have to beat to be worth their cost.

For comparisons alone (`reviewbot eval --baseline`). The same contract of answers, the same anchoring by quote and the
same threshold as a review; no tools, no second look.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from reviewbot.contracts import (
    ChangeSet,
    Metadata,
    Plan,
    ReviewTask,
    WorkerAnswer,
    WorkerCard,
    WorkerResult,
)
from reviewbot.coverage import reading_of
from reviewbot.llm.client.answers import read_answer, schema_of
from reviewbot.model.fence import fenced
from reviewbot.model.outcome import candidate_of
from reviewbot.ports import Answer, Crew, Model, ModelRequest, Settled, Text, Turn, WorkOrder
from reviewbot.supervisor.planner import PlanLimits, RoutedPlanner, task_for

NAME = "baseline"

MAX_TOKENS = 32_000
"""Of the one answer: as much as all workers together may write on a change of the usual size."""

CARD = WorkerCard(
    name=NAME,
    description="Reviews the whole change in one go.",
    task_type=NAME,
    prompt="baseline.md",
    success_criterion="Every added line was read once.",
    tiers=("opus",),
    applies_to=("@code", "@config"),
)


@dataclass(frozen=True)
class BaselineEngine:
    """Asks once."""

    model: Model
    name: str = NAME

    def covers(self, card: WorkerCard, language: str) -> bool:
        """Everything that is text."""
        del card, language
        return True

    async def work(self, order: WorkOrder) -> Answer:
        """The one request and its answer. Raises EngineError."""
        began = time.monotonic()
        reply = await self.model.ask(_request(order))
        answer = read_answer(reply, WorkerAnswer)
        return Answer(
            candidates=tuple(candidate_of(reported, reply.model) for reported in answer.findings),
            origin="model",
            metadata=Metadata(
                usage=reply.usage,
                duration_ms=round((time.monotonic() - began) * 1000),
                model_used=reply.model,
                readings=tuple(reading_of(payload, models=[reply.model]) for payload in order.task.slices),
            ),
        )


@dataclass(frozen=True)
class BaselinePlanner:
    """One task with every slice of every file that a review would read."""

    routed: RoutedPlanner

    @classmethod
    def of(cls, engine: BaselineEngine) -> BaselinePlanner:
        """For a change of which nothing is known but the diff."""
        crew = Crew((CARD,), {NAME: ""}, {NAME: "package"})
        return cls(RoutedPlanner(crew, engine.covers, lambda _path: None, PlanLimits()))

    async def plan(self, change: ChangeSet) -> Plan:
        """The one task; none where there is nothing to read."""
        plan = await self.routed.plan(change)
        slices = tuple(payload for task in plan.tasks for payload in task.slices)
        tasks: tuple[ReviewTask, ...] = ()
        if slices:
            one = task_for(CARD, slices[0], NAME)
            limits = one.constraints.model_copy(update={"max_tokens": MAX_TOKENS, "timeout_ms": 86_400_000})
            tasks = (one.model_copy(update={"more": slices[1:], "constraints": limits}),)
        return plan.model_copy(update={"tasks": tasks, "reason": "one request with the whole change"})

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, Settled]) -> Plan | None:
        """Nothing: there is no second round."""
        del change, plan, settled
        return None

    def retarget(self, task: ReviewTask, worker: str) -> ReviewTask | None:
        """Nobody else."""
        del task, worker
        return None


class BaselineVerifier:
    """Believes what the model says of itself: that is what a single request has."""

    async def verify(self, order: WorkOrder, result: WorkerResult) -> WorkerResult:
        """The result as it is."""
        del order
        return result


def _request(order: WorkOrder) -> ModelRequest:
    told = "\n\n".join(fenced("file", f"file: {payload.file_path}\n{payload.code}") for payload in order.task.slices)
    about = fenced("title", order.title) + "\n" + fenced("description", order.description)
    return ModelRequest(
        purpose=NAME,
        subject=order.task.task_id,
        tier=order.task.constraints.tier,
        system=(Text(order.prompt),),
        turns=(Turn("user", (Text(f"{about}\n\n{told}"),)),),
        max_tokens=order.task.constraints.max_tokens,
        schema=schema_of(WorkerAnswer),
    )
