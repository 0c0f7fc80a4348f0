"""Numbered rows of hunks and slices."""

from __future__ import annotations

import pytest

from reviewbot.diff.rows import Row, code_of, commentable, halves, hunk_rows, payload_rows
from reviewbot.domain.contracts import Hunk, Payload


def hunk(body: str, old: int = 1, new: int = 1, heading: str = "") -> Hunk:
    marks = [line[:1] for line in body.split("\n")]
    old_count, new_count = marks.count(" ") + marks.count("-"), marks.count(" ") + marks.count("+")
    return Hunk(old_start=old, old_count=old_count, new_start=new, new_count=new_count, heading=heading, body=body)


def payload(*hunks: Hunk) -> Payload:
    code, starts = code_of(hunks)
    return Payload(code=code, file_path="a.py", language="python", starts=starts)


def test_each_side_counts_its_own_rows() -> None:
    assert list(hunk_rows(hunk(" a\n-b\n+c\n+d\n e", old=10, new=20))) == [
        Row(" ", 10, 20, "a"),
        Row("-", 11, None, "b"),
        Row("+", None, 21, "c"),
        Row("+", None, 22, "d"),
        Row(" ", 12, 23, "e"),
    ]


def test_a_note_on_a_missing_newline_is_no_row() -> None:
    rows = list(hunk_rows(hunk("-a\n\\ No newline at end of file\n+b")))
    assert rows == [Row("-", 1, None, "a"), Row("+", None, 1, "b")]


@pytest.mark.parametrize("odd", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "a\rb", "\0"])
def test_only_a_line_feed_ends_a_row(odd: str) -> None:
    assert list(hunk_rows(hunk(f"+{odd}\n+x"))) == [Row("+", None, 1, odd), Row("+", None, 2, "x")]


def test_a_slice_gives_the_rows_of_its_hunks_with_their_index() -> None:
    first, second = hunk(" a\n+b", heading="def f():"), hunk("-x\n+@@ y", old=50, new=51)
    assert list(payload_rows(payload(first, second))) == [
        *((0, row) for row in hunk_rows(first)),
        *((1, row) for row in hunk_rows(second)),
    ]


def test_the_code_of_a_slice_holds_headings_and_no_number() -> None:
    code, starts = code_of([hunk(" a\n+b", heading="def f():"), hunk("+c", old=50, new=51)])
    assert code == "@@ def f():\n a\n+b\n@@\n+c"
    assert starts == ((1, 1), (50, 51))


def test_no_hunks_give_no_rows() -> None:
    assert list(payload_rows(payload())) == []


def test_a_slice_with_too_few_starts_cannot_be_numbered() -> None:
    broken = payload(hunk("+a"), hunk("+b", new=9)).model_copy(update={"starts": ((1, 1),)})
    with pytest.raises(ValueError, match=r"a\.py has more hunks than starts"):
        list(payload_rows(broken))


def test_comments_can_stand_at_all_lines_of_the_new_side() -> None:
    assert commentable([hunk(" a\n-b\n+c"), hunk("+d", new=9)]) == {1, 2, 9}


def test_halves_part_a_slice_between_its_hunks() -> None:
    hunks = [hunk("+a\n+b\n+c"), hunk("+d", new=20), hunk("+e\n+f", new=30)]
    parts = halves(payload(*hunks))
    assert parts == (payload(*hunks[:1]), payload(*hunks[1:]))


def test_halves_of_one_hunk_keep_the_numbers_of_its_rows() -> None:
    whole = payload(hunk(" a\n-b\n+c\n+d\n e\n+f", old=10, new=20, heading="def f():"))
    parts = halves(whole)
    assert parts is not None
    rows = [row for part in parts for _, row in payload_rows(part)]
    assert rows == [row for _, row in payload_rows(whole)]
    assert all(part.code.startswith("@@ def f():\n") for part in parts)


def test_a_note_on_a_missing_newline_stays_with_its_row() -> None:
    parts = halves(payload(hunk("-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file")))
    assert parts is not None
    assert [part.code for part in parts] == [
        "@@\n-a\n\\ No newline at end of file",
        "@@\n+b\n\\ No newline at end of file",
    ]


@pytest.mark.parametrize("body", ["+a", "+a\n\\ No newline at end of file"])
def test_one_row_has_no_halves(body: str) -> None:
    assert halves(payload(hunk(body))) is None


def test_halves_go_on_until_single_rows_are_left() -> None:
    left, single = [payload(hunk("\n".join(f"+{n}" for n in range(9))), hunk("+x", new=40))], []
    while left:
        parts = halves(part := left.pop())
        left.extend(parts or ())
        single.extend([] if parts else [part])
    assert sorted(row.new or 0 for part in single for _, row in payload_rows(part)) == [*range(1, 10), 40]
