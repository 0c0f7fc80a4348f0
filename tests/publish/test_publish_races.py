"""Posters that overtake each other, looks that fail, leases that run out: still one review of a head that counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostError, HostUnknownError
from reviewbot.hosts.base import PostedReview, ReviewDraft
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.marker import ReviewMarker
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest
from reviewbot.publish.post import publish
from tests.conftest import RecordingClock
from tests.publishing import HEAD, OPTIONS, POLICY, SIGNER, RecordingHost, a_review, an_order

UNKNOWN = HostUnknownError("no answer came")
DOWN = HostError("GitHub cannot be reached")
NEWER = "c" * 40
THIS = SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY))


def run(order: PublishRequest, context: PublishContext, options: PublishOptions = OPTIONS) -> PullPosted:
    return asyncio.run(publish(order, options, context))


@pytest.fixture
def order(a_finding: Callable[..., Finding]) -> PublishRequest:
    return an_order(a_review(a_finding(line=3), a_finding(line=5, severity="critical")))


def counting(host: RecordingHost) -> list[int]:
    """The reviews that still count, by id."""
    markers = {each.review_id: SIGNER.read_review(each.body, 4242, 7) for each in host.posted}
    return [number for number, each in markers.items() if each is not None and not (each.newer or each.summary)]


def overtaken(host: RecordingHost) -> None:
    """While we post, somebody pushes, and the review of the newer head lands before ours."""

    def pushed(_: ReviewDraft) -> None:
        host.head = NEWER
        host.stand(SIGNER.review(ReviewMarker(4242, 7, NEWER, POLICY)), commit=NEWER)

    host.before_post = pushed


def test_a_review_that_lands_after_that_of_a_newer_head_points_to_it(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    overtaken(host)
    published = run(order, context)

    assert counting(host) == [1]
    assert host.posted[0].url in host.posted[1].body
    assert (published.outcome, published.review_id) == ("posted", 2)
    assert any("the head moved" in note for note in published.notes)


def test_a_review_that_was_overtaken_asks_for_no_changes(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    overtaken(host)
    run(replace(order, gate_closed=True), context, replace(OPTIONS, request_changes=True))

    assert host.released == [2]


def test_a_head_that_moved_after_posting_leaves_older_reviews_to_its_own_run(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "d" * 40, POLICY)), commit="d" * 40)

    def pushed(_: ReviewDraft) -> None:
        host.head = NEWER

    host.after_post = pushed
    published = run(order, context)

    assert (published.outcome, host.edits) == ("head_moved", [])


def test_a_head_that_cannot_be_read_after_posting_leaves_the_summary_to_the_next_run(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "d" * 40, POLICY)), commit="d" * 40)
    host.faults["head"] = [None, None, DOWN]
    with pytest.raises(HostError):
        run(order, context)

    assert host.edits == []
    assert (run(order, context).outcome, len(host.drafts), len(host.edits)) == ("posted", 1, 1)


def test_looks_that_fail_after_a_call_without_an_answer_are_made_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def no_answer(_: ReviewDraft) -> None:
        host.faults["reviews"] = [DOWN, DOWN]
        raise UNKNOWN

    host.after_post = no_answer

    assert run(order, context).outcome == "posted"
    assert len(host.drafts) == 1


def test_what_could_not_be_looked_for_is_unknown_and_not_sent_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def no_answer(_: ReviewDraft) -> None:
        host.faults["reviews"] = [DOWN] * 20
        raise UNKNOWN

    host.after_post = no_answer

    with pytest.raises(HostUnknownError):
        run(order, context)
    assert len(host.drafts) == 1


def test_a_lease_that_another_run_took_over_while_nothing_was_known_is_respected(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    """It begins when ours has run out, and posts long after our last look."""

    def lost(_: ReviewDraft) -> None:
        looks = host.reviews

        def others() -> tuple[PostedReview, ...]:
            if clock.now > 60:
                context.intents.begin(order.key, "the other run", 60)
            if clock.now > 75 and not host.posted:
                host.stand(THIS)
            return looks()

        host.reviews = others  # type: ignore[method-assign]
        host.before_post = lambda _: None
        raise UNKNOWN

    host.before_post = lost
    run(order, context)

    assert host.drafts == []
    assert counting(host) == [1]


def test_whoever_took_over_and_posts_nothing_is_left_alone(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    intents = MemoryIntents(clock.monotonic)

    def slow() -> tuple[PostedReview, ...]:
        clock.now += 61
        intents.begin(order.key, "the other run", 3_600)
        return ()

    host.reviews = slow  # type: ignore[method-assign]
    published = run(order, replace(context, intents=intents))

    assert (published.outcome, host.drafts) == ("busy", [])


def test_the_second_review_of_a_run_that_crashed_is_made_up_for(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(THIS)
    host.stand(THIS)

    assert run(order, context).review_id == 1
    assert counting(host) == [1]
    assert "The first review" in host.posted[1].body


def test_a_finding_whose_comment_is_outdated_is_not_said_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    host.at_lines = [replace(host.at_lines[0], line=None), *host.at_lines[1:]]
    host.head = NEWER

    assert run(replace(order, pull=replace(order.pull, head_sha=NEWER)), context).inline == 0
    report = host.edits[-1][1]
    assert (report.count(", commented at an earlier head\n"), report.count(", commented")) == (1, 1)
    assert report.count("*Impact:*") == 0, "the other one is a line as well"


class KilledError(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("shares_intents", [True, False])
@pytest.mark.parametrize("call", range(1, 10))
@pytest.mark.parametrize("carried_out", [True, False])
def test_a_run_that_is_killed_at_any_call_leaves_one_review_to_the_next(
    order: PublishRequest,
    context: PublishContext,
    host: RecordingHost,
    call: int,
    *,
    carried_out: bool,
    shares_intents: bool,
) -> None:
    older = host.stand(SIGNER.review(ReviewMarker(4242, 7, "d" * 40, POLICY)), commit="d" * 40, blocks=True)
    names = ("head_sha", "reviews", "threads", "post_review", "edit_review", "release_review")
    plain = {name: getattr(host, name) for name in names}
    count = 0

    def killing(name: str) -> Callable[..., object]:
        def asked(*given: object) -> object:
            nonlocal count
            count += 1
            if count == call and not carried_out:
                raise KilledError
            answer: object = plain[name](*given)
            if count == call:
                raise KilledError
            return answer

        return asked

    for name in names:
        setattr(host, name, killing(name))
    with pytest.raises(KilledError):
        run(order, context)
    for name in names:
        setattr(host, name, plain[name])
    intents = context.intents if shares_intents else MemoryIntents()
    published = run(order, replace(context, intents=intents, holder="the next run"))

    assert (published.review_id, counting(host), len(host.drafts)) == (1, [1], 1)
    assert [len(each.comments) for each in host.drafts] == [2]
    assert older.review_id in host.released
