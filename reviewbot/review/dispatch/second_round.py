"""Choose the tasks of a first round that are tried once more: what broke may work, one tier up where there is one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from reviewbot.domain.contracts import GapReason, Payload, Plan, ReviewTask
from reviewbot.domain.ports import TaskResult
from reviewbot.review.dispatch.attempt_selection import SECOND_ROUND

WORTH_TRYING: frozenset[GapReason] = frozenset({"crashed", "timeout", "bad_answer", "breaker", "no_answer"})
"""Gaps that another try may close.

Not: a spent budget, a deadline, a provider that is down, a refusal, a missing result."""

MAX_AGAIN = 16
"""Tasks of a second round. Where more have failed the far end is down, and a second round meets the same."""

SHARE = 0.5
"""Of a task's own time that must be left for it: an answer takes about as long as the last one would have."""


def plan_second_round(plan: Plan, settled: Mapping[str, TaskResult], remaining_s: float) -> tuple[ReviewTask, ...]:
    """The tasks of a second round, in the plan's order; `remaining_s` seconds are left for it."""
    found = [
        _retry_on(task, missed)
        for task in plan.tasks
        if task.task_id in settled
        and not task.programs_only
        and remaining_s >= SHARE * task.constraints.timeout_ms / 1000
        and (missed := _missed(task, settled[task.task_id]))
    ]
    return tuple(found) if len(found) <= MAX_AGAIN else ()


def _missed(task: ReviewTask, end: TaskResult) -> tuple[Payload, ...]:
    """The slices of files that no worker has read and that another try may read.

    A second try stands for all gaps of its files, so that it must be able to close each of them. Gaps of single
    programs are no reason: these ran beside the model and would do the same again.
    """
    reasons: defaultdict[str, set[GapReason]] = defaultdict(set)
    for gap in (*end.gaps, *(gap for result in end.results for gap in result.gaps)):
        if gap.tool is None:
            reasons[gap.path].add(gap.reason)
    return tuple(each for each in task.slices if each.file_path in reasons and reasons[each.file_path] <= WORTH_TRYING)


def _retry_on(task: ReviewTask, missed: tuple[Payload, ...]) -> ReviewTask:
    """The task on some of its slices, as if nothing had happened but with a stronger model."""
    first, *more = missed
    return task.model_copy(
        update={
            "task_id": task.task_id + SECOND_ROUND,
            "payload": first,
            "more": tuple(more),
            "constraints": task.constraints.one_tier_up(),
            # What it waited for is over; its own instruction holds without it.
            "depends_on": (),
            "needs_dependencies": False,
            "failures": 0,
            "previous_error": "",
        }
    )
