"""The spine: change -> plan -> dispatch -> verify -> synthesize -> Review. Every door runs this, and nothing else does.

Who plans, verifies and synthesizes, with rules or with a model, is handed in; `reviewbot.wiring` chooses. Reading a
diff and rendering the answer happen at the doors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic.main import IncEx

from reviewbot.contracts import (
    ChangeSet,
    Constraints,
    Escalation,
    Outcome,
    Payload,
    Plan,
    Review,
    ReviewTask,
    WorkerResult,
)
from reviewbot.ports import (
    Clock,
    Crew,
    Engine,
    Journal,
    Planner,
    Recorder,
    Settled,
    Snapshot,
    Synthesizer,
    Tool,
    Verifier,
    WorkOrder,
)
from reviewbot.redact import Mask, mask_json, redact
from reviewbot.supervisor.dispatcher import Dispatcher
from reviewbot.supervisor.levels import in_parts, run_in_levels
from reviewbot.supervisor.selection import beaten, joined, selected
from reviewbot.supervisor.suppression import Suppressor, listed
from reviewbot.worker import run_task

_SLICE: IncEx = {"code"}
_CODE: IncEx = {"tasks": {"__all__": {"payload": _SLICE, "more": {"__all__": _SLICE}}}}
"""The trace names what was read; it does not repeat the code."""


@dataclass(frozen=True)
class Setup:
    """Everything that a review is done with; `reviewbot.wiring` builds it."""

    crew: Crew
    engine: Engine
    planner: Planner
    verifier: Verifier
    synthesizer: Synthesizer
    tools: Mapping[str, Tool]
    snapshot: Snapshot
    journal: Journal
    clock: Clock
    trace: Recorder
    run_id: str
    concurrency: int
    deadline_s: float
    recorded: Callable[[Plan], dict[str, Settled]] | None = None
    """How the tasks of a plan ended once, for a replay: then nobody is asked."""
    mask: Mask = redact
    """What takes secrets out of a text, those of the change by their value."""
    suppressor: Suppressor = field(default_factory=Suppressor)
    """What silences findings or changes their severity."""
    scan: Callable[[ChangeSet], WorkerResult | None] = lambda _change: None
    """What is found in names, title and description, which are in no task; None: nothing looks at them."""
    fan_out: int | None = None
    """Tasks above which each component of the change gets a sub-supervisor; None: one level, whatever the size."""


async def review(change: ChangeSet, setup: Setup) -> Review:
    """Review a change. Raises nothing for a failed worker, tool or engine: those are gaps in the review."""
    started = setup.clock.monotonic()
    plan = await setup.planner.plan(change)
    settled = await _dispatched(change, plan, setup, started)
    if (further := await setup.planner.more(change, plan, selected(plan, settled))) is not None:
        plan, settled = joined(plan, further, settled, await _dispatched(change, further, setup, started))
    if lost := beaten(plan, settled):
        setup.trace.record("selected", instead_of=lost)
        settled = selected(plan, settled)
    answer = await setup.synthesizer.synthesize(change, plan, {**settled, **_scanned(change, setup)})
    wall_ms = round((setup.clock.monotonic() - started) * 1000)
    timings = answer.timings.model_copy(update={"wall_ms": wall_ms})
    suppressed = listed((*answer.suppressed, *setup.suppressor.refused))
    answer = answer.model_copy(update={"timings": timings, "suppressed": suppressed})
    setup.trace.record("review", **answer.model_dump(mode="json"))
    return answer


def _scanned(change: ChangeSet, setup: Setup) -> dict[str, Settled]:
    """The findings that no task could have made, as the end of a task of their own that is in no plan."""
    result = setup.scan(change)
    if result is None:
        return {}
    result = WorkerResult.model_validate(_masked(setup.suppressor.apply(result), setup.mask)[0])
    if not (result.findings or result.suppressed):
        return {}
    setup.trace.record("scanned", result=result.model_dump(mode="json"))
    task = ReviewTask(
        task_id=result.task_id,
        worker="scan",
        type="scan",
        instruction="Look at the names of the files, the title and the description.",
        success_criterion="Each of them was looked at.",
        payload=Payload(code="", file_path=f"({result.task_id})", language="text", starts=()),
        constraints=Constraints(max_tokens=256, timeout_ms=1, tier="haiku"),
    )
    return {task.task_id: Settled(task, results=(result,), done=True)}


async def _dispatched(change: ChangeSet, plan: Plan, setup: Setup, started: float) -> dict[str, Settled]:
    """Run one plan, in two levels where it is large, in what is left of the review's time."""
    plan = in_parts(plan, setup.fan_out)
    setup.trace.record("plan_made", total=len(plan.tasks), plan=plan.model_dump(mode="json", exclude=_CODE))
    dispatcher = Dispatcher(
        attempt=lambda task, dependencies: _attempt(change, setup, task, dependencies),
        retarget=setup.planner.retarget,
        journal=setup.journal,
        run_id=setup.run_id,
        trace=setup.trace,
        clock=setup.clock,
        concurrency=setup.concurrency,
        deadline_s=setup.deadline_s,
        started=started,
    )

    async def dispatch(part: Plan) -> dict[str, Settled]:
        return await dispatcher.dispatch(part) if setup.recorded is None else setup.recorded(part)

    return await run_in_levels(plan, dispatch, setup.trace)


async def _attempt(
    change: ChangeSet, setup: Setup, task: ReviewTask, dependencies: Mapping[str, WorkerResult]
) -> Outcome:
    """One try of one task: the worker's answer, weighed by the evidence behind it as soon as it is there."""
    card = next(card for card in setup.crew.cards if card.name == task.worker)
    order = WorkOrder(
        task=task,
        card=card,
        prompt=setup.crew.prompts[card.name],
        tools={name: setup.tools[name] for name in card.tools if name in setup.tools},
        snapshot=setup.snapshot,
        title=change.title,
        description=change.description,
        dependencies=dependencies,
    )
    outcome = await run_task(setup.engine, order)
    if isinstance(outcome, WorkerResult):
        outcome = setup.suppressor.apply(await setup.verifier.verify(order, outcome))
    elif isinstance(outcome, Escalation) and outcome.partial_result is not None:
        partial = setup.suppressor.apply(await setup.verifier.verify(order, outcome.partial_result))
        outcome = outcome.model_copy(update={"partial_result": partial})
    outcome, said = _masked(outcome, setup.mask)
    setup.trace.record("result", task_id=task.task_id, attempt=task.failures + 1, outcome=said)
    return outcome


def _masked(outcome: Outcome, mask: Mask) -> tuple[Outcome, object]:
    """An outcome without the secrets in its texts, and as JSON: from here on it is kept, compared and quoted."""
    said = outcome.model_dump(mode="json")
    masked = mask_json(said, mask)
    return (outcome if masked == said else type(outcome).model_validate_json(json.dumps(masked))), masked
