"""Decide what to do after the outcome of a task: one pure function, `next_step(task, outcome)`.

The ladder, from the bottom: the same again, with what was wrong; a tier higher; another worker; half the size; a
person. Each outcome that is no answer counts as a failure; after `MAX_TASK_FAILURES` of them the task is given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reviewbot.diff.rows import halves
from reviewbot.domain.contracts import (
    MANDATORY_WORKER,
    Escalation,
    Failure,
    Gap,
    GapReason,
    HumanItem,
    Outcome,
    ReviewTask,
    WorkerResult,
)
from reviewbot.review.gaps import gaps_of
from reviewbot.wording import with_count

MAX_TASK_FAILURES = 3
"""Failures of one task, whatever their kind, after which the review goes on without it."""

FINAL: frozenset[GapReason] = frozenset({"budget", "deadline", "provider"})
"""Failures after which another try would only meet the same wall."""

Action = Literal["done", "retry", "climb", "reassign", "split", "human", "give_up"]


@dataclass(frozen=True)
class NextStep:
    """A decision. `tasks` replace the judged one; with "reassign" the dispatcher makes a task for `worker` of it."""

    action: Action
    reason: str
    tasks: tuple[ReviewTask, ...] = ()
    result: WorkerResult | None = None
    gaps: tuple[Gap, ...] = ()
    """One for each file of the task."""
    human: HumanItem | None = None
    worker: str | None = None

    def as_json(self) -> dict[str, object]:
        """For the trace: what was decided, which tasks follow from it, and what it leaves behind beside a result."""
        made = [task.task_id for task in self.tasks]
        human = None if self.human is None else self.human.model_dump(mode="json")
        gaps = [gap.model_dump(mode="json") for gap in self.gaps]
        return {"action": self.action, "reason": self.reason, "tasks": made, "gaps": gaps, "human": human}


def next_step(task: ReviewTask, outcome: Outcome) -> NextStep:
    """Judge one outcome of one task. Ends after at most `MAX_TASK_FAILURES` outcomes that are no result."""
    if isinstance(outcome, WorkerResult):
        return _after_result(outcome)
    again = task.model_copy(update={"failures": task.failures + 1})
    return _after_failure(again, outcome) if isinstance(outcome, Failure) else _after_escalation(again, outcome)


def _after_result(result: WorkerResult) -> NextStep:
    missing = [gap for gap in result.gaps if gap.tool is None]
    declined = next((gap for gap in missing if gap.reason == "refused"), None)
    if declined is not None:
        # The gaps are in the result, which is kept: beside a model that declined, programs have had their say.
        human = HumanItem(path=declined.path, reason=_declined(declined.message))
        return NextStep("human", declined.message, result=result, human=human)
    return NextStep("done", missing[0].message if missing else "answered in the schema", result=result)


def _after_failure(task: ReviewTask, failure: Failure) -> NextStep:
    if failure.reason in FINAL:
        return NextStep("give_up", failure.message, gaps=gaps_of(task, failure.reason, failure.message))
    if failure.reason == "refused":
        return _after_refusal(task, failure)
    if task.failures >= MAX_TASK_FAILURES:
        message = f"given up after {with_count(task.failures, 'failure')}: {failure.message}"
        return NextStep("give_up", message, gaps=gaps_of(task, "breaker", message))
    if failure.reason == "bad_answer":
        return _again_or_higher(_refined(task, failure.message), failure.message)
    return NextStep("retry", failure.message, tasks=(task,))


def _after_refusal(task: ReviewTask, failure: Failure) -> NextStep:
    """What one model declines another one may do; that is tried once, and never the same request again."""
    if task.failures == 1 and task.constraints.higher_tiers:
        return NextStep("climb", failure.message, tasks=(_one_tier_up(task),))
    item = HumanItem(path=task.payload.file_path, reason=_declined(failure.message))
    return NextStep("human", failure.message, human=item, gaps=gaps_of(task, "refused", failure.message))


def _declined(message: str) -> str:
    """The same words for each worker that shared the request: equal items are said once."""
    return f"a part of its review got no answer (refused): {message}"


def _again_or_higher(refined: ReviewTask, why: str, partial: WorkerResult | None = None) -> NextStep:
    """The same model may do better once its prompt says what was wrong. Where that did not help, a stronger one."""
    if refined.failures > 1 and refined.constraints.higher_tiers:
        return NextStep("climb", why, tasks=(_one_tier_up(refined),), result=partial)
    return NextStep("retry", why, tasks=(refined,), result=partial)


def _after_escalation(task: ReviewTask, said: Escalation) -> NextStep:
    partial = said.partial_result
    last = task.failures >= MAX_TASK_FAILURES
    if said.reason == "out_of_scope":
        return _to_a_person(task, said) if last else _passed_on(task, said)
    if said.reason == "confidence_too_low":
        if task.constraints.higher_tiers and not last:
            return NextStep("climb", said.message, tasks=(_one_tier_up(_refined(task, said.message)),), result=partial)
        return _to_a_person(task, said)
    if said.reason == "ambiguous_input":
        if task.failures == 1 or (task.constraints.higher_tiers and not last):
            return _again_or_higher(_refined(task, said.message), said.message, partial)
        return _to_a_person(task, said)
    return _after_timeout(task, said, last=last)


def _passed_on(task: ReviewTask, said: Escalation) -> NextStep:
    other = said.better_worker
    if other is None or other == task.worker:
        return _to_a_person(task, said)
    gaps: tuple[Gap, ...] = ()
    if task.worker == MANDATORY_WORKER:
        # Text in the change may have asked for this. The other worker looks at something else, whatever the text says.
        message = f"{task.job} left this to {other} and has not judged it: {said.message}"
        gaps = gaps_of(task, "unsettled", message)
    return NextStep("reassign", said.message, worker=other, tasks=(task,), result=said.partial_result, gaps=gaps)


def _after_timeout(task: ReviewTask, said: Escalation, *, last: bool) -> NextStep:
    if last:
        message = f"given up after {with_count(task.failures, 'failure')}: {said.message}"
        return NextStep("give_up", message, gaps=gaps_of(task, "timeout", message), result=said.partial_result)
    smaller = split(task)
    if smaller is None:
        return NextStep("retry", said.message, tasks=(task,), result=said.partial_result)
    return NextStep("split", said.message, tasks=smaller, result=said.partial_result)


def split(task: ReviewTask) -> tuple[ReviewTask, ...] | None:
    """The task as two of about half its size; None where it cannot be parted.

    Each half inherits the failures of the whole, so that splitting cannot go on for ever. A seam is not parted: its
    sides belong together.
    """
    slices = task.slices
    if task.seam:
        return None
    if len(slices) > 1:
        middle = len(slices) // 2
        parts = [slices[:middle], slices[middle:]]
    else:
        cut = halves(task.payload)
        if cut is None:
            return None
        parts = [(part,) for part in cut]
    return tuple(
        task.model_copy(update={"task_id": f"{task.task_id}.{n}", "payload": part[0], "more": part[1:], "reader": ""})
        for n, part in enumerate(parts, 1)
    )


def _to_a_person(task: ReviewTask, said: Escalation) -> NextStep:
    reason = f"{task.job} could not settle this ({said.reason.replace('_', ' ')}): {said.message}"
    item = HumanItem(path=task.payload.file_path, reason=reason)
    # A person will look, and this run did not: that is a gap like any other.
    gaps = gaps_of(task, "unsettled", said.message)
    return NextStep("human", said.message, human=item, gaps=gaps, result=said.partial_result)


def _refined(task: ReviewTask, why: str) -> ReviewTask:
    return task.model_copy(update={"previous_error": why})


def _one_tier_up(task: ReviewTask) -> ReviewTask:
    return task.model_copy(update={"constraints": task.constraints.one_tier_up()})
