from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.config.source import BaseSide
from reviewbot.diff.parser.file_names import label
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Snapshot
from reviewbot.domain.repository_files import MAX_FILE_BYTES, MAX_LISTED
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.snapshot import GitSnapshot


def test_a_file_is_read_as_it_stood_in_the_commit(repo: Any) -> None:
    old = repo.commit(deep__a_py="one\r\n")
    new = repo.commit(deep__a_py="two")
    repo.write("deep/a.py", "only in the work tree")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(old, "deep/a.py") == "one\r\n"
        assert repository.blob(new, "deep/a.py") == "two"


@pytest.mark.parametrize(
    "path",
    [
        "nowhere.py",
        "deep",
        "deep/",
        "",
        "/",
        "a.py/",
        "a.py/x",
        "../a.py",
        "deep/../a.py",
        "/etc/passwd",
        "a.py\n",
        ".git/HEAD",
    ],
)
def test_what_is_no_file_of_the_commit_is_none(repo: Any, path: str) -> None:
    head = repo.commit(a_py="one", deep__b_py="two")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, path) is None


def test_links_submodules_and_binary_or_huge_files_are_none(repo: Any) -> None:
    repo.write("binary", b"a\0b")
    repo.write("huge", b"x" * (MAX_FILE_BYTES + 1))
    repo.write("largest", b"x" * MAX_FILE_BYTES)
    (repo.folder / "link").symlink_to("/etc/passwd")
    (repo.folder / "folder-link").symlink_to("deep")
    base = repo.commit(deep__a_py="one")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    repo.git("commit", "--quiet", "--message", "module")
    head = repo.git("rev-parse", "HEAD")

    with GitRepository(repo.folder) as repository:
        for path in ("binary", "huge", "link", "folder-link/a.py", "module", "module/a.py"):
            assert repository.blob(head, path) is None
        assert len(repository.blob(head, "largest") or "") == MAX_FILE_BYTES
        assert repository.blob(head, "deep/a.py") == "one"


def test_bytes_that_are_no_text_become_replacement_characters(repo: Any) -> None:
    repo.write("a.py", b"caf\xe9\n")
    head = repo.commit()

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, "a.py") == "caf\ufffd\n"


_NAMES = st.binary(min_size=1, max_size=12).filter(
    lambda name: not set(name) & {0, ord("/")} and name not in (b".", b"..") and name.lower() != b".git"
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_NAMES)
def test_a_file_of_any_name_is_found_by_its_label(repo: Any, name: bytes) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", given=name)
    tree = repo.git("mktree", "-z", given=b"100644 blob " + blob.encode() + b"\t" + name + b"\0")
    commit = repo.git("commit-tree", tree, "-m", "odd")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(commit, label(name)) == name.decode("utf-8", "replace")


def test_the_files_directly_in_a_folder_are_listed(repo: Any) -> None:
    (repo.folder / "box" / "deep").mkdir(parents=True)
    (repo.folder / "box" / "link").symlink_to("a.py")
    repo.write("box/é\udcff".encode("utf-8", "surrogateescape"), "x")
    head = repo.commit(box__b_py="b", box__a_py="a", box__deep__c_py="c", d_py="d")

    with GitRepository(repo.folder) as repository:
        assert repository.files_in(head, "box") == ('"box/\\303\\251\\377"', "box/a.py", "box/b.py")
        assert repository.files_in(head, "box/deep") == ("box/deep/c.py",)
        assert repository.files_in(head, "box/link") == repository.files_in(head, "no") == ()


def test_a_folder_of_very_many_files_is_listed_up_to_a_limit(repo: Any) -> None:
    head = repo.commit(**{f"box__{n:04}": "x" for n in range(MAX_LISTED + 5)})

    with GitRepository(repo.folder) as repository:
        assert len(repository.files_in(head, "box")) == MAX_LISTED


@pytest.mark.parametrize("sha", ["HEAD", "", "--batch", "a" * 39, "A" * 40, "a" * 40 + "\n", "é" * 40])
def test_only_whole_hashes_are_taken(repo: Any, sha: str) -> None:
    repo.commit()

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="is no full commit hash"):
        repository.blob(sha, "a.py")


def test_a_commit_that_is_not_here_is_an_error_and_no_empty_file(repo: Any) -> None:
    repo.commit()

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="missing or damaged"):
        repository.blob("1" * 40, "a.py")


def test_a_folder_of_the_commit_that_is_not_here_is_an_error(repo: Any) -> None:
    head = repo.commit(deep__a_py="one")
    tree = repo.git("rev-parse", "HEAD:deep")
    (repo.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="missing or damaged"):
        repository.blob(head, "deep/a.py")


def test_a_file_that_is_not_here_is_none(repo: Any) -> None:
    head = repo.commit(a_py="one", b_py="two")
    blob = repo.git("rev-parse", "HEAD:a.py")
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, "a.py") is None
        assert repository.blob(head, "b.py") == "two"


def test_a_damaged_object_costs_no_other_one_anything(repo: Any) -> None:
    head = repo.commit(a_py="one", b_py="two")
    blob = repo.git("rev-parse", "HEAD:a.py")
    stored = repo.folder / ".git" / "objects" / blob[:2] / blob[2:]
    stored.chmod(0o644)
    stored.write_bytes(b"no zlib stream")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, "a.py") is None
        assert repository.blob(head, "b.py") == "two"


def test_a_reader_that_was_killed_is_started_again(repo: Any) -> None:
    head = repo.commit(a_py="one")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, "a.py") == "one"
        child = repository._objects._child
        assert child is not None
        child.kill()
        child.wait()
        assert repository.blob(head, "a.py") == "one"


def test_a_commit_is_read_once_for_all_files_of_it(repo: Any) -> None:
    head = repo.commit(a_py="one", b_py="two")

    with GitRepository(repo.folder) as repository:
        assert repository.blob(head, "a.py") == "one"
        # Only what was read before can still be known: the commit itself is gone from the store.
        repository._objects.close()
        (repo.folder / ".git/objects" / head[:2] / head[2:]).unlink()
        assert repository.blob(head, "b.py") == "two"


def test_many_threads_read_the_right_files(repo: Any) -> None:
    names = [f"f{n}" for n in range(60)]
    head = repo.commit({name: name * 500 for name in names})

    with GitRepository(repo.folder) as repository, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda name: repository.blob(head, name), names * 20))

    assert texts == [name * 500 for name in names] * 20


def test_closing_ends_the_child_and_removes_the_private_folder(repo: Any) -> None:
    head = repo.commit(a_py="one")
    repository = GitRepository(repo.folder)
    repository.blob(head, "a.py")
    opened = repository._opened
    child = opened.objects._child
    assert child is not None

    repository.close()
    repository.close()

    assert child.returncode is not None
    assert not opened.folder.exists()


def test_a_repository_that_nobody_closes_tidies_up_by_itself(repo: Any) -> None:
    head = repo.commit(a_py="one")
    repository = GitRepository(repo.folder)
    repository.blob(head, "a.py")
    opened = repository._opened

    del repository

    assert not opened.folder.exists()


def test_a_closed_repository_can_be_used_again(repo: Any) -> None:
    head = repo.commit(a_py="one")
    repository = GitRepository(repo.folder)
    repository.range_diff("HEAD")
    repository.close()

    with repository:
        assert repository.range_diff("HEAD").head_sha == head


def test_nothing_is_opened_before_it_is_needed(repo: Any) -> None:
    repository = GitRepository(repo.folder / "nowhere")
    repository.close()

    assert "_opened" not in repository.__dict__


# --- what is staged -----------------------------------------------------------------------------------------------


def test_what_is_staged_is_compared_with_head(repo: Any) -> None:
    head = repo.commit(a_py="one\n", b_py="gone\n")
    repo.write("a.py", "two\n")
    repo.git("add", "a.py")
    repo.git("rm", "--quiet", "b.py")
    repo.write("a.py", "three, not staged\n")

    with GitRepository(repo.folder) as repository:
        found = repository.staged_diff()
        assert repository.blob(None, "a.py") == "two\n"
        assert repository.blob(None, "b.py") is None

    assert (found.base_sha, found.head_sha) == (head, None)
    assert b"-one\n+two\n" in found.diff
    assert b"deleted file mode" in found.diff
    assert b"three" not in found.diff


def test_in_a_repository_without_a_commit_everything_staged_is_new(repo: Any) -> None:
    repo.write("a.py", "one\n")
    repo.git("add", "a.py")

    with GitRepository(repo.folder) as repository:
        found = repository.staged_diff()

    assert (found.base_sha, found.head_sha) == (None, None)
    assert b"new file mode" in found.diff


def test_in_an_empty_repository_nothing_is_staged(repo: Any) -> None:
    with GitRepository(repo.folder) as repository:
        assert repository.staged_diff().diff == b""
        assert repository.blob(None, "a.py") is None


def test_a_bare_repository_has_nothing_to_stage(repo: Any, tmp_path: Any) -> None:
    repo.commit(a_py="one")
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(tmp_path / "bare.git"))

    with GitRepository(tmp_path / "bare.git") as repository, pytest.raises(InputError, match="has no index"):
        repository.staged_diff()


def test_an_unfinished_merge_is_refused(repo: Any) -> None:
    repo.commit(a_py="one\n")
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit(a_py="two\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit(a_py="three\n")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    subprocess.run(["git", *who, "merge", "--quiet", "topic"], cwd=repo.folder, capture_output=True, check=False)

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="unmerged files; finish the merge"):
        repository.staged_diff()


def test_a_damaged_index_is_refused(repo: Any) -> None:
    repo.commit(a_py="one\n")
    (repo.folder / ".git" / "index").write_bytes(b"no index")

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="the index cannot be read"):
        repository.staged_diff()


def test_an_index_that_is_a_folder_is_refused(repo: Any) -> None:
    (repo.folder / ".git" / "index").mkdir()

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="is no regular file"):
        repository.staged_diff()


def test_a_split_index_is_read_whole(repo: Any) -> None:
    repo.commit(a_py="one\n")
    repo.git("update-index", "--split-index")
    repo.write("b.py", "two\n")
    repo.git("add", "b.py")

    with GitRepository(repo.folder) as repository:
        diff = repository.staged_diff().diff

    assert diff.count(b"diff --git") == 1
    assert b"b/b.py" in diff


def test_a_file_that_is_only_announced_is_not_staged(repo: Any) -> None:
    repo.commit()
    repo.write("a.py", "one\n")
    repo.git("add", "--intent-to-add", "a.py")

    with GitRepository(repo.folder) as repository:
        assert repository.staged_diff().diff == b""


def test_another_index_can_be_named_as_git_does_for_hooks(repo: Any) -> None:
    repo.commit(a_py="one\n")
    (repo.folder / ".git" / "index").rename(repo.folder / ".git" / "next-index")

    with GitRepository(repo.folder, repo.folder / ".git" / "next-index") as repository:
        assert repository.staged_diff().diff == b""


def test_reading_changes_nothing_in_the_repository(repo: Any) -> None:
    repo.commit(a_py="one\n")
    repo.write("a.py", "two\n")
    repo.git("add", "a.py")
    before = {path: path.stat().st_mtime_ns for path in (repo.folder / ".git").rglob("*")}

    with GitRepository(repo.folder) as repository:
        repository.staged_diff()
        repository.range_diff("HEAD")
        repository.blob(None, "a.py")

    assert {path: path.stat().st_mtime_ns for path in (repo.folder / ".git").rglob("*")} == before


# --- both sides of a change ---------------------------------------------------------------------------------------


def test_a_snapshot_has_both_sides_of_a_range(repo: Any) -> None:
    base = repo.commit(a_py="one", gone_py="old")
    (repo.folder / "gone.py").unlink()
    head = repo.commit(a_py="two", new_py="new")

    with GitRepository(repo.folder) as repository:
        snapshot: Snapshot = GitSnapshot(repository, base, head)

        assert (snapshot.base("a.py"), snapshot.head("a.py")) == ("one", "two")
        assert (snapshot.base("gone.py"), snapshot.head("gone.py")) == ("old", None)
        assert (snapshot.base("new.py"), snapshot.head("new.py")) == (None, "new")


def test_a_snapshot_of_the_index_reads_what_is_staged(repo: Any) -> None:
    base = repo.commit(a_py="one")
    repo.write("a.py", "two")
    repo.git("add", "a.py")

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, base, None)

        assert (snapshot.base("a.py"), snapshot.head("a.py")) == ("one", "two")


def test_the_base_side_alone_gives_settings_and_cards(repo: Any) -> None:
    repo.write(".reviewbot.toml", "base")
    repo.write(".reviewbot/workers/a.toml", "base card")
    base = repo.commit()
    repo.write(".reviewbot.toml", "head")
    repo.write(".reviewbot/workers/b.toml", "head card")
    head = repo.commit()

    with GitRepository(repo.folder) as repository:
        side: BaseSide = GitSnapshot(repository, base, head)

        assert side.base_file(".reviewbot.toml") == "base"
        assert side.base_listing(".reviewbot/workers") == (".reviewbot/workers/a.toml",)


def test_where_nothing_came_before_the_base_is_empty(repo: Any) -> None:
    repo.write(".reviewbot.toml", "head")
    head = repo.commit()

    with GitRepository(repo.folder) as repository:
        snapshot = GitSnapshot(repository, None, head)

        assert snapshot.base(".reviewbot.toml") is snapshot.base_file(".reviewbot.toml") is None
        assert snapshot.base_listing(".") == ()
