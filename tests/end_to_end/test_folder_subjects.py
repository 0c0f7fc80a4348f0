"""A folder that is reviewed beside its diff: which of its files are in reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot import wiring
from tests.git_repo import GitRepo

DIFF = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("import a\n")
    GitRepo(tmp_path).commit()
    (tmp_path / ".env").write_text("KEY=word\n")
    return tmp_path


def test_what_git_does_not_track_is_out_of_reach(checkout: Path) -> None:
    subject = wiring.from_diff(DIFF, checkout)

    assert subject.snapshot.files() == ("a.py", "b.py")
    assert subject.snapshot.head(".env") is None
    assert subject.snapshot.search("word", 9) == ()
    assert subject.notes == ()


def test_where_git_cannot_tell_only_the_change_is_read_and_that_is_said(checkout: Path) -> None:
    (checkout / ".git" / "index").write_bytes(b"DIRC nonsense")

    subject = wiring.from_diff(DIFF, checkout)

    assert subject.snapshot.files() == ("a.py",)
    assert subject.snapshot.head("b.py") is None
    assert subject.notes[0].startswith("only the changed files of --repo were read")


def test_a_folder_without_git_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("import a\n")

    assert wiring.from_diff(DIFF, tmp_path).snapshot.files() == ("a.py", "b.py")


def test_a_changed_file_without_a_text_is_listed_and_a_link_is_not(checkout: Path) -> None:
    (checkout / "logo.png").write_bytes(b"\0new")
    (checkout / "link.py").symlink_to("b.py")
    repo = GitRepo(checkout)
    repo.git("add", ".")
    diff = repo.output("diff", "--cached")

    subject = wiring.from_diff(diff, checkout)

    assert subject.snapshot.files() == (".env", "a.py", "b.py", "logo.png")
    assert subject.snapshot.head("logo.png") is None
    assert dict(subject.snapshot.contents(["logo.png", "link.py"])) == {}
