"""Real repositories: what git shows is read without loss, and each side of a file gives the other one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.diff.apply import added_text, new_side, old_side
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser import file_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reviewbot.domain.contracts import ChangeSet, FileChange

    Git = Callable[..., bytes]
    Commit = Callable[[], None]

ODD_NAMES = [
    b"a b.py",
    b"x b/y.py",
    b"tab\there.py",
    b"new\nline.py",
    b'quo"te.py',
    b"back\\slash.py",
    b"trail .py ",
    b"caf\xc3\xa9.py",
    b"cafe\xcc\x81.py",
    b"latin\xe9.py",
    b"a and b.txt",
    b"dev/null",
    b"a/b/c/a/b.py",
    b"-- a.py",
    b"+++ b",
    b"@@ -1 +1 @@",
    b" lead",
    b"cr\r.py",
    b"\xe2\x80\xaeevil.py",
]


def write(root: Path, name: bytes, content: bytes) -> None:
    path = os.path.join(os.fsencode(root), name)  # noqa: PTH118 - names that are no text
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - the same
    with open(path, "wb") as file:  # noqa: PTH123 - the same
        file.write(content)


def states(change: ChangeSet) -> dict[str, str]:
    return {each.path: each.state for each in change.parsed}


def only(change: ChangeSet) -> FileChange:
    assert [each.state for each in change.parsed] == ["read"], change.parsed
    return change.files[0]


def numstat(git: Git, *arguments: str) -> dict[bytes, tuple[int, int]]:
    counts = {}
    for line in git("diff", "--numstat", "-z", "--no-renames", *arguments).split(b"\0")[:-1]:
        added, removed, name = line.split(b"\t", 2)
        counts[name] = (int(added), int(removed))
    return counts


@pytest.mark.parametrize("quote_path", ["true", "false"])
def test_odd_names_are_exact_however_git_quotes_them(tmp_path: Path, git: Git, commit: Commit, quote_path: str) -> None:
    for name in ODD_NAMES:
        write(tmp_path, name, b"1\n2\n")
    commit()
    for name in ODD_NAMES:
        write(tmp_path, name, b"1\n3\n")
    change = parse_diff(git("-c", f"core.quotePath={quote_path}", "diff"))
    assert sorted(file_names.to_bytes(file.path) for file in change.files) == sorted(ODD_NAMES)
    assert set(states(change).values()) == {"read"}
    found = {file_names.to_bytes(file.path): (file.added, file.removed) for file in change.files}
    assert found == numstat(git)


@pytest.mark.parametrize(
    "options", [["--no-prefix"], ["--src-prefix=old/", "--dst-prefix=new/"], ["--default-prefix"], ["-R"]]
)
def test_odd_names_are_exact_under_any_prefix(tmp_path: Path, git: Git, commit: Commit, options: list[str]) -> None:
    for name in ODD_NAMES:
        write(tmp_path, name, b"1\n2\n")
    commit()
    for name in ODD_NAMES:
        write(tmp_path, name, b"1\n3\n")
    if options == ["--default-prefix"]:
        options = ["--src-prefix=a/", "--dst-prefix=b/"]  # git before 2.41 has no word for it
    change = parse_diff(git("diff", *options))
    assert sorted(file_names.to_bytes(file.path) for file in change.files) == sorted(ODD_NAMES)


@pytest.mark.parametrize("options", [[], ["--no-prefix"]])
def test_odd_names_are_exact_when_files_come_and_go(
    tmp_path: Path, git: Git, commit: Commit, options: list[str]
) -> None:
    commit()
    for name in ODD_NAMES:
        write(tmp_path, name, name + b"\n")
    commit()
    come, gone = parse_diff(git("diff", *options, "HEAD~1")), parse_diff(git("diff", *options, "HEAD", "HEAD~1"))
    for change, status in ((come, "added"), (gone, "deleted")):
        assert sorted(file_names.to_bytes(file.path) for file in change.files) == sorted(ODD_NAMES)
        assert {file.status for file in change.files} == {status}


@pytest.mark.parametrize("options", [[], ["--no-prefix"], ["--src-prefix=i/", "--dst-prefix=w/"]])
@pytest.mark.parametrize("edit", [b"", b"x\n"])
def test_renames_between_odd_names_keep_both(
    tmp_path: Path, git: Git, commit: Commit, options: list[str], edit: bytes
) -> None:
    for number, name in enumerate(ODD_NAMES):
        write(tmp_path, name, b"".join(b"%d-%d\n" % (number, line) for line in range(9)))
    commit()
    moved = {name: b"moved/" + bytes(reversed(name.replace(b"/", b"_"))) for name in ODD_NAMES}
    for number, (old, new) in enumerate(moved.items()):
        os.remove(os.path.join(os.fsencode(tmp_path), old))  # noqa: PTH107, PTH118 - names that are no text
        write(tmp_path, new, b"".join(b"%d-%d\n" % (number, line) for line in range(9)) + edit)
    commit()
    change = parse_diff(git("diff", "-M", "-l0", *options, "HEAD~1", "HEAD"))
    found = {file_names.to_bytes(file.old_path or ""): file_names.to_bytes(file.path) for file in change.files}
    assert found == moved
    assert {(file.status, file.added) for file in change.files} == {("renamed", len(edit) // 2)}
    assert set(states(change).values()) == {"read"}


def test_a_copy_names_its_source(tmp_path: Path, git: Git, commit: Commit) -> None:
    write(tmp_path, b"a.py", b"1\n2\n3\n4\n")
    commit()
    write(tmp_path, b"b.py", b"1\n2\n3\n4\n5\n")
    commit()
    file = only(parse_diff(git("diff", "-C", "--find-copies-harder", "HEAD~1", "HEAD")))
    assert (file.status, file.path, file.old_path, file.added) == ("copied", "b.py", "a.py", 1)


def test_a_change_of_type_is_two_sections_of_one_path(tmp_path: Path, git: Git, commit: Commit) -> None:
    write(tmp_path, b"x", b"text\n")
    commit()
    (tmp_path / "x").unlink()
    (tmp_path / "x").symlink_to("/proc/self/environ")
    change = parse_diff(git("diff"))
    assert [(file.path, file.status, file.mode) for file in change.files] == [
        ("x", "deleted", "100644"),
        ("x", "added", "120000"),
    ]
    assert [each.state for each in change.parsed] == ["read", "read"]
    assert change.files[1].hunks[0].body == "+/proc/self/environ\n\\ No newline at end of file"


def test_a_submodule_is_a_section_with_its_mode(tmp_path: Path, git: Git, commit: Commit) -> None:
    commit()
    git("update-index", "--add", "--cacheinfo", f"160000,{'3' * 40},vendor/lib")
    file = only(parse_diff(git("diff", "--cached")))
    assert (file.path, file.mode, file.hunks[0].body) == ("vendor/lib", "160000", f"+Subproject commit {'3' * 40}")


def test_a_change_of_mode_has_no_rows(tmp_path: Path, git: Git, commit: Commit) -> None:
    write(tmp_path, b"x b/x", b"1\n")
    commit()
    (tmp_path / "x b" / "x").chmod(0o755)
    file = only(parse_diff(git("diff")))
    assert (file.path, file.mode, file.hunks) == ("x b/x", "100755", ())


def test_empty_files_come_and_go_without_rows(tmp_path: Path, git: Git, commit: Commit) -> None:
    write(tmp_path, b"gone", b"")
    commit()
    (tmp_path / "gone").unlink()
    write(tmp_path, b"new", b"")
    git("add", "-A")
    change = parse_diff(git("diff", "--no-renames", "--cached"))
    assert [(file.path, file.status) for file in change.files] == [("gone", "deleted"), ("new", "added")]
    assert states(change) == {"gone": "read", "new": "read"}


@pytest.mark.parametrize("options", [[], ["--binary"]])
def test_binary_files_are_binary_and_cost_no_other_file(
    tmp_path: Path, git: Git, commit: Commit, options: list[str]
) -> None:
    write(tmp_path, b"a and b.png", b"\0\1")
    write(tmp_path, b"z.py", b"1\n")
    commit()
    write(tmp_path, b"a and b.png", bytes(range(256)) * 9)
    write(tmp_path, b"new.bin", b"\0")
    write(tmp_path, b"z.py", b"2\n")
    git("add", "-A")
    change = parse_diff(git("diff", "--cached", *options))
    assert states(change) == {"a and b.png": "binary", "new.bin": "binary", "z.py": "read"}


def test_a_diff_of_another_hash_is_read_as_well(tmp_path: Path, git: Git, commit: Commit) -> None:
    git("init", "-q", "--object-format=sha256", "wide")
    write(tmp_path / "wide", b"e", b"")
    write(tmp_path / "wide", b"x", b"1\n")
    git("-C", "wide", "add", "-A")
    change = parse_diff(git("-C", "wide", "diff", "--cached", "--full-index", status=0))
    assert states(change) == {"e": "read", "x": "read"}


TEXTS = st.lists(
    st.sampled_from(
        [
            b"a\n",
            b"b\n",
            b"c\r\n",
            b"\n",
            b"\x0c\n",
            b"\xff\n",
            b"-- x\n",
            b"\\ No newline\n",
            b"\xe2\x80\xa8\n",
            b"a\rb\n",
        ]
    ),
    max_size=9,
)
LAST = st.sampled_from([b"", b"z", b"\xff", b"\r", b"a"])
SIDE = st.tuples(TEXTS, LAST).map(lambda parts: b"".join(parts[0]) + parts[1])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SIDE, SIDE, st.sampled_from(["-U0", "-U1", "-U3", "--function-context"]))
def test_each_side_of_a_file_gives_the_other(
    tmp_path: Path, git: Git, before: bytes, after: bytes, context: str
) -> None:
    (tmp_path / "old").write_bytes(before)
    (tmp_path / "new").write_bytes(after)
    shown = git("diff", "--no-index", "--text", context, "old", "new", status=int(before != after))
    old_text, new_text = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    if before == after:
        assert parse_diff(shown).files == ()
        return
    change = parse_diff(shown)
    assert [each.state for each in change.parsed] == ["read"], change.parsed
    assert new_side(change.files[0], old_text) == new_text
    assert old_side(change.files[0], new_text) == old_text


def test_an_added_file_tells_its_whole_text(tmp_path: Path, git: Git, commit: Commit) -> None:
    commit()
    write(tmp_path, b"x", b"a\r\n\n\xffb")
    git("add", "-A")
    assert added_text(only(parse_diff(git("diff", "--cached")))) == "a\r\n\n\ufffdb"
