"""The hosts on which the contract is tried, each with the same pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.sources.git.repository import GitRepository
from tests.git_repo import GitRepo, copy_repo
from tests.github_api.apps import AppGithub
from tests.host_cases import AFTER, BEFORE, GithubCase, HostCase, LocalCase


@pytest.fixture(scope="session")
def pay_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch "feature", checked out, with a defect; `main` has gone on since. Copied, never written to."""
    repo = GitRepo(tmp_path_factory.mktemp("pay") / "shop")
    repo.commit({"src/pay.py": BEFORE, "README.md": "a shop\n"})
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"src/pay.py": AFTER})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"README.md": "the shop\n", ".reviewbot.toml": "max_findings = 7\n"})
    repo.git("checkout", "--quiet", "feature")
    return repo.folder


@pytest.fixture
def pay_repo(pay_template: Path, tmp_path: Path) -> GitRepo:
    copy_repo(pay_template, tmp_path / "shop")
    return GitRepo(tmp_path / "shop")


@pytest.fixture
def github_case(pay_repo: GitRepo) -> Iterator[GithubCase]:
    with AppGithub() as api, GithubClient(GithubAccess(api.token, api.url)) as client:
        yield GithubCase(pay_repo, api, client)
    api.check()


@pytest.fixture
def local_case(pay_repo: GitRepo) -> Iterator[LocalCase]:
    with GitRepository(pay_repo.folder) as git:
        yield LocalCase(pay_repo, git)


@pytest.fixture(params=["github_case", "local_case"])
def case(request: pytest.FixtureRequest) -> HostCase:
    found: HostCase = request.getfixturevalue(request.param)
    return found
