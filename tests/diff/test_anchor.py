"""Finding the place of a candidate: counted, quoted, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.contracts import Candidate, Payload
from reviewbot.diff.anchor import Place, anchor
from reviewbot.diff.rows import payload_rows

CODE = """\
@@ def f():
 import os
-old = 1
+value = eval(text)
+return value
 }
@@
 import os
+    first = 1
+    second = 2\r
     third = 3"""
PAYLOAD = Payload(code=CODE, file_path="a.py", language="python", starts=((10, 10), (50, 51)))


def candidate(quote: str = "", line: int | None = None, end_line: int | None = None) -> Candidate:
    return Candidate(
        severity="warning",
        path="a.py",
        quote=quote,
        message="m",
        confidence=90,
        source="s",
        category="c",
        line=line,
        end_line=end_line,
    )


@pytest.mark.parametrize(
    ("line", "end_line", "place"),
    [
        (11, None, Place(11, 11, "value = eval(text)")),
        (11, 12, Place(11, 12, "value = eval(text)\nreturn value")),
        (11, 13, Place(11, 13, "value = eval(text)\nreturn value\n}")),
        (52, 53, Place(52, 53, "    first = 1\n    second = 2\r")),
        (10, 11, None),
        (13, None, None),
        (14, None, None),
        (11, 14, None),
        (12, 11, None),
        (12, 51, None),
        (12, 52, None),
        (52, 10**9, None),
        (1, None, None),
    ],
)
def test_a_counted_line_must_be_an_added_one_of_the_slice(line: int, end_line: int | None, place: Place | None) -> None:
    assert anchor(candidate("what it quotes does not matter", line, end_line), PAYLOAD) == place


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("value = eval(text)", Place(11, 11, "value = eval(text)")),
        ("value = eval(text)\nreturn value", Place(11, 12, "value = eval(text)\nreturn value")),
        ("\n\nvalue = eval(text)\n\n", Place(11, 11, "value = eval(text)")),
        ("  value  =  eval(text)", Place(11, 11, "value = eval(text)")),
        ("first = 1\nsecond = 2", Place(52, 53, "    first = 1\n    second = 2\r")),
        ("+value = eval(text)\n+return value\n }", Place(11, 13, "value = eval(text)\nreturn value\n}")),
        ("third = 3", Place(54, 54, "    third = 3")),
        ("import os\nvalue = eval(text)", Place(10, 11, "import os\nvalue = eval(text)")),
    ],
)
def test_a_quote_is_found_where_it_stands(quote: str, place: Place) -> None:
    assert anchor(candidate(quote), PAYLOAD) == place


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("", "it is empty"),
        (" \n\t\n", "it is blank"),
        ("}", "punctuation is everywhere"),
        ("});\n}", "the same on two lines"),
        ("value = eval(other)", "it is not there"),
        ("old = 1", "a removed line is not on the new side"),
        ("-old = 1\n+value = eval(text)", "nor behind its marker"),
        ("import os", "it stands at two places, both context"),
        ("return value\nimport os", "two hunks are not one below the other"),
        ("}\nimport os", "the same from context"),
        ("@@ def f():", "a heading is no line"),
        ("eval(text)", "a part of a line is not the line"),
        ("+", "a marker alone"),
    ],
)
def test_a_quote_without_one_sure_place_is_refused(quote: str, why: str) -> None:
    assert anchor(candidate(quote), PAYLOAD) is None, why


def payload(*lines: str) -> Payload:
    return Payload(code="\n".join(["@@", *lines]), file_path="a.py", language="python", starts=((1, 1),))


def test_an_added_line_goes_before_the_same_line_in_context() -> None:
    assert anchor(candidate("x = 1"), payload(" x = 1", "+x = 1", " x = 1")) == Place(2, 2, "x = 1")


def test_two_added_lines_that_are_alike_are_ambiguous() -> None:
    assert anchor(candidate("x = 1"), payload("+x = 1", " y", "+x = 1")) is None


def test_an_exact_match_goes_before_one_with_other_white_space() -> None:
    assert anchor(candidate("  x = 1"), payload("+x = 1", "+  x = 1")) == Place(2, 2, "  x = 1")


def test_places_that_overlap_are_all_seen() -> None:
    assert anchor(candidate("a\na"), payload("+a", "+a", "+a")) is None


def test_a_quote_that_repeats_itself_is_found_behind_a_false_start() -> None:
    rows = payload("+a", "+b", "+a", "+b", "+a", "+c")
    assert anchor(candidate("a\nb\na\nc"), rows) == Place(3, 6, "a\nb\na\nc")


@pytest.mark.parametrize("odd", ["\x0c", "\x85", "\u2028", "\x1c"])
def test_a_line_that_holds_another_line_end_stays_one_line(odd: str) -> None:
    assert anchor(candidate(f"x{odd}y"), payload(f"+x{odd}y", "+z")) == Place(1, 1, f"x{odd}y")


LINES = st.lists(st.tuples(st.sampled_from("+ -"), st.sampled_from(["a", "b", "ab"])), min_size=1, max_size=12)


@given(LINES, st.data())
def test_a_place_holds_the_quote_and_no_other_place_is_as_good(
    lines: list[tuple[str, str]], data: st.DataObject
) -> None:
    slice_ = payload(*(mark + text for mark, text in lines))
    rows = [row for _, row in payload_rows(slice_) if row.new is not None]
    size = data.draw(st.integers(1, 3))
    quote = data.draw(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=size, max_size=size))
    windows = [rows[at : at + size] for at in range(len(rows) - size + 1)]
    places = [window for window in windows if [row.text for row in window] == quote]
    added = [place for place in places if any(row.kind == "+" for row in place)]
    best = added or places
    place = anchor(candidate("\n".join(quote)), slice_)
    if len(best) == 1:
        assert place == Place(best[0][0].new or 0, best[0][-1].new or 0, "\n".join(quote))
    else:
        assert place is None


def test_many_lines_that_are_alike_take_no_more_time_than_others() -> None:
    rows = payload(*["+a"] * 50_000)
    assert anchor(candidate("\n".join(["a"] * 1_900) + "\nb"), rows) is None
