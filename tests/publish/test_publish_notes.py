"""What a run is told of its posting: nothing that went wrong on the way is lost, and nobody waits for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostError, HostInvalidError, HostLimitError
from reviewbot.hosts.base import ReviewDraft
from reviewbot.publish.marker import ReviewMarker
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest
from reviewbot.publish.post import SETTLE_S, publish
from reviewbot.publish.post_review import LEASE_S, MAX_PAUSE_S
from tests.conftest import RecordingClock
from tests.publishing import HEAD, OPTIONS, POLICY, SIGNER, RecordingHost, a_review, an_order

INVALID = HostInvalidError("a line is not in the change")
DOWN = HostError("GitHub cannot be reached")
OLDER = "d" * 40
REFUSED = "the host refused the review with 2 comments at lines: a line is not in the change"
TWIN = "another run posted the same review at the same time; that one counts"
MOVED = "the head moved while the review was made; a newer review is due"


def run(order: PublishRequest, context: PublishContext, options: PublishOptions = OPTIONS) -> PullPosted:
    return asyncio.run(publish(order, options, context))


@pytest.fixture
def order(a_finding: Callable[..., Finding]) -> PublishRequest:
    return an_order(a_review(a_finding(line=3), a_finding(line=5, severity="critical")))


@pytest.fixture
def older(host: RecordingHost) -> None:
    """A review of an older head that still counts."""
    host.stand(SIGNER.review(ReviewMarker(4242, 7, OLDER, POLICY)), commit=OLDER)


def faster(host: RecordingHost) -> Callable[[ReviewDraft], None]:
    """Another run, whose review of this head stands there first."""

    def first(_: ReviewDraft) -> None:
        if not host.posted:
            host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))

    return first


def test_a_head_that_moved_is_said_to_be_reviewed_by_its_own_run(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.head = "c" * 40

    assert run(order, context) == PullPosted(outcome="head_moved", notes=(MOVED,))


@pytest.mark.usefixtures("older")
def test_a_head_that_moved_after_posting_is_said_where_its_own_run_has_posted_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def pushed(_: ReviewDraft) -> None:
        host.head = "c" * 40

    host.after_post = pushed

    assert run(order, context).notes == (MOVED,)


@pytest.mark.parametrize("taken_while", ["waiting", "looking"])
def test_a_poster_that_holds_on_is_named_as_the_reason(
    taken_while: str, order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    def slow() -> tuple[()]:
        clock.now += LEASE_S + 1
        context.intents.begin(order.key, "another run", 3_600)
        return ()

    if taken_while == "looking":
        host.reviews = slow  # type: ignore[method-assign]
    else:
        context.intents.begin(order.key, "another run", 3_600)

    note = "another run is posting this review and has not finished"
    assert run(order, context) == PullPosted(outcome="busy", notes=(note,))


def test_what_was_refused_is_still_told_where_the_last_look_fails(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults = {"post": [INVALID], "reviews": [None, None, DOWN]}

    assert run(order, context).notes == (
        REFUSED,
        "posted; what else stands there could not be looked at: GitHub cannot be reached",
    )


def test_what_was_refused_is_still_told_where_another_run_was_faster(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def refused_and_overtaken(draft: ReviewDraft) -> None:
        if draft.comments:
            raise INVALID
        faster(host)(draft)

    host.before_post = refused_and_overtaken
    host.faults["edit"] = [DOWN]

    assert run(order, context).notes == (
        REFUSED,
        TWIN,
        "the review 2 could not be made to point to the one that counts: GitHub cannot be reached",
    )


@pytest.mark.usefixtures("older")
def test_an_older_review_that_cannot_be_edited_is_told_by_the_run_that_finds_its_review_there(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))
    host.faults["edit"] = [DOWN]
    published = run(order, context)

    assert published.outcome == "already_posted"
    assert published.notes == (
        "the review 1 could not be made to point to the one that counts: GitHub cannot be reached",
    )


def test_each_refusal_is_told_with_what_was_refused(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [INVALID, INVALID]
    published = run(replace(order, gate_closed=True), context, replace(OPTIONS, request_changes=True))

    assert published.notes == (
        "the host refused the review with 2 comments at lines that asks for changes: a line is not in the change",
        "the host refused the review that asks for changes: a line is not in the change",
    )


@pytest.mark.usefixtures("older")
def test_a_review_that_only_comments_is_not_released(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)

    assert (host.released, "release" in host.calls) == ([], False)


def test_after_posting_it_looks_once_more_when_others_can_be_seen(
    order: PublishRequest, context: PublishContext, clock: RecordingClock
) -> None:
    run(order, context)

    assert clock.slept == [SETTLE_S]


def test_a_review_that_the_host_does_not_show_yet_counts_as_posted(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    shown = host.reviews
    host.reviews = lambda: () if host.drafts else shown()  # type: ignore[method-assign]

    assert run(order, context) == PullPosted(outcome="posted", url=host.posted[0].url, review_id=1, inline=2)


@pytest.mark.parametrize(
    ("limits", "slept"),
    [
        ([HostLimitError("later", MAX_PAUSE_S)] * 2, [MAX_PAUSE_S]),
        ([HostLimitError("later")] * 2, [LEASE_S]),
        ([HostLimitError("later", MAX_PAUSE_S + 1)], []),
    ],
)
def test_a_limit_is_waited_out_once_and_not_where_it_asks_for_too_long(
    limits: list[Exception | None],
    slept: list[float],
    order: PublishRequest,
    context: PublishContext,
    host: RecordingHost,
    clock: RecordingClock,
) -> None:
    host.faults["post"] = limits

    with pytest.raises(HostLimitError):
        run(order, context)
    assert clock.slept == slept
