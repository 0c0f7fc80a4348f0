"""One reading of the whole change, beside the workers who read its parts closely.

Who reads a part finds more, and cannot tell what it is worth; who reads all of it in one go reports little above
`SURE_FROM`, and nearly all of that is what people would have said too (measured: docs/quality.md, decision 0012). So
what it is sure of is reported like a worker's findings, and what it does not name weighs less (`supervisor.weighing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reviewbot.contracts import (
    OVERVIEW,
    CardBudget,
    ChangeSet,
    Payload,
    Plan,
    ReviewTask,
    WorkerAnswer,
    WorkerCard,
)
from reviewbot.model.seats import NO_FILES
from reviewbot.model.worker_request import request_of
from reviewbot.ports import Crew, ModelRequest, Planner, Settled, WorkOrder
from reviewbot.supervisor.planner import task_for

LEAST_LINES = 100
"""Changed lines. Of fewer, whoever reads the parts sees nearly all of it."""
MAX_CHARS = 120_000
"""Of all slices together, about 30,000 tokens: beyond that, a reading in one go skims."""
SURE_FROM = 80
"""What it claims below that is not reported: of that, others know more."""

INSTRUCTION = "Read all of the change first. Then say what its author has to know before it is merged."

CARD = WorkerCard(
    name=OVERVIEW,
    description="Reads the whole change at once: what only shows across its files, and what matters most in it.",
    task_type=OVERVIEW,
    prompt="overview.md",
    success_criterion="Every added line was read once, and each finding is one that the author would act on.",
    tiers=("opus",),
    applies_to=(NO_FILES,),  # no file is routed to it: it gets the slices of the others
    budget=CardBudget(max_tokens=16_000, timeout_ms=240_000, max_turns=1),
)


def with_overview(crew: Crew, prompt: str) -> Crew:
    """The crew with this worker."""
    return Crew(
        cards=(*crew.cards, CARD),
        prompts={**crew.prompts, OVERVIEW: prompt},
        origin={**crew.origin, OVERVIEW: "package"},
    )


@dataclass(frozen=True)
class OverviewPlanner:
    """A `Planner` that adds the reading of the whole to another one's plan."""

    inner: Planner
    lines: int
    """Changed lines up to which it is added; 0: never."""
    card: WorkerCard = CARD
    """As the crew has it: the operator may have given it another time."""

    async def plan(self, change: ChangeSet) -> Plan:
        """The other planner's plan, with one task more where it is wanted and fits."""
        return self.added(await self.inner.plan(change), change)

    def added(self, plan: Plan, change: ChangeSet) -> Plan:
        """A plan with that task."""
        task = overview_of(plan, change, self.lines, self.card)
        return plan if task is None else plan.model_copy(update={"tasks": (task, *plan.tasks)})

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, Settled]) -> Plan | None:
        """As the other planner."""
        return await self.inner.more(change, plan, settled)

    def retarget(self, task: ReviewTask, worker: str) -> ReviewTask | None:
        """As the other planner."""
        return self.inner.retarget(task, worker)


def overview_of(plan: Plan, change: ChangeSet, lines: int, card: WorkerCard = CARD) -> ReviewTask | None:
    """The task on everything that the plan gives to models to read; None where nobody needs it, or it is too much."""
    tasks = [task for task in plan.tasks if not task.programs_only]
    if not LEAST_LINES <= sum(file.added + file.removed for file in change.files) <= lines:
        return None
    slices = _slices_of(tasks)
    if not slices or any(set(slices) <= set(task.slices) for task in tasks):
        return None  # somebody sees all of it anyway
    if sum(len(payload.code) for payload in slices) > MAX_CHARS:
        return None
    task = task_for(card, slices[0], f"{OVERVIEW}:{len(slices)} slices")
    return task.model_copy(update={"more": slices[1:], "instruction": INSTRUCTION})


def asked_of(order: WorkOrder) -> ModelRequest:
    """The one request. The rules of those who see a part are not its rules, and it has no tools."""
    return request_of(order, "")


def sure_of(answer: WorkerAnswer) -> WorkerAnswer:
    """The answer with what it is sure of."""
    sure = tuple(finding for finding in answer.findings if finding.confidence >= SURE_FROM)
    return answer.model_copy(update={"findings": sure})


def _slices_of(tasks: list[ReviewTask]) -> tuple[Payload, ...]:
    """Each slice once, by file; those of one file in their order."""
    slices = dict.fromkeys(payload for task in tasks for payload in task.slices)
    return tuple(sorted(slices, key=lambda payload: payload.file_path))
