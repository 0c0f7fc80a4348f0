"""The trace of a review is stored while it runs, for the page of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import Queue

from reviewbot.app.worker.live_trace import kept_while_it_grows
from reviewbot.app.worker.work import RunContext
from reviewbot.publish.intents import MemoryIntents
from reviewbot.review.trace import Trace, read_trace
from reviewbot.sources.memory import MemoryJournal
from tests.app.conftest import A, order
from tests.conftest import RecordingClock


def a_run(keep: Callable[[str], None], wanted: Callable[[], bool] = lambda: True) -> RunContext:
    journal, intents = MemoryJournal(), MemoryIntents()
    return RunContext("run", order(A), "me", journal, intents, wanted, keep, lambda *_: None)  # type: ignore[arg-type] # no rate is asked for


def test_each_growth_of_a_trace_is_stored_once_and_nothing_after_the_review() -> None:
    stored: Queue[str] = Queue()
    trace = Trace(RecordingClock())

    async def review() -> list[str]:
        found = []
        async with kept_while_it_grows(a_run(stored.put), trace, 0.001):
            for number in range(3):
                trace.record("task_started", task_id=f"logic:{number}")
                found.append(await asyncio.to_thread(stored.get))
        return found

    assert [len(read_trace(text)) for text in asyncio.run(review())] == [1, 2, 3]
    assert stored.empty()


def test_a_run_that_is_no_longer_wanted_stores_nothing() -> None:
    asked, stored = Queue[str](), Queue[str]()
    trace = Trace(RecordingClock())

    def wanted() -> bool:
        asked.put("wanted?")
        return False

    async def review() -> None:
        async with kept_while_it_grows(a_run(stored.put, wanted), trace, 0.001):
            trace.record("task_started", task_id="logic:a.py")
            await asyncio.to_thread(asked.get)

    asyncio.run(review())

    assert stored.empty()


def test_a_store_that_takes_nothing_ends_no_review() -> None:
    tried: Queue[str] = Queue()
    trace = Trace(RecordingClock())

    def full(text: str) -> None:
        tried.put(text)
        raise OSError

    async def review() -> str:
        async with kept_while_it_grows(a_run(full), trace, 0.001):
            trace.record("task_started", task_id="logic:a.py")
            return await asyncio.to_thread(tried.get)

    assert len(read_trace(asyncio.run(review()))) == 1
    assert tried.empty()
