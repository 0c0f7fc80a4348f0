"""Sections put together from GitHub's lists: one file each, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import ParsedFile
from reviewbot.hosts.github.diff_from_file_list import change_of, read_file_list, text_of

EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def row(**fields: Any) -> dict[str, Any]:
    """A file of a list with one added line."""
    known = {"filename": "a.py", "status": "modified", "sha": "a" * 40, "additions": 1, "deletions": 0}
    return {**known, "patch": "@@ -1 +1,2 @@\n one\n+two", **fields}


def parsed(**fields: Any) -> ParsedFile:
    found = change_of(read_file_list([row(**fields)]), {})
    assert len(found.files) == 1
    return found.parsed[0]


def test_a_patch_that_holds_another_file_is_no_second_file() -> None:
    hidden = "@@ -1 +1,2 @@\n one\n+two\ndiff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y"

    found = parsed(patch=hidden)

    assert (found.path, found.state) == ("a.py", "malformed")
    assert "more than one file" in found.reason


def test_a_patch_that_was_cut_short_is_not_called_read() -> None:
    assert parsed(patch="@@ -1 +1,9 @@\n one\n+two").state != "read"


def test_a_patch_with_fewer_lines_than_github_counts_is_partial() -> None:
    found = parsed(additions=5)

    assert (found.state, found.reason) == ("partial", "GitHub counts +5 -0 lines and shows +1 -0")


@pytest.mark.parametrize("patch", ["no hunk at all", "\x1b[31m-a\x1b[m", "@@@ -1 -1 +1 @@@\n  a"])
def test_what_is_no_patch_costs_its_own_file_alone(patch: str) -> None:
    found = change_of(read_file_list([row(patch=patch), row(filename="b.py")]), {})

    assert [each.path for each in found.parsed] == ["a.py", "b.py"]
    assert found.parsed[0].state in {"malformed", "partial"}
    assert found.parsed[1].state == "read"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/.git/config", "a\0b"])
def test_a_name_that_leaves_the_repository_is_refused(name: str) -> None:
    assert parsed(filename=name).state == "refused"


def test_rows_without_a_name_are_no_files() -> None:
    assert read_file_list([{}, {"filename": 3}, {"filename": ""}]) == []


def test_odd_fields_count_as_absent() -> None:
    found = read_file_list([{"filename": "a", "additions": "9", "deletions": -3, "patch": 1, "previous_filename": {}}])[
        0
    ]

    assert (found.added, found.removed, found.patch, found.old_path, found.withheld) == (0, 0, "", None, False)


def test_a_copy_and_a_removal_keep_their_status() -> None:
    rows = [
        row(status="copied", previous_filename="b.py"),
        row(filename="c.py", status="removed", patch="@@ -1 +0,0 @@\n-one", additions=0, deletions=1),
        row(filename="d.py", status="removed", patch="", additions=0, sha=EMPTY),
        row(filename="e.py", status="renamed", previous_filename="f.py", patch="", additions=0),
    ]

    found = change_of(read_file_list(rows), {"c.py": "100644"})

    assert [(f.status, f.old_path) for f in found.files] == [
        ("copied", "b.py"),
        ("deleted", None),
        ("deleted", None),
        ("renamed", "f.py"),
    ]
    assert {each.state for each in found.parsed} == {"read"}
    assert text_of(read_file_list(rows)).count(b"diff --git") == 4


@pytest.mark.parametrize(
    ("fields", "old_path"),
    [
        ({"status": "modified", "previous_filename": "b.py"}, None),
        ({"status": "renamed", "previous_filename": "b.py"}, "b.py"),
        ({"status": "renamed", "previous_filename": 3}, None),
        ({"status": "renamed"}, None),
    ],
)
def test_only_what_was_moved_has_an_old_name(fields: dict[str, Any], old_path: str | None) -> None:
    assert read_file_list([row(**fields)])[0].old_path == old_path


@pytest.mark.parametrize(("lines", "withheld"), [((1, 0), True), ((0, 1), True), ((0, 0), False)])
def test_a_text_is_withheld_where_lines_changed_and_none_is_shown(lines: tuple[int, int], *, withheld: bool) -> None:
    found = parsed(patch="", additions=lines[0], deletions=lines[1])

    assert (found.state == "over_budget") == withheld


@pytest.mark.parametrize(
    ("status", "sha", "state"),
    [
        ("added", EMPTY, "read"),
        ("removed", EMPTY, "read"),
        ("added", "b" * 40, "binary"),
        ("removed", "b" * 40, "binary"),
        ("modified", EMPTY, "binary"),
    ],
)
def test_what_shows_no_line_is_binary_unless_it_has_not_a_byte(status: str, sha: str, state: str) -> None:
    assert parsed(status=status, sha=sha, patch="", additions=0).state == state


@pytest.mark.parametrize("modes", [{}, {"a.py": "120000"}])
def test_the_mode_of_a_file_is_gits_and_not_guessed(modes: dict[str, str]) -> None:
    added = {"status": "added", "patch": "@@ -0,0 +1 @@\n+two"}

    assert [each.mode for each in change_of(read_file_list([row(**added)]), modes).files] == [modes.get("a.py")]
    assert [each.mode for each in change_of(read_file_list([row()]), modes).files] == [modes.get("a.py")]


@given(
    st.text(min_size=1, max_size=30),
    st.sampled_from(["added", "removed", "modified", "renamed", "copied", "changed", "unchanged", "?"]),
    st.text(max_size=60) | st.just("@@ -0,0 +1 @@\n+x"),
    st.text(min_size=1, max_size=30),
)
def test_any_row_gives_exactly_one_file(name: str, status: str, patch: str, old: str) -> None:
    rows = [row(filename=name, status=status, patch=patch, previous_filename=old)]

    assert len(change_of(read_file_list(rows), {}).parsed) == 1
