"""One run for many callers."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.analyzers.core.single_flight import SharedRuns


class Work:
    """Counts its runs; ends when it is let go, with an error where it is told to."""

    def __init__(self, *errors: Exception) -> None:
        self.runs = 0
        self.cancelled = False
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self._errors = list(errors)

    async def __call__(self) -> int:
        self.runs += 1
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._errors:
            raise self._errors.pop(0)
        return self.runs


def test_callers_of_one_key_wait_for_one_run() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](4), Work()
        callers = [asyncio.ensure_future(shared.get("k", work)) for _ in range(4)]
        await work.begun.wait()
        work.gate.set()

        assert await asyncio.gather(*callers) == [1, 1, 1, 1]
        assert await shared.get("k", work) == 1
        assert work.runs == 1

    asyncio.run(scenario())


def test_another_key_is_another_run() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](4), Work()
        work.gate.set()

        assert [await shared.get(key, work) for key in "aba"] == [1, 2, 1]

    asyncio.run(scenario())


def test_an_error_reaches_every_caller_and_is_forgotten() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](4), Work(ValueError("once"))
        callers = [asyncio.ensure_future(shared.get("k", work)) for _ in range(2)]
        await work.begun.wait()
        work.gate.set()

        told = await asyncio.gather(*callers, return_exceptions=True)

        assert [str(error) for error in told] == ["once", "once"]
        assert len(shared) == 0
        assert await shared.get("k", work) == 2

    asyncio.run(scenario())


def test_only_so_many_values_are_held() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](2), Work()
        work.gate.set()
        for key in "abac":
            await shared.get(key, work)

        assert len(shared) == 2
        assert await shared.get("a", work) == 1
        assert await shared.get("b", work) == 4

    asyncio.run(scenario())


def test_one_caller_that_leaves_does_not_stop_the_run_of_the_other() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](4), Work()
        leaves = asyncio.ensure_future(shared.get("k", work))
        stays = asyncio.ensure_future(shared.get("k", work))
        await work.begun.wait()
        leaves.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaves
        work.gate.set()

        assert await stays == 1
        assert not work.cancelled

    asyncio.run(scenario())


def test_the_run_ends_with_its_last_caller() -> None:
    async def scenario() -> None:
        shared, work = SharedRuns[int](4), Work()
        caller = asyncio.ensure_future(shared.get("k", work))
        await work.begun.wait()
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller

        assert work.cancelled
        assert len(shared) == 0

    asyncio.run(scenario())


def test_a_value_outlives_the_loop_that_made_it() -> None:
    shared = SharedRuns[int](4)

    async def once() -> int:
        work = Work()
        work.gate.set()
        return await shared.get("k", work)

    assert [asyncio.run(once()), asyncio.run(once())] == [1, 1]
