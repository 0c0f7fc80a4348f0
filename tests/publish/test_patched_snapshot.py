"""A snapshot with one patched file differs from the file at one place, and is read like the file everywhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import FileChange, Hunk
from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.publish.suggestions.patched_snapshot import Patch, PatchedSnapshot, added_lines, hunk_at, patch_change


class Tree:
    """Two files, and a word in both; None for a tree that cannot be searched."""

    def __init__(self, found: tuple[Occurrence, ...] | None) -> None:
        self.found = found
        self.limits: list[int] = []

    def head(self, path: str) -> str | None:
        return f"head of {path}"

    def base(self, path: str) -> str | None:
        return f"base of {path}"

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        del word
        self.limits.append(limit)
        return self.found

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        return (Commit("0" * 40, "2026-01-01", f"{path} {limit}"),)


def test_the_new_side_of_one_file_is_another_and_all_else_is_as_it_was() -> None:
    copy = PatchedSnapshot(Tree(None), "a.py", "other")

    assert [copy.head("a.py"), copy.head("b.py"), copy.base("a.py")] == ["other", "head of b.py", "base of a.py"]
    assert copy.history("a.py", 3)[0].subject == "a.py 3"
    assert copy.search("x", 5) is None


def test_words_are_found_in_the_copy_and_no_longer_in_what_it_replaces() -> None:
    tree = Tree((Occurrence("a.py", 7, "x = 1"), Occurrence("b.py", 1, "x()")))

    copy = PatchedSnapshot(tree, "a.py", "xx\ny = x\nx")

    assert copy.search("x", 5) == (
        Occurrence("a.py", 2, "y = x"), Occurrence("a.py", 3, "x"), Occurrence("b.py", 1, "x()"),
    )  # fmt: skip
    assert tree.limits == [7]


def test_what_is_found_is_in_order_whole_words_and_no_more_than_wanted() -> None:
    tree = Tree((Occurrence("a.py", 1, "x"), Occurrence("b.py", 1, "x()")))
    copy = PatchedSnapshot(tree, "a.py", "".join(f"x{number % 3 or ''} = 1\n" for number in range(30)))

    found = copy.search("x", 4)

    assert found is not None
    assert [(each.path, each.line) for each in found] == [("a.py", 1), ("a.py", 4), ("a.py", 7), ("a.py", 10)]


@pytest.fixture
def two_hunks(a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]) -> FileChange:
    return a_file("a.py", a_hunk(" a\n+b\n+c\n d"), a_hunk(" m\n+n", 50))


def test_a_hunk_is_the_one_that_shows_all_of_the_lines(two_hunks: FileChange) -> None:
    first, second = two_hunks.hunks

    assert [hunk_at(two_hunks, *lines) for lines in ((1, 4), (51, 51), (4, 50), (9, 9))] == [first, second, None, None]
    assert (added_lines(first), added_lines(second)) == (frozenset({2, 3}), frozenset({51}))


@pytest.mark.parametrize(
    ("first", "last", "new", "body"),
    [
        (2, 2, ["x", "y"], " a\n+x\n+y\n+c\n d"),
        (2, 3, [], " a\n d"),
        (3, 2, ["x"], " a\n+b\n+x\n+c\n d"),
        (5, 4, ["x"], " a\n+b\n+c\n d\n+x"),
    ],
)
def test_added_lines_are_replaced_and_what_is_below_moves(
    two_hunks: FileChange, first: int, last: int, new: list[str], body: str
) -> None:
    other = patch_change(two_hunks, two_hunks.hunks[0], first, last, new)
    delta = len(new) - (last - first + 1)

    assert other.hunks[0].body == body
    assert other.hunks[0].new_count == 4 + delta
    assert other.hunks[1].new_start == 50 + delta


def test_removed_lines_and_the_hunks_above_stay_where_they_are(
    a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]
) -> None:
    above, mixed = a_hunk("+z"), a_hunk("-o\n a\n-p\n+b\n-q\n+c", 9)
    file = a_file("a.py", above, mixed)
    other = patch_change(file, mixed, 10, 10, ["x", "y"])

    assert (other.hunks[0], other.hunks[1].body) == (above, "-o\n a\n-p\n+x\n+y\n-q\n+c")
    assert patch_change(file, mixed, 11, 11, []).hunks[1].body == "-o\n a\n-p\n+b\n-q"
    assert hunk_at(file, 11, 12) is None


def test_what_really_changes_leaves_out_lines_that_are_the_same_at_both_ends() -> None:
    lines = ["a", "b", "c", "d"]

    assert Patch(1, 4, ("a", "x", "d")).touched_lines(lines) == (2, 3, ("x",))
    assert Patch(1, 4, ("a", "b", "x", "c", "d")).touched_lines(lines) == (3, 2, ("x",))
    assert Patch(1, 4, ("a", "d")).touched_lines(lines) == (2, 3, ())
    assert Patch(2, 3, ("b", "c")).touched_lines(lines) == (4, 3, ())


def test_lines_that_are_only_taken_away_at_the_end_are_what_changes() -> None:
    assert Patch(1, 3, ("a",)).touched_lines(["a", "b", "c"]) == (2, 3, ())
    assert Patch(1, 1, ("a", "b")).touched_lines(["a", "c"]) == (2, 1, ("b",))


ROWS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6)


@given(ROWS, ROWS, st.data())
def test_a_patched_change_shows_just_the_patched_text(old: list[str], new: list[str], data: st.DataObject) -> None:
    line = data.draw(st.integers(1, len(old)))
    end = data.draw(st.integers(line, len(old)))
    body = "\n".join(f"+{row}" for row in old)
    hunk = Hunk(old_start=0, old_count=0, new_start=1, new_count=len(old), body=body)
    file = FileChange(path="a.py", status="added", language="python", kind="code", hunks=(hunk,))
    patch = Patch(line, end, tuple(new))

    other = patch_change(file, hunk, *patch.touched_lines(old))

    rows = list(hunk_rows(other.hunks[0]))
    assert "\n".join(row.text for row in rows) == patch.text(old)
    assert [row.new for row in rows] == list(range(1, other.hunks[0].new_count + 1))
