"""Find reviewbot's reviews and comments on a pull request: those by its account that carry a signed marker."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.hosts.base import PostedReview, PullRequest, ReviewHost
from reviewbot.publish.marker import ReviewMarker, Signer


class Own(NamedTuple):
    """A review by reviewbot, with its marker."""

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

    part: PostedReview | None = None
    """One of this head under this policy that only adds comments at lines."""

    @property
    def summary(self) -> PostedReview | None:
        """The newest one that counts and holds a report: that of the next head takes its place in it."""
        return next((each.review for each in reversed(self.own) if _counts(each)), None)

    @property
    def blocking(self) -> list[PostedReview]:
        """The own reviews that ask for changes."""
        return [each.review for each in self.own if each.review.blocks]

    def older_than(self, review_id: int) -> list[Own]:
        """The own reviews before a review that still count, or still ask for changes."""
        before = (each for each in self.own if each.review.review_id < review_id)
        return [each for each in before if each.review.blocks or _counts(each)]

    def of_head(self, head: str) -> PostedReview | None:
        """The newest one of a head that counts."""
        found = self.own_of_head(head)
        return None if found is None else found.review

    def own_of_head(self, head: str) -> Own | None:
        """The newest review of a head that counts, with its marker."""
        return next((e for e in reversed(self.own) if _counts(e) and e.marker.head_sha == head), None)


async def find_posted_review(pull: PullRequest, policy: str, signer: Signer, host: ReviewHost) -> PullPosted | None:
    """The review of this head under this policy that stands, where the run that made it ended well by it.

    None for one that closed the gate or was incomplete: the next run has to report that again. Raises HostError.
    """
    found = await existing_reviews_of(pull, policy, signer, host)
    if found.this is None or any(own.marker.code != 0 for own in found.own if own.review == found.this):
        return None
    return PullPosted(outcome="already_posted", url=found.this.url, review_id=found.this.review_id)


async def existing_reviews_of(pull: PullRequest, policy: str, signer: Signer, host: ReviewHost) -> ExistingReviews:
    """Find our reviews of a pull request. Raises HostError."""
    account = await asyncio.to_thread(host.own_id)
    reviews = await asyncio.to_thread(host.reviews)
    ours = sorted((each for each in reviews if each.author_id == account), key=lambda each: each.review_id)
    own = []
    for review in ours:
        marker = signer.read_review(review.body, pull.repository_id, pull.number)
        if marker is not None:
            own.append(Own(review, marker))
    of_head = [each for each in own if (each.marker.head_sha, each.marker.policy) == (pull.head_sha, policy)]
    these = [each for each in of_head if _counts(each)]
    part = next((each.review for each in of_head if each.marker.summary), None)
    here = [each for each in ours if each.commit_sha == pull.head_sha and not each.body.strip()]
    return ExistingReviews(tuple(own), tuple(here), these[0].review if these else None, tuple(these[1:]), part)


def _counts(own: Own) -> bool:
    """Whether it holds a report whose place no other one has taken."""
    return not own.marker.newer and not own.marker.summary
