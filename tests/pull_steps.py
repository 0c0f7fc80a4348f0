"""Two steps of a review of a pull request in one call."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from reviewbot.domain.contracts.pulls import PullRef
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.review import Reviewed, carry_out, prepare


async def review(session: HostSession, ref: PullRef, options: RunOptions) -> Reviewed:
    """Prepare and carry out."""
    with ExitStack() as closing:
        return await carry_out(session, await asyncio.to_thread(prepare, session, ref, options, closing))
