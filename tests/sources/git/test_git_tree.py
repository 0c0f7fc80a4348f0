"""The files of a commit, of the index, and of a folder on disk that git tracks."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.snapshot import GitSnapshot
from reviewbot.sources.git.work_tree import tracked_files
from tests.git_repo import GitRepo


def test_the_regular_files_of_a_commit_are_listed_by_name(repo: Any) -> None:
    (repo.folder / "link.py").symlink_to("a.py")
    repo.write("b b/ü.py", "x\n")
    head = repo.commit(a_py="word\n", a__c_py="y\n")

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, None, head)
        assert snapshot.files() == ("a.py", "a/c.py", "b b/ü.py")


def test_the_index_is_listed_as_it_was_staged(repo: Any) -> None:
    repo.commit(a_py="1\n")
    repo.write("new.py", "2\n")
    repo.git("add", "new.py")
    repo.write("untracked.py", "3\n")

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, repository.staged_diff().base_sha, None)
        assert snapshot.files() == ("a.py", "new.py")
        assert list(snapshot.contents(("new.py", "untracked.py", "a.py"))) == [("new.py", b"2\n"), ("a.py", b"1\n")]


def test_contents_are_those_of_text_files_alone(repo: Any) -> None:
    repo.write("binary", "a\0b")
    head = repo.commit(a_py="1\n")

    with GitRepository(repo.folder) as repository:
        found = GitSnapshot(repository, None, head).contents(["binary", "a.py", "no.py", "../a.py"])
        assert dict(found) == {"a.py": b"1\n"}


def test_of_a_commit_with_too_many_files_none_is_listed(repo: Any) -> None:
    head = repo.commit(a_py="1\n", b_py="2\n", c_py="3\n")

    with GitRepository(repo.folder) as repository:
        assert repository.files(head, 2) is None


def test_only_what_git_tracks_belongs_to_a_folder(repo: Any) -> None:
    repo.commit(a_py="1\n", sub__b_py="2\n", sub__ü_py="3\n")
    repo.write(".env", "KEY=1\n")
    repo.write("sub/new.py", "4\n")
    repo.git("add", "sub/new.py")
    (repo.folder / "sub" / "link.py").symlink_to("b.py")
    repo.git("add", "sub/link.py")

    assert tracked_files(repo.folder) == frozenset({"a.py", "sub/b.py", "sub/ü.py", "sub/new.py"})
    assert tracked_files(repo.folder / "sub") == frozenset({"b.py", "ü.py", "new.py"})


def test_unmerged_files_are_tracked(repo: Any) -> None:
    base = repo.commit(a_py="1\n")
    repo.commit(a_py="2\n")
    repo.git("checkout", "-q", "-b", "other", base)
    repo.commit(a_py="3\n")
    subprocess.run(["git", "merge", "-q", "@{-1}"], cwd=repo.folder, check=False, capture_output=True)

    assert tracked_files(repo.folder) == frozenset({"a.py"})


def test_a_folder_outside_of_any_work_tree_has_no_tracked_files(repo: Any, tmp_path: Path) -> None:
    repo.commit(a_py="1\n")
    unpacked = repo.folder / "build" / "unpacked"
    unpacked.mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()

    assert tracked_files(unpacked) is None
    assert tracked_files(outside) is None
    assert tracked_files(repo.folder / ".git") is None


def test_a_work_tree_without_a_commit_tracks_nothing(tmp_path: Path) -> None:
    GitRepo(tmp_path)
    (tmp_path / ".env").write_text("KEY=1")

    assert tracked_files(tmp_path) == frozenset()


def test_a_damaged_index_is_said(repo: Any) -> None:
    repo.commit(a_py="1\n")
    (repo.folder / ".git" / "index").write_bytes(b"DIRC nonsense")

    with pytest.raises(InputError, match="the index cannot be read"):
        tracked_files(repo.folder)
