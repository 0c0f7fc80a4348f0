"""All of our analyzers over one file of a change: before and after a replacement is tried on a copy of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.contracts import Constraints, FileChange, ReviewTask, WorkerCard
from reviewbot.ports import Answer, Snapshot, WorkOrder
from reviewbot.supervisor.slices import payloads
from reviewbot.tools.catalog import all_tools

_WHOLE = 10**9
"""Lines: all hunks of the file in one slice."""

_CARD = WorkerCard(
    name="suggestions",
    description="tries a replacement on a scratch copy of a file",
    task_type="suggestions",
    prompt="suggestions.md",
    success_criterion="every analyzer has read the file",
    applies_to=("*",),
)
"""Nobody plans with it: the programs of all workers run at once."""


def analyzers_check() -> Callable[[FileChange, Snapshot], Awaitable[Answer]]:
    """A function that runs them, confined as in a review, with what other programs found left out."""
    tools = all_tools(foreign=())
    engine = AnalyzersEngine(tools)
    limits = Constraints(max_tokens=_CARD.budget.max_tokens, timeout_ms=_CARD.budget.timeout_ms, tier="haiku")

    async def check(file: FileChange, snapshot: Snapshot) -> Answer:
        (payload,) = payloads(file, snapshot.head(file.path), _WHOLE)
        task = ReviewTask(
            task_id=f"{_CARD.name}:{file.path}"[:400],
            worker=_CARD.name,
            type=_CARD.task_type,
            instruction=_CARD.description,
            success_criterion=_CARD.success_criterion,
            payload=payload,
            constraints=limits,
        )
        return await engine.work(WorkOrder(task, _CARD, "", tools, snapshot))

    return check
