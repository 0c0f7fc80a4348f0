from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger
from reviewbot.memory.seen_rows import (
    WHOLE,
    decode,
    encode,
    in_files,
    marks_of,
    stands_on_seen_rows,
    with_rows,
    without_rows,
)
from tests.memory.pushes import change_of
from tests.report.conftest import a_finding

ROWS = st.lists(st.sampled_from(["x = 1", "y = 2", "", "return x", "run(y)"]), min_size=1, max_size=12)


@given(rows=ROWS, above=ROWS, below=ROWS)
def test_rows_that_move_are_seen_and_new_ones_are_not(rows: list[str], above: list[str], below: list[str]) -> None:
    marks = marks_of(change_of({}, {"a.py": "\n".join([*rows, "unique = rows"])}))
    seen = decode(encode(in_files(marks, ["a.py"])))
    later = marks_of(change_of({}, {"b.py": "\n".join([*above, *rows, "unique = rows", *below, "other = 3"])}))
    first = len(above) + 1

    moved = a_finding(path="b.py", line=first + 1, end_line=first + len(rows))
    new = a_finding(path="b.py", line=first + len(rows) + len(below) + 1, end_line=first + len(rows) + len(below) + 1)
    assert stands_on_seen_rows(moved, later, seen)
    assert not stands_on_seen_rows(new, later, seen)


def test_a_finding_beside_removed_rows_stands_on_them() -> None:
    marks = marks_of(change_of({"a.py": "a\nb\nc\nd"}, {"a.py": "a\nd"}))
    finding = a_finding(path="a.py", line=2, end_line=2)

    assert stands_on_seen_rows(finding, marks, in_files(marks, ["a.py"]))
    assert not stands_on_seen_rows(finding, marks, frozenset())


def test_a_finding_on_no_changed_row_is_never_on_seen_ones() -> None:
    marks = marks_of(change_of({"a.py": "a\nb"}, {"a.py": "a\nb\nc"}))

    assert not stands_on_seen_rows(a_finding(path="a.py", line=1, end_line=1), marks, in_files(marks, ["a.py"]))
    assert stands_on_seen_rows(a_finding(path="a.py", line=1, end_line=900), marks, in_files(marks, ["a.py"]))


@pytest.mark.parametrize("text", ["no base64!", "\N{SNOWMAN}", "A"])
def test_what_is_no_text_of_marks_has_none(text: str) -> None:
    assert decode(text) == frozenset()


@given(rows=st.sets(st.binary(min_size=3, max_size=3), max_size=20))
def test_marks_are_decoded_as_they_were_encoded(rows: set[bytes]) -> None:
    assert decode(encode(rows)) == rows
    assert encode(rows) == b64encode(b"".join(sorted(rows))).decode()


def first_head(change: ChangeSet, *lacking: str, base: str = "b" * 40) -> Ledger:
    """The ledger after the review of a first head that read all files but some."""
    head = HeadEntry(head="a" * 40, outcome="reviewed", at="", base=base, lacking=lacking)
    marks = marks_of(change)
    return Ledger(heads=(head,), seen_last=encode(in_files(marks, marks.keys() - set(lacking))))


def test_the_rows_of_a_first_head_are_left_to_the_host_and_those_of_later_ones_are_kept() -> None:
    change = change_of({}, {"a.py": "a\nb"})
    first = first_head(change)
    later = first.model_copy(update={"heads": first.heads * 2})
    baseless = first_head(change, base="")

    assert without_rows(first, change).seen_last == WHOLE
    assert decode(WHOLE) == frozenset()
    assert with_rows(without_rows(first, change), change) == first
    assert with_rows(without_rows(first, change), None) == first.model_copy(update={"seen_last": ""})
    assert without_rows(later, change) == later
    assert without_rows(baseless, change) == baseless.model_copy(update={"seen_last": ""})


@given(lacking=st.sets(st.sampled_from([f"{name}.py" for name in "abcdefghijkl"])))
def test_files_that_were_not_read_are_known_again_by_their_places_among_all_paths(lacking: set[str]) -> None:
    change = change_of({}, {f"{name}.py": f"{name} = 1" for name in "lkjihgfedcba"})
    first = first_head(change, *sorted(lacking))
    short = without_rows(first, change)

    assert short.heads[0].lacking == ()
    assert len(short.seen_last) < 12
    assert with_rows(short, change) == first


@pytest.mark.parametrize("found", [{}, {"a.py": "a"}, {"a.py": "a", "b.py": "b", "c.py": "c"}])
def test_where_the_host_shows_other_files_what_was_read_is_not_remembered(found: dict[str, str]) -> None:
    change = change_of({}, {"b.py": "b", "c.py": "c"})
    known = with_rows(without_rows(first_head(change, "b.py"), change), change_of({}, found) if found else None)

    assert (known.heads[0].base, known.heads[0].lacking, known.seen_last) == ("", (), "")


def test_where_unread_files_have_no_short_name_the_next_head_is_read_in_full() -> None:
    change = change_of({}, {f"{number:03}.py": "a" for number in range(900)})
    some = [f"{number:03}.py" for number in range(900) if number * number % 7 in (1, 2) or number % 11 == 3]
    short = without_rows(first_head(change, *some), change)

    assert (short.heads[0].base, short.heads[0].lacking, short.seen_last) == ("", (), "")
