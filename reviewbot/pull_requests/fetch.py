"""The first step: resolve the pull request and its commits."""

from __future__ import annotations

import asyncio

from reviewbot.domain.contracts.pulls import PullRef
from reviewbot.domain.errors import HostMovedError
from reviewbot.hosts.base import PullRequest
from reviewbot.pull_requests.host_session import READING_S, HostSession


async def fetch(session: HostSession, repository: str, number: int) -> PullRef:
    """Ask the host for a pull request ("owner/name" and its number). Raises HostError and its kinds."""
    session.host.within(READING_S)
    pull = await asyncio.to_thread(session.host.pull_request, repository, number)
    return ref_of(pull)


def ref_of(pull: PullRequest) -> PullRef:
    """The values of a pull request that the later steps need."""
    return PullRef(
        repository=pull.repository,
        repository_id=pull.repository_id,
        number=pull.number,
        base_sha=pull.base_sha,
        head_sha=pull.head_sha,
    )


def fetch_again(session: HostSession, ref: PullRef) -> PullRequest:
    """The pull request as it is now. Blocking. Raises HostMovedError where its head is another one, and HostError."""
    pull = session.host.pull_request(ref.repository, ref.number)
    if (pull.repository_id, pull.head_sha) != (ref.repository_id, ref.head_sha):
        raise HostMovedError(
            f"{ref.repository}#{ref.number}: the head moved on from {ref.head_sha[:12]}; a newer review is due",
            pull.head_sha,
        )
    return pull
