"""Replay the run of a trace through the same pipeline; how each task ended is read and not decided anew.

It could not be: to split a task needs its code, and which task the deadline met needs the time of then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from reviewbot.domain.contracts import (
    ChangeSet,
    Escalation,
    Gap,
    GapReason,
    HumanItem,
    Outcome,
    Plan,
    Review,
    WorkerResult,
)
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Synthesizer, TaskResult
from reviewbot.replay.model import RecordedUsage
from reviewbot.replay.recorded_inputs import RecordedInputs, read, read_recorded_inputs
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.dispatch.dispatcher import OUTCOME
from reviewbot.review.dispatch.partitioned_dispatch import Dispatch
from reviewbot.review.gaps import gaps_of
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.trace import Event

_REASON: TypeAdapter[GapReason] = TypeAdapter(GapReason)

SynthesizerOf = Callable[[RecordedInputs, Sequence[Event]], Synthesizer]
"""Makes the synthesizer of the review, from what decides it and from all events, in which a model's answers are."""


USAGE_EVENTS = frozenset({"books", "call"})
"""Events that only a run with a usage ledger records."""


def by_rules(given: RecordedInputs, events: Sequence[Event]) -> Synthesizer:
    """The synthesizer of a run without a model. Raises InputError for another run."""
    if given.synthesizer != "rules":
        raise InputError(f"the review of this trace was made by a {given.synthesizer!r} synthesizer, which is not here")
    # Without these events there was no ledger, and the results hold their usage.
    usage_ledger = RecordedUsage(events) if any(event["event"] in USAGE_EVENTS for event in events) else None
    return RuledSynthesizer(given.rules, ReviewFacts(given.engine, given.notes, usage_ledger, given.refused))


async def replay(events: Sequence[Event], synthesizer_of: SynthesizerOf = by_rules) -> Review:
    """The review that follows from a trace. Raises InputError where the trace does not hold what that needs."""
    change, given = read_recorded_inputs(events)
    plans = [_plan(event) for event in events if event["event"] == "plan_made"]
    if not plans:
        raise InputError("the trace has no plan: its run ended before it had one")
    setup = Setup(
        planner=_RecordedPlanner(tuple(plans)),
        executor=_RecordedExecutor(events),
        synthesizer=synthesizer_of(given, events),
        clock=_RecordedClock(recorded_review(events).timings.wall_ms),
        trace=NullRecorder(),
    )
    return await review(change, setup)


def recorded_review(events: Sequence[Event]) -> Review:
    """The review as the spine wrote it down. Raises InputError where the run was cut short before."""
    found = next((event for event in reversed(events) if event["event"] == "review"), None)
    if found is None:
        raise InputError("the trace has no review: its run was stopped before it had one")
    return read(Review, {name: value for name, value in found.items() if name in Review.model_fields})


def recorded_results(events: Sequence[Event]) -> list[WorkerResult]:
    """Every answer of a worker in a trace, with those of attempts that failed later, and the scans outside of tasks."""
    outcomes = [_outcome(event.get("outcome")) for event in events if event["event"] in ("result", "resumed")]
    found = [outcome.partial_result if isinstance(outcome, Escalation) else outcome for outcome in outcomes]
    scans = [read(WorkerResult, event.get("result")) for event in events if event["event"] == "scanned"]
    return [*scans, *(result for result in found if isinstance(result, WorkerResult))]


def settle(plan: Plan, events: Sequence[Event]) -> dict[str, TaskResult]:
    """How each task of a plan ended, from the decisions in a trace and the outcomes that they were about."""
    ends = {task.task_id: TaskResult(task) for task in plan.tasks}
    outcomes: dict[str, object] = {}
    for event in events:
        name = str(event.get("task_id"))
        if event["event"] in ("result", "resumed"):
            outcomes[name] = event.get("outcome")
        elif event["event"] == "step":
            # Where every try failed on the way there is a decision and no outcome; it is in the gaps of the decision.
            brought = outcomes.pop(name, None)
            if (root := str(event.get("root"))) in ends:
                ends[root] = _after(ends[root], event, None if brought is None else _outcome(brought))
        elif event["event"] == "task_failed" and "reason" in event and name in ends:
            ends[name] = _failed(ends[name], event)
    return ends


def _after(end: TaskResult, event: Event, outcome: Outcome | None) -> TaskResult:
    """The state of a task with what one decision brought."""
    result = outcome.partial_result if isinstance(outcome, Escalation) else outcome
    human = event.get("human")
    return replace(
        end,
        results=(*end.results, result) if isinstance(result, WorkerResult) else end.results,
        gaps=(*end.gaps, *(read(Gap, gap) for gap in event.get("gaps") or ())),
        human=end.human if human is None else (*end.human, read(HumanItem, human)),
        done=end.done or event.get("action") == "done",
    )


def _failed(end: TaskResult, event: Event) -> TaskResult:
    """The state of a task that was cut off from outside: by the deadline, or by what it waited for."""
    try:
        reason = _REASON.validate_python(event["reason"])
    except ValidationError:
        raise InputError("a task in this trace failed for a reason that is not known here") from None
    return replace(end, gaps=(*end.gaps, *gaps_of(end.task, reason, str(event.get("message", "")))))


def _outcome(value: object) -> Outcome:
    try:
        return OUTCOME.validate_json(json.dumps(value))
    except ValidationError:
        raise InputError("an outcome in this trace is not what this version writes") from None


def _plan(event: Event) -> Plan:
    """A plan as it was recorded, which is without the code of its slices."""
    plan = event.get("plan")
    if not isinstance(plan, dict) or not isinstance(plan.get("tasks"), list):
        raise InputError("a plan in this trace has no tasks")
    return read(Plan, {**plan, "tasks": [_with_code(task) for task in plan["tasks"]]})


def _with_code(task: object) -> object:
    if not isinstance(task, dict) or not isinstance(task.get("payload"), dict):
        return task
    more = task.get("more") or ()
    slices = [{"code": "", **each} for each in (task["payload"], *more) if isinstance(each, dict)]
    return {**task, "payload": slices[0], "more": slices[1:]}


@dataclass(frozen=True)
class _RecordedPlanner:
    """The `Planner` whose plans were made long ago."""

    plans: tuple[Plan, ...]

    async def plan(self, _change: ChangeSet) -> Plan:
        """The first one."""
        return self.plans[0]

    async def more(self, _change: ChangeSet, _plan: Plan, _settled: Mapping[str, TaskResult]) -> Plan | None:
        """The second one, where there was one."""
        return self.plans[1] if len(self.plans) > 1 else None


@dataclass(frozen=True)
class _RecordedExecutor:
    """The `Executor` of which nothing is asked but what a trace tells."""

    events: Sequence[Event]

    def dispatch(self, _change: ChangeSet, _started: float) -> Dispatch:
        """How the tasks of a plan ended then."""

        async def dispatch(plan: Plan) -> dict[str, TaskResult]:
            return settle(plan, self.events)

        return dispatch

    def scan(self, _change: ChangeSet) -> WorkerResult | None:
        """The recorded findings outside of all tasks."""
        found = next((event for event in self.events if event["event"] == "scanned"), None)
        return None if found is None else read(WorkerResult, found.get("result"))


class _RecordedClock:
    """A clock that has shown the beginning once, and the end ever after."""

    def __init__(self, wall_ms: int) -> None:
        self._wall_s = wall_ms / 1000
        self._begun = False

    def monotonic(self) -> float:
        """Seconds."""
        now = self._wall_s if self._begun else 0.0
        self._begun = True
        return now

    async def sleep(self, seconds: float) -> None:
        """Not at all: everything has happened already."""


class NullRecorder:
    """Stands for the recorder, whose events are there already."""

    def record(self, event: str, **fields: object) -> None:
        """Write nothing down."""
