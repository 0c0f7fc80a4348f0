"""What a review lacks where a task was not done."""

from __future__ import annotations

from reviewbot.domain.contracts import Gap, GapReason, ReviewTask


def gaps_of(task: ReviewTask, reason: GapReason, message: str) -> tuple[Gap, ...]:
    """What is missing where nobody did this task: each file that it is about. Of a seam, only the names in it."""
    said = f"names across parts ({', '.join(task.seam)}): {message}" if task.seam else message
    return tuple(
        Gap(path=path, worker=task.worker, reason=reason, message=said, task_id=task.task_id) for path in task.paths
    )
