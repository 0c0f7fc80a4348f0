"""A pull request as GitHub tells of it."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.domain.errors import HostError, HostMissingError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import GithubPull, check_repository, check_sha, read_pull
from tests.github_api import FakeGitHub, Reply
from tests.github_api.reads import pull_json
from tests.make import MakePullRequest


def test_a_pull_request_is_read_with_its_counts(github_api: FakeGitHub, shop: Any, opened: MakePullRequest) -> None:
    shop.git("checkout", "--quiet", "-b", "feature/x")
    head = shop.commit(app_py="line 1\n")

    pull = opened(title="Shorter", body="as asked", author="renovate[bot]", draft=True, labels=("size/s",))

    assert (pull.repository, pull.number, pull.title, pull.description) == ("acme/shop", 1, "Shorter", "as asked")
    assert (pull.author, pull.author_is_bot) == ("renovate[bot]", True)
    assert (pull.base_ref, pull.head_ref, pull.head_sha) == ("main", "feature/x", head)
    assert isinstance(pull, GithubPull)
    assert (pull.changed_files, pull.additions, pull.deletions) == (1, 0, 39)
    assert (pull.is_open, pull.draft, pull.labels) == (True, True, ("size/s",))
    assert pull.url.startswith("http://127.0.0.1:")
    assert pull.url.endswith("/acme/shop/pull/1")


def test_a_pull_request_is_read_where_its_fork_is_gone(github_api: FakeGitHub, shop: Any, client: GithubClient) -> None:
    github_api.add_repository("stranger/shop", shop.folder)
    pull = github_api.open_pull("acme/shop", "main", "main", fork="stranger/shop")

    pull.head_repository, pull.author, pull.body = None, None, None
    found = read_pull(client, "acme/shop", 1)
    assert (found.author, found.description) == ("ghost", "")


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("number", "7"),
        ("title", None),
        ("changed_files", -1),
        ("base", {"ref": "main", "sha": "main", "repo": {"id": 1, "full_name": "acme/shop"}}),
        ("base", {"ref": "main", "sha": "a" * 40, "repo": {"id": 1, "full_name": "acme/../../user"}}),
        ("base", {"ref": "main", "sha": "a" * 40, "repo": {"id": 1, "full_name": "acme/shop\n"}}),
        ("base", {"ref": "main", "sha": "a" * 40 + "\n", "repo": {"id": 1, "full_name": "acme/shop"}}),
        ("base", {"ref": "main", "sha": "a" * 40, "repo": None}),
        ("head", {"ref": "x", "sha": "--output=x"}),
        ("user", {"login": 3}),
    ],
)
def test_an_answer_of_another_form_is_refused_by_the_name_of_the_field(
    where: str, value: object, github_api: FakeGitHub, shop: Any, client: GithubClient
) -> None:
    found = pull_json(github_api.open_pull("acme/shop", "main", "main"))
    github_api.refuse("GET", "pulls/1$", Reply(200, {**found, where: value}))

    with pytest.raises(HostError, match=f"acme/shop#1 cannot be used: {where}"):
        read_pull(client, "acme/shop", 1)


@pytest.mark.parametrize("answer", [[], None, "a pull request"])
def test_an_answer_that_is_no_object_is_refused(answer: object, github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "pulls/1$", Reply(200, answer))

    with pytest.raises(HostError, match="acme/shop#1 cannot be used: it is wrong"):
        read_pull(client, "acme/shop", 1)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, (True, False, False)),
        ({"state": "OPEN", "draft": None}, (True, False, False)),
        ({"state": "closed", "draft": True}, (False, True, False)),
        ({"user": {"login": "a[bot]", "type": "Bot"}}, (True, False, True)),
        ({"user": {"login": "a[bot]"}}, (True, False, False)),
    ],
)
def test_what_a_pull_request_is_follows_from_its_fields(
    fields: dict[str, object], told: tuple[bool, ...], github_api: FakeGitHub, shop: Any, client: GithubClient
) -> None:
    known = pull_json(github_api.open_pull("acme/shop", "main", "main"))
    github_api.refuse("GET", "pulls/1$", Reply(200, known | fields))
    pull = read_pull(client, "acme/shop", 1)

    assert (pull.is_open, pull.draft, pull.author_is_bot) == told


def test_halves_of_characters_do_not_get_any_further(github_api: FakeGitHub, shop: Any, client: GithubClient) -> None:
    found = pull_json(github_api.open_pull("acme/shop", "main", "main", title="a\ud800b"))
    github_api.refuse("GET", "pulls/1$", Reply(200, found))

    assert read_pull(client, "acme/shop", 1).title == "a?b"


@pytest.mark.parametrize(
    "name", ["acme", "acme/", "/shop", "a/b/c", "acme/..", "acme/.", "../shop", "a b/c", "-a/b", "a/b?c", "a/b\n"]
)
def test_what_names_no_repository_is_not_asked_for(name: str, github_api: FakeGitHub, client: GithubClient) -> None:
    with pytest.raises(HostMissingError, match="OWNER/REPO"):
        read_pull(client, name, 1)
    assert github_api.recorded == []


def test_names_of_repositories_may_hold_dots() -> None:
    assert check_repository("acme/.github") == "acme/.github"
    assert check_repository("user_corp/a.b-c_d") == "user_corp/a.b-c_d"


@pytest.mark.parametrize("sha", ["", "main", "A" * 40, "a" * 39, "a" * 41, "a" * 40 + "\n", "../" + "a" * 40])
def test_what_is_no_hash_is_not_asked_for(sha: str) -> None:
    with pytest.raises(HostError):
        check_sha(sha)
