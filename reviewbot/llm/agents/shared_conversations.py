"""Which tasks of a plan one conversation answers, also when they are tried again.

The tasks of one `ReviewTask.reader` share a conversation; a task that is retried by itself, was moved or was split has
one of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reviewbot.domain.contracts import Candidate, Plan, ReviewTask, Usage
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.domain.ports import WorkOrder
from reviewbot.llm.agents.conversation import TokenUsage
from reviewbot.llm.prompts.analyzer_hints import Hint


class ReaderResult(NamedTuple):
    """The outcome of one conversation."""

    answer: ReviewAnswer
    candidates: Mapping[str, tuple[Candidate, ...]]
    """By worker."""
    hints: tuple[Hint, ...]
    spent: TokenUsage


class FailedConversation(NamedTuple):
    """A conversation without an answer."""

    error: Exception


@dataclass(frozen=True)
class SharedConversation:
    """A conversation, what it has cost so far, and the ids of the tasks that it answers."""

    run: asyncio.Task[ReaderResult | FailedConversation]
    spent: TokenUsage
    task_ids: frozenset[str]


Hold = Callable[[Sequence[WorkOrder], TokenUsage], Awaitable[ReaderResult]]
"""Holds the conversation that answers these orders, and counts its cost where it raises as well."""


class SharedConversations:
    """The conversations of a run. For one event loop."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._bundles: dict[str, tuple[WorkOrder, ...]] = {}
        self._running: dict[tuple[str, int, str], SharedConversation] = {}

    def begin(self, plan: Plan, order_of: Callable[[ReviewTask], WorkOrder]) -> None:
        """Take note of which tasks share a conversation. Call it with each plan before its tasks run."""
        for name in dict.fromkeys(task.reader for task in plan.tasks if task.reader):
            self._bundles[name] = tuple(order_of(task) for task in plan.tasks if task.reader == name)

    @property
    def bundles(self) -> tuple[tuple[WorkOrder, ...], ...]:
        """The orders of each reader."""
        return tuple(self._bundles.values())

    def get(self, order: WorkOrder) -> SharedConversation:
        """The conversation that answers a task; begun where no other task of its reader has."""
        task = order.task
        bundle = self._bundles.get(task.reader, ())
        alone = not any(each.task.task_id == task.task_id for each in bundle) or not self._failed_together(task)
        key = (f"task {task.task_id}" if alone else task.reader, task.failures, task.constraints.tier)
        if key not in self._running:
            # The own order knows what its task waited for; those of the bundle were made before anything ran.
            others = [order if each.task.task_id == task.task_id else _as_tried(each, task) for each in bundle]
            orders = [order] if alone else others
            spent = TokenUsage()
            run = asyncio.create_task(self._outcome(orders, spent))
            self._running[key] = SharedConversation(run, spent, frozenset(each.task.task_id for each in orders))
        return self._running[key]

    def take_usage(self, task: ReviewTask) -> Usage:
        """What conversations about a task have used and no result of a task has yet, failed attempts included."""
        mine = [each.spent for each in self._running.values() if task.task_id in each.task_ids]
        return sum((spent.take() for spent in mine), start=Usage())

    async def close(self) -> None:
        """Cancel what is still running."""
        for shared in self._running.values():
            shared.run.cancel()
        await asyncio.gather(*(shared.run for shared in self._running.values()), return_exceptions=True)

    def _failed_together(self, task: ReviewTask) -> bool:
        """Whether nothing has gone wrong with a task yet but what went wrong with its whole conversation.

        What one task escalates is no reason to answer the others again.
        """
        before = [
            shared.run
            for (name, failures, _), shared in self._running.items()
            if name == task.reader and failures == task.failures - 1
        ]
        return task.failures == 0 or any(run.done() and isinstance(run.result(), FailedConversation) for run in before)

    async def _outcome(self, orders: Sequence[WorkOrder], spent: TokenUsage) -> ReaderResult | FailedConversation:
        """Hold one conversation. An error is a value here: each task that shares it decides for itself."""
        try:
            return await self._hold(orders, spent)
        except Exception as error:  # noqa: BLE001 - whatever stops a model must not cost what analyzers have found
            return FailedConversation(error)


def _as_tried(order: WorkOrder, task: ReviewTask) -> WorkOrder:
    """An order of the same conversation, as often tried and on the same tier as the one that begins it."""
    constraints = order.task.constraints.model_copy(update={"tier": task.constraints.tier})
    tried = {"failures": task.failures, "constraints": constraints, "previous_error": task.previous_error}
    return replace(order, task=order.task.model_copy(update=tried))
