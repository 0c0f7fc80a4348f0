"""Programs that begin before anybody asks, and are asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.contracts import Plan, WorkerCard
from reviewbot.errors import EngineError
from reviewbot.llm.agents.prefetch import ProgramPrefetch
from reviewbot.ports import Answer, WorkOrder


class Programs:
    """Counts what it is asked; answers when its gate is open."""

    name = "programs"

    def __init__(self, *, fails: bool = False) -> None:
        self.asked: list[str] = []
        self.ended: list[str] = []
        self.gate = asyncio.Event()
        self.fails = fails

    def covers(self, card: WorkerCard, language: str) -> bool:
        return language == "python"

    async def work(self, order: WorkOrder) -> Answer:
        self.asked.append(order.task.payload.file_path)
        try:
            await self.gate.wait()
        finally:
            self.ended.append(order.task.payload.file_path)
        if self.fails:
            raise EngineError("broken")
        return Answer()


@pytest.fixture
def orders(an_order: Any, a_task: Any, a_payload: Any) -> list[WorkOrder]:
    files = (("a.py", "python"), ("b.py", "python"), ("c.txt", "text"))
    return [an_order(a_task(payload=a_payload(path=path, language=language))) for path, language in files]


def begun(head: ProgramPrefetch, orders: Iterable[WorkOrder]) -> None:
    head.begin(Plan(goal="g", tasks=(), reason="r"), lambda _plan: orders)


async def ready() -> None:
    """At once."""


def test_what_was_begun_is_not_done_again_when_it_is_asked_for(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        head = ProgramPrefetch(programs, ready)
        begun(head, orders[:1])
        await asyncio.sleep(0)
        programs.gate.set()
        again = replace(orders[0], task=orders[0].task.model_copy(update={"failures": 1}))
        assert await head.work(orders[0]) == await head.work(again) == Answer()
        return programs.asked

    assert asyncio.run(story()) == ["a.py"]


def test_what_was_not_begun_is_done_when_it_is_asked_for(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        programs.gate.set()
        await ProgramPrefetch(programs, ready).work(orders[1])
        return programs.asked

    assert asyncio.run(story()) == ["b.py"]


def test_nothing_begins_before_everything_is_ready_nor_what_no_program_covers(orders: list[WorkOrder]) -> None:
    async def story() -> list[list[str]]:
        programs, go = Programs(), asyncio.Event()
        head = ProgramPrefetch(programs, go.wait)
        begun(head, orders)
        await asyncio.sleep(0.01)
        before = list(programs.asked)
        go.set()
        programs.gate.set()
        await asyncio.sleep(0.01)
        return [before, programs.asked]

    assert asyncio.run(story()) == [[], ["a.py", "b.py"]]


def test_a_failure_reaches_whoever_asks(orders: list[WorkOrder]) -> None:
    async def story() -> None:
        programs = Programs(fails=True)
        programs.gate.set()
        head = ProgramPrefetch(programs, ready)
        begun(head, orders[:1])
        with pytest.raises(EngineError, match="broken"):
            await head.work(orders[0])

    asyncio.run(story())


def test_what_nobody_waits_for_any_more_is_ended(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        head = ProgramPrefetch(programs, ready)
        begun(head, orders[:2])
        await asyncio.sleep(0.01)
        await head.close()
        return programs.ended

    assert asyncio.run(story()) == ["a.py", "b.py"]


def test_whoever_gives_up_waiting_does_not_end_it_for_the_others(orders: list[WorkOrder]) -> None:
    async def story() -> Answer | object:
        programs = Programs()
        head = ProgramPrefetch(programs, ready)
        begun(head, orders[:1])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await head.work(orders[0])
        programs.gate.set()
        return await head.work(orders[0])

    assert asyncio.run(story()) == Answer()
