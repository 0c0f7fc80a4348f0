from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.branch import Range, parse_range
from reviewbot.sources.git.repository import GitRepository


def refusal(repository: GitRepository, text: str) -> str:
    with repository, pytest.raises(InputError) as caught:
        repository.range_diff(text)
    assert str(caught.value).isprintable()
    return str(caught.value)


# --- the words of a range -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("main..topic", Range("main", "topic")),
        ("main...topic", Range("main", "topic", from_merge_base=True)),
        ("main..", Range("main", "HEAD")),
        ("..topic", Range("HEAD", "topic")),
        ("...", Range("HEAD", "HEAD", from_merge_base=True)),
        ("HEAD~2", Range(None, "HEAD~2")),
        (":/fix a bug", Range(None, ":/fix a bug")),
        ("HEAD@{2 days ago}", Range(None, "HEAD@{2 days ago}")),
    ],
)
def test_a_range_is_taken_apart_as_git_does(text: str, wanted: Range) -> None:
    assert parse_range(text) == wanted


@pytest.mark.parametrize(
    "text", ["", " ", "-p", "--output=x", "a..-p", "-p..a", "a....b", "a\n..b", "a\0", "\x1b[31m", "\ud800"]
)
def test_what_no_revision_can_be_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no range of commits") as caught:
        parse_range(text)
    assert str(caught.value).isprintable()


@given(st.text(max_size=40))
def test_no_text_makes_a_name_that_looks_like_an_option(text: str) -> None:
    try:
        wanted = parse_range(text)
    except InputError:
        return
    assert not wanted.head.startswith("-")
    assert not (wanted.base or "").startswith("-")


# --- the diff of a range ------------------------------------------------------------------------------------------


def test_two_dots_compare_both_ends(repo: Any) -> None:
    base = repo.commit(a_py="one\n")
    repo.git("checkout", "--quiet", "-b", "topic")
    head = repo.commit(b_py="two\n")
    repo.git("checkout", "--quiet", "main")
    other = repo.commit(c_py="three\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("main..topic")

    assert (found.base_sha, found.head_sha) == (other, head)
    assert b"+++ b/b.py" in found.diff
    assert b"--- a/c.py" in found.diff
    assert base not in (found.base_sha, found.head_sha)


def test_three_dots_compare_with_the_point_of_departure(repo: Any) -> None:
    base = repo.commit(a_py="one\n")
    repo.git("checkout", "--quiet", "-b", "topic")
    head = repo.commit(b_py="two\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit(c_py="three\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("main...topic")

    assert (found.base_sha, found.head_sha) == (base, head)
    assert found.diff.count(b"diff --git") == 1


def test_a_single_commit_is_compared_with_its_first_parent(repo: Any) -> None:
    base = repo.commit(a_py="one\n")
    head = repo.commit(a_py="two\n")
    repo.commit(a_py="three\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("HEAD~1")

    assert (found.base_sha, found.head_sha) == (base, head)
    assert found.diff.endswith(b"@@ -1 +1 @@\n-one\n+two\n")


def test_a_merge_is_compared_with_its_first_parent(repo: Any) -> None:
    repo.commit(a_py="one\n")
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit(b_py="two\n")
    repo.git("checkout", "--quiet", "main")
    first = repo.commit(c_py="three\n")
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "topic")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("HEAD")

    assert found.base_sha == first
    assert b"b/b.py" in found.diff
    assert b"c.py" not in found.diff


def test_a_root_commit_adds_everything_in_it(repo: Any) -> None:
    head = repo.commit(a_py="one\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("HEAD")

    assert (found.base_sha, found.head_sha) == (None, head)
    assert b"new file mode 100644" in found.diff


def test_the_parent_of_a_root_by_its_full_hash_is_nothing(repo: Any) -> None:
    root = repo.commit(a_py="one\n")
    second = repo.commit(b_py="two\n")
    head = repo.commit(c_py="three\n")

    with GitRepository(repo.folder) as repository:
        whole = repository.range_diff(f"{root}^..{head}")
        later = repository.range_diff(f"{second}^..{head}")

    assert (whole.base_sha, whole.head_sha, later.base_sha) == (None, head, root)
    assert whole.diff.count(b"new file mode") == 3
    assert "unknown revision" in refusal(GitRepository(repo.folder), f"{'1' * 40}^..{head}")
    assert "unknown revision" in refusal(GitRepository(repo.folder), f"{root}^...{head}")


def test_a_tag_and_a_short_hash_name_the_commit_behind_them(repo: Any) -> None:
    base = repo.commit(a_py="one\n")
    repo.git("tag", "--annotate", "--message", "first", "v1")
    head = repo.commit(a_py="two\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff(f"v1..{head[:8]}")

    assert (found.base_sha, found.head_sha) == (base, head)


def test_an_equal_range_gives_an_empty_diff(repo: Any) -> None:
    repo.commit(a_py="one\n")

    with GitRepository(repo.folder) as repository:
        assert repository.range_diff("HEAD..HEAD").diff == b""


def test_a_renamed_file_is_one_change(repo: Any) -> None:
    repo.commit(a_py="".join(f"line {n}\n" for n in range(20)))
    repo.git("mv", "a.py", "b.py")
    repo.commit()

    with GitRepository(repo.folder) as repository:
        diff = repository.range_diff("HEAD").diff

    assert b"rename from a.py\nrename to b.py" in diff


def test_names_are_quoted_as_git_does_and_hashes_are_whole(repo: Any) -> None:
    repo.commit()
    repo.write("a\tb é.py".encode() + b"\xff", "x\n")
    repo.commit()

    with GitRepository(repo.folder) as repository:
        diff = repository.range_diff("HEAD").diff

    assert rb'+++ "b/a\tb \303\251.py\377"' in diff
    assert b"index " + b"0" * 40 + b".." in diff


@pytest.mark.parametrize("size", [20, 400])
def test_a_binary_file_is_named_and_not_printed(repo: Any, size: int) -> None:
    repo.write("a.bin", b"\0" * size)
    repo.commit()

    with GitRepository(repo.folder) as repository:
        assert b"Binary files /dev/null and b/a.bin differ" in repository.range_diff("HEAD").diff


def test_a_repository_with_longer_hashes_works(make_repo: Callable[..., Any]) -> None:
    repo = make_repo("sha256", "--object-format=sha256")
    repo.commit(a_py="one\n")
    head = repo.commit(a_py="two\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff("HEAD")
        assert repository.blob(head, "a.py") == "two\n"

    assert len(head) == 64
    assert b"-one\n+two\n" in found.diff


def test_a_linked_work_tree_a_subfolder_and_a_bare_clone_work(repo: Any, tmp_path: Path) -> None:
    repo.commit(deep__a_py="one\n")
    head = repo.commit(deep__a_py="two\n")
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(tmp_path / "bare.git"))

    for folder in (tmp_path / "linked", repo.folder / "deep", repo.folder / ".git", tmp_path / "bare.git"):
        with GitRepository(folder) as repository:
            assert repository.range_diff("HEAD").head_sha == head


def test_a_folder_with_an_odd_name_works(make_repo: Callable[..., Any]) -> None:
    repo = make_repo('odd "#:\n\\ é')
    head = repo.commit(a_py="one\n")

    with GitRepository(repo.folder) as repository:
        assert repository.range_diff("HEAD").head_sha == head
        assert repository.blob(head, "a.py") == "one\n"


def test_objects_that_are_borrowed_from_another_repository_are_found(repo: Any, tmp_path: Path) -> None:
    head = repo.commit(a_py="one\n")
    repo.git("clone", "--quiet", "--shared", str(repo.folder), str(tmp_path / "sharing"))

    with GitRepository(tmp_path / "sharing") as repository:
        assert repository.blob(head, "a.py") == "one\n"


# --- what cannot be done ------------------------------------------------------------------------------------------


def test_an_unknown_revision_is_named(repo: Any) -> None:
    repo.commit()

    assert refusal(GitRepository(repo.folder), "nowhere..HEAD") == (
        "unknown revision 'nowhere'; look at 'git log --all', or fetch first"
    )


@pytest.mark.parametrize("text", ["HEAD^{tree}", "HEAD:a.py", ":a.py", "HEAD^!", "main main", "@{u}"])
def test_what_names_no_single_commit_is_unknown(repo: Any, text: str) -> None:
    repo.commit(a_py="one\n")

    assert refusal(GitRepository(repo.folder), text).startswith("unknown revision")


def test_a_range_in_a_repository_without_a_commit_is_unknown(repo: Any) -> None:
    assert refusal(GitRepository(repo.folder), "HEAD").startswith("unknown revision 'HEAD'")


def test_histories_without_a_common_ancestor_are_named(repo: Any) -> None:
    repo.commit(a_py="one\n")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit(a_py="two\n")

    assert "no common ancestor of" in refusal(GitRepository(repo.folder), "main...other")


def test_a_shallow_clone_says_how_to_get_the_rest(repo: Any, tmp_path: Path) -> None:
    repo.commit(a_py="one\n")
    repo.commit(a_py="two\n")
    repo.git("clone", "--quiet", "--depth=1", repo.folder.as_uri(), str(tmp_path / "shallow"))

    repository = GitRepository(tmp_path / "shallow")

    assert "git fetch --unshallow" in refusal(repository, "HEAD")
    assert "git fetch --unshallow" in refusal(repository, "HEAD~1..HEAD")


def test_a_shallow_clone_is_compared_where_it_has_both_ends(repo: Any, tmp_path: Path) -> None:
    repo.commit(a_py="one\n")
    repo.commit(a_py="two\n")
    repo.commit(a_py="three\n")
    repo.git("clone", "--quiet", "--depth=2", repo.folder.as_uri(), str(tmp_path / "shallow"))

    with GitRepository(tmp_path / "shallow") as repository:
        assert b"-two\n+three\n" in repository.range_diff("HEAD~1...HEAD").diff


def test_a_folder_outside_of_any_repository_is_named(tmp_path: Path) -> None:
    assert "is not inside a git repository" in refusal(GitRepository(tmp_path), "HEAD")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "is no folder" in refusal(GitRepository(tmp_path / "nowhere"), "HEAD")


def test_a_repository_of_an_unknown_kind_is_named(repo: Any) -> None:
    repo.commit()
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.fromTheFuture", "true")

    assert "git cannot read the repository at" in refusal(GitRepository(repo.folder), "HEAD")


def test_without_git_a_person_is_told_what_to_do(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit()
    for path in ("", str(repo.folder), "bin:."):
        monkeypatch.setenv("PATH", path)
        assert "git is not installed" in refusal(GitRepository(repo.folder), "HEAD")


def test_a_program_called_git_in_the_reviewed_folder_is_not_it(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(git="#!/bin/sh\ntouch ../ran\n")
    (repo.folder / "git").chmod(0o755)
    monkeypatch.chdir(repo.folder)
    monkeypatch.setenv("PATH", "")

    assert "git is not installed" in refusal(GitRepository(repo.folder), "HEAD")
    assert not (repo.folder.parent / "ran").exists()


@pytest.mark.parametrize("name", ["x" * 300, "half"])
def test_what_cannot_be_a_repository_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "HEAD").touch()

    assert "git repository" in refusal(GitRepository(tmp_path / name), "HEAD")


@pytest.mark.parametrize("pointer", ["gitdir: nowhere", "no pointer", "", "gitdir: \0"])
def test_a_git_file_that_leads_nowhere_is_no_repository(tmp_path: Path, pointer: str) -> None:
    (tmp_path / ".git").write_text(pointer)

    assert "git repository" in refusal(GitRepository(tmp_path), "HEAD")
