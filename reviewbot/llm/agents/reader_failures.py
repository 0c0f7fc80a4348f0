"""What follows when a reader's conversation fails: halves of the task, another attempt, or a gap."""

from __future__ import annotations

from reviewbot.domain.contracts import ReviewTask
from reviewbot.domain.errors import (
    BudgetError,
    CutOffError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.llm.agents.conversation import LoopError
from reviewbot.review.dispatch.retry_policy import MAX_TASK_FAILURES, split

FINAL = (BudgetError, DeadlineError, LoopError, ProviderError, TooLongError, TransientError)
"""Errors that the same question would meet again at once; transient ones have been retried by the client."""


def is_too_much(error: Exception, task: ReviewTask) -> bool:
    """Whether halves of the task may be answered where the whole was not; an escalated timeout splits it."""
    twice = isinstance(error, CutOffError) and task.previous_error == str(error)
    if not (twice or isinstance(error, TooLongError)):
        return False
    return task.failures < MAX_TASK_FAILURES - 1 and split(task) is not None


def may_pass(error: Exception, task: ReviewTask) -> bool:
    """Whether the task should be tried again. The last attempt must bring its answer itself."""
    if isinstance(error, FINAL):
        return False
    if isinstance(error, RefusedError):
        # A stronger model may answer what one declined; that is tried once.
        return task.failures == 0 and bool(task.constraints.higher_tiers)
    return task.failures < MAX_TASK_FAILURES - 1


def message_of(error: Exception, failures: int) -> str:
    """What the gap says, after so many failures before this one."""
    # The type alone of what is not ours: the text of a foreign error may hold anything.
    said = str(error) if isinstance(error, EngineError) else f"{type(error).__name__} in the reader"
    if failures and not isinstance(error, ProviderError):
        return f"given up after {failures + 1} failures: {said}"
    return said
