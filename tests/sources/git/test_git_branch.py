"""What a branch is compared with where nobody says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.branch import BranchRange
from reviewbot.sources.git.repository import GitRepository

if TYPE_CHECKING:
    from tests.git_repo import GitRepo


@pytest.fixture
def clone(make_repo: Callable[..., GitRepo], tmp_path: Path) -> GitRepo:
    """A clone of a repository with one commit, on its main branch."""
    origin = make_repo("origin")
    origin.commit(a_py="x = 1\n")
    origin.git("config", "receive.denyCurrentBranch", "ignore")
    origin.git("clone", "--quiet", str(origin.folder), str(tmp_path / "clone"))
    made = make_repo("other")
    made.folder = tmp_path / "clone"
    return made


def found(repo: GitRepo) -> BranchRange:
    with GitRepository(repo.folder) as repository:
        return repository.branch_range()


def refusal(repo: GitRepo) -> str:
    with pytest.raises(InputError) as caught:
        found(repo)
    return str(caught.value)


def test_the_default_branch_is_compared_with_its_upstream(clone: GitRepo) -> None:
    clone.commit(b_py="y = 1\n")

    assert found(clone) == BranchRange("refs/remotes/origin/main...HEAD", "main", "origin/main", 1)


def test_a_branch_without_an_upstream_is_compared_with_the_default_branch(clone: GitRepo) -> None:
    clone.git("checkout", "-q", "-b", "feature/x")
    clone.commit(b_py="y = 1\n")
    clone.commit(b_py="y = 2\n")

    assert found(clone) == BranchRange("refs/remotes/origin/main...HEAD", "feature/x", "origin/main", 2)


def test_a_branch_that_was_pushed_is_compared_with_the_default_branch_too(clone: GitRepo) -> None:
    clone.git("checkout", "-q", "-b", "feature")
    clone.commit(b_py="y = 1\n")
    clone.git("push", "-q", "-u", "origin", "feature")

    assert found(clone).base == "origin/main"
    clone.git("push", "-q", "origin", "feature:main")
    clone.commit(b_py="y = 2\n")
    assert (found(clone).base, found(clone).commits) == ("origin/main", 1)


def test_an_upstream_of_another_name_comes_first(clone: GitRepo) -> None:
    clone.git("checkout", "-q", "-b", "release")
    clone.commit(b_py="y = 1\n")
    clone.git("checkout", "-q", "-b", "fix", "--track", "release")
    clone.commit(b_py="y = 2\n")

    assert found(clone) == BranchRange("refs/heads/release...HEAD", "fix", "release", 1)


def test_a_base_that_has_everything_gives_way_to_the_next_one(clone: GitRepo) -> None:
    clone.git("checkout", "-q", "-b", "release")
    clone.commit(b_py="y = 1\n")
    clone.git("checkout", "-q", "-b", "fix", "--track", "release")

    assert found(clone).base == "origin/main"


def test_without_a_branch_the_commit_is_compared_with_the_default_branch(clone: GitRepo) -> None:
    clone.commit(b_py="y = 1\n")
    clone.git("checkout", "-q", "--detach")

    assert (found(clone).branch, found(clone).base) == ("HEAD", "origin/main")


@pytest.mark.parametrize("name", ["main", "master"])
def test_without_a_remote_the_usual_names_stand_for_the_default_branch(repo: GitRepo, name: str) -> None:
    repo.commit(a_py="x = 1\n")
    repo.git("branch", "-M", name)
    repo.git("checkout", "-q", "-b", "feature")
    repo.commit(a_py="x = 2\n")

    assert (found(repo).base, found(repo).text) == (name, f"refs/heads/{name}...HEAD")


def test_a_remote_of_another_name_has_a_default_branch_too(clone: GitRepo) -> None:
    clone.git("remote", "rename", "origin", "upstream")
    clone.git("remote", "set-head", "upstream", "main")
    clone.git("checkout", "-q", "-b", "feature")
    clone.commit(b_py="y = 1\n")

    assert found(clone).base == "upstream/main"


def test_where_nothing_can_be_taken_it_says_what_to_give(clone: GitRepo, repo: GitRepo) -> None:
    how = "--git HEAD reviews the last commit, --git RANGE others, --staged what is staged, "
    how += "and `git diff | reviewbot review -` what is not"
    assert refusal(clone) == f"main has no commit that origin/main lacks; {how}"
    assert refusal(repo) == "nothing is committed here yet; --staged reviews what is staged"
    repo.commit(a_py="x = 1\n")
    assert refusal(repo) == f"main is the default branch and has no upstream to compare it with; {how}"
    repo.git("branch", "-M", "work")
    assert refusal(repo).startswith("work has no upstream, and there is no default branch to compare it with; --git")
