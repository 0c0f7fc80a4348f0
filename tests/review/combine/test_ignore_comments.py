"""Ignore comments in a change: how they are written, and which of them the base side has."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parse import parse_diff
from reviewbot.review.combine.ignore_comments import (
    ADDED,
    INSERTED,
    NO_BASE,
    NOT_IN_BASE,
    IgnoreComment,
    ignore_comments,
)

MARK = "# reviewbot: ignore[S602] it is a constant"


def comments(before: str, after: str, *, base: str | None = None, head: str = "") -> list[IgnoreComment]:
    """Those of a change from one text to another; `base` is what the base side says that the file was."""
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), "a/app.py", "b/app.py", lineterm="")
    diff = head + "".join(f"{row}\n" for row in rows)
    return ignore_comments(parse_diff(diff.encode()), lambda _path: before if base is None else base)


def faults(before: str, after: str, **more: str) -> list[str]:
    return [each.fault for each in comments(before, after, **more)]


@pytest.mark.parametrize(
    "line",
    [
        "run(x)  # reviewbot: ignore[S602] it is fixed",
        "run(x) // reviewbot:ignore[S602] it is fixed",
        "SELECT 1 -- reviewbot: ignore [S602]: it is fixed",
        "<p> <!-- reviewbot: ignore[S602] it is fixed -->",
        "run(x); /* reviewbot: ignore[ S602 ]  it  is fixed */",
        "; reviewbot: ignore[S602] - it is fixed",
    ],
)
def test_every_style_of_comment_says_the_same(line: str) -> None:
    (found,) = comments("", f"{line}\n")

    assert (found.names, found.reason) == (("S602",), "it is fixed")


@pytest.mark.parametrize(
    "line", ["# reviewbot: ignored[S602] x", "reviewbot: ignore[S602] x", "# review: ignore[S602] x", "# reviewbot: ok"]
)
def test_what_only_looks_like_one_is_none(line: str) -> None:
    assert comments("", f"{line}\n") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# reviewbot: ignore it is fixed", "it names no rule; write reviewbot: ignore[RULE] reason"),
        ("# reviewbot: ignore[] it is fixed", "it names no rule; write reviewbot: ignore[RULE] reason"),
        ("# reviewbot: ignore[S602 S603] fixed", "it names no rule; write reviewbot: ignore[RULE] reason"),
        ("# reviewbot: ignore[S602]", "it gives no reason; write reviewbot: ignore[RULE] reason"),
        ("# reviewbot: ignore[S602] -- ...", "it gives no reason; write reviewbot: ignore[RULE] reason"),
    ],
)
def test_one_without_a_rule_or_a_reason_says_how_it_is_written(text: str, fault: str) -> None:
    assert faults(f"a\n{text}\nb\n", f"a\n{text}\nc\n") == [fault]


def test_several_rules_are_separated_by_commas() -> None:
    (found,) = comments("", "# reviewbot: ignore[S602, debug,a/b] it is fixed\n")

    assert found.names == ("S602", "debug", "a/b")


def test_it_counts_on_an_unchanged_line() -> None:
    (found,) = comments(f"{MARK}\nrun(x)\n", f"{MARK}\nrun(y)\n")

    assert found == IgnoreComment("app.py", 1, ("S602",), "it is a constant", alone=True, fault="")


def test_it_counts_on_a_changed_line_that_had_it() -> None:
    (found,) = comments(f"run(x)  {MARK}\n", f"run(y, z)  {MARK}\n")

    assert (found.line, found.alone, found.fault) == (1, False, "")


def test_one_that_the_change_adds_does_not_count() -> None:
    assert faults("run(x)\n", f"run(x)  {MARK}\n") == [ADDED]
    assert faults("run(x)\n", f"{MARK}\nrun(y)\n") == [ADDED]


def test_one_whose_reason_or_rule_the_change_alters_does_not_count() -> None:
    assert faults(f"run(x)  {MARK}\n", f"run(x)  {MARK} really\n") == [ADDED]
    assert faults(f"run(x)  {MARK}\n", f"run(x)  {MARK.replace('S602', 'S602, S603')}\n") == [ADDED]


def test_a_copy_of_one_counts_no_more_than_the_one_beside_it() -> None:
    assert faults(f"run(x)  {MARK}\n", f"evil(x)  {MARK}\nrun(y)  {MARK}\n") == [ADDED, ADDED]


def test_one_that_is_moved_to_another_place_does_not_count() -> None:
    middle = "\n".join(f"line {number}" for number in range(9))

    assert faults(f"run(x)  {MARK}\n{middle}\nrun(y)\n", f"run(x)\n{middle}\nrun(y)  {MARK}\n") == [ADDED]


def test_a_line_that_is_put_below_one_is_not_what_it_was_about() -> None:
    assert faults(f"{MARK}\nrun(x)\n", f"{MARK}\nevil(x)\nrun(x)\n") == [INSERTED]
    assert faults(f"run(x)  {MARK}\nend\n", f"run(x)  {MARK}\nmore\nend\n") == [""]


def test_a_diff_that_claims_one_which_the_base_side_lacks_is_not_believed() -> None:
    before, after = f"{MARK}\nrun(x)\n", f"{MARK}\nrun(y)\n"

    assert faults(before, after, base="# nothing\nrun(x)\n") == [NOT_IN_BASE]
    assert faults(before, after, base="") == [NOT_IN_BASE]
    assert faults(f"run(x)  {MARK}\n", f"run(y)  {MARK}\n", base="run(x)\n") == [ADDED]


def test_without_a_base_side_none_counts() -> None:
    diff = f"--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n {MARK}\n-run(x)\n+run(y)\n".encode()

    (found,) = ignore_comments(parse_diff(diff), None)

    assert found.fault == NO_BASE


def test_the_copy_of_a_file_brings_none_that_counts() -> None:
    head = "diff --git a/old.py b/app.py\nsimilarity index 90%\ncopy from old.py\ncopy to app.py\n"
    change = parse_diff(f"{head}--- a/old.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n {MARK}\n-run(x)\n+run(y)\n".encode())

    (found,) = ignore_comments(change, lambda _path: f"{MARK}\nrun(x)\n")

    assert found.fault == ADDED


def test_a_renamed_file_keeps_its_own() -> None:
    head = "diff --git a/old.py b/app.py\nsimilarity index 90%\nrename from old.py\nrename to app.py\n"
    change = parse_diff(f"{head}--- a/old.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n {MARK}\n-run(x)\n+run(y)\n".encode())

    (found,) = ignore_comments(change, {"old.py": f"{MARK}\nrun(x)\n"}.get)

    assert (found.path, found.fault) == ("app.py", "")


def test_files_without_one_are_not_read_and_deleted_ones_have_none() -> None:
    gone = f"diff --git a/x.py b/x.py\ndeleted file mode 100644\n--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-{MARK}\n"

    assert ignore_comments(parse_diff(gone.encode()), lambda _path: pytest.fail("was read")) == []
    assert comments(f"{MARK}\na\n", "a\n") == []


LINES = st.sampled_from(["run(x)", "run(y)", MARK, f"run(x)  {MARK}", f"run(y)  {MARK}", "end"])


@given(st.lists(LINES, max_size=8), st.lists(LINES, max_size=8))
def test_no_change_has_more_comments_that_count_than_its_base_side(before: list[str], after: list[str]) -> None:
    found = comments("\n".join(before), "\n".join(after))

    assert sum(not each.fault for each in found) <= sum(MARK in line for line in before)
