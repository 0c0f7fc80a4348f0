"""A pull request on our GitHub with a defect that the analyzers find, and the office that works on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.host_session import HostSession
from tests.git_repo import GitRepo
from tests.github_api import FakeGitHub, Pull
from tests.still_clock import StillClock

REPOSITORY = "acme/shop"
BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"
"""Ruff's F632: a literal is compared by identity. It has a safe fix."""


@pytest.fixture
def folder(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "shop")


@pytest.fixture
def open_pull(github_api: FakeGitHub, folder: GitRepo) -> Callable[..., Pull]:
    """Open one between two states of some files."""

    def make(head: Mapping[str, str] | None = None, base: Mapping[str, str] | None = None) -> Pull:
        folder.commit({"src/pay.py": BEFORE, **(base or {})})
        folder.commit(head or {"src/pay.py": AFTER}, branch="feature")
        github_api.add_repository(REPOSITORY, folder.folder)
        return github_api.open_pull(REPOSITORY, "main", "feature", title="Pay three at most")

    return make


@pytest.fixture
def client(github_api: FakeGitHub) -> Iterator[GithubClient]:
    with GithubClient(GithubAccess(github_api.token, github_api.url)) as made:
        yield made


@pytest.fixture
def office(client: GithubClient) -> HostSession:
    return HostSession(GithubHost(client), Signer.from_environment({}), clock=StillClock())
