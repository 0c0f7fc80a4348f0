"""Find our reviews and comments on a pull request: those by our own account that carry a marker of ours."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.hosts.base import PostedReview, PullRequest, ReviewHost
from reviewbot.publish.marker import ReviewMarker, Signer
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest


class Own(NamedTuple):
    """A review of ours with its marker."""

    review: PostedReview
    marker: ReviewMarker


class ExistingReviews(NamedTuple):
    """Our reviews of a pull request as they are now, oldest first."""

    own: tuple[Own, ...]
    blank: tuple[PostedReview, ...]
    """Reviews of our account on this head without text: what a refused call may leave behind."""
    this: PostedReview | None
    """The first one of this head under this policy that counts."""
    twins: tuple[Own, ...] = ()
    """Others of this head under this policy that count: of a run that ended before it saw the first one."""

    def older_than(self, review_id: int) -> list[Own]:
        """Those before a review that still count, or still ask for changes."""
        before = (each for each in self.own if each.review.review_id < review_id)
        return [each for each in before if each.review.blocks or not each.marker.newer]

    def of_head(self, head: str) -> PostedReview | None:
        """The newest one of a head that counts."""
        mine = [each.review for each in self.own if not each.marker.newer and each.marker.head_sha == head]
        return next((each for each in reversed(mine) if each.commit_sha == head), None)


async def find_existing_reviews(order: PublishRequest, manner: PublishOptions, desk: PublishContext) -> ExistingReviews:
    """Find our reviews of an order's pull request. Raises HostError."""
    return await existing_reviews_of(order.pull, order.policy, manner.signer, desk.host)


async def find_posted_review(pull: PullRequest, policy: str, signer: Signer, host: ReviewHost) -> PullPosted | None:
    """The review of this head under this policy that stands, where the run that made it ended well by it.

    None for one that closed the gate or was incomplete: the next run has to report that again. Raises HostError.
    """
    found = await existing_reviews_of(pull, policy, signer, host)
    if found.this is None or any(own.marker.code != 0 for own in found.own if own.review == found.this):
        return None
    return PullPosted(outcome="already_posted", url=found.this.url, review_id=found.this.review_id)


async def existing_reviews_of(pull: PullRequest, policy: str, signer: Signer, host: ReviewHost) -> ExistingReviews:
    """As `standing`, without an order. Raises HostError."""
    account = await asyncio.to_thread(host.own_id)
    reviews = await asyncio.to_thread(host.reviews)
    ours = sorted((each for each in reviews if each.author_id == account), key=lambda each: each.review_id)
    own = []
    for review in ours:
        marker = signer.read_review(review.body, pull.repository_id, pull.number)
        if marker is not None:
            own.append(Own(review, marker))
    these = [each for each in own if _is_this(each, pull.head_sha, policy)]
    here = [each for each in ours if each.commit_sha == pull.head_sha and not each.body.strip()]
    return ExistingReviews(tuple(own), tuple(here), these[0].review if these else None, tuple(these[1:]))


async def find_commented_findings(
    order: PublishRequest, manner: PublishOptions, desk: PublishContext
) -> frozenset[str]:
    """Fingerprints of the findings in our inline comments, on any head. Raises HostError.

    A comment whose line is no longer in the change is not shown in its place: its finding is reported again.
    """
    account = await asyncio.to_thread(desk.host.own_id)
    threads = await asyncio.to_thread(desk.host.threads)
    pull = order.pull
    found = (
        manner.signer.read_finding(each.body, pull.repository_id, pull.number)
        for thread in threads
        for each in thread.comments
        if each.author_id == account and thread.line is not None
    )
    return frozenset(name for name in found if name is not None)


def _is_this(own: Own, head: str, policy: str) -> bool:
    same = (own.marker.head_sha, own.marker.policy, own.review.commit_sha) == (head, policy, head)
    return same and not own.marker.newer
