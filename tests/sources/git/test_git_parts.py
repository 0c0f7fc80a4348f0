"""Parts of a git directory that are links, devices, pipes or too large."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.place import MAX_INDEX_BYTES, MAX_SHALLOW_BYTES, read_shallow
from reviewbot.sources.git.process import GitResult
from reviewbot.sources.git.repository import GitRepository

SECRET = "a line of another file"


@pytest.mark.parametrize("use", [lambda r: r.range_diff("HEAD"), lambda r: r.staged_diff()], ids=["range", "index"])
def test_a_link_in_the_place_of_the_shallow_list_is_refused_unread(
    repo: Any, tmp_path: Path, use: Callable[[GitRepository], object]
) -> None:
    repo.commit(a_py="one\n")
    (tmp_path / "other").write_text(SECRET + "\n")
    (repo.folder / ".git" / "shallow").symlink_to(tmp_path / "other")

    with pytest.raises(InputError) as refused, GitRepository(repo.folder) as repository:
        use(repository)

    assert SECRET not in str(refused.value)


def test_only_commits_of_the_shallow_list_are_copied(tmp_path: Path) -> None:
    (tmp_path / "shallow").write_text(f"{'a' * 40}\n{SECRET}\n{'b' * 64}\n{'c' * 41}\n")

    assert read_shallow(tmp_path / "shallow") == f"{'a' * 40}\n{'b' * 64}\n".encode()
    assert read_shallow(tmp_path / "none") is None


def test_a_shallow_list_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shallow").touch()
    os.truncate(tmp_path / "shallow", MAX_SHALLOW_BYTES + 1)

    with pytest.raises(InputError, match="larger than 4 MiB"):
        read_shallow(tmp_path / "shallow")


@pytest.mark.parametrize("name", ["index", "sharedindex.x", "shallow"])
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_is_no_regular_file_is_refused_at_once(repo: Any, name: str, kind: str) -> None:
    repo.commit(a_py="one\n")
    part = repo.folder / ".git" / name
    part.unlink(missing_ok=True)
    part.symlink_to("/dev/zero") if kind == "device" else os.mkfifo(part)

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="it is no regular file"):
        repository.staged_diff()


@pytest.mark.slow
def test_an_index_that_is_too_large_is_refused(repo: Any) -> None:
    repo.commit(a_py="one\n")
    os.truncate(repo.folder / ".git" / "index", MAX_INDEX_BYTES + 1)

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="larger than 512 MiB"):
        repository.staged_diff()


def test_git_is_quoted_with_known_words_alone() -> None:
    assert GitResult(128, b"", f"fatal: bad shallow line: {SECRET}\n").why == "git ended with 128"
    assert GitResult(128, b"", f"error: unable to read {SECRET}\n").why == "unable to read"
