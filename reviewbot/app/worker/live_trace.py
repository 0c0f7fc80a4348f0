"""Keep the trace of a review while it runs, so that the page of the run shows its timeline before it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from reviewbot.app.worker.work import RunContext
from reviewbot.delivery import mask_trace
from reviewbot.review.trace import Trace

EVERY_S: Final = 5.0
"""Between two writes; the page is loaded again every ten seconds."""

MAX_EVENTS: Final = 20_000
"""Of a trace that is written while it grows: each time it is masked and hashed anew. A longer one waits for the end."""


@asynccontextmanager
async def kept_while_it_grows(run: RunContext, trace: Trace, every_s: float = EVERY_S) -> AsyncIterator[None]:
    """Write the trace so far, masked, each time it has grown; on leaving no write is under way or follows."""
    done = asyncio.Event()
    writer = asyncio.create_task(_write(run, trace, every_s, done))
    try:
        yield
    finally:
        done.set()
        # A database that takes nothing ends the run where its result is written; without this there is less to see.
        await asyncio.gather(writer, return_exceptions=True)


async def _write(run: RunContext, trace: Trace, every_s: float, done: asyncio.Event) -> None:
    known, ending = 0, asyncio.ensure_future(done.wait())
    while not done.is_set() and len(trace) <= MAX_EVENTS:
        if len(trace) > known:
            known = len(trace)
            await asyncio.to_thread(_keep, run, trace)
        await asyncio.wait({ending}, timeout=every_s)
    await ending


def _keep(run: RunContext, trace: Trace) -> None:
    if run.wanted():
        run.keep(mask_trace(trace))
