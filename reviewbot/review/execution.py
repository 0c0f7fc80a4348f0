"""Carry out the tasks of a plan: dispatch each to its worker; verify, suppress and mask what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from reviewbot.domain.contracts import ChangeSet, Escalation, Outcome, ReviewTask, WorkerResult
from reviewbot.domain.ports import Clock, Engine, Journal, Recorder, Snapshot, Tool, WorkerSet, WorkOrder
from reviewbot.redact.mask import Mask, mask_json, redact
from reviewbot.review.combine.suppression import Suppressor
from reviewbot.review.dispatch.dispatcher import Dispatcher
from reviewbot.review.dispatch.partitioned_dispatch import Dispatch
from reviewbot.review.plan.planner import retarget
from reviewbot.review.task import run_task
from reviewbot.review.verify.verifier import verify_result


@dataclass(frozen=True)
class PlanExecutor:
    """The `reviewbot.review.pipeline.Executor` of a real run. Build one for a run; `reviewbot.wiring` does."""

    worker_set: WorkerSet
    engine: Engine
    tools: Mapping[str, Tool]
    snapshot: Snapshot
    journal: Journal
    clock: Clock
    trace: Recorder
    run_id: str
    concurrency: int
    deadline_s: float
    workers: tuple[str, ...] = ()
    """Names of the workers that a task may move to; none: all of the set."""
    verify: Callable[[WorkerResult], WorkerResult] = verify_result
    """Sets how far each finding can be believed, by the evidence for it."""
    mask: Mask = redact
    """What takes secrets out of a text, those of the change by their value."""
    suppressor: Suppressor = field(default_factory=Suppressor)
    """What silences findings or changes their severity."""
    find_outside: Callable[[ChangeSet], WorkerResult | None] = lambda _change: None
    """What looks at names, title and description, which are in no task; None: nothing does."""

    def dispatch(self, change: ChangeSet, started: float) -> Dispatch:
        """Return the function that runs all tasks of a plan, in the time left to a review that began at `started`."""
        return Dispatcher(
            attempt=lambda task, dependencies: self._attempt(change, task, dependencies),
            retarget=partial(retarget, self.worker_set, only=self.workers),
            journal=self.journal,
            run_id=self.run_id,
            trace=self.trace,
            clock=self.clock,
            concurrency=self.concurrency,
            deadline_s=self.deadline_s,
            started=started,
        ).dispatch

    def scan(self, change: ChangeSet) -> WorkerResult | None:
        """What is found in names, title and description; None: nothing."""
        found = self.find_outside(change)
        if found is None:
            return None
        result = WorkerResult.model_validate(_masked(self.suppressor.apply(found), self.mask)[0])
        if not (result.findings or result.suppressed):
            return None
        self.trace.record("scanned", result=result.model_dump(mode="json"))
        return result

    async def _attempt(self, change: ChangeSet, task: ReviewTask, dependencies: Mapping[str, WorkerResult]) -> Outcome:
        """One try of one task: the worker's answer, weighed by the evidence behind it as soon as it is there."""
        card = next(card for card in self.worker_set.cards if card.name == task.worker)
        order = WorkOrder(
            task=task,
            card=card,
            prompt=self.worker_set.prompts[card.name],
            tools={name: self.tools[name] for name in card.tools if name in self.tools},
            snapshot=self.snapshot,
            title=change.title,
            description=change.description,
            dependencies=dependencies,
        )
        outcome = await run_task(self.engine, order)
        if isinstance(outcome, WorkerResult):
            outcome = self.suppressor.apply(self.verify(outcome))
        elif isinstance(outcome, Escalation) and outcome.partial_result is not None:
            partial = self.suppressor.apply(self.verify(outcome.partial_result))
            outcome = outcome.model_copy(update={"partial_result": partial})
        outcome, said = _masked(outcome, self.mask)
        self.trace.record("result", task_id=task.task_id, attempt=task.failures + 1, outcome=said)
        return outcome


def _masked(outcome: Outcome, mask: Mask) -> tuple[Outcome, object]:
    """An outcome without the secrets in its texts, and as JSON: from here on it is kept, compared and quoted."""
    said = outcome.model_dump(mode="json")
    masked = mask_json(said, cache(mask))  # most texts are names of tools, which stand there many times
    return (outcome if masked == said else type(outcome).model_validate_json(json.dumps(masked))), masked
