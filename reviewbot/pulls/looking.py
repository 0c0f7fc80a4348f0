"""Before anything is reviewed: whether the review stands there already, so that nobody pays for it twice."""

from __future__ import annotations

import asyncio

from reviewbot import publish
from reviewbot.adapters.github.checks import GithubChecks
from reviewbot.adapters.github.host import GithubHost
from reviewbot.contracts.pulls import PullPosted
from reviewbot.errors import HostError
from reviewbot.pulls.office import READING_S, Office
from reviewbot.pulls.reviewing import Prepared


async def posted_before(office: Office, prepared: Prepared) -> PullPosted | None:
    """The review of this head, from this base and under this policy, that stands there and leaves nothing to do.

    None where it is not going to be posted; where none stands there; where the one that does closed the gate or was
    incomplete, which a second run has to say again; where its check run was never concluded; and where the host does
    not tell: posting looks once more, and says what is wrong.
    """
    if not prepared.terms.to_post:
        return None
    office.client.within(READING_S)
    host = GithubHost(office.client, prepared.pull, office.own_id)
    try:
        found = await publish.posted_before(prepared.pull, prepared.policy, office.signer, host)
    except HostError:
        return None
    if found is None or await _left_open(office, prepared):
        return None
    return PullPosted(outcome=found.outcome, url=found.url, review_id=found.review_id)


async def _left_open(office: Office, prepared: Prepared) -> bool:
    """Whether a run that was cut short left the check run of this head in progress."""
    checks = GithubChecks(office.client, prepared.ref.repository)
    try:
        return bool(await asyncio.to_thread(checks.in_progress, publish.CHECK_NAME, prepared.ref.head_sha))
    except HostError:
        return False
