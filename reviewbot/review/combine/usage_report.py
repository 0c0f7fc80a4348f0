"""What a review cost and how long it took, by worker and by every other role that asked a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reviewbot.domain.contracts import Plan, Timings, Usage, WorkerUsage
from reviewbot.domain.ports import TaskResult

SUPERVISORS = ("planner", "reader", "judge")
"""Roles that ask models beside the workers, in the order of a review."""


def usages(plan: Plan, ends: Sequence[TaskResult], spent: Mapping[str, Usage] | None) -> tuple[WorkerUsage, ...]:
    """One row for each worker of the plan, then one for every other role that asked a model.

    `spent` is what the books of this run say by purpose, attempts that failed included; who is not in them has spent
    nothing in it. None: there are no books, and the results have the word.
    """
    workers = list(dict.fromkeys(task.worker for task in plan.tasks))
    rows = [_usage_of(worker, ends, None if spent is None else spent.get(worker, Usage())) for worker in workers]
    if spent is None:
        return tuple(rows)
    others = [name for name in (*SUPERVISORS, *sorted(spent)) if name in spent and spent[name] != Usage()]
    rows += [
        WorkerUsage(worker=name, tasks=0, findings=0, duration_ms=0, usage=spent[name])
        for name in dict.fromkeys(others)
        if name not in workers
    ]
    return tuple(rows)


def total(usages_: Iterable[Usage]) -> Usage:
    """All of them together."""
    return sum(usages_, start=Usage())


def _usage_of(worker: str, ends: Sequence[TaskResult], booked: Usage | None) -> WorkerUsage:
    mine = [end for end in ends if end.task.worker == worker]
    results = [result for end in mine for result in end.results]
    return WorkerUsage(
        worker=worker,
        tasks=len(mine),
        findings=sum(len(result.findings) for result in results),
        duration_ms=sum(result.metadata.duration_ms for result in results),
        usage=total(result.metadata.usage for result in results) if booked is None else booked,
    )


def timings(plan: Plan, settled: Mapping[str, TaskResult]) -> Timings:
    """The longest chain of tasks that wait for each other, and their sum. Wall time is filled in later."""
    spent = {name: sum(r.metadata.duration_ms for r in end.results) for name, end in settled.items()}
    ends_at: dict[str, int] = {}
    for task in plan.tasks:  # dependencies come first in a plan
        ends_at[task.task_id] = spent[task.task_id] + max((ends_at[name] for name in task.depends_on), default=0)
    return Timings(wall_ms=0, critical_path_ms=max(ends_at.values(), default=0), sequential_ms=sum(spent.values()))
