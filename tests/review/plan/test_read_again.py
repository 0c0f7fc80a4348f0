"""Dividing a changed file into what is read now and what an earlier head's review has read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.coverage.readings import covers, spans_of_file
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import FileChange, FileReadBefore, Hunk, Reading
from reviewbot.review.plan.read_again import divide

HEAD = "a" * 40


def a_hunk(marks: str, start: int = 1) -> Hunk:
    rows = [f"{mark}row {number}" for number, mark in enumerate(marks)]
    return Hunk(
        old_start=start,
        old_count=sum(mark in " -" for mark in marks),
        new_start=start,
        new_count=sum(mark in " +" for mark in marks),
        body="\n".join(rows),
    )


def a_file(*hunks: Hunk) -> FileChange:
    marks = "".join(row.kind for hunk in hunks for row in hunk_rows(hunk))
    return FileChange(
        path="a.py", status="modified", language="python", kind="code", hunks=hunks,
        added=marks.count("+"), removed=marks.count("-"),
    )  # fmt: skip


def before(*again: tuple[int, int]) -> FileReadBefore:
    return FileReadBefore(path="a.py", head=HEAD, again=again)


def test_a_file_that_no_earlier_review_has_read_is_read_whole() -> None:
    file = a_file(a_hunk("++"))

    assert divide(file, None)[:2] == (file, None)


def test_a_long_hunk_is_cut_at_the_lines_that_are_read_again() -> None:
    divided = divide(a_file(a_hunk("+" * 9)), before((4, 5)))

    assert divided.now is not None
    assert divided.before is not None
    assert [[row.new for row in hunk_rows(hunk)] for hunk in divided.now.hunks] == [[4, 5]]
    assert [[row.new for row in hunk_rows(hunk)] for hunk in divided.before.hunks] == [[1, 2, 3], [6, 7, 8, 9]]
    assert (divided.now.added, divided.before.added) == (2, 7)


def test_a_file_that_stands_as_it_was_read_is_not_read_now() -> None:
    divided = divide(a_file(a_hunk(" +-")), before())

    assert divided.now is None
    [reading] = divided.reading
    assert (reading.head, reading.spans) == (HEAD, spans_of_file(a_file(a_hunk(" +-"))))


def test_a_removed_row_is_read_with_the_line_that_follows_it() -> None:
    divided = divide(a_file(a_hunk(" -- +")), before((2, 2)))

    assert divided.now is not None
    assert "".join(row.kind for hunk in divided.now.hunks for row in hunk_rows(hunk)) == "-- "


@given(st.text("+- ", min_size=1, max_size=30), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=4))
def test_both_parts_together_are_the_file_row_by_row(marks: str, spans: list[tuple[int, int]]) -> None:
    file = a_file(a_hunk(marks, 3), a_hunk("+", 60))
    again = sorted((first, first + length) for first, length in spans)
    divided = divide(file, before(*again))
    parts = [part for part in divided[:2] if part is not None]

    rows = sorted(
        (row.new or 0, row.old or 0, row.text) for part in parts for hunk in part.hunks for row in hunk_rows(hunk)
    )
    assert rows == sorted((row.new or 0, row.old or 0, row.text) for hunk in file.hunks for row in hunk_rows(hunk))
    assert sum(part.added for part in parts) == file.added
    readings = [Reading(path=part.path, spans=spans_of_file(part), models=("m",)) for part in parts]
    assert covers(readings, file)
