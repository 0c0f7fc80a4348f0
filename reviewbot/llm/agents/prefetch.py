"""Start the analyzers on the slices of a plan while a planner's model call is still running.

Such a call takes seconds in which nothing else happens, and the analyzers' result for a slice does not depend on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from reviewbot.contracts import Payload, Plan, WorkerCard
from reviewbot.ports import Answer, Engine, Escalated, WorkOrder

AT_ONCE = 4
"""Slices prefetched at the same time: processors are few, and a plan can have hundreds of slices."""

Key = tuple[str, Payload]


class ProgramPrefetch:
    """An `Engine` of analyzers whose answers may have been started before they are asked for. For one event loop."""

    def __init__(self, programs: Engine, ready: Callable[[], Awaitable[object]]) -> None:
        """`ready` is awaited before anything starts, so that loading the SDK for the first call is not held up."""
        self._programs = programs
        self._ready = ready
        self._begun: dict[Key, asyncio.Task[Answer | Escalated]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self.name = programs.name

    def covers(self, card: WorkerCard, language: str) -> bool:
        """As the programs themselves."""
        return self._programs.covers(card, language)

    def begin(self, plan: Plan, order_of: Callable[[Plan], Iterable[WorkOrder]]) -> None:
        """Begin on every slice of the plan that programs cover. `order_of` makes an order of one slice for each."""
        for order in order_of(plan):
            key = (order.card.name, order.task.payload)
            if key not in self._begun and self.covers(order.card, order.task.payload.language):
                self._begun[key] = asyncio.create_task(self._early(order))

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """What programs say of the slice of an order."""
        early = self._begun.get((order.card.name, order.task.payload))
        if early is None:
            return await self._programs.work(order)
        return await asyncio.shield(early)

    async def close(self) -> None:
        """Cancel what is still running."""
        for task in self._begun.values():
            task.cancel()
        await asyncio.gather(*self._begun.values(), return_exceptions=True)

    async def _early(self, order: WorkOrder) -> Answer | Escalated:
        await self._ready()
        async with self._places:
            return await self._programs.work(order)
