"""A client of our GitHub whose clock only goes on when it sleeps, and a repository with a branch to merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import read_pull
from tests.git_repo import copy_repo
from tests.github_api import FakeGitHub
from tests.publishing import Shop, make_shop

NOW = 1_800_000_000.0


class PatientClock:
    """Goes on when somebody sleeps, and writes down for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept)

    def time(self) -> float:
        return NOW + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def patient() -> PatientClock:
    return PatientClock()


@pytest.fixture
def make_client(patient: PatientClock) -> Iterator[Callable[..., GithubClient]]:
    """Makes clients that are closed behind the test."""
    with ExitStack() as closing:

        def make(api: FakeGitHub, deadline_s: float = 300.0, token: str | None = None) -> GithubClient:
            access = GithubAccess(token or api.token, api.url)
            return closing.enter_context(GithubClient(access, patient, deadline_s))

        yield make


@pytest.fixture
def client(github_api: FakeGitHub, make_client: Callable[..., GithubClient]) -> GithubClient:
    return make_client(github_api)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `like` keeps what it has built."""
    return tmp_path_factory.mktemp("templates")


@pytest.fixture
def like(templates: Path) -> Callable[[Any, str, Callable[[], object]], None]:
    """Builds a repository of one sort with git once, and copies it from then on."""

    def fill(repo: Any, sort: str, build: Callable[[], object]) -> None:
        if not (templates / sort).exists():
            build()
            repo.git("repack", "-a", "-d", "--quiet")
            copy_repo(repo.folder, templates / sort)
        else:
            copy_repo(templates / sort, repo.folder)

    return fill


@pytest.fixture
def shop(github_api: FakeGitHub, repo: Any, like: Callable[..., None]) -> Any:
    """acme/shop, with a base of two files on main."""
    like(repo, "shop", lambda: repo.commit(app_py="".join(f"line {n}\n" for n in range(1, 41)), README="a shop\n"))
    github_api.add_repository("acme/shop", repo.folder)
    return repo


@pytest.fixture
def name_alone(github_api: FakeGitHub) -> None:
    """acme/shop, for tests that never look into it."""
    github_api.add_repository("acme/shop", Path())


@pytest.fixture
def opened(github_api: FakeGitHub, client: GithubClient, shop: Any) -> Callable[..., PullRequest]:
    """Opens a pull request of what is on the branch that is checked out now, and reads it."""

    def read(**fields: Any) -> PullRequest:
        branch = shop.git("rev-parse", "--abbrev-ref", "HEAD")
        number = github_api.open_pull("acme/shop", "main", branch, **fields).number
        return read_pull(client, "acme/shop", number)

    return read


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A branch with its changes, made once: nothing here writes to it."""
    return make_shop(tmp_path_factory.mktemp("made") / "shop")


@pytest.fixture
def pull(github_api: FakeGitHub, client: GithubClient, made: Shop) -> PullRequest:
    """Lines 1 and 20 of app.py are other ones: 1 to 4 and 17 to 23 are shown."""
    github_api.add_repository("acme/shop", made.folder)
    github_api.open_pull("acme/shop", "main", "feature")
    return read_pull(client, "acme/shop", 1)
