"""Reviews over sockets, against a GitHub that refuses as GitHub does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostUnknownError,
)
from reviewbot.hosts.base import InlineComment, PullRequest, ReviewDraft
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.reviews import GithubReviews
from tests.github_api import FakeGitHub, Reply, Review, dropped
from tests.github_api.refusals import missing_permission, not_found, secondary_limit, server_error

REVIEWS = "/repos/acme/shop/pulls/1/reviews"


@pytest.fixture
def host(client: GithubClient, pull: PullRequest) -> GithubReviews:
    return GithubReviews(client, pull)


@pytest.fixture
def draft(pull: PullRequest) -> Callable[..., ReviewDraft]:
    def make(*comments: InlineComment, **fields: Any) -> ReviewDraft:
        return ReviewDraft(**{"commit_sha": pull.head_sha, "body": "a body", "comments": comments, **fields})

    return make


def test_a_head_that_is_no_commit_is_refused(github_api: FakeGitHub, host: GithubReviews) -> None:
    github_api.refuse("GET", "/pulls/1$", Reply(200, {"head": {"sha": "../../x"}}))

    with pytest.raises(HostError, match="no hash"):
        host.head_sha()


def test_our_account_is_asked_for_once(github_api: FakeGitHub, host: GithubReviews) -> None:
    assert [host.own_id(), host.own_id()] == [github_api.own.account_id] * 2
    assert github_api.paths("GET").count("/user") == 1


def test_a_token_that_may_not_read_its_user_asks_by_graphql(github_api: FakeGitHub, host: GithubReviews) -> None:
    github_api.refuse("GET", "/user$", missing_permission("metadata", "read"))
    github_api.refuse("POST", "/graphql$", Reply(200, {"data": {"viewer": {"databaseId": 41_898_282}}}))

    assert host.own_id() == 41_898_282


@pytest.mark.parametrize("viewer", [{"databaseId": None}, None, {"databaseId": True}])
def test_a_token_that_nobody_knows_the_account_of_is_refused(
    viewer: dict[str, object] | None, github_api: FakeGitHub, host: GithubReviews
) -> None:
    github_api.refuse("GET", "/user$", not_found())
    github_api.refuse("POST", "/graphql$", Reply(200, {"data": {"viewer": viewer}}))

    with pytest.raises(HostAccessError, match="whose token"):
        host.own_id()


def test_a_known_account_is_not_asked_for(github_api: FakeGitHub, client: GithubClient, pull: PullRequest) -> None:
    assert GithubReviews(client, pull, own_id=12).own_id() == 12
    assert "/user" not in github_api.paths("GET")


def test_a_review_is_posted_with_its_comments_in_one_call(
    github_api: FakeGitHub, host: GithubReviews, pull: PullRequest, draft: Callable[..., ReviewDraft]
) -> None:
    one = InlineComment("app.py", 20, "alone")
    several = InlineComment("app.py", 21, "several", start_line=19)
    posted = host.post_review(draft(one, several, InlineComment("app.py", 18, "the same twice", start_line=18)))

    assert github_api.paths("POST") == [REVIEWS]
    assert posted == host.reviews()[0]
    assert (posted.body, posted.commit_sha, posted.blocks) == ("a body", pull.head_sha, False)
    assert posted.author_id == host.own_id()
    assert posted.url == f"{pull.url}#pullrequestreview-{posted.review_id}"
    assert [(each.line, each.comments[0].body) for each in host.threads()] == [
        (20, "alone"),
        (21, "several"),
        (18, "the same twice"),
    ]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        (InlineComment("app.py", 30, "x"), "must be part of the diff"),
        (InlineComment("other.py", 20, "x"), "must be part of the diff"),
        (InlineComment("app.py", 20, "x", start_line=2), "same hunk"),
        (InlineComment("app.py", 20, "x" * 65_537), "too long"),
    ],
)
def test_one_line_outside_of_the_change_loses_the_whole_review(
    comment: InlineComment, words: str, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    with pytest.raises(HostInvalidError, match=words):
        host.post_review(draft(InlineComment("app.py", 20, "fine"), comment))
    assert host.reviews() == ()
    assert host.threads() == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"body": "x" * 65_537}, "maximum is 65536"),
        ({"body": " "}, "blank"),
        ({"commit_sha": "c" * 40}, "not part of the pull request"),
    ],
)
def test_a_draft_that_github_takes_for_invalid_is_told_so(
    fields: dict[str, str], words: str, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    with pytest.raises(HostInvalidError, match=words):
        host.post_review(draft(**fields))


def test_nobody_asks_for_changes_of_their_own(
    github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    github_api.state.repositories["acme/shop"].pulls[1].author = github_api.own

    with pytest.raises(HostInvalidError, match="your own"):
        host.post_review(draft(event="REQUEST_CHANGES"))


def test_a_review_that_was_begun_and_not_submitted_is_none(
    github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    reviews = github_api.state.repositories["acme/shop"].pulls[1].reviews
    reviews.append(Review(5, github_api.own, "", "PENDING", None, "2026-01-01T00:00:00Z"))

    assert host.reviews() == ()
    with pytest.raises(HostInvalidError, match="one pending review"):
        host.post_review(draft())


def test_all_pages_are_read_oldest_first(github_api: FakeGitHub, host: GithubReviews) -> None:
    pull = github_api.state.repositories["acme/shop"].pulls[1]
    for number in range(250, 0, -1):
        pull.reviews.append(Review(number, None, f"{number}", "commented", None, "2026-01-01T00:00:00Z"))

    found = host.reviews()

    assert [each.review_id for each in found] == list(range(1, 251))
    assert (found[0].author_id, found[0].commit_sha) == (None, None)
    assert github_api.paths("GET").count(REVIEWS) == 3


@pytest.mark.parametrize("reply", [server_error(), server_error(504), dropped()])
@pytest.mark.parametrize("carried_out", [True, False])
def test_a_call_without_an_answer_is_unknown_and_not_repeated(
    carried_out: bool,  # noqa: FBT001 - pytest hands it in by name
    reply: Reply,
    github_api: FakeGitHub,
    host: GithubReviews,
    draft: Callable[..., ReviewDraft],
) -> None:
    github_api.refuse("POST", "/reviews$", reply, carried_out=carried_out)

    with pytest.raises(HostUnknownError):
        host.post_review(draft())
    assert github_api.paths("POST") == [REVIEWS]
    assert len(host.reviews()) == carried_out


def test_an_answer_without_an_id_is_unknown(
    github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    github_api.refuse("POST", "/reviews$", Reply(200, {"id": True}))

    with pytest.raises(HostUnknownError, match="no id"):
        host.post_review(draft())


def test_a_secondary_limit_says_how_long_and_nothing_is_sent_twice(
    github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    github_api.refuse("POST", "/reviews$", secondary_limit(90))

    with pytest.raises(HostLimitError) as limit:
        host.post_review(draft())
    assert limit.value.retry_after_s == 90
    assert github_api.paths("POST") == [REVIEWS]


def test_a_missing_permission_is_named(
    github_api: FakeGitHub, pull: PullRequest, make_client: Callable[..., GithubClient]
) -> None:
    github_api.add_token("ghs_" + "r" * 36, "reader[bot]", {"pull_requests": "read", "contents": "read"})
    reader = GithubReviews(make_client(github_api, token="ghs_" + "r" * 36), pull)

    with pytest.raises(HostAccessError, match="pull_requests=write"):
        reader.post_review(ReviewDraft(pull.head_sha, "a body"))


def test_a_review_of_ours_gets_another_body(host: GithubReviews, draft: Callable[..., ReviewDraft]) -> None:
    posted = host.post_review(draft())
    host.edit_review(posted.review_id, "another body")

    assert host.reviews() == (replace(posted, body="another body"),)


def test_what_is_not_there_or_not_ours_cannot_be_edited(
    github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    posted = host.post_review(draft())
    github_api.state.repositories["acme/shop"].pulls[1].reviews[0].account = github_api.state.account("somebody")

    with pytest.raises(HostAccessError):
        host.edit_review(posted.review_id, "x")
    with pytest.raises(HostMissingError):
        host.edit_review(1, "x")


def test_a_review_no_longer_asks_for_changes(host: GithubReviews, draft: Callable[..., ReviewDraft]) -> None:
    posted = host.post_review(draft(event="REQUEST_CHANGES"))
    host.release_review(posted.review_id, "a newer one stands in its place")

    assert (posted.blocks, host.reviews()[0].blocks) == (True, False)
    with pytest.raises(HostInvalidError, match="dismissed"):
        host.release_review(posted.review_id, "again")


ROW = {"id": 7, "user": {"id": 3}, "body": "b", "state": "COMMENTED", "commit_id": "c" * 40}


@pytest.mark.parametrize("odd", [{"id": True}, {"id": 0}, {"id": -1}, {"id": "7"}, {"id": None}])
def test_what_has_no_id_in_a_list_is_passed_over(
    odd: dict[str, object], github_api: FakeGitHub, host: GithubReviews
) -> None:
    line = {"pull_request_review_id": 7, "path": "app.py", "line": 20}
    github_api.refuse("GET", "/reviews$", Reply(200, [{**ROW, **odd}, "odd", ROW]))
    github_api.refuse("GET", "/comments$", Reply(200, [{**ROW, **line, **odd}, ROW | line]))

    assert [each.review_id for each in host.reviews()] == [7]
    assert len(host.threads()) == 1


@pytest.mark.parametrize(
    ("state", "found"),
    [("pending", []), ("PENDING", []), ("changes_requested", [True]), ("CHANGES_REQUESTED", [True]), (None, [False])],
)
def test_the_state_of_a_review_counts_in_any_case(
    state: object, found: list[bool], github_api: FakeGitHub, host: GithubReviews
) -> None:
    github_api.refuse("GET", "/reviews$", Reply(200, [{**ROW, "state": state}]))

    assert [each.blocks for each in host.reviews()] == found


def test_what_an_answer_does_not_tell_is_none_or_empty(github_api: FakeGitHub, host: GithubReviews) -> None:
    odd = {"id": 7, "user": {"id": True}, "body": None, "commit_id": 3, "pull_request_review_id": 0, "line": "20"}
    github_api.refuse("GET", "/reviews$", Reply(200, [odd]))
    github_api.refuse("GET", "/comments$", Reply(200, [odd]))
    (review,), (thread,) = host.reviews(), host.threads()

    assert (review.author_id, review.commit_sha, review.body) == (None, None, "")
    assert (thread.comments[0].author_id, thread.line, thread.comments[0].body) == (None, None, "")


@pytest.mark.parametrize("reply", [server_error(), dropped()])
def test_another_body_is_put_again_and_a_release_is_not(
    reply: Reply, github_api: FakeGitHub, host: GithubReviews, draft: Callable[..., ReviewDraft]
) -> None:
    posted = host.post_review(draft(event="REQUEST_CHANGES"))
    github_api.refuse("PUT", "/reviews/", reply)
    host.edit_review(posted.review_id, "another body")
    assert github_api.paths("PUT") == [f"{REVIEWS}/{posted.review_id}"] * 2

    github_api.refuse("PUT", "/dismissals$", reply, carried_out=True)
    with pytest.raises(HostUnknownError):
        host.release_review(posted.review_id, "a newer one stands in its place")
    assert host.reviews() == (replace(posted, body="another body", blocks=False),)
