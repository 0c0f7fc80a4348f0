"""A second run on another head, and what the operator decides of a review."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.config import Settings, load_settings
from reviewbot.domain.contracts import Finding, WorkerCard
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostAccessError, HostInvalidError
from reviewbot.domain.ports import WorkerSet
from reviewbot.hosts.base import ReviewDraft
from reviewbot.publish.marker import ReviewMarker
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest, policy_of
from reviewbot.publish.post import publish
from tests.publishing import HEAD, OPTIONS, POLICY, SIGNER, STRANGER, RecordingHost, a_pull, a_review, an_order, shown


def run(order: PublishRequest, context: PublishContext, options: PublishOptions = OPTIONS) -> PullPosted:
    return asyncio.run(publish(order, options, context))


@pytest.fixture
def order(a_finding: Callable[..., Finding]) -> PublishRequest:
    return an_order(a_review(a_finding(line=3), a_finding(line=5, severity="critical")))


def counting(host: RecordingHost) -> list[int]:
    """The reviews that still count, by id."""
    markers = {each.review_id: SIGNER.read_review(each.body, 4242, 7) for each in host.posted}
    return [number for number, each in markers.items() if each is not None and not (each.newer or each.summary)]


def test_the_report_of_the_next_head_takes_the_place_of_the_last_one(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    host.head = "c" * 40
    published = run(replace(order, pull=a_pull(head_sha="c" * 40)), context)
    marker = SIGNER.read_review(host.posted[0].body, 4242, 7)

    assert marker is not None
    assert (marker.newer, marker.head_sha, marker.summary) == (0, "c" * 40, 0)
    assert (published.outcome, published.review_id, published.inline) == ("posted", 1, 0)
    assert (counting(host), len(host.drafts)) == ([1], 1)


def test_the_summary_is_edited_once_for_each_head(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    for letter in "acde":
        host.head = letter * 40
        run(replace(order, pull=a_pull(head_sha=letter * 40)), context)
    run(replace(order, pull=a_pull(head_sha="e" * 40)), context)

    assert [number for number, _ in host.edits] == [1, 1, 1]


def test_an_edit_that_a_crash_has_cost_is_made_up_for(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40)
    host.stand(SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY)))

    assert run(order, context).outcome == "already_posted"
    assert counting(host) == [2]


def test_a_host_that_edits_no_submitted_review_gets_the_report_as_a_review_of_its_own(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    host.faults["edit"] = [HostInvalidError("Validation failed")] * 20
    heads = ("c" * 40, "d" * 40)
    ends = []
    for head in heads:
        host.head = head
        ends.append(run(replace(order, pull=a_pull(head_sha=head)), context))
        again = run(replace(order, pull=a_pull(head_sha=head)), context)
        assert again.outcome == "already_posted"

    assert [each.outcome for each in ends] == ["posted", "posted"]
    assert [each.commit_sha for each in host.drafts] == [HEAD, *heads]
    assert "the summary could not be edited" in ends[0].notes[0]


def test_a_summary_that_cannot_be_edited_is_an_error_and_the_next_run_completes_it(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40)
    host.faults["edit"] = [HostAccessError("no")]
    with pytest.raises(HostAccessError):
        run(order, context)

    assert (run(order, context).outcome, counting(host), len(host.drafts)) == ("posted", [1], 1)


def test_a_head_that_comes_back_is_reported_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    host.head = "c" * 40
    run(replace(order, pull=a_pull(head_sha="c" * 40)), context)
    host.head = HEAD
    published = run(order, context)

    assert (published.outcome, published.review_id, counting(host)) == ("posted", 1, [1])
    assert len(host.edits) == 2


def test_new_comments_come_in_a_short_review_that_points_to_the_summary(
    order: PublishRequest, context: PublishContext, host: RecordingHost, a_finding: Callable[..., Finding]
) -> None:
    run(order, context)
    host.head = "c" * 40
    more = a_review(a_finding(line=3), a_finding(line=7, category="other"))
    published = run(an_order(more, pull=a_pull(head_sha="c" * 40)), context)
    marker = SIGNER.read_review(host.posted[1].body, 4242, 7)

    assert marker is not None
    assert (marker.summary, marker.head_sha) == (1, "c" * 40)
    assert host.posted[0].url in host.posted[1].body
    assert (published.inline, [each.line for each in host.drafts[1].comments]) == (1, [7])


def test_a_summary_that_the_run_of_an_older_head_wrote_over_is_written_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    older = SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY))
    host.stand(older, commit="c" * 40)
    plain = host.edit_review

    def overwritten(review_id: int, body: str) -> None:
        plain(review_id, body if len(host.edits) else older)

    host.edit_review = overwritten  # type: ignore[method-assign]
    run(order, context)
    marker = SIGNER.read_review(host.posted[0].body, 4242, 7)

    assert marker is not None
    assert (marker.head_sha, len(host.edits)) == (HEAD, 2)


def test_findings_that_stand_in_a_comment_of_ours_are_not_posted_inline_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost, a_finding: Callable[..., Finding]
) -> None:
    run(order, context)
    host.head = "c" * 40
    moved = a_review(a_finding(line=13), a_finding(line=15, severity="critical"), a_finding(line=2, category="other"))
    published = run(an_order(moved, pull=a_pull(head_sha="c" * 40)), context)

    assert published.inline == 1
    assert [each.line for each in host.drafts[1].comments] == [2]


def test_a_strangers_copy_of_our_comment_silences_nothing(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    run(order, context)
    for thread in host.at_lines[:]:
        theirs = replace(thread.comments[0], author_id=STRANGER)
        host.at_lines[host.at_lines.index(thread)] = replace(thread, comments=(theirs,))
    host.head = "c" * 40

    assert run(replace(order, pull=a_pull(head_sha="c" * 40)), context).inline == 2


def test_without_comments_at_lines_nobody_asks_for_those_that_stand(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    assert run(order, context, replace(OPTIONS, inline=0)).inline == 0
    assert "threads" not in host.calls
    assert host.drafts[0].comments == ()


def test_a_review_without_findings_is_posted_as_well(context: PublishContext, host: RecordingHost) -> None:
    assert run(an_order(a_review()), context).outcome == "posted"
    assert "threads" not in host.calls


@pytest.mark.parametrize(
    ("switches", "event"),
    [
        ((False, False), "COMMENT"),
        ((False, True), "COMMENT"),
        ((True, False), "COMMENT"),
        ((True, True), "REQUEST_CHANGES"),
    ],
)
def test_changes_are_asked_for_only_where_the_operator_wants_it_and_the_gate_is_closed(
    switches: tuple[bool, bool], event: str, order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    wanted, closed = switches
    run(replace(order, gate_closed=closed), context, replace(OPTIONS, request_changes=wanted))

    assert [each.event for each in host.drafts] == [event]


def test_who_may_not_ask_for_changes_comments(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    tried: list[str] = []

    def own_pull_request(draft: ReviewDraft) -> None:
        tried.append(f"{draft.event} {len(draft.comments)}")
        if draft.event == "REQUEST_CHANGES":
            raise HostInvalidError("not on your own pull request")

    host.before_post = own_pull_request
    published = run(replace(order, gate_closed=True), context, replace(OPTIONS, request_changes=True))

    assert (published.outcome, host.drafts[0].event) == ("posted", "COMMENT")
    assert tried == ["REQUEST_CHANGES 2", "REQUEST_CHANGES 0", "COMMENT 0"]
    assert "that asks for changes" in published.notes[0]


def test_an_older_review_no_longer_asks_for_changes(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40, blocks=True)
    run(order, context)

    assert host.released == [1]


def test_a_release_that_a_crash_has_cost_is_made_up_for(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    outdated = ReviewMarker(4242, 7, "c" * 40, POLICY).mark_replaced(2)
    host.stand(SIGNER.review(outdated), commit="c" * 40, blocks=True)
    run(order, context)

    assert (host.released, host.edits) == ([1], [])


def test_an_older_review_that_goes_on_asking_for_changes_is_a_note(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40, blocks=True)
    host.faults["release"] = [HostAccessError("only administrators may")]

    assert "still asks for changes" in run(order, context).notes[0]


def test_changes_that_an_older_review_asks_for_are_not_asked_for_again(
    order: PublishRequest, context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40, blocks=True)
    run(replace(order, gate_closed=True), context, replace(OPTIONS, request_changes=True))

    assert ([each.event for each in host.drafts], host.released) == (["COMMENT"], [])


def test_a_gate_that_closes_on_a_later_head_asks_for_changes_also_without_comments(
    context: PublishContext, host: RecordingHost
) -> None:
    host.stand(SIGNER.review(ReviewMarker(4242, 7, "c" * 40, POLICY)), commit="c" * 40)
    run(replace(an_order(a_review()), gate_closed=True), context, replace(OPTIONS, request_changes=True))

    assert [(each.event, each.comments) for each in host.drafts] == [("REQUEST_CHANGES", ())]


def test_what_there_is_one_review_of_has_a_name() -> None:
    assert an_order(a_review(), shown()).key == f"review:4242:7:{HEAD}:{POLICY}"


def test_what_decides_a_review_names_its_policy(
    a_worker_set: Callable[..., WorkerSet], a_card: Callable[..., WorkerCard]
) -> None:
    worker_set = a_worker_set(a_card("logic"), a_card("style"))
    policy = policy_of(Settings(), worker_set, "claude")
    others = [
        policy_of(Settings(min_confidence=50), worker_set, "claude"),
        policy_of(Settings(), a_worker_set(a_card("logic")), "claude"),
        policy_of(Settings(), worker_set, "analyzers"),
        policy_of(Settings(), worker_set, "claude", "a" * 40),
        policy_of(Settings(), replace(worker_set, prompts={"logic": "Look away.", "style": "Look away."}), "claude"),
    ]

    assert len({policy, *others}) == 6
    assert re.fullmatch("[0-9a-f]{32}", policy)


def test_how_a_review_is_shown_and_how_fast_it_is_made_is_no_part_of_its_policy(
    a_worker_set: Callable[..., WorkerSet], a_card: Callable[..., WorkerCard]
) -> None:
    one = Settings(concurrency=1, inline=3, check=False, origin={"inline": "a flag"}, skip_labels=("x",))
    other = Settings(concurrency=64, inline=9, request_changes=True)

    assert policy_of(load_settings("\n[rules]\nS603 = 'off'", {}, {}), a_worker_set(), "models") == policy_of(
        load_settings("rules = {S603 = 'off'}", {}, {}), a_worker_set(), "models"
    ), "nor is the line of a settings file"
    assert policy_of(one, a_worker_set(a_card("logic"), a_card("style")), "claude") == policy_of(
        other, a_worker_set(a_card("style"), a_card("logic")), "claude"
    )
