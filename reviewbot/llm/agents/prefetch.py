"""Start the analyzers on all files of a plan before readers ask for what they found.

The tasks of a plan ask for the same files in another order: here all tools of a file run while it is in memory, and
files in the order of the plan, so that the first reader need not wait for files of the others. While a planner's model
call is still running, this may begin with the routed plan: what analyzers say of a slice does not depend on the plan.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from reviewbot.domain.contracts import Payload, Plan, WorkerCard
from reviewbot.domain.ports import Answer, Engine, Escalated, WorkOrder

FILES_AT_ONCE = 8
"""Files whose tools run at the same time: enough for one start of a program to read several, and processors are few."""

Key = tuple[str, Payload]


class ProgramPrefetch:
    """An `Engine` of analyzers whose answers may have been started before they are asked for. For one event loop."""

    def __init__(
        self, programs: Engine, orders: Callable[[Plan], Iterable[WorkOrder]], files_at_once: int = FILES_AT_ONCE
    ) -> None:
        """`orders` makes an order of one slice for each slice of a plan."""
        self._programs = programs
        self._orders = orders
        self._begun: dict[Key, asyncio.Task[Answer | Escalated]] = {}
        self._files: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(files_at_once)
        self.name = programs.name

    def covers(self, card: WorkerCard, language: str) -> bool:
        """As the analyzers do."""
        return self._programs.covers(card, language)

    def begin(self, plan: Plan) -> None:
        """Begin on every slice of the plan that programs cover and that was not begun before."""
        files: dict[str, dict[Key, WorkOrder]] = {}
        for order in self._orders(plan):
            key = (order.card.name, order.task.payload)
            # A tool that only passes on what was found elsewhere covers nothing, and takes no time.
            if key not in self._begun and self.covers(order.card, order.task.payload.language):
                files.setdefault(order.task.payload.file_path, {})[key] = order
        for orders in files.values():
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            begun = {key: asyncio.create_task(self._early(order, place)) for key, order in orders.items()}
            self._begun |= begun
            holding = asyncio.create_task(self._hold(place, tuple(begun.values())))
            self._files.add(holding)
            holding.add_done_callback(self._files.discard)

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """What programs say of the slice of an order."""
        early = self._begun.get((order.card.name, order.task.payload))
        if early is None:
            return await self._programs.work(order)
        return await asyncio.shield(early)

    async def close(self) -> None:
        """Cancel what is still running."""
        running = [*self._begun.values(), *self._files]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _early(self, order: WorkOrder, place: asyncio.Future[None]) -> Answer | Escalated:
        await asyncio.shield(place)
        return await self._programs.work(order)

    async def _hold(self, place: asyncio.Future[None], tools: Iterable[asyncio.Task[Answer | Escalated]]) -> None:
        """Hold a place for a file until all of its tools have ended."""
        async with self._places:
            place.set_result(None)
            await asyncio.wait(tools)
