"""Make the gaps of a task that was not done."""

from __future__ import annotations

from reviewbot.domain.contracts import Gap, GapReason, ReviewTask


def gaps_of(task: ReviewTask, reason: GapReason, message: str) -> tuple[Gap, ...]:
    """The gaps of a task that was not done: one for each of its files. Of a seam, only the names in it are missing."""
    said = f"names across parts ({', '.join(task.seam)}): {message}" if task.seam else message
    return tuple(
        Gap(path=path, worker=task.worker, reason=reason, message=said, task_id=task.task_id) for path in task.paths
    )
