"""What people did with our comments on a pull request: resolved threads, and reactions of those who may write."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.hosts.base import CodeHost, PullRequest, Reaction, ReviewHost
from reviewbot.publish.marker import Signer
from reviewbot.publish.rebuild_ledger import OwnThread, remember

VOTES: Mapping[str, int] = {"+1": 1, "heart": 1, "hooray": 1, "rocket": 1, "-1": -1, "confused": -1}
"""For and against. The others (laugh, eyes) say neither."""

MAX_ASKED = 50
"""Comments of a pull request whose reactions are read, and accounts that are asked about: a call of the host each."""


class Observed(NamedTuple):
    """What people did in the thread of one finding."""

    name: str
    """The fingerprint in its marker."""
    up: int
    down: int
    resolved: bool
    """Whether a person has resolved it, and not we."""


def observe(pull: PullRequest, signer: Signer, host: CodeHost) -> tuple[Ledger, tuple[Observed, ...]]:
    """The ledger of a pull request, and what people did with each of reviewbot's comments. Blocking. Raises HostError.

    A reaction counts of an account that may write to the repository, once for and once against.
    """
    reviews = host.reviews(pull)
    found = asyncio.run(remember(pull, signer, reviews))
    asked: list[str] = []

    @cache
    def may_write(login: str) -> bool:
        asked.append(login)
        return len(asked) <= MAX_ASKED and host.may_write(pull.repository, login)

    reacted = [own for own in found.threads if own.thread.comments[0].reactions][:MAX_ASKED]
    reactions = {own.name: _reactions(own, reviews) for own in reacted}
    observed = []
    for own in found.threads:
        counted = [each for each in reactions.get(own.name, ()) if each.content in VOTES and may_write(each.login)]
        sides = [len({each.login for each in counted if VOTES[each.content] == vote}) for vote in (1, -1)]
        resolved = own.thread.resolved is True and own.answer is None
        observed.append(Observed(own.name, sides[0], sides[1], resolved))
    return found.ledger, tuple(observed)


def _reactions(own: OwnThread, host: ReviewHost) -> tuple[Reaction, ...]:
    """Those of others than us."""
    first = own.thread.comments[0]
    return tuple(each for each in host.reactions(first.comment_id) if each.account_id != first.author_id)
