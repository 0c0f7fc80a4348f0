"""Slots: bounded, in order, shared by name, and never lost."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.review.dispatch.dispatcher import Slots


async def settled() -> None:
    """Let all tasks go on as far as they can; none of them waits for time."""
    for _ in range(50):
        await asyncio.sleep(0)


class Room:
    """Tasks that hold a slot until they are let go; who is inside, and who came in which order."""

    def __init__(self, number: int) -> None:
        self.slots = Slots(number)
        self.entered: list[str] = []
        self.inside: list[str] = []
        self.doors: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def enter(self, *names: str) -> None:
        """Let tasks ask for a slot; what stands before the dash is the name that they share."""
        for name in names:
            self.doors[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._stay(name))
        await settled()

    async def leave(self, *names: str) -> None:
        for name in names:
            self.doors[name].set()
        await settled()

    async def give_up(self, *names: str) -> None:
        for name in names:
            self.tasks[name].cancel()
        await settled()

    async def _stay(self, name: str) -> None:
        shared, _, _ = name.rpartition("-")
        async with self.slots.hold(shared):
            self.entered.append(name)
            self.inside.append(name)
            try:
                await self.doors[name].wait()
            finally:
                self.inside.remove(name)


def test_those_of_one_name_take_one_slot_and_it_is_free_when_the_last_has_left() -> None:
    async def story() -> list[list[str]]:
        room = Room(2)
        await room.enter("a-1", "a-2", "b-1", "c-1", "a-3")
        seen = [sorted(room.inside)]
        await room.leave("a-1", "a-3")
        seen.append(sorted(room.inside))
        await room.leave("a-2")
        seen.append(sorted(room.inside))
        return seen

    assert asyncio.run(story()) == [["a-1", "a-2", "a-3", "b-1"], ["a-2", "b-1"], ["b-1", "c-1"]]


def test_without_a_name_each_has_its_own_and_they_come_in_their_order() -> None:
    async def story() -> list[str]:
        room = Room(2)
        await room.enter("1", "2", "3", "a-1")
        await room.enter("4")
        await room.leave("2", "1")
        await room.leave("3", "a-1")
        return room.entered

    assert asyncio.run(story()) == ["1", "2", "3", "a-1", "4"]


def test_who_gives_up_inside_or_while_waiting_loses_no_slot() -> None:
    async def story() -> list[list[str]]:
        room = Room(1)
        await room.enter("a-1", "a-2", "b-1", "b-2", "c-1")
        await room.give_up("b-1", "a-1")
        seen = [list(room.inside)]
        await room.give_up("b-2", "a-2")
        seen.append(list(room.inside))
        await room.leave("c-1")
        await room.enter("b-3", "d-1")
        seen.append(list(room.inside))
        await room.give_up("b-3")
        seen.append(list(room.inside))
        return seen

    assert asyncio.run(story()) == [["a-2"], ["c-1"], ["b-3"], ["d-1"]]


@pytest.mark.parametrize("ticks", range(5))
def test_a_slot_that_comes_about_the_moment_of_giving_up_is_not_lost(ticks: int) -> None:
    async def story() -> list[str]:
        room = Room(1)
        await room.enter("1", "a-1", "b-1")
        room.doors["1"].set()
        for _ in range(ticks):  # the slot is on its way to a-1
            await asyncio.sleep(0)
        await room.give_up("a-1")
        return list(room.inside)

    assert asyncio.run(story()) == ["b-1"]
