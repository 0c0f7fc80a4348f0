"""Which lines were read: the spans of slices, and whether they add up to a file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.coverage.readings import covers, reading_of, spans_of, spans_of_file
from reviewbot.domain.contracts import FileChange, Hunk, Payload, Reading, Span
from reviewbot.review.plan.slices import payloads
from tests.make import MakeFile, MakeHunk


def span(old: int, old_count: int, new: int, new_count: int) -> Span:
    return Span(old_start=old, old_count=old_count, new_start=new, new_count=new_count)


def reading(*spans: Span) -> Reading:
    return Reading(path="src/app.py", spans=spans, models=("m",))


def test_a_slice_is_the_spans_of_its_hunks(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    file = a_file("src/app.py", a_hunk(" a\n+b\n-c"), a_hunk("-x\n\\ No newline at end of file", start=30))

    [payload] = payloads(file, None, 400)

    assert spans_of(payload) == spans_of_file(file) == (span(1, 2, 1, 2), span(30, 1, 30, 0))


def test_a_slice_without_code_is_no_span() -> None:
    assert spans_of(Payload(code="", file_path="a.py", language="python", starts=())) == ()


def test_a_reading_names_its_readers_in_order(a_payload: Callable[..., Payload]) -> None:
    found = reading_of(a_payload(), models={"b", "a"}, analyzers=["z"], scans=())

    assert (found.path, found.models, found.analyzers, found.scans) == ("src/app.py", ("a", "b"), ("z",), ())


@given(size=st.integers(1, 60), limit=st.integers(1, 20), kinds=st.text(" +-", min_size=1, max_size=60))
def test_all_slices_of_a_file_together_cover_it_and_without_one_of_them_they_do_not(
    size: int, limit: int, kinds: str
) -> None:
    rows = [f"{kinds[at % len(kinds)]}line" for at in range(size)]
    old, new = (sum(row[0] != mark for row in rows) for mark in "+-")
    hunk = Hunk(old_start=1, old_count=old, new_start=1, new_count=new, body="\n".join(rows))
    file = FileChange(path="src/app.py", status="modified", language="python", kind="code", hunks=(hunk,))

    readings = [reading_of(payload, models=["m"]) for payload in payloads(file, None, limit)]

    assert covers(readings, file)
    for at in range(len(readings)):
        assert not covers([*readings[:at], *readings[at + 1 :]], file)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), False),
        ((span(1, 2, 1, 2),), False),
        ((span(1, 4, 1, 4),), True),
        ((span(1, 2, 1, 2), span(3, 2, 3, 2)), True),
        ((span(3, 2, 3, 2), span(1, 2, 1, 2)), True),
        ((span(1, 2, 1, 2), span(4, 1, 4, 1)), False),
        ((span(1, 4, 1, 3),), False),
        ((span(1, 3, 1, 4),), False),
        ((span(2, 3, 2, 3),), False),
        ((span(0, 99, 0, 99),), True),
        ((span(1, 1, 1, 1), span(1, 4, 1, 4)), True),
    ],
)
def test_the_union_of_the_spans_must_hold_the_hunk_on_both_sides(
    spans: tuple[Span, ...],
    expected: bool,  # noqa: FBT001 - the expectation
    a_file: MakeFile,
    a_hunk: MakeHunk,
) -> None:
    file = a_file("src/app.py", a_hunk("\n".join([" a"] * 4)))

    assert covers([reading(each) for each in spans], file) is expected


def test_a_file_without_hunks_is_read_where_a_reader_was_given_it(a_file: MakeFile) -> None:
    renamed = a_file(status="renamed", hunks=())

    assert covers([reading()], renamed)
    assert not covers([], renamed)
