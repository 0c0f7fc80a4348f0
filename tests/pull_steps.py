"""Two steps of a review of a pull request in one call."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from reviewbot.contracts.pulls import PullRef
from reviewbot.pulls import Office, Reviewed, Terms, carry_out, prepare


async def review(office: Office, ref: PullRef, terms: Terms) -> Reviewed:
    """Prepare and carry out."""
    with ExitStack() as closing:
        return await carry_out(office, await asyncio.to_thread(prepare, office, ref, terms, closing))
