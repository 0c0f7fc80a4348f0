"""The spine: change -> plan -> dispatch -> verify -> synthesize -> Review. Every door runs this, and nothing else does.

Reading a diff, choosing an engine and rendering the answer happen at the doors and in `reviewbot.wiring`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic.main import IncEx

from reviewbot.contracts import ChangeSet, Escalation, Outcome, Plan, Review, ReviewTask, WorkerResult
from reviewbot.ports import Clock, Crew, Engine, Journal, Recorder, Snapshot, Tool, WorkOrder
from reviewbot.supervisor.dispatcher import Dispatcher
from reviewbot.supervisor.planner import PlanLimits, make_plan, retarget
from reviewbot.supervisor.synthesizer import Rules, synthesize
from reviewbot.supervisor.verifier import verified
from reviewbot.worker import run_task

_CODE: IncEx = {"tasks": {"__all__": {"payload": {"code"}}}}
"""The trace names what was read; it does not repeat the code."""


@dataclass(frozen=True)
class Setup:
    """Everything that a review is done with; `reviewbot.wiring` builds it."""

    crew: Crew
    engine: Engine
    tools: Mapping[str, Tool]
    snapshot: Snapshot
    journal: Journal
    clock: Clock
    trace: Recorder
    limits: PlanLimits
    rules: Rules
    run_id: str
    concurrency: int
    deadline_s: float
    notes: tuple[str, ...] = ()


def plan_only(change: ChangeSet, setup: Setup) -> Plan:
    """The plan that `review` would follow."""
    return make_plan(change, setup.crew, setup.engine.covers, setup.snapshot.head, setup.limits)


async def review(change: ChangeSet, setup: Setup) -> Review:
    """Review a change. Raises nothing for a failed worker, tool or engine: those are gaps in the review."""
    started = setup.clock.monotonic()
    plan = plan_only(change, setup)
    setup.trace.record("plan_made", total=len(plan.tasks), plan=plan.model_dump(mode="json", exclude=_CODE))
    dispatcher = Dispatcher(
        attempt=lambda task, dependencies: _attempt(setup, task, dependencies),
        retarget=lambda task, worker: retarget(setup.crew, task, worker, setup.limits.workers),
        journal=setup.journal,
        run_id=setup.run_id,
        trace=setup.trace,
        clock=setup.clock,
        concurrency=setup.concurrency,
        deadline_s=setup.deadline_s,
    )
    settled = await dispatcher.dispatch(plan)
    answer = synthesize(change, plan, settled, setup.rules, engine=setup.engine.name, notes=setup.notes)
    wall_ms = round((setup.clock.monotonic() - started) * 1000)
    answer = answer.model_copy(update={"timings": answer.timings.model_copy(update={"wall_ms": wall_ms})})
    setup.trace.record("review", **answer.model_dump(mode="json"))
    return answer


async def _attempt(setup: Setup, task: ReviewTask, dependencies: Mapping[str, WorkerResult]) -> Outcome:
    """One try of one task: the worker's answer, weighed by the evidence behind it as soon as it is there."""
    card = next(card for card in setup.crew.cards if card.name == task.worker)
    order = WorkOrder(
        task=task,
        card=card,
        prompt=setup.crew.prompts[card.name],
        tools={name: setup.tools[name] for name in card.tools},
        snapshot=setup.snapshot,
        dependencies=dependencies,
    )
    outcome = await run_task(setup.engine, order)
    if isinstance(outcome, WorkerResult):
        outcome = verified(outcome)
    elif isinstance(outcome, Escalation) and outcome.partial_result is not None:
        outcome = outcome.model_copy(update={"partial_result": verified(outcome.partial_result)})
    setup.trace.record("result", **outcome.model_dump(mode="json"))
    return outcome
