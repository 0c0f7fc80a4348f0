"""Work beside the loop, also where it never ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING

import pytest

from reviewbot.threads import Stopped, check_stopped, in_thread, stoppable

if TYPE_CHECKING:
    from collections.abc import Callable

HANGS = """
import asyncio, sys, threading
sys.path.insert(0, sys.argv[1])
from reviewbot.threads import in_thread

async def main():
    try:
        async with asyncio.timeout(0.05):
            await in_thread(threading.Event().wait)
    except TimeoutError:
        print("given up")

asyncio.run(main())
print("ended")
"""


def fails(error: BaseException) -> Callable[[], None]:
    def raises() -> None:
        raise error

    return raises


def test_a_value_comes_back_from_another_thread() -> None:
    assert asyncio.run(in_thread(threading.current_thread)) is not threading.main_thread()


@pytest.mark.parametrize("error", [ValueError("no"), RecursionError(), MemoryError()])
def test_an_error_is_raised_where_it_is_waited_for(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        asyncio.run(in_thread(fails(error)))

    assert caught.value is error


def test_the_end_of_an_iterator_does_not_leave_anybody_waiting() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(in_thread(fails(StopIteration())))


def test_many_threads_work_side_by_side() -> None:
    meeting = threading.Barrier(40, timeout=60)

    async def everybody() -> list[int]:
        return await asyncio.gather(*(in_thread(meeting.wait) for _ in range(40)))

    assert sorted(asyncio.run(everybody())) == list(range(40))


def test_a_value_that_comes_after_the_waiting_is_nobodys() -> None:
    go, told = threading.Event(), threading.Event()

    def late() -> None:
        go.wait()
        told.set()

    async def give_up() -> None:
        waiting = asyncio.ensure_future(in_thread(late))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go.set()
        await in_thread(told.wait)
        await in_thread(lambda: None)

    asyncio.run(give_up())
    assert told.is_set()


def test_a_value_that_comes_after_the_loops_end_is_nobodys() -> None:
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def late() -> None:
        begun.set()
        go.wait()
        ended.set()

    async def leave() -> None:
        waiting = asyncio.ensure_future(in_thread(late))
        await in_thread(begun.wait)
        waiting.cancel()

    asyncio.run(leave())
    go.set()

    assert ended.wait(60)
    assert asyncio.run(in_thread(lambda: "next")) == "next"


def test_jobs_one_after_another_need_no_further_threads_and_leave_nothing_behind() -> None:
    class Value:
        """What a weak reference can refer to."""

    def threads() -> int:
        return sum(thread.name == "reviewbot-scan" for thread in threading.enumerate())

    async def one() -> weakref.ref[Value]:
        given = Value()
        assert await in_thread(partial(id, given)) == id(given)
        # The thread is free again a moment after its value is there.
        await asyncio.sleep(0.01)
        return weakref.ref(given)

    async def run() -> tuple[int, list[weakref.ref[Value]]]:
        before = threads()
        kept = [await one() for _ in range(20)]
        return threads() - before, kept

    more, kept = asyncio.run(run())

    assert more < 10
    assert not any(each() for each in kept)


def test_a_thread_that_never_ends_is_waited_for_by_no_other_job() -> None:
    stuck = threading.Event()

    async def run() -> list[int]:
        held = [asyncio.ensure_future(in_thread(stuck.wait)) for _ in range(5)]
        found = await asyncio.gather(*(in_thread(partial(int, n)) for n in range(50)))
        for each in held:
            each.cancel()
        return found

    assert asyncio.run(asyncio.wait_for(run(), 60)) == list(range(50))
    stuck.set()


def test_a_thread_that_never_ends_holds_up_neither_the_loop_nor_the_interpreter(pytestconfig: pytest.Config) -> None:
    root = str(pytestconfig.rootpath)

    done = subprocess.run([sys.executable, "-c", HANGS, root], capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout, done.returncode) == ("given up\nended\n", 0)


def test_work_that_is_not_waited_for_any_more_stops_where_it_looks() -> None:
    begun, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    seen: list[int] = []

    def work() -> None:
        try:
            for number in stoppable(range(10_000)):
                seen.append(number)
                begun.set()
                cancelled.wait(60)
        except Stopped:
            ended.set()
            raise

    async def give_up() -> None:
        waiting = asyncio.ensure_future(in_thread(work))
        await in_thread(begun.wait)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        cancelled.set()
        assert await in_thread(lambda: ended.wait(60))

    asyncio.run(give_up())
    assert len(seen) == 1_000


def test_work_that_is_waited_for_goes_on() -> None:
    def work() -> list[int]:
        check_stopped()
        return list(stoppable(range(2_500)))

    assert asyncio.run(in_thread(work)) == work()
