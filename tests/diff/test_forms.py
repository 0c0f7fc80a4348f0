"""Forms of a diff that are not read, alone and among others, and the patch of one file as a host gives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parse import parse_diff, parse_fragment
from reviewbot.diff.parser import hunks
from reviewbot.diff.parser.file_names import exact
from reviewbot.diff.parser.hunks import Header
from reviewbot.domain.errors import DiffError

COMBINED = b"diff --cc m\nindex 1,2..3\n--- a/m\n+++ b/m\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"
WORDS = b"@@ -5 +5 @@\na [-b-]{+c+}\n"


def plain(name: bytes, hunk: bytes = b"@@ -1 +1 @@\n-a\n+b\n") -> bytes:
    return b"diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n" % (name, name, name, name) + hunk


def states(data: bytes) -> dict[str, str]:
    return {each.path: each.state for each in parse_diff(data).parsed}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (COMBINED, "combined diff of a merge"),
        (COMBINED * 2, "combined diff of a merge"),
        (plain(b"w", WORDS), "is a word diff: give the output of `git diff base...head` without --word-diff"),
        (plain(b"w", b"@@ -1 +1 @@\n-a\n+b\n" + WORDS), "is a word diff"),
        (plain(b"v", WORDS) + plain(b"w", b"@@ -1,2 +1,2 @@\n x\n~\n"), "is a word diff"),
    ],
)
def test_a_diff_that_is_of_another_form_throughout_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(DiffError, match=words):
        parse_diff(data)


def test_a_file_of_another_form_costs_no_other_file_anything() -> None:
    assert states(COMBINED + plain(b"x")) == {"m": "malformed", "x": "read"}
    assert states(plain(b"w", WORDS) + plain(b"x")) == {"w": "malformed", "x": "read"}
    assert states(plain(b"x") + plain(b"w", WORDS)) == {"x": "read", "w": "malformed"}


def test_a_broken_hunk_without_marks_of_words_is_no_word_diff() -> None:
    assert states(plain(b"x", b"@@ -1 +1 @@\nno hunk\n")) == {"x": "malformed"}


def test_the_marks_of_words_in_a_later_file_make_no_word_diff_of_a_broken_one() -> None:
    data = plain(b"x", b"@@ -1 +1 @@\nno hunk\n") + plain(b"y", b"@@ -1 +1 @@\n-[-a-]\n+{+b+}\n")

    assert states(data) == {"x": "malformed", "y": "read"}


@pytest.mark.parametrize("above", [b"From: a@example.invalid\n\n", b"Subject: prices\n\n", b"tag v1\n", b"Tagger: a\n"])
def test_one_line_as_in_a_mail_or_a_tag_is_plain_text_above_the_first_file(above: bytes) -> None:
    assert states(above + plain(b"x")) == {"x": "read"}


@pytest.mark.parametrize(
    ("above", "words"),
    [
        (b"tag v1\nTagger: a\n", "begins with a tag"),
        (b"# HG changeset patch\n# User a\n", "an exported commit"),
    ],
)
def test_a_message_above_the_first_file_may_not_pass_for_a_change(above: bytes, words: str) -> None:
    with pytest.raises(DiffError, match=words):
        parse_diff(above + plain(b"x"))


@pytest.mark.parametrize(("head", "words"), [(b"a\0b\0c\0d", "UTF-16"), (b"a\0b\0cdef", "No file section")])
def test_three_nul_bytes_at_the_start_are_those_of_a_wide_text(head: bytes, words: str) -> None:
    with pytest.raises(DiffError, match=words):
        parse_diff(head + b"\0" * 5)


def test_the_limits_of_a_whole_diff_are_what_still_fits() -> None:
    data = plain(b"x")
    fitting = DiffLimits(input_bytes=len(data), input_lines=data.count(b"\n"))

    assert parse_diff(data, fitting) == parse_diff(data)
    for tighter in (DiffLimits(input_bytes=len(data) - 1), DiffLimits(input_lines=data.count(b"\n") - 1)):
        with pytest.raises(DiffError, match="review it in parts"):
            parse_diff(data, tighter)


def test_a_text_that_is_no_diff_is_told_by_its_size() -> None:
    with pytest.raises(DiffError, match="No file section was found in 12 bytes"):
        parse_diff(b"hello\nworld\n")


# --- one file's patch


def test_the_last_line_of_a_patch_is_whole_without_its_newline() -> None:
    whole = parse_fragment(b"@@ -1 +1 @@\n-a\n+b", "n.py")
    early = parse_fragment(b"@@ -1,2 +1,2 @@\n-a\n+b", "n.py")

    assert [hunk.body for change in (whole, early) for hunk in change.files[0].hunks] == ["-a\n+b"] * 2


def test_a_patch_that_ends_too_early_is_partial_and_one_of_two_files_is_malformed() -> None:
    early = parse_fragment(b"@@ -1,2 +1,2 @@\n-a\n+b", "n.py")
    two = parse_fragment(b"@@ -1 +1 @@\n-a\n+b\n" + plain(b"x"), "n.py")
    none = parse_fragment(b"", "n.py")

    told = [(each.path, each.state, each.reason) for change in (early, two, none) for each in change.parsed]
    assert told == [
        ("n.py", "partial", "the diff ends inside a hunk, at its line 3"),
        ("n.py", "malformed", "line 4 of the diff: another file begins inside the patch of this one"),
        ("n.py", "partial", "no text of the change came with the file's name"),
    ]
    assert two.files[0].hunks == ()


@pytest.mark.parametrize("name", ['"quoted".py', "a b.py", "tab\t.py", "\u00fc.py", "back\\slash.py", "\udcff.py"])
def test_a_patch_keeps_the_exact_name_that_came_with_it(name: str) -> None:
    (file,) = parse_fragment(b"@@ -1 +1 @@\n-a\n+b", name).files

    assert exact(file.path) == name


# --- hunks that the input cut off

ROWS = st.lists(st.sampled_from([b" a", b"-b", b"+c", b""]), min_size=2, max_size=10)


def counted(rows: list[bytes]) -> Header:
    added, removed = sum(row[:1] == b"+" for row in rows), sum(row[:1] == b"-" for row in rows)
    both = sum(row[:1] in {b" ", b""} for row in rows)
    return Header(1, removed + both, 1, added + both, b"")


@given(ROWS, st.data())
def test_a_hunk_that_lacks_any_row_has_been_cut_and_counts_what_came(rows: list[bytes], data: st.DataObject) -> None:
    came = rows[: data.draw(st.integers(1, len(rows) - 1))]
    # A note on a missing newline may stand below the last removed row, and is no row.
    came += [b"\\ No newline at end of file"] if came[-1] == b"-b" and b"-b" not in rows[len(came) :] else []

    body = hunks.read_body(came, 0, counted(rows))
    head, left = hunks.shorten(counted(rows), body, drop_last=False)

    if not body.fault:
        assert (body.ended, body.at) == (True, len(came))
        assert (head, left.added, left.removed) == (counted(came), came.count(b"+c"), came.count(b"-b"))


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [(1, 2, [b"-a", b"-b", b"+c", b"+d"]), (2, 1, [b"+a", b"+b", b"-c", b"-d"]), (1, 2, [b" a", b" b", b"+c"])],
)
def test_a_side_with_more_rows_than_its_count_is_a_fault_even_where_the_other_lacks_some(
    old: int, new: int, rows: list[bytes]
) -> None:
    body = hunks.read_body(rows, 0, Header(1, old, 1, new, b""))

    assert body.fault == "the lines of the hunk do not add up to the counts in its header"
    assert body.at == 1
    assert body.rows == ()


@pytest.mark.parametrize(
    ("row", "limit", "kept"),
    [
        (b"+abc", 4, b"+abc"),
        (b"+abcd", 4, b"+abc"),
        ("+a\u00fc".encode(), 3, b"+a"),
        ("+\U0001f600x".encode(), 4, b"+"),
        ("+\U0001f600x".encode(), 5, "+\U0001f600".encode()),
        (b"+" + b"\x80" * 9, 6, b"+" + b"\x80" * 5),  # no text: there is no character to keep whole
    ],
)
def test_a_clipped_row_ends_where_a_character_does(row: bytes, limit: int, kept: bytes) -> None:
    assert hunks.clip(row, limit) == kept


# --- hunks side by side, and limits that just hold


def test_hunks_may_follow_each_other_without_a_line_between_them_and_may_not_overlap() -> None:
    first, adjacent, over = (b"@@ -%d,2 +%d,2 @@\n-a\n+b\n c\n" % (row, row) for row in (1, 3, 2))

    assert states(plain(b"x", first + adjacent)) == {"x": "read"}
    assert states(plain(b"x", first + over)) == {"x": "malformed"}


def test_each_limit_is_what_still_fits_over_all_files() -> None:
    data = plain(b"x") + plain(b"y")
    size = len(b"-a\n+b\n")

    def told(**limits: int) -> list[str]:
        return [each.state for each in parse_diff(data, DiffLimits(**limits)).parsed]

    assert told(file_bytes=size, text_bytes=2 * size, hunks=2, file_hunks=1) == ["read"] * 2
    assert told(file_bytes=size - 1) == ["over_budget"] * 2
    assert told(text_bytes=2 * size - 1) == ["read", "over_budget"]
    assert told(hunks=1) == ["read", "over_budget"]
    assert [file.minified for file in parse_diff(data, DiffLimits(line_bytes=2)).files] == [False, False]
    assert [file.minified for file in parse_diff(data, DiffLimits(line_bytes=1)).files] == [True, True]
