"""The last commits of a file, asked of GitHub."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.domain.ports import Commit
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.history import MAX_FILES
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.rate_limits import RESERVE
from tests.github_api import FakeGitHub, Reply
from tests.github_api.refusals import not_found
from tests.make import MakePullRequest

LISTED = "/repos/acme/shop/commits"


@pytest.fixture
def snapshot(client: GithubClient, opened: MakePullRequest) -> GithubSnapshot:
    return GithubSnapshot(client, opened())


def asked(api: FakeGitHub) -> list[str]:
    return [each.query["path"] for each in api.recorded if each.path == LISTED]


def test_the_commits_of_a_file_up_to_the_base_are_asked_for_once(
    snapshot: GithubSnapshot, shop: Any, github_api: FakeGitHub
) -> None:
    shop.git("checkout", "--quiet", "main")
    base = shop.git("rev-parse", "HEAD")
    first = snapshot.history("app.py", 5)

    assert [each.sha for each in first] == shop.git("log", "--format=%H", "main", "--", "app.py").split()
    assert snapshot.history("app.py", 5) is first
    [request] = [each for each in github_api.recorded if each.path == LISTED]
    assert dict(request.query) == {"sha": base, "path": "app.py", "per_page": "5"}


def test_what_is_odd_in_an_answer_costs_no_more_than_itself(snapshot: GithubSnapshot, github_api: FakeGitHub) -> None:
    rows = [
        7,
        {"sha": None, "commit": {}},
        {"sha": "a" * 40, "commit": None},
        {"sha": "b" * 40, "commit": {"author": None, "message": None}},
        {"sha": "c" * 40, "commit": {"author": {"date": "2020-01-02T23:30:00Z"}, "message": "\n one\r\ntwo\n\nbody"}},
    ]
    github_api.refuse("GET", "/commits$", Reply(200, rows))

    found = snapshot.history("app.py", 9)

    assert found == (Commit("b" * 40, "1970-01-01", ""), Commit("c" * 40, "2020-01-02", "one two"))
    github_api.refuse("GET", "/commits$", Reply(200, {"message": "no list"}))
    assert snapshot.history("other.py", 9) == ()


def test_after_an_error_nothing_more_is_asked(snapshot: GithubSnapshot, github_api: FakeGitHub) -> None:
    github_api.refuse("GET", "/commits$", not_found())

    assert snapshot.history("app.py", 5) == ()
    assert snapshot.history("other.py", 5) == ()
    assert asked(github_api) == ["app.py"]
    assert snapshot.failures == []


@pytest.mark.slow
def test_only_so_many_files_are_asked_about_and_none_that_no_request_can_name(
    snapshot: GithubSnapshot, github_api: FakeGitHub
) -> None:
    assert snapshot.history('"\\377"', 5) == ()
    assert snapshot.history("app.py", 0) == ()
    for number in range(MAX_FILES):
        snapshot.history(f"f{number}.py", 5)

    assert len(asked(github_api)) == MAX_FILES - 2


def test_what_is_left_of_the_hourly_limit_is_kept_for_posting(snapshot: GithubSnapshot, github_api: FakeGitHub) -> None:
    github_api.state.left["core"] = RESERVE
    snapshot.head("app.py")

    assert snapshot.history("app.py", 5) == ()
    assert asked(github_api) == []
