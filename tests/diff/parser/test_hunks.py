"""Hunk headers and bodies by themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parser import hunks
from reviewbot.diff.parser.hunks import Body, Header


@pytest.mark.parametrize(
    ("line", "header"),
    [
        (b"@@ -1 +1 @@", Header(1, 1, 1, 1, b"")),
        (b"@@ -1,2 +3,4 @@", Header(1, 2, 3, 4, b"")),
        (b"@@ -0,0 +1,9 @@ def f(x): ", Header(0, 0, 1, 9, b"def f(x): ")),
        (b"@@ -7,0 +8 @@ @@ -1 +1 @@", Header(7, 0, 8, 1, b"@@ -1 +1 @@")),
        (b"@@ -999999999,999999999 +1 @@", Header(999_999_999, 999_999_999, 1, 1, b"")),
        (b"@@ -1 +1 @@\xff\xfe", None),
        (b"@@ -1 +1 @@ \xff", Header(1, 1, 1, 1, b"\xff")),
        (b"@@ -1 +1", None),
        (b"@@ +1 -1 @@", None),
        (b"@@ -1, +1 @@", None),
        (b"@@ --1 +1 @@", None),
        (b"@@ -1,-3 +1 @@", None),
        (b"@@ -1.0 +1 @@", None),
        (b"@@ - 1 +1 @@", None),
        (b"@@ -1 1 @@", None),
        (b"@@ -0x1 +1 @@", None),
        (b"@@  -1 +1 @@", None),
        (b" @@ -1 +1 @@", None),
        (b"@@ -0,0 +0,0 @@", None),
        (b"@@ -5,0 +5,0 @@", None),
        (b"@@ -0,1 +1 @@", None),
        (b"@@ -1 +0,1 @@", None),
        (b"", None),
    ],
)
def test_a_header_names_possible_lines_or_is_none(line: bytes, header: Header | None) -> None:
    assert hunks.header(line) == header


@pytest.mark.parametrize(
    ("header", "old_first", "new_first"),
    [
        (Header(3, 2, 4, 1, b""), 3, 4),
        (Header(3, 0, 4, 1, b""), 4, 4),
        (Header(0, 0, 1, 1, b""), 1, 1),
        (Header(1, 1, 0, 0, b""), 1, 1),
    ],
)
def test_a_side_without_lines_lies_behind_its_number(header: Header, old_first: int, new_first: int) -> None:
    assert (header.old_first, header.new_first) == (old_first, new_first)


ROWS = st.lists(
    st.sampled_from([b" a", b"-b", b"+c", b"", b"+", b"- -", b" @@ -1 +1 @@", b"---x", b"+++y"]),
    min_size=1,
    max_size=12,
)


def counted(rows: list[bytes]) -> Header:
    added, removed = sum(row[:1] == b"+" for row in rows), sum(row[:1] == b"-" for row in rows)
    both = len(rows) - added - removed
    return Header(1, removed + both, 1, added + both, b"")


@given(ROWS, st.lists(st.sampled_from([b"+d", b"-e", b" f", b"@@ -9 +9 @@", b"diff --git a/x b/x"]), max_size=3))
def test_a_body_is_as_long_as_its_header_says_whatever_follows(rows: list[bytes], rest: list[bytes]) -> None:
    body = hunks.read_body([b"above", *rows, *rest], 1, counted(rows))
    assert (list(body.rows), body.at, body.fault, body.ended) == (rows, len(rows) + 1, "", False)
    assert (body.added, body.removed) == (sum(r[:1] == b"+" for r in rows), sum(r[:1] == b"-" for r in rows))


@given(ROWS, st.integers(-3, 3), st.integers(-3, 3))
def test_a_body_with_another_count_is_never_taken_for_whole(rows: list[bytes], old: int, new: int) -> None:
    head = counted(rows)
    wrong = head._replace(old_count=max(0, head.old_count + old), new_count=max(0, head.new_count + new))
    if wrong == head or not (wrong.old_count or wrong.new_count):
        return
    body = hunks.read_body([*rows, b"diff --git a/x b/x"], 0, wrong)
    assert body.fault or body.at < len(rows)


@given(ROWS)
def test_a_cut_body_gets_the_counts_of_what_came(rows: list[bytes]) -> None:
    head = counted(rows)
    body = hunks.read_body(rows, 0, head._replace(old_count=head.old_count + 1, new_count=head.new_count + 1))
    assert body.ended
    assert hunks.shorten(head, body, drop_last=False)[0] == head
    shorter, left = hunks.shorten(head, body, drop_last=True)
    assert (list(left.rows), shorter) == (rows[:-1], counted(rows[:-1]))


@pytest.mark.parametrize(
    ("rows", "head", "fault"),
    [
        ([b"-a", b"\\ no", b"+b", b"\\ no"], Header(1, 1, 1, 1, b""), ""),
        ([b"-a", b"+b", b"\\ no"], Header(1, 1, 1, 1, b""), ""),
        ([b"-a", b"\\ no", b"+b", b"+c"], Header(1, 1, 1, 2, b""), ""),
        ([b"-a", b"+b", b" c", b"\\ no"], Header(1, 2, 1, 2, b""), ""),
        ([b"-a", b"\\ no", b"-b", b"+c"], Header(1, 2, 1, 1, b""), "a line follows the one that has no newline"),
        ([b"+a", b"\\ no", b" b"], Header(1, 1, 1, 2, b""), "a line follows the one that has no newline"),
        ([b" a", b"\\ no", b"+b"], Header(1, 1, 1, 2, b""), "a line follows the one that has no newline"),
        ([b"", b"\\ no", b"-b"], Header(1, 2, 1, 1, b""), "a line follows the one that has no newline"),
    ],
)
def test_nothing_follows_the_end_of_a_side(rows: list[bytes], head: Header, fault: str) -> None:
    body = hunks.read_body(rows, 0, head)
    assert (body.fault, body.closed) == (fault, True)


@given(st.text(min_size=1, max_size=30), st.integers(4, 12))
def test_a_clipped_row_is_its_own_beginning_and_still_text(text: str, limit: int) -> None:
    row = b"+" + text.encode("utf-8", "replace")
    clipped = hunks.clip(row, limit)
    assert row.startswith(clipped)
    assert limit - 4 < len(clipped) <= limit or clipped == row
    clipped.decode("utf-8")


def test_a_model_has_the_one_form_of_every_row() -> None:
    rows = [b"", b"\r", b"-\xff", b"\\ Kein Zeilenumbruch", b"+\xc3\xa9", b"\\ x"]
    hunk = hunks.make(Header(1, 3, 1, 3, b"caf\xe9"), rows)
    note = "\\ No newline at end of file"
    assert hunk.body.split("\n") == [" ", " \r", "-\ufffd", note, "+\u00e9", note]
    assert hunk.heading == "caf\ufffd"


def test_a_body_without_rows_has_nothing() -> None:
    assert hunks.read_body([], 0, Header(1, 1, 1, 1, b"")) == Body([], 0, ended=True)
