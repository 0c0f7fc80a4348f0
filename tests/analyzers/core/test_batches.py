"""Jobs that wait for a program and are run by it together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.process import ProgramError
from reviewbot.analyzers.core.single_flight import MAX_CHARS, MAX_JOBS, RUNS_AT_ONCE, Batches

if TYPE_CHECKING:
    from collections.abc import Sequence


async def settled() -> None:
    """Let all tasks go on as far as they can; none of them waits for time."""
    for _ in range(50):
        await asyncio.sleep(0)


class Program:
    """Doubles numbers, when it is let; fails for a run in which a bad one is."""

    def __init__(self, bad: Sequence[int] = (), *, held: bool = False) -> None:
        self.runs: list[tuple[int, ...]] = []
        self.at_once = 0
        self.most = 0
        self.go = asyncio.Event()
        self._bad = bad
        if not held:
            self.go.set()

    async def run(self, numbers: Sequence[int]) -> list[int]:
        self.runs.append(tuple(numbers))
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await self.go.wait()
            await asyncio.sleep(0)
        finally:
            self.at_once -= 1
        if set(numbers) & set(self._bad):
            raise ProgramError("crashed", f"no answer to {numbers}")
        return [2 * number for number in numbers]


def batches(program: Program, chars: int = 1) -> Batches[int, int]:
    return Batches(program.run, lambda _number: chars)


def test_jobs_that_come_while_others_run_are_the_next_run_together() -> None:
    async def story() -> tuple[list[int], list[tuple[int, ...]], int]:
        program = Program()
        runs = batches(program)
        found = await asyncio.gather(*(runs.get(number) for number in range(10)))
        return found, program.runs, program.most

    found, runs, most = asyncio.run(story())

    assert found == [2 * number for number in range(10)]
    assert sorted(number for run in runs for number in run) == list(range(10))
    assert len(runs) <= RUNS_AT_ONCE + 1
    assert most <= RUNS_AT_ONCE


@pytest.mark.parametrize(("chars", "most"), [(1, MAX_JOBS), (MAX_CHARS // 2, 2), (MAX_CHARS + 1, 1)])
def test_a_run_takes_no_more_than_fits_and_one_job_at_least(chars: int, most: int) -> None:
    async def story() -> list[int]:
        program = Program()
        runs = batches(program, chars)
        await asyncio.gather(*(runs.get(number) for number in range(3 * MAX_JOBS)))
        return [len(run) for run in program.runs]

    assert max(asyncio.run(story())) == most


def test_a_run_that_fails_is_repeated_for_each_job_alone_and_costs_the_others_nothing() -> None:
    async def story() -> tuple[list[int | BaseException], list[tuple[int, ...]]]:
        program = Program(bad=[5])
        runs = batches(program)
        return await asyncio.gather(*(runs.get(n) for n in range(8)), return_exceptions=True), program.runs

    found, runs = asyncio.run(story())

    assert [each for each in found if isinstance(each, int)] == [2 * number for number in range(8) if number != 5]
    assert isinstance(found[5], ProgramError)
    assert runs.count((5,)) == 1


def test_who_gives_up_takes_nothing_from_those_that_wait() -> None:
    async def story() -> tuple[list[int], list[tuple[int, ...]]]:
        program = Program(held=True)
        runs = batches(program, MAX_CHARS // 2)
        waiting = [asyncio.ensure_future(runs.get(number)) for number in range(8)]
        await settled()
        for number in (0, 7):  # one runs together with another, one still waits
            waiting[number].cancel()
        await settled()
        program.go.set()
        return await asyncio.gather(*waiting[1:7]), program.runs

    found, runs = asyncio.run(story())

    assert found == [2, 4, 6, 8, 10, 12]
    assert runs[:2] == [(0, 1), (2, 3)]
    assert sorted(number for run in runs for number in run) == [0, 1, 2, 3, 4, 5, 6]


def test_a_run_that_no_caller_waits_for_is_ended_and_the_next_one_begins() -> None:
    async def story() -> tuple[int, int, int]:
        program = Program(held=True)
        runs = batches(program, MAX_CHARS)
        waiting = [asyncio.ensure_future(runs.get(number)) for number in range(RUNS_AT_ONCE + 1)]
        await settled()
        before = len(program.runs)
        for each in waiting[:RUNS_AT_ONCE]:
            each.cancel()
        await asyncio.gather(*waiting[:RUNS_AT_ONCE], return_exceptions=True)
        await settled()
        at_once = program.at_once
        program.go.set()
        return before, at_once, await waiting[-1]

    assert asyncio.run(story()) == (RUNS_AT_ONCE, 1, 2 * RUNS_AT_ONCE)


def test_a_bug_in_a_run_is_raised_where_its_result_is_waited_for() -> None:
    async def broken(_numbers: Sequence[int]) -> list[int]:
        raise ZeroDivisionError

    async def story() -> list[int | BaseException]:
        runs: Batches[int, int] = Batches(broken, lambda _number: 1)
        return await asyncio.gather(*map(runs.get, range(5)), return_exceptions=True)

    assert [type(each) for each in asyncio.run(story())] == [ZeroDivisionError] * 5
