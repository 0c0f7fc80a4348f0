"""The last commits of a file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from reviewbot import wiring
from reviewbot.domain.ports import Commit
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.snapshot import GitSnapshot
from tests.git_repo import GitRepo


def commit_at(repo: Any, text: str, subject: str, when: str, name: str = "a.py") -> str:
    repo.write(name, text)
    repo.git("add", "--all")
    repo.git("-c", "user.name=A", "commit", "--quiet", "--date", when, "--message", subject)
    return str(repo.git("rev-parse", "HEAD"))


def test_the_last_commits_of_a_file_come_newest_first_with_the_day_in_utc(repo: Any) -> None:
    first = commit_at(repo, "one\n", "Begin", "2020-01-02T23:30:00-0500")
    second = commit_at(repo, "2\n", "Number \t two\nlines\n\nbody", "2021-03-04T00:30:00+0300")
    commit_at(repo, "other\n", "Another file", "2021-04-04T12:00:00+0000", "b.py")
    base = commit_at(repo, "3\n", "Number three", "2022-05-06T12:00:00+0000")
    head = commit_at(repo, "4\n", "Number four", "2023-05-06T12:00:00+0000")

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, base, head)
        assert snapshot.history("a.py", 5) == (
            Commit(base, "2022-05-06", "Number three"),
            Commit(second, "2021-03-03", "Number two lines"),
            Commit(first, "2020-01-03", "Begin"),
        )
        assert [each.sha for each in snapshot.history("a.py", 2)] == [base, second]


@pytest.mark.parametrize(("path", "limit"), [("no.py", 5), ("a.py/b", 5), ("a.py", 0)])
def test_a_file_that_is_not_there_has_no_history(repo: Any, path: str, limit: int) -> None:
    base = repo.commit(a_py="one\n")

    with GitRepository(repo.folder) as repository:
        assert GitSnapshot(repository, base, base).history(path, limit) == ()
        assert GitSnapshot(repository, None, base).history("a.py", 5) == ()


def test_odd_names_have_a_history(repo: Any) -> None:
    repo.write(b":(glob)*.py", "one\n")
    repo.write(b"\xff", "one\n")
    base = repo.commit()

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, base, base)
        assert [each.sha for each in snapshot.history(":(glob)*.py", 5)] == [base]
        assert [each.sha for each in snapshot.history('"\\377"', 5)] == [base]


def test_where_history_was_cut_off_its_end_wrote_nothing_that_we_know_of(repo: Any, make_repo: Any) -> None:
    repo.commit(a_py="one\n", b_py="one\n")
    repo.commit(a_py="one\ntwo\n")
    base = repo.commit(a_py="one\ntwo\nthree\n")
    shallow = make_repo("shallow")
    shallow.git("fetch", "--quiet", "--depth=2", f"file://{repo.folder}", "main")
    shallow.git("update-ref", "HEAD", "FETCH_HEAD")

    with GitRepository(shallow.folder) as repository:
        snapshot = GitSnapshot(repository, base, base)
        assert [each.sha for each in snapshot.history("a.py", 5)] == [base]
        assert snapshot.history("b.py", 5) == ()


def test_a_commit_with_an_odd_date_and_subject_is_told_all_the_same(repo: Any) -> None:
    repo.commit(a_py="one\n")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    odd = f"tree {tree}\nauthor A <a> 99999999999999 +9999\ncommitter A <a> 99999999999 -0100\n\n{'é' * 300}\n"
    base = repo.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", given=odd.encode())

    with GitRepository(repo.folder) as repository:
        [found] = GitSnapshot(repository, base, base).history("a.py", 5)

    assert found.sha == base
    assert len(found.date) == len("2020-01-01")
    assert found.subject == "é" * 200


# --- a folder beside a diff -----------------------------------------------------------------------------------------


def history_beside(repo: Any, diff: bytes, folder: Path | None = None) -> list[str]:
    """The subjects of the last commits of a.py, of a diff beside a folder."""
    subject = wiring.from_diff(diff, folder or repo.folder)
    return [each.subject for each in subject.snapshot.history("a.py", 5)]


@pytest.fixture
def three(repo: Any) -> Any:
    """Two commits on `main`, then two on `feature`: the first of them leaves a.py as it is."""
    for number in (1, 2):
        commit_at(repo, f"{number}\n", f"Number {number}", "2020-01-02T12:00:00Z")
    repo.git("checkout", "--quiet", "-b", "feature")
    commit_at(repo, "new\n", "Another file", "2020-01-02T12:00:00Z", "b.py")
    commit_at(repo, "3\n", "Number 3", "2020-01-02T12:00:00Z")
    return repo


@pytest.mark.parametrize("side", ["main", "feature"])
def test_a_folder_has_the_history_before_the_change_at_either_side_of_it(three: Any, side: str) -> None:
    diff = three.output("diff", "main", "feature")
    three.git("checkout", "--quiet", side)

    assert history_beside(three, diff) == ["Number 2", "Number 1"]


def test_a_change_that_is_not_committed_has_the_history_of_all_commits(three: Any) -> None:
    three.write("a.py", "4\n")
    three.write("new.py", "new\n")
    three.git("add", "--intent-to-add", "new.py")

    assert history_beside(three, three.output("diff")) == ["Number 3", "Number 2", "Number 1"]


def test_a_change_whose_base_is_not_in_the_history_of_a_folder_has_none(three: Any) -> None:
    diff = three.output("diff", "main", "feature")
    squashed = three.git("commit-tree", "-m", "all", "feature^{tree}")
    three.git("checkout", "--quiet", squashed)

    assert history_beside(three, diff) == []


def test_a_folder_without_a_repository_of_its_own_has_no_history(three: Any, tmp_path: Path) -> None:
    diff = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n"
    inner, bare = three.folder / "inner", tmp_path / "bare"
    for folder in (inner, bare):
        folder.mkdir()
        (folder / "a.py").write_text("1\n")
    three.git("add", "--all")
    three.git("commit", "--quiet", "--message", "A copy")

    assert history_beside(three, diff, inner) == []
    assert history_beside(three, diff, bare) == []


def test_a_repository_without_a_commit_has_no_history(tmp_path: Path) -> None:
    GitRepo(tmp_path)
    (tmp_path / "a.py").write_text("1\n")
    subprocess.run(["git", "-C", str(tmp_path), "add", "--all"], check=True)
    diff = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n"

    assert wiring.from_diff(diff, tmp_path).snapshot.history("a.py", 5) == ()
