"""The publisher over sockets: one review, whatever becomes of the calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reviewbot.domain.contracts import ChangeSet, Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.github.change import read_change
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.reviews import GithubReviews
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.options import PublishContext, PublishRequest
from reviewbot.publish.places import Shown
from reviewbot.publish.post import publish
from tests.conftest import RecordingClock
from tests.github_api import FakeGitHub, Reply, Review, dropped
from tests.github_api.hunks import shown as shown_by_github
from tests.github_api.refusals import invalid, missing_permission, server_error
from tests.publishing import OPTIONS, SIGNER, Shop, a_review, an_order


@pytest.fixture
def change(client: GithubClient, pull: PullRequest) -> ChangeSet:
    return read_change(client, pull).change


@pytest.fixture
def order(pull: PullRequest, change: ChangeSet, a_finding: Callable[..., Finding]) -> PublishRequest:
    found = [
        a_finding(path="app.py", line=20, end_line=21),
        a_finding(path="new.py", line=2, severity="critical"),
        a_finding(path="app.py", line=35, category="outside"),
    ]
    return an_order(a_review(*found), change, pull=pull)


@pytest.fixture
def run(client: GithubClient, clock: RecordingClock) -> Callable[[PublishRequest], PullPosted]:
    """Publishes from a machine that shares nothing with others."""

    def once(order: PublishRequest) -> PullPosted:
        desk = PublishContext(GithubReviews(client, order.pull), MemoryIntents(), clock, "this run")
        return asyncio.run(publish(order, OPTIONS, desk))

    return once


def reviews(api: FakeGitHub) -> list[Review]:
    return api.state.repositories["acme/shop"].pulls[1].reviews


def placed(api: FakeGitHub) -> list[tuple[str, int | None, int | None]]:
    """Where comments stand."""
    comments = api.state.repositories["acme/shop"].pulls[1].comments
    return [(each.path, each.start_line, each.line) for each in comments]


def test_one_review_is_posted_and_run_twice_it_is_one(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest
) -> None:
    first, again = run(order), run(order)

    assert (first.outcome, first.inline, again.outcome, again.url) == ("posted", 2, "already_posted", first.url)
    assert len(reviews(github_api)) == 1
    assert placed(github_api) == [("new.py", None, 2), ("app.py", 20, 21)]


def test_the_lines_that_we_take_for_shown_are_those_that_github_shows(
    made: Shop, change: ChangeSet, pull: PullRequest
) -> None:
    theirs = shown_by_github(made.folder, pull.base_sha, pull.head_sha)
    shown = Shown(change)
    ours = {path: [n for n in range(60) if shown.span(path, n, n)] for path in theirs}

    assert ours == {path: [n for hunk in hunks for n in hunk] for path, hunks in theirs.items()}
    assert len(ours["app.py"]) > 5


@pytest.mark.parametrize("reply", [server_error(), server_error(504), dropped()])
@pytest.mark.parametrize("carried_out", [True, False])
def test_a_call_without_an_answer_makes_one_review(
    carried_out: bool,  # noqa: FBT001 - pytest hands it in by name
    reply: Reply,
    github_api: FakeGitHub,
    run: Callable[[PublishRequest], PullPosted],
    order: PublishRequest,
) -> None:
    github_api.refuse("POST", "/reviews$", reply, carried_out=carried_out)

    assert run(order).outcome == "posted"
    assert len(reviews(github_api)) == 1


def test_a_line_that_github_does_not_take_costs_the_comments_alone(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest
) -> None:
    github_api.refuse("POST", "/reviews$", invalid("Unprocessable Entity", "line must be part of the diff"))

    published = run(order)

    assert (published.outcome, published.inline, len(reviews(github_api))) == ("posted", 0, 1)
    assert "line must be part of the diff" in published.notes[0]


def test_a_host_that_keeps_what_it_refuses_has_one_review(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest
) -> None:
    github_api.refuse("POST", "/reviews$", invalid("Validation failed"), carried_out=True)

    assert run(order).outcome == "posted"
    assert len(reviews(github_api)) == 1


def test_an_empty_review_that_a_refusal_leaves_behind_is_filled(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest
) -> None:
    def refused() -> Reply:
        state = github_api.state
        blank = Review(state.next_id(), github_api.own, "", "COMMENTED", order.pull.head_sha, state.now())
        reviews(github_api).append(blank)
        return invalid("Validation failed")

    github_api.refuse("POST", "/reviews$", refused)

    assert run(order).outcome == "posted"
    assert len(reviews(github_api)) == 1
    assert reviews(github_api)[0].body.startswith("## reviewbot: ")


def test_a_moved_head_is_not_posted_to(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest, made: Shop
) -> None:
    github_api.push("acme/shop", 1, made.later)

    assert run(order).outcome == "head_moved"
    assert github_api.paths("POST") == []


def test_a_missing_permission_is_a_clear_error(
    github_api: FakeGitHub, run: Callable[[PublishRequest], PullPosted], order: PublishRequest
) -> None:
    github_api.refuse("POST", "/reviews$", missing_permission("pull_requests", "write"))

    with pytest.raises(HostAccessError, match="pull_requests=write"):
        run(order)


def test_a_new_head_gets_a_review_and_no_comment_twice(
    github_api: FakeGitHub,
    run: Callable[[PublishRequest], PullPosted],
    order: PublishRequest,
    made: Shop,
    client: GithubClient,
) -> None:
    first = run(order)
    github_api.push("acme/shop", 1, made.shifted)
    pull = type(order.pull)(**{**vars(order.pull), "head_sha": made.shifted})
    findings = [each.model_copy(update={"line": each.line + 1, "end_line": each.end_line + 1})
                for each in order.delivered.review.findings if each.path == "app.py"]  # fmt: skip
    second = run(an_order(a_review(*findings), read_change(client, pull).change, pull=pull))

    assert (second.outcome, second.inline, second.notes) == ("posted", 0, ())
    assert [first.review_id] == [second.review_id] == [each.review_id for each in reviews(github_api)]
    marker = SIGNER.read_review(reviews(github_api)[0].body, pull.repository_id, 1)
    assert marker is not None
    assert marker.head_sha == made.shifted


def test_a_second_account_with_our_marks_neither_silences_nor_is_touched(
    github_api: FakeGitHub,
    run: Callable[[PublishRequest], PullPosted],
    order: PublishRequest,
    make_client: Callable[..., GithubClient],
    clock: RecordingClock,
) -> None:
    """It copies what we posted, signature and all; and it holds our key, as the same operator's other bot does."""
    second = "ghp_" + "s" * 36
    github_api.add_token(second, "second", {"pull_requests": "write", "contents": "read", "metadata": "read"})
    other = GithubReviews(make_client(github_api, token=second), order.pull)
    draft = publish(order, OPTIONS, PublishContext(other, MemoryIntents(), clock, "the other run"))
    assert asyncio.run(draft).outcome == "posted"
    [theirs] = reviews(github_api)
    forged = theirs.body

    ours = run(order)

    # Its threads say the same at the same lines, so ours stand in the report alone.
    assert (ours.outcome, ours.inline, run(order).outcome) == ("posted", 0, "already_posted")
    assert all(finding.path in reviews(github_api)[1].body for finding in order.delivered.review.findings)
    assert [each.account and each.account.login for each in reviews(github_api)] == ["second", "reviewbot[bot]"]
    assert theirs.body == forged
