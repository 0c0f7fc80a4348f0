"""Work beside the loop, also where it never ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
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
    go = threading.Event()
    threads: list[threading.Thread] = []

    def late() -> None:
        threads.append(threading.current_thread())
        go.wait()

    async def leave() -> None:
        waiting = asyncio.ensure_future(in_thread(late))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(leave())
    go.set()
    for thread in threads:
        thread.join(60)

    assert not any(thread.is_alive() for thread in threads)


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
