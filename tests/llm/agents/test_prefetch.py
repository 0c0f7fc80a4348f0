"""Programs that begin before anybody asks, and are asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import Plan, WorkerCard
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Answer, WorkOrder
from reviewbot.llm.agents.prefetch import FILES_AT_ONCE, ProgramPrefetch


async def settled() -> None:
    """Let all tasks go on as far as they can; none of them waits for time."""
    for _ in range(50):
        await asyncio.sleep(0)


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


PLAN = Plan(goal="g", tasks=(), reason="r")


def prefetch(programs: Programs, orders: Iterable[WorkOrder], files: int = FILES_AT_ONCE) -> ProgramPrefetch:
    made = list(orders)
    return ProgramPrefetch(programs, lambda _plan: made, files)


def test_what_was_begun_is_not_done_again_when_it_is_asked_for(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        head = prefetch(programs, orders[:1])
        head.begin(PLAN)
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
        await prefetch(programs, ()).work(orders[1])
        return programs.asked

    assert asyncio.run(story()) == ["b.py"]


def test_nothing_begins_that_no_program_covers(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        programs.gate.set()
        prefetch(programs, orders).begin(PLAN)
        await settled()
        return programs.asked

    assert asyncio.run(story()) == ["a.py", "b.py"]


def test_all_tools_of_a_file_run_at_once_and_few_files_in_the_order_of_the_plan(
    an_order: Any, a_task: Any, a_payload: Any
) -> None:
    def order(path: str, worker: str) -> WorkOrder:
        made: WorkOrder = an_order(a_task(worker=worker, payload=a_payload(path=path)))
        return made

    workers, paths = ("logic", "security", "style"), ("c.py", "a.py", "b.py", "d.py")

    async def story() -> tuple[list[str], list[str]]:
        programs = Programs()
        head = prefetch(programs, [order(path, worker) for worker in workers for path in paths], 2)
        head.begin(PLAN)
        head.begin(PLAN)
        await settled()
        first = list(programs.asked)
        programs.gate.set()
        await asyncio.gather(*(head.work(order(path, worker)) for worker in workers for path in paths))
        return first, programs.asked

    first, asked = asyncio.run(story())

    assert first == ["c.py"] * 3 + ["a.py"] * 3
    assert asked == first + ["b.py"] * 3 + ["d.py"] * 3


def test_a_failure_reaches_whoever_asks(orders: list[WorkOrder]) -> None:
    async def story() -> None:
        programs = Programs(fails=True)
        programs.gate.set()
        head = prefetch(programs, orders[:1])
        head.begin(PLAN)
        with pytest.raises(EngineError, match="broken"):
            await head.work(orders[0])

    asyncio.run(story())


def test_what_nobody_waits_for_any_more_is_ended(orders: list[WorkOrder]) -> None:
    async def story() -> list[str]:
        programs = Programs()
        head = prefetch(programs, orders[:2])
        head.begin(PLAN)
        await settled()
        await head.close()
        return programs.ended

    assert asyncio.run(story()) == ["a.py", "b.py"]


def test_whoever_gives_up_waiting_does_not_end_it_for_the_others(orders: list[WorkOrder]) -> None:
    async def story() -> Answer | object:
        programs = Programs()
        head = prefetch(programs, orders[:1])
        head.begin(PLAN)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await head.work(orders[0])
        programs.gate.set()
        return await head.work(orders[0])

    assert asyncio.run(story()) == Answer()
