"""What of ours stands on a pull request already, and what is made of it: which one counts, which ones no longer do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.hosts.base import PostedReview
from reviewbot.publish.body import body_of
from reviewbot.publish.existing_reviews import ExistingReviews, existing_reviews_of, find_posted_review
from reviewbot.publish.marker import ReviewMarker
from reviewbot.publish.options import PublishContext, PublishRequest
from reviewbot.publish.post import publish
from tests.publishing import HEAD, OPTIONS, POLICY, SIGNER, STRANGER, RecordingHost, a_pull, a_review, an_order

NEWER = "c" * 40


@pytest.fixture
def order(a_finding: Callable[..., Finding]) -> PublishRequest:
    return an_order(a_review(a_finding(line=3)))


def marked(head: str = HEAD, *, newer: int = 0, code: int | None = None) -> str:
    """A body with the marker of a review of ours."""
    return SIGNER.review(replace(ReviewMarker(4242, 7, head, POLICY), newer=newer, code=code))


def look(order: PublishRequest, context: PublishContext) -> ExistingReviews:
    return asyncio.run(existing_reviews_of(order.pull, order.policy, SIGNER, context.host))


def before(host: RecordingHost) -> PullPosted | None:
    return asyncio.run(find_posted_review(a_pull(), POLICY, SIGNER, host))


def test_the_oldest_review_of_a_head_counts_however_the_host_lists_them(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    for _ in range(3):
        host.stand(marked())
    host.posted.reverse()
    found = look(order, context)

    assert found.this is not None
    assert (found.this.review_id, [each.review.review_id for each in found.twins]) == (1, [2, 3])


def test_what_a_refused_call_leaves_behind_is_blank_ours_and_of_this_head(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    left = [host.stand(""), host.stand(" \n")]
    host.stand("a person's own words, by our account")
    host.stand("", commit=NEWER)
    host.stand("", author=STRANGER)

    assert look(order, context).blank == tuple(left)


def test_of_a_newer_head_the_newest_review_that_counts_is_pointed_to(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(marked(NEWER), commit=NEWER)
    newest = host.stand(marked(NEWER), commit=NEWER)
    host.stand(marked(NEWER, newer=2), commit=NEWER)
    host.stand(marked(HEAD), commit=NEWER)

    assert look(order, context).of_head(NEWER) == newest
    assert look(order, context).of_head("d" * 40) is None


def test_older_reviews_are_those_that_count_or_still_ask_for_changes(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(marked(NEWER, newer=2), commit=NEWER)
    host.stand(marked(NEWER), commit=NEWER)
    host.stand(marked(NEWER, newer=2), commit=NEWER, blocks=True)
    host.stand(marked())
    host.stand(marked(NEWER), commit=NEWER)

    assert [each.review.review_id for each in look(order, context).older_than(4)] == [2, 3]


@pytest.mark.parametrize("code", [None, 0, 1, 3])
def test_a_review_stands_for_a_run_only_where_that_run_ended_well(code: int | None, host: RecordingHost) -> None:
    made = host.stand(body_of(an_order(a_review(), code=code), SIGNER))

    assert before(host) == (
        PullPosted(outcome="already_posted", url=made.url, review_id=made.review_id) if code == 0 else None
    )


def test_how_other_reviews_ended_says_nothing_of_this_one(host: RecordingHost) -> None:
    assert before(host) is None
    host.stand(marked(NEWER, code=1), commit=NEWER)
    made = host.stand(marked(code=0))
    host.stand(marked(code=1))

    assert before(host) == PullPosted(outcome="already_posted", url=made.url, review_id=made.review_id)


def test_what_stands_there_is_remembered_and_its_intent_let_go(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(marked())
    asyncio.run(publish(order, OPTIONS, context))

    assert context.intents.find_posted(order.key) == 1
    assert context.intents.begin(order.key, "the next run", 60)


@pytest.mark.parametrize(
    ("bodies", "outcome"),
    [
        (["its marker was edited away"], "already_posted"),
        (["its marker was edited away", marked(NEWER, newer=1)], "already_posted"),
        ([marked(newer=2)], "posted"),
        ([marked(newer=2), marked(NEWER)], "posted"),
    ],
)
def test_what_the_intents_remember_counts_until_it_points_to_another(
    bodies: list[str], outcome: str, order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    """The first review is the one that was posted."""
    made: list[PostedReview] = [host.stand(body) for body in bodies]
    context.intents.record_posted(order.key, made[0].review_id)

    assert asyncio.run(publish(order, OPTIONS, context)).outcome == outcome
