"""What reviewers wrote of a file before: from merged pull requests, of people who may write, as data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.adapters.github.client import GithubClient
from reviewbot.adapters.github.earlier import DOCUMENT, MAX_BODY, MAX_PATHS, _comments, earlier_comments
from reviewbot.adapters.github.snapshot import GithubSnapshot
from reviewbot.errors import HostError
from reviewbot.host import EarlierComment, PullRequest
from reviewbot.ports import Remembering, Snapshot
from reviewbot.wiring.pulls import from_pull
from tests.github_api import Account, Comment, FakeGitHub, Pull, Reply

Opened = Callable[..., PullRequest]

NOW = PullRequest(
    repository="acme/shop",
    repository_id=1,
    number=2,
    title="",
    description="",
    author="a",
    author_is_bot=False,
    author_association="NONE",
    base_ref="main",
    base_sha="a" * 40,
    head_ref="x",
    head_sha="b" * 40,
    head_repository=None,
    is_open=True,
    draft=False,
    labels=(),
    changed_files=1,
    additions=1,
    deletions=1,
    url="https://github.example/acme/shop/pull/2",
)


@pytest.fixture
def merged(github_api: FakeGitHub, shop: Any) -> Pull:
    """A pull request that was merged into main."""
    shop.git("checkout", "--quiet", "-b", "before")
    shop.commit(app_py="line 1\n" * 3, README="more\n")
    pull = github_api.open_pull("acme/shop", "main", "before")
    shop.git("checkout", "--quiet", "main")
    shop.git("merge", "--quiet", "before")
    pull.merged_at, pull.state = github_api.state.now(), "closed"
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.commit(app_py="line 1\n" * 4, README="even more\n")
    return pull


def say(api: FakeGitHub, pull: Pull, body: str, login: str = "maintainer", path: str = "app.py", **fields: Any) -> None:
    account: Account | None = api.state.account(login) if login else None
    made = Comment(api.state.next_id(), None, account, path, body, 1, api.state.now(), **fields)
    pull.comments.append(made)


def test_a_comment_on_the_same_file_is_found_with_its_place(
    github_api: FakeGitHub, merged: Pull, client: GithubClient, opened: Opened
) -> None:
    say(github_api, merged, "Please close the file,\n\nwe ran out of handles.")
    pull = opened()

    found = earlier_comments(client, pull, ["app.py", "README", "app.py"], 5)

    said = "Please close the file, we ran out of handles."
    assert found == (EarlierComment("app.py", "maintainer", said, 1, pull.url.replace("/pull/2", "/pull/1")),)
    assert [each.body["query"] for each in github_api.recorded if each.method == "POST"] == [DOCUMENT] * 2


@pytest.mark.parametrize(
    ("login", "fields"),
    [
        ("stranger", {"author_association": "NONE"}),
        ("stranger", {"author_association": "CONTRIBUTOR"}),
        ("reviewbot[bot]", {}),
        ("", {}),
        ("maintainer", {"path": "README"}),
        ("maintainer", {"in_reply_to_id": 1}),
        ("maintainer", {"body": " \n "}),
    ],
)
def test_strangers_bots_replies_and_other_files_are_not_listened_to(
    login: str, fields: dict[str, Any], github_api: FakeGitHub, merged: Pull, client: GithubClient, opened: Opened
) -> None:
    say(github_api, merged, **{"body": "b", "login": login, **fields})

    assert earlier_comments(client, opened(), ["app.py"], 5) == ()


def test_comments_are_capped_in_number_and_length(
    github_api: FakeGitHub, merged: Pull, client: GithubClient, opened: Opened
) -> None:
    for number in range(9):
        say(github_api, merged, f"{number} " + "x" * 2 * MAX_BODY)
    say(github_api, merged, "0 " + "x" * 2 * MAX_BODY)

    found = earlier_comments(client, opened(), ["app.py"], 3)

    assert [each.body[0] for each in found] == ["0", "1", "2"]
    assert {len(each.body) for each in found} == {MAX_BODY}


def test_at_most_a_dozen_files_are_asked_about(
    github_api: FakeGitHub, merged: Pull, client: GithubClient, opened: Opened
) -> None:
    earlier_comments(client, opened(), [f"f{number}" for number in range(50)], 3)

    assert github_api.paths("POST") == ["/graphql"] * MAX_PATHS


@pytest.fixture
def snapshot(merged: Pull, github_api: FakeGitHub, client: GithubClient, opened: Opened) -> GithubSnapshot:
    say(github_api, merged, "Never sleep here.")
    with ExitStack() as closing:
        found: Snapshot = from_pull(client, opened(), closing).snapshot
    assert isinstance(found, Remembering)
    assert isinstance(found, GithubSnapshot)
    return found


def test_a_snapshot_remembers_the_files_of_its_change_and_asks_once(
    github_api: FakeGitHub, snapshot: GithubSnapshot
) -> None:
    assert [snapshot.earlier("app.py", 5), snapshot.earlier("app.py", 5)] == [("Never sleep here.",)] * 2
    assert snapshot.earlier("app.py", 0) == ()
    assert snapshot.earlier("elsewhere.py", 5) == ()
    assert len(github_api.paths("POST")) == 1
    assert snapshot.deaf == ""


def test_where_there_is_no_graphql_nothing_is_remembered_and_nobody_asks_again(
    github_api: FakeGitHub, snapshot: GithubSnapshot
) -> None:
    github_api.state.graphql = False

    assert [snapshot.earlier(path, 5) for path in ("app.py", "README", "app.py")] == [()] * 3
    assert len(github_api.paths("POST")) == 1
    assert snapshot.deaf.startswith("GitHub does not show GraphQL")
    assert snapshot.failures == ()


def test_a_repository_that_graphql_does_not_show_is_an_error(
    github_api: FakeGitHub, merged: Pull, client: GithubClient, opened: Opened
) -> None:
    pull = opened()
    github_api.state.repositories.clear()

    with pytest.raises(HostError, match="Could not resolve"):
        earlier_comments(client, pull, ["app.py"], 5)


def told(*pulls: dict[str, Any]) -> dict[str, Any]:
    """What GraphQL tells of a file whose last commit came with these pull requests."""
    history = {"history": {"nodes": [{"associatedPullRequests": {"nodes": list(pulls)}}]}}
    return {"repository": {"object": history}}


def a_merged(number: object = 1, body: object = "b", login: object = "m", **fields: Any) -> dict[str, Any]:
    author = {"__typename": "User", "login": login}
    comment = {"author": author, "authorAssociation": "MEMBER", "body": body}
    thread = {"path": "p", "comments": {"nodes": [comment]}}
    return {"number": number, "merged": True, "reviewThreads": {"nodes": [thread]}, **fields}


@pytest.mark.parametrize(
    "pulls",
    [
        [a_merged(merged=False)],
        [a_merged(merged="true")],
        [a_merged(number="1")],
        [a_merged(number=None)],
        [a_merged(number=NOW.number)],
        [a_merged(login=3)],
        [a_merged(body=3)],
    ],
)
def test_what_was_not_merged_is_this_one_or_has_no_name_is_left_out(pulls: list[dict[str, Any]]) -> None:
    assert list(_comments(told(*pulls), "p", NOW)) == []
    assert [each.pull for each in _comments(told(*pulls, a_merged(5)), "p", NOW)] == [5]


def test_the_same_words_of_two_pull_requests_are_told_twice(github_api: FakeGitHub, client: GithubClient) -> None:
    answer = told(a_merged(1), a_merged(3), a_merged(1), a_merged(3, "other"))
    github_api.refuse("POST", "graphql$", Reply(200, {"data": answer}))

    found = earlier_comments(client, NOW, ["p"], 5)

    assert [(each.pull, each.body, each.url) for each in found] == [
        (number, body, f"https://github.example/acme/shop/pull/{number}")
        for number, body in ((1, "b"), (3, "b"), (3, "other"))
    ]


NAMES = [
    "repository",
    "object",
    "history",
    "nodes",
    "associatedPullRequests",
    "merged",
    "number",
    "reviewThreads",
    "path",
    "comments",
    "author",
    "login",
    "__typename",
    "authorAssociation",
    "body",
]
NODES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=25,
)


@given(NODES)
def test_any_answer_is_read_without_an_error(data: Any) -> None:
    whole = {"repository": {"object": {"history": {"nodes": [{"associatedPullRequests": {"nodes": [data]}}]}}}}

    for answer in (data, whole):
        assert isinstance(list(_comments(answer, "p", NOW)), list)
