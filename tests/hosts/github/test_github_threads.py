"""Threads at lines on GitHub: what is listed, a reply, a resolution and a reaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.errors import HostMissingError, HostUnknownError
from reviewbot.hosts.base import InlineComment, PullRequest, ReviewDraft
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.reviews import GithubReviews
from tests.github_api import FakeGitHub, Reply
from tests.github_api.refusals import server_error


@pytest.fixture
def host(client: GithubClient, pull: PullRequest) -> GithubReviews:
    """With three threads."""
    found = GithubReviews(client, pull)
    comments = tuple(InlineComment("app.py", line, f"at {line}") for line in (18, 20, 21))
    found.post_review(ReviewDraft(pull.head_sha, "a body", comments=comments))
    return found


def test_a_thread_has_its_replies_with_their_authors(host: GithubReviews, github_api: FakeGitHub) -> None:
    first = host.threads()[1]
    added = host.reply(first.thread_id, "Fixed.")
    github_api.state.repositories["acme/shop"].pulls[1].comments[-1].author_association = "OWNER"

    thread = host.threads()[1]

    assert (thread.path, thread.line, thread.resolved) == ("app.py", 20, False)
    assert [each.body for each in thread.comments] == ["at 20", "Fixed."]
    assert [each.association for each in thread.comments] == ["MEMBER", "OWNER"]
    assert thread.comments[1].comment_id == added.comment_id
    assert thread.comments[1].author_id == host.own_id()
    assert thread.comments[1].author


def test_a_resolved_thread_is_found_on_any_page_and_resolved_once(host: GithubReviews, github_api: FakeGitHub) -> None:
    github_api.state.max_threads = 1
    last = host.threads()[2].thread_id

    host.resolve(last)
    asked = len(github_api.paths("POST"))
    host.resolve(last)

    assert [each.resolved for each in host.threads()] == [False, False, True]
    assert github_api.paths("POST")[asked:].count("/graphql") == 6, "three pages twice, and no mutation"


def test_a_thread_whose_first_comment_is_gone_goes_on_with_its_replies(
    host: GithubReviews, github_api: FakeGitHub
) -> None:
    first = host.threads()[0].thread_id
    replies = [host.reply(first, text).comment_id for text in ("one", "two")]
    comments = github_api.state.repositories["acme/shop"].pulls[1].comments
    comments[:] = [each for each in comments if each.comment_id != first]

    thread = host.threads()[-1]

    assert thread.thread_id == replies[0]
    assert [each.comment_id for each in thread.comments] == replies


def without_graphql(api: FakeGitHub) -> None:
    api.state.graphql = False


def broken(api: FakeGitHub) -> None:
    odd: dict[str, Any] = {
        "data": {"repository": {"pullRequest": {"reviewThreads": {"nodes": [None, {"comments": {"nodes": []}}]}}}}
    }
    api.refuse("POST", "/graphql$", Reply(200, odd))


@pytest.mark.parametrize("breaks", [without_graphql, broken])
def test_where_graphql_does_not_answer_threads_are_listed_and_it_is_open_which_are_resolved(
    breaks: Callable[[FakeGitHub], None], host: GithubReviews, github_api: FakeGitHub
) -> None:
    breaks(github_api)

    assert [each.resolved for each in host.threads()] == [None, None, None]


def test_a_thread_that_is_not_there_is_neither_answered_nor_resolved(
    host: GithubReviews, github_api: FakeGitHub
) -> None:
    with pytest.raises(HostMissingError):
        host.reply(999_999, "x")
    with pytest.raises(HostMissingError, match="no thread"):
        host.resolve(999_999)

    github_api.refuse("POST", "/replies$", Reply(201, {}))
    with pytest.raises(HostUnknownError, match="names no id"):
        host.reply(host.threads()[0].thread_id, "x")


def test_a_reply_is_never_sent_twice(host: GithubReviews, github_api: FakeGitHub) -> None:
    thread = host.threads()[0].thread_id
    github_api.refuse("POST", "/replies$", server_error(), carried_out=True)

    with pytest.raises(HostUnknownError):
        host.reply(thread, "once")

    assert [each.body for each in host.threads()[0].comments] == ["at 18", "once"]


def test_a_reaction_names_the_kind_of_its_comment(host: GithubReviews, github_api: FakeGitHub) -> None:
    for kind in ("issues", "pulls"):
        github_api.refuse("POST", f"/{kind}/comments/7/reactions$", Reply(201, {}))
    host.react("issue", 7, "eyes")
    host.react("review", 7, "eyes")

    assert [each.rsplit("/", 4)[1] for each in github_api.paths("POST")[-2:]] == ["issues", "pulls"]
