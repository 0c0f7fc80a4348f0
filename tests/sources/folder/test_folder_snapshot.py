from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.config.source import BaseSide
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser.file_names import label
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Snapshot
from reviewbot.domain.repository_files import MAX_FILE_BYTES, MAX_LISTED
from reviewbot.sources.folder.files import ABSENT, list_files, read_file
from reviewbot.sources.folder.snapshot import TreeSnapshot

OLD = "one\ntwo\nthree\n"
NEW = "one\n2\nthree\n"
MODIFIED = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
ADDED = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+new\n"
DELETED = "diff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
RENAMED = (
    "diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"
    "--- a/a.py\n+++ b/b.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
)
COPIED = RENAMED.replace("rename from", "copy from").replace("rename to", "copy to")
MOVED = "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
MODE = "diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n"
TYPE = (
    "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n"
    "@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"
    "diff --git a/a.py b/a.py\nnew file mode 120000\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    "\\ No newline at end of file\n"
)


def change(*sections: str) -> ChangeSet:
    return parse_diff("".join(sections).encode("utf-8", "surrogateescape"))


def fill(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_py", ".py")).write_bytes(text.encode())
    return folder


def sides(snapshot: Snapshot, path: str) -> tuple[str | None, str | None]:
    return snapshot.base(path), snapshot.head(path)


def misfit(folder: Path, *sections: str) -> str:
    with pytest.raises(InputError) as caught:
        TreeSnapshot.open(folder, change(*sections))
    message = str(caught.value)
    start, end = f"the diff does not fit --repo {folder}: ", "; check out the base or the head of the change there"
    assert message.startswith(start)
    assert message.endswith(end)
    return message.removeprefix(start).removesuffix(end)


# --- a folder at either side --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hunk", [(OLD, NEW, ""), ("a\n", "", "@@ -1 +0,0 @@\n-a\n"), ("", "a\n", "@@ -0,0 +1 @@\n+a\n")]
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_modified_file_has_both_sides_wherever_the_folder_is(tmp_path: Path, hunk: Any, side: int) -> None:
    section = MODIFIED.partition("@@")[0] + hunk[2] if hunk[2] else MODIFIED

    snapshot = TreeSnapshot.open(fill(tmp_path, a_py=hunk[side]), change(section))

    assert sides(snapshot, "a.py") == hunk[:2]


@pytest.mark.parametrize("files", [{}, {"n_py": "new\n"}])
def test_an_added_file_is_new_whether_it_is_there_or_not(tmp_path: Path, files: dict[str, str]) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, **files), change(ADDED))

    assert sides(snapshot, "n.py") == (None, "new\n")


@pytest.mark.parametrize("files", [{}, {"d_py": "gone\n"}])
def test_a_deleted_file_is_old_whether_it_is_there_or_not(tmp_path: Path, files: dict[str, str]) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, **files), change(DELETED))

    assert sides(snapshot, "d.py") == ("gone\n", None)


@pytest.mark.parametrize("files", [{"a_py": OLD}, {"b_py": NEW}])
def test_a_renamed_file_is_known_by_both_names(tmp_path: Path, files: dict[str, str]) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, **files), change(RENAMED))

    assert sides(snapshot, "a.py") == (OLD, None)
    assert sides(snapshot, "b.py") == (None, NEW)


@pytest.mark.parametrize("files", [{"a_py": OLD}, {"a_py": OLD, "b_py": NEW}])
def test_a_copied_file_leaves_the_first_one_alone(tmp_path: Path, files: dict[str, str]) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, **files), change(COPIED))

    assert sides(snapshot, "a.py") == (OLD, OLD)
    assert sides(snapshot, "b.py") == (None, NEW)


@pytest.mark.parametrize("files", [{"a_py": OLD}, {"b_py": OLD}])
def test_a_moved_file_without_hunks_keeps_its_text(tmp_path: Path, files: dict[str, str]) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, **files), change(MOVED))

    assert sides(snapshot, "a.py") == (OLD, None)
    assert sides(snapshot, "b.py") == (None, OLD)


def test_a_change_of_mode_keeps_the_text(tmp_path: Path) -> None:
    assert sides(TreeSnapshot.open(fill(tmp_path, a_py=OLD), change(MODE)), "a.py") == (OLD, OLD)


@pytest.mark.parametrize("at_new", [False, True])
def test_a_file_that_became_a_link_has_an_old_side_alone(tmp_path: Path, at_new: bool) -> None:  # noqa: FBT001 - a case
    if at_new:
        (tmp_path / "a.py").symlink_to("/etc/passwd")
    else:
        fill(tmp_path, a_py=OLD)

    assert sides(TreeSnapshot.open(tmp_path, change(TYPE)), "a.py") == (OLD, None)


def test_an_empty_file_that_is_added_or_deleted_is_known(tmp_path: Path) -> None:
    added = "diff --git a/n.py b/n.py\nnew file mode 100644\nindex 0000000..e69de29\n"
    deleted = "diff --git a/d.py b/d.py\ndeleted file mode 100644\nindex e69de29..0000000\n"

    snapshot = TreeSnapshot.open(fill(tmp_path, d_py=""), change(added, deleted))

    assert [sides(snapshot, path) for path in ("n.py", "d.py")] == [(None, ""), ("", None)]


def test_a_file_that_the_change_leaves_alone_is_the_same_on_both_sides(tmp_path: Path) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, a_py=OLD, other_py="x\r\n"), change(MODIFIED))

    assert sides(snapshot, "other.py") == ("x\r\n", "x\r\n")
    assert sides(snapshot, "nowhere.py") == (None, None)


def test_what_cannot_be_told_is_none_and_is_not_read_from_the_folder(tmp_path: Path) -> None:
    malformed = MODIFIED.replace("@@ -1,3", "@@ -1,9")
    binary = "diff --git a/b.py b/b.py\nindex 1111111..2222222 100644\nBinary files a/b.py and b/b.py differ\n"

    snapshot = TreeSnapshot.open(fill(tmp_path, a_py=OLD, b_py="x"), change(malformed, binary, ADDED))

    assert sides(snapshot, "a.py") == (None, None)
    assert sides(snapshot, "b.py") == (None, None)
    assert snapshot.base_file("a.py") is None


def test_lines_that_repeat_are_told_apart_by_the_other_files(tmp_path: Path) -> None:
    repeated = "diff --git a/r.py b/r.py\n--- a/r.py\n+++ b/r.py\n@@ -2,3 +2,4 @@\n x\n x\n x\n+x\n"
    same = "x\n" * 6

    old = TreeSnapshot.open(fill(tmp_path, a_py=OLD, r_py=same), change(MODIFIED, repeated))
    new = TreeSnapshot.open(fill(tmp_path, a_py=NEW, r_py=same), change(MODIFIED, repeated))

    assert sides(old, "r.py") == (same, same + "x\n")
    assert sides(new, "r.py") == (same[2:], same)


def test_a_folder_that_is_half_way_still_has_both_sides_of_each_file(tmp_path: Path) -> None:
    snapshot = TreeSnapshot.open(fill(tmp_path, a_py=NEW, d_py="gone\n"), change(MODIFIED, ADDED, DELETED))

    found = [sides(snapshot, path) for path in ("a.py", "n.py", "d.py")]
    assert found == [(OLD, NEW), (None, "new\n"), ("gone\n", None)]


_TEXTS = st.lists(st.sampled_from(["a", "b", "", "c\r", "\f", "é"]), max_size=12).map("\n".join)
_TREES = st.dictionaries(st.sampled_from(["a.py", "b.py", "d/c.py", "é x.py", 'q".py']), _TEXTS, max_size=4)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_TREES, _TREES)
def test_any_change_of_real_git_is_undone_or_applied_exactly(repo: Any, before: Any, after: Any) -> None:
    for tree in (before, after):
        for path in list(repo.folder.iterdir()):
            if path.is_dir() and path.name != ".git":
                shutil.rmtree(path)
            elif path.name != ".git":
                path.unlink()
        for name, text in tree.items():
            repo.write(name, text)
        repo.commit()
    diff = parse_diff(repo.output("diff", "-M", "--no-color", "HEAD~1", "HEAD"))

    for folder in ("HEAD", "HEAD~1"):
        repo.git("checkout", "--quiet", "--detach", folder)
        snapshot = TreeSnapshot.open(repo.folder, diff)
        for file in diff.files:
            old, new = file.old_path or file.path, file.path
            assert snapshot.head(new) == (None if file.status == "deleted" else after[new])
            assert snapshot.base(old) == (None if file.status == "added" else before[old])
    repo.git("checkout", "--quiet", "main")


# --- a folder at neither side -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "section", "message"),
    [
        ({"a_py": "one\nother\nthree\n"}, MODIFIED, "a.py line 2 is neither as before nor as after the change"),
        ({"a_py": "one\n"}, MODIFIED, "a.py line 2 is neither as before nor as after the change"),
        ({"a_py": "one\n2\nthree"}, MODIFIED, "a.py line 1 is neither as before nor as after the change"),
        ({}, MODIFIED, "a.py is not there"),
        ({}, MODE, "a.py is not there"),
        ({}, MOVED, "b.py is not there"),
        ({}, RENAMED, "b.py is not there"),
        ({"n_py": "other\n"}, ADDED, "n.py is there with another text"),
        ({"d_py": "other\n"}, DELETED, "d.py is there with another text"),
        ({"b_py": "x\n", "a_py": "x\n"}, RENAMED, "b.py line 1 is neither as before nor as after the change"),
    ],
)
def test_a_file_at_neither_side_is_named_with_its_line(
    tmp_path: Path, files: dict[str, str], section: str, message: str
) -> None:
    assert misfit(fill(tmp_path, **files), section) == message


def test_an_odd_name_is_escaped_in_the_message(tmp_path: Path) -> None:
    odd = MODIFIED.replace("a/a.py", '"a/\\033\\n.py"').replace("b/a.py", '"b/\\033\\n.py"')

    assert misfit(tmp_path, odd) == '"\\033\\n.py" is not there'


@pytest.mark.parametrize("folder", ["nowhere", "file", "x" * 300])
def test_a_folder_that_is_none_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InputError, match="is no folder"):
        TreeSnapshot.open(tmp_path / folder, change(MODIFIED))


# --- a hostile folder ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "inner", "a.py/", "a.py/x", "a\0b", "link", "links/a.py", "fifo", "/etc/passwd", "../secret",
        "inner/../../secret", "\\\\server", ".git/config", ".GIT/config", "inner/.git/x",
    ],
)  # fmt: skip
def test_nothing_outside_and_no_link_or_device_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text("secret")
    (root / "inner" / ".git").mkdir(parents=True)
    (root / "inner" / ".git" / "x").write_text("secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "links").symlink_to(".")
    os.mkfifo(root / "fifo")
    fill(root, a_py="fine")

    assert read_file(root, path) == ABSENT
    assert read_file(root, "a.py").text == "fine"


def test_a_socket_like_thing_put_between_question_and_answer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")

    assert misfit(tmp_path, MODIFIED) == "a.py is not there"


def test_the_folder_itself_may_be_a_link_since_a_person_named_it(tmp_path: Path) -> None:
    fill(tmp_path, a_py=OLD)
    (tmp_path / "link").symlink_to(".")

    assert sides(TreeSnapshot.open(tmp_path / "link", change(MODIFIED)), "a.py") == (OLD, NEW)


def test_a_huge_file_is_left_unknown_and_fits(tmp_path: Path) -> None:
    fill(tmp_path, a_py="x" * (MAX_FILE_BYTES + 1), n_py="x" * (MAX_FILE_BYTES + 1), big_py="x" * MAX_FILE_BYTES)

    snapshot = TreeSnapshot.open(tmp_path, change(MODIFIED, ADDED))

    assert sides(snapshot, "a.py") == (None, None)
    assert snapshot.head("n.py") == "new\n"
    assert len(snapshot.head("big.py") or "") == MAX_FILE_BYTES


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_left_unknown(tmp_path: Path) -> None:  # pragma: no cover - not as root
    fill(tmp_path, a_py=OLD)
    (tmp_path / "a.py").chmod(0)

    assert sides(TreeSnapshot.open(tmp_path, change(MODIFIED)), "a.py") == (None, None)


def test_a_binary_file_is_no_text(tmp_path: Path) -> None:
    assert TreeSnapshot.open(fill(tmp_path, other_py="a\0b"), change(ADDED)).head("other.py") is None


def test_bytes_that_are_no_text_fit_the_diff_that_shows_them(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(OLD.encode().replace(b"two", b"\xe9\xff"))

    snapshot = TreeSnapshot.open(tmp_path, change(MODIFIED.replace("two", "\udce9\udcff")))

    assert sides(snapshot, "a.py") == (OLD.replace("two", "\ufffd\ufffd"), NEW)


def test_a_name_of_any_bytes_is_read_by_its_label(tmp_path: Path) -> None:
    name = b'"a\n\xff b'
    (tmp_path / os.fsdecode(name)).write_text("fine")

    assert read_file(tmp_path, label(name)).text == "fine"


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    fill(tmp_path / "a" / "b", c_py="fine")
    before = len(list(Path("/dev/fd").iterdir()))

    for path in ("a/b/c.py", "a/nowhere/c.py", "a/b/c.py/d", "a", "a/b"):
        read_file(tmp_path, path)
        read_file(tmp_path, path, as_tracked=True)
        list_files(tmp_path, path)

    assert len(list(Path("/dev/fd").iterdir())) == before


# --- the base side ------------------------------------------------------------------------------------------------

CONFIG_ADDED = ADDED.replace("n.py", ".reviewbot.toml")
CONFIG_CHANGED = MODIFIED.replace("a.py", ".reviewbot.toml")


@pytest.mark.parametrize("text", [None, "new\n"])
def test_settings_that_the_change_adds_have_no_base(tmp_path: Path, text: str | None) -> None:
    if text:
        (tmp_path / ".reviewbot.toml").write_text(text)

    side: BaseSide = TreeSnapshot.open(tmp_path, change(CONFIG_ADDED))

    assert side.base_file(".reviewbot.toml") is None


@pytest.mark.parametrize("text", [OLD, NEW])
def test_settings_that_the_change_edits_count_as_they_were(tmp_path: Path, text: str) -> None:
    (tmp_path / ".reviewbot.toml").write_text(text)

    assert TreeSnapshot.open(tmp_path, change(CONFIG_CHANGED)).base_file(".reviewbot.toml") == OLD


def test_settings_that_the_change_leaves_alone_count(tmp_path: Path) -> None:
    (tmp_path / ".reviewbot.toml").write_text("x")

    assert TreeSnapshot.open(tmp_path, change(ADDED)).base_file(".reviewbot.toml") == "x"


def test_a_name_must_be_spelled_as_it_is_listed(tmp_path: Path) -> None:
    (tmp_path / ".Reviewbot.toml").write_text("x")
    (tmp_path / ".Reviewbot" / "workers").mkdir(parents=True)

    snapshot = TreeSnapshot.open(tmp_path, change(ADDED))

    assert snapshot.base_file(".reviewbot.toml") is None
    assert snapshot.base_file(".reviewbot/workers/a.toml") is None
    assert snapshot.base_listing(".reviewbot/workers") == ()


def test_the_base_side_of_a_folder_lists_what_was_there_before(tmp_path: Path) -> None:
    folder = tmp_path / ".reviewbot" / "workers"
    (folder / "deep").mkdir(parents=True)
    for name in ("kept.toml", "a.py", "n.py"):
        (folder / name).write_text({"kept.toml": "x", "a.py": NEW, "n.py": "new\n"}[name])
    (folder / "link.toml").symlink_to("kept.toml")
    os.mkfifo(folder / "fifo.toml")
    below = [
        each.replace(" a/", " a/.reviewbot/workers/").replace(" b/", " b/.reviewbot/workers/")
        for each in (MODIFIED, ADDED, DELETED)
    ]

    side: BaseSide = TreeSnapshot.open(tmp_path, change(*below))

    expected = [f".reviewbot/workers/{name}" for name in ("a.py", "d.py", "kept.toml")]
    assert side.base_listing(".reviewbot/workers") == tuple(expected)
    assert side.base_file(".reviewbot/workers/d.py") == "gone\n"


def test_a_listing_has_an_end_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(MAX_LISTED + 3):
        (tmp_path / "many" / f"{number:04}").touch()
    (tmp_path / "link").symlink_to("many")
    snapshot = TreeSnapshot.open(tmp_path, change(ADDED))

    assert len(snapshot.base_listing("many")) == MAX_LISTED
    assert snapshot.base_listing("link") == snapshot.base_listing("nowhere") == snapshot.base_listing("../x") == ()
