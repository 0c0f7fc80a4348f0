"""The pipeline: change -> plan -> dispatch -> verify -> synthesize -> Review. Every entry point runs this one.

Planner and synthesizer, with rules or with a model, are arguments; `reviewbot.wiring` chooses them. Reading a
diff and rendering the answer happen at the entry points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic.main import IncEx

from reviewbot.domain.contracts import ChangeSet, Constraints, Payload, Plan, Review, ReviewTask, WorkerResult
from reviewbot.domain.ports import Clock, Planner, Recorder, Synthesizer, TaskResult
from reviewbot.review.dispatch.attempt_selection import beaten, join_rounds, select_attempts
from reviewbot.review.dispatch.partitioned_dispatch import Dispatch, in_parts, run_in_levels

_SLICE: IncEx = {"code"}
_CODE: IncEx = {"tasks": {"__all__": {"payload": _SLICE, "more": {"__all__": _SLICE}, "read_before": True}}}
_HUNKS: IncEx = {"pushed"}
_FILES: IncEx = {"__all__": _HUNKS}
_TEXTS: IncEx = {"dependents": True, "claims": True, "files": _FILES}
"""The trace names what was read; it does not repeat the code."""


class Executor(Protocol):
    """Carries out what was planned: `reviewbot.review.execution` with workers, a replay with the events of a trace."""

    def dispatch(self, change: ChangeSet, started: float) -> Dispatch:
        """Return the function that runs all tasks of a plan. `started`: when the review began, by its clock."""

    def scan(self, change: ChangeSet) -> WorkerResult | None:
        """What is found in names, title and description, which are in no task; None: nothing."""


@dataclass(frozen=True)
class Setup:
    """The components of a review; `reviewbot.wiring` builds them."""

    planner: Planner
    executor: Executor
    synthesizer: Synthesizer
    clock: Clock
    trace: Recorder
    fan_out: int | None = None
    """Tasks above which each component of the change gets a sub-supervisor; None: one level, whatever the size."""


async def review(change: ChangeSet, setup: Setup) -> Review:
    """Review a change. Raises nothing for a failed worker, tool or engine: those are gaps in the review."""
    started = setup.clock.monotonic()
    if change.read_before is not None:
        setup.trace.record("read_before", read_before=change.read_before.model_dump(mode="json", exclude=_TEXTS))
    plan = await setup.planner.plan(change)
    settled = await _dispatched(change, plan, setup, started)
    if (further := await setup.planner.more(change, plan, select_attempts(plan, settled))) is not None:
        plan, settled = join_rounds(plan, further, settled, await _dispatched(change, further, setup, started))
    if lost := beaten(plan, settled):
        setup.trace.record("selected", instead_of=lost)
        settled = select_attempts(plan, settled)
    answer = await setup.synthesizer.synthesize(change, plan, {**settled, **_scanned(change, setup)})
    wall_ms = round((setup.clock.monotonic() - started) * 1000)
    answer = answer.model_copy(update={"timings": answer.timings.model_copy(update={"wall_ms": wall_ms})})
    setup.trace.record("review", **answer.model_dump(mode="json"))
    return answer


def _scanned(change: ChangeSet, setup: Setup) -> dict[str, TaskResult]:
    """The findings that no task could have made, as the end of a task of their own that is in no plan."""
    result = setup.executor.scan(change)
    if result is None:
        return {}
    task = ReviewTask(
        task_id=result.task_id,
        worker="scan",
        type="scan",
        instruction="Look at the names of the files, the title and the description.",
        success_criterion="Each of them was looked at.",
        payload=Payload(code="", file_path=f"({result.task_id})", language="text", starts=()),
        constraints=Constraints(max_tokens=256, timeout_ms=1, tier="small"),
    )
    return {task.task_id: TaskResult(task, results=(result,), done=True)}


async def _dispatched(change: ChangeSet, plan: Plan, setup: Setup, started: float) -> dict[str, TaskResult]:
    """Run one plan, in two levels where it is large, in what is left of the review's time."""
    plan = in_parts(plan, setup.fan_out)
    setup.trace.record("plan_made", total=len(plan.tasks), plan=plan.model_dump(mode="json", exclude=_CODE))
    return await run_in_levels(plan, setup.executor.dispatch(change, started), setup.trace)
