"""Exactly one review, whatever the host answers and whoever else is posting."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostAccessError, HostError, HostInvalidError, HostLimitError, HostUnknownError
from reviewbot.hosts.base import ReviewDraft
from reviewbot.publish.body import body_of
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.marker import ReviewMarker, Signer
from reviewbot.publish.options import PublishContext, PublishRequest
from reviewbot.publish.post import publish
from reviewbot.publish.post_review import PATIENCE_S
from tests.conftest import RecordingClock
from tests.publishing import HEAD, OPTIONS, POLICY, SIGNER, STRANGER, RecordingHost, a_review, an_order

UNKNOWN = HostUnknownError("no answer came")
INVALID = HostInvalidError("a line is not in the change")


def run(order: PublishRequest, context: PublishContext) -> PullPosted:
    return asyncio.run(publish(order, OPTIONS, context))


@pytest.fixture
def order(a_finding: Callable[..., Finding]) -> PublishRequest:
    return an_order(a_review(a_finding(line=3), a_finding(line=5, severity="critical")))


def counting(host: RecordingHost) -> list[int]:
    """The reviews that still count, by id."""
    markers = {each.review_id: SIGNER.read_review(each.body, 4242, 7) for each in host.posted}
    return [number for number, marker in markers.items() if marker is not None and not marker.newer]


def test_one_review_with_its_comments_in_one_call(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    published = run(order, context)

    assert published == PullPosted(outcome="posted", url=host.posted[0].url, review_id=1, inline=2)
    assert [(each.commit_sha, each.event, len(each.comments)) for each in host.drafts] == [(HEAD, "COMMENT", 2)]
    assert host.calls == ["head", "reviews", "threads", "head", "post", "reviews"]


def test_a_second_run_posts_nothing(order: PublishRequest, context: PublishContext, host: RecordingHost) -> None:
    first = run(order, context)
    again = run(order, replace(context, holder="another run"))

    assert (again.outcome, again.review_id, again.url) == ("already_posted", first.review_id, first.url)
    assert len(host.drafts) == 1


def test_a_second_run_that_shares_nothing_with_the_first_posts_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    again = run(order, replace(context, intents=MemoryIntents(), holder="on another machine"))

    assert again.outcome == "already_posted"
    assert len(host.drafts) == 1


def test_a_head_that_moved_writes_nothing(order: PublishRequest, context: PublishContext, host: RecordingHost) -> None:
    host.head = "c" * 40

    assert run(order, context).outcome == "head_moved"
    assert host.calls == ["head"]


def test_a_head_that_moves_right_before_the_call_writes_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    reads = host.threads

    def comments_and_a_push() -> object:
        host.head = "c" * 40
        return reads()

    host.threads = comments_and_a_push  # type: ignore[method-assign, assignment]

    assert run(order, context).outcome == "head_moved"
    assert host.drafts == []
    assert context.intents.begin(order.key, "the next run", 60)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a review of somebody's own account, without a marker",
        SIGNER.review(ReviewMarker(4242, 7, HEAD, "1" * 32)),
        SIGNER.review(ReviewMarker(4242, 8, HEAD, POLICY)),
        SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)),
        SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY))[:-5],
        Signer((b"forged" * 6,)).review(ReviewMarker(4242, 7, HEAD, POLICY)),
        SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)) + "\nquoted, and answered",
    ],
    ids=["blank", "plain", "other policy", "other pull", "other head", "truncated", "forged", "quoted"],
)
def test_what_is_no_review_of_this_head_does_not_stop_one(
    body: str, order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(body)

    assert run(order, context).outcome == "posted"


def test_a_marker_of_ours_in_a_strangers_review_counts_for_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    copied = SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY))
    host.stand(copied, author=STRANGER)
    host.stand(copied, author=None)

    assert run(order, context).outcome == "posted"


def test_a_summary_that_began_with_an_older_head_is_that_of_its_marker(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)), commit="c" * 40)

    assert run(order, context).outcome == "already_posted"


def test_a_call_without_an_answer_that_was_carried_out_is_found(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    def no_answer(_: ReviewDraft) -> None:
        raise UNKNOWN

    host.after_post = no_answer

    assert run(order, context) == PullPosted(outcome="posted", url=host.posted[0].url, review_id=1, inline=2)
    assert len(host.drafts) == 1
    assert clock.slept[0] == PATIENCE_S[0]


def test_a_call_that_was_never_carried_out_is_sent_again_after_a_minute_of_looking(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    host.faults["post"] = [UNKNOWN]

    assert run(order, context).outcome == "posted"
    assert len(host.drafts) == 1
    assert sum(clock.slept[: len(PATIENCE_S)]) > 60
    assert host.calls[host.calls.index("post") + 1 : -1] == ["reviews"] * len(PATIENCE_S) + ["head", "post"]


def test_a_call_that_shows_late_is_not_sent_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    looks = host.reviews
    late: list[ReviewDraft] = []

    def lost(draft: ReviewDraft) -> None:
        late.append(draft)
        raise UNKNOWN

    def shows_at_the_fifth_look() -> object:
        if len(late) == 1 and host.calls.count("reviews") == 4:
            host.stand(late[0].body)
        return looks()

    host.before_post = lost
    host.reviews = shows_at_the_fifth_look  # type: ignore[method-assign, assignment]

    assert run(order, context).outcome == "posted"
    assert len(late) == 1


def test_what_stays_unknown_is_said_and_found_by_the_next_run(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [UNKNOWN, UNKNOWN]

    with pytest.raises(HostUnknownError):
        run(order, context)
    assert host.calls.count("post") == 2
    host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))
    assert run(order, replace(context, holder="the next run")).outcome == "already_posted"


def test_a_head_that_moves_while_nothing_is_known_is_not_posted_to(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def lost(_: ReviewDraft) -> None:
        host.head = "c" * 40
        raise UNKNOWN

    host.before_post = lost

    assert run(order, context).outcome == "head_moved"
    assert host.drafts == []


def test_a_refused_line_costs_the_comments_and_not_the_review(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [INVALID]

    published = run(order, context)

    assert (published.outcome, published.inline, len(host.drafts[0].comments)) == ("posted", 0, 0)
    assert host.drafts[0].body == body_of(order, SIGNER), "nothing refers to comments that are not there"
    assert published.notes == ("the host refused the review with 2 comments at lines: a line is not in the change",)


def test_a_refused_call_that_left_the_review_behind_is_not_sent_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def refused(_: ReviewDraft) -> None:
        raise INVALID

    host.after_post = refused

    published = run(order, context)

    assert (published.outcome, published.review_id, published.inline) == ("posted", 1, 0)
    assert len(host.posted) == 1
    assert host.posted[0].body == body_of(order, SIGNER)


def test_a_review_whose_comments_were_refused_and_that_cannot_be_edited_is_named(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def refused(_: ReviewDraft) -> None:
        raise INVALID

    host.after_post = refused
    host.faults["edit"] = [HostError("not now")]

    published = run(order, context)

    assert published.notes[-1] == "the review 1 refers to comments at lines that the host refused: not now"


def test_what_stands_at_its_line_is_one_line_of_the_body(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)

    (draft,) = host.drafts
    assert len(draft.comments) == 2
    assert len(re.findall(r"- \*\*.*/pull/7/files#diff-.*\)\n", draft.body)) == 2
    assert "/pull/7/files#diff-" in draft.body


def test_an_empty_review_that_a_refused_call_left_behind_gets_our_body(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand("", blocks=False)  # a person's own comments at lines have no body either

    def refused(_: ReviewDraft) -> None:
        host.stand("")
        raise INVALID

    host.before_post = refused
    published = run(order, context)

    assert (published.review_id, counting(host), host.posted[0].body, len(host.posted)) == (2, [2], "", 2)
    assert published.notes[1] == "an empty review (2) was left behind and now holds this one"


def test_an_empty_review_that_cannot_be_filled_is_named(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def refused(draft: ReviewDraft) -> None:
        if draft.comments:
            host.stand("")
            raise INVALID

    host.before_post = refused
    host.faults["edit"] = [HostError("not now")]
    published = run(order, context)

    assert (published.review_id, counting(host)) == (2, [2])
    assert published.notes[1] == "an empty review (1) was left behind and cannot be filled: not now"


def test_a_body_that_is_refused_is_an_error_and_lets_the_next_run_begin(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [INVALID, INVALID]

    with pytest.raises(HostInvalidError):
        run(order, context)
    assert context.intents.begin(order.key, "the next run", 60)


def test_a_limit_is_waited_out(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    host.faults["post"] = [HostLimitError("later", 30)]

    assert run(order, context).outcome == "posted"
    assert (clock.slept[0], len(host.drafts)) == (30, 1)
    assert host.calls[host.calls.index("post") : -1] == ["post", "reviews", "head", "post"]


def test_a_limit_without_a_time_is_waited_out_for_a_minute(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [HostLimitError("later"), HostLimitError("later")]

    with pytest.raises(HostLimitError):
        run(order, context)
    assert host.calls.count("post") == 2


def test_a_body_alone_that_is_refused_is_not_sent_again(context: PublishContext, host: RecordingHost) -> None:
    host.faults["post"] = [INVALID]

    with pytest.raises(HostInvalidError):
        run(an_order(a_review()), context)
    assert host.calls.count("post") == 1


@pytest.mark.parametrize("error", [HostAccessError("no"), HostLimitError("later", 3_600), HostError("broken")])
def test_a_refusal_of_the_host_is_an_error_and_no_second_call(
    error: HostError, order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["post"] = [error]

    with pytest.raises(type(error)):
        run(order, context)
    assert host.calls.count("post") == 1
    assert context.intents.begin(order.key, "the next run", 60)


def test_another_poster_is_waited_for(
    order: PublishRequest, context: PublishContext, host: RecordingHost, clock: RecordingClock
) -> None:
    context.intents.begin(order.key, "another run", 60)
    looks = host.reviews

    def posted_meanwhile() -> object:
        if clock.now >= 7 and not host.posted:
            host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))
        return looks()

    host.reviews = posted_meanwhile  # type: ignore[method-assign, assignment]

    assert run(order, context).outcome == "already_posted"
    assert host.drafts == []
    assert clock.now == 7


def test_the_lease_of_a_crashed_poster_runs_out(
    order: PublishRequest, context: PublishContext, clock: RecordingClock
) -> None:
    context.intents.begin(order.key, "a run that crashed", 60)

    assert run(order, context).outcome == "posted"
    assert clock.now >= 60


def test_a_poster_that_goes_on_holding_is_left_alone(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    context.intents.begin(order.key, "another run", 3_600)

    published = run(order, context)

    assert (published.outcome, host.drafts) == ("busy", [])
    assert published.notes


def test_of_two_that_posted_at_once_the_first_counts(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def somebody_else_is_faster(_: ReviewDraft) -> None:
        host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))

    host.before_post = somebody_else_is_faster
    published = run(order, context)

    assert (published.outcome, published.review_id, counting(host)) == ("already_posted", 1, [1])
    assert "The first review" in host.posted[1].body
    assert context.intents.find_posted(order.key) == 1


def test_of_two_that_posted_at_once_the_first_leaves_its_own_alone(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    def somebody_else_is_slower(_: ReviewDraft) -> None:
        host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))

    host.after_post = somebody_else_is_slower

    assert run(order, context).review_id == 1
    assert host.edits == []


def test_two_live_posters_that_share_their_intents_post_one(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    async def both() -> list[PullPosted]:
        other = replace(context, holder="the other run")
        return list(await asyncio.gather(publish(order, OPTIONS, context), publish(order, OPTIONS, other)))

    found = asyncio.run(both())

    # One that loses its lease right before it posts finds the other's review in its place, and says "posted" of it; or
    # it has looked through all of its waits, which take no time here, before the other one has posted.
    assert {each.outcome for each in found} <= {"already_posted", "posted", "busy"}
    assert {each.review_id for each in found if each.outcome != "busy"} == {1}
    assert len(host.drafts) == 1


def test_a_look_after_posting_that_fails_costs_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.faults["reviews"] = [None, HostError("gone")]

    published = run(order, context)

    assert (published.outcome, published.review_id) == ("posted", 1)
    assert "gone" in published.notes[0]
    assert context.intents.find_posted(order.key) == 1


def test_what_the_intents_say_was_posted_is_not_posted_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand("somebody has edited the marker away")
    context.intents.record_posted(order.key, 1)

    assert run(order, context) == PullPosted(outcome="already_posted", review_id=1)
    assert host.drafts == []
