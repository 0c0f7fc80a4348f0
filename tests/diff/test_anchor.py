"""Finding the place of a candidate: counted, quoted, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.anchor import Place, anchor, file_of
from reviewbot.diff.rows import payload_rows
from reviewbot.domain.contracts import Candidate, Payload

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


@pytest.mark.slow
def test_many_lines_that_are_alike_take_no_more_time_than_others() -> None:
    rows = payload(*["+a"] * 50_000)
    assert anchor(candidate("\n".join(["a"] * 1_900) + "\nb"), rows) is None


# --- several slices of one file, and the file's name


def slices(*codes: str, path: str = "src/a.py", old: str | None = None) -> list[Payload]:
    """Slices of one file, a hundred lines apart."""
    return [
        Payload(
            code=f"@@\n{code}", file_path=path, old_path=old, language="python", starts=((1 + 100 * n, 1 + 100 * n),)
        )
        for n, code in enumerate(codes)
    ]


def test_a_quote_is_found_in_whichever_slice_of_its_file_it_stands() -> None:
    assert anchor(candidate("y = 2"), *slices("+x = 1", "+w = 0\n+y = 2")) == Place(102, 102, "y = 2")


def test_a_quote_that_stands_in_two_slices_has_no_sure_place() -> None:
    assert anchor(candidate("x = 1"), *slices("+x = 1", "+x = 1")) is None


def test_a_quote_that_stands_twice_in_one_slice_is_not_saved_by_another_one() -> None:
    assert anchor(candidate("x = 1"), *slices("+x = 1\n y\n+x = 1", "+x = 1")) is None


def test_an_added_line_in_one_slice_goes_before_context_in_another_one() -> None:
    assert anchor(candidate("x = 1"), *slices(" x = 1", "+x = 1")) == Place(101, 101, "x = 1")


def test_an_exact_match_in_one_slice_goes_before_other_white_space_in_another_one() -> None:
    assert anchor(candidate("  x = 1"), *slices("+x = 1", "+  x = 1")) == Place(101, 101, "  x = 1")


def test_two_slices_are_not_one_below_the_other() -> None:
    assert anchor(candidate("x = 1\ny = 2"), *slices("+x = 1", "+y = 2")) is None


def test_a_counted_line_is_looked_up_in_its_own_slice() -> None:
    parts = slices("+x = 1", "+y = 2\n+z = 3")

    assert anchor(candidate(line=102), *parts) == Place(102, 102, "z = 3")
    assert anchor(candidate(line=1, end_line=101), *parts) is None
    assert anchor(candidate(line=1), *parts[:1], *parts[:1]) is None, "two sections of one name: which one is not known"


def named(name: str, line: int | None = None) -> Candidate:
    return candidate("x = 1", line).model_copy(update={"path": name})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("src/a.py", "src/a.py"),
        ("a/src/a.py", "src/a.py"),
        ("b/src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("a.py", "src/a.py"),
        ("old/name.py", "src/a.py"),
        ("a/old/name.py", "src/a.py"),
        ("util.py", None),
        ("lib/util.py", "lib/util.py"),
        ("util", None),
        ("b/a.py", None),
        ("/src/a.py", None),
        ("../src/a.py", None),
        ("c.py", None),
        ("", None),
        ("./", None),
        ("/", None),
    ],
)
def test_a_file_is_known_by_its_name_or_by_one_that_fits_it_alone(name: str, found: str | None) -> None:
    task = [*slices("+x = 1", old="old/name.py"), *slices("+x = 1", path="lib/util.py")]
    task += slices("+x = 1", path="src/util.py")

    assert file_of(named(name), task) == found


@pytest.mark.parametrize(("name", "found"), [("src/a.py", "src/a.py"), ("b/src/a.py", None), ("a.py", None)])
def test_a_program_that_counted_lines_has_to_know_the_name(name: str, found: str | None) -> None:
    assert file_of(named(name, line=1), slices("+x = 1")) == found


def test_a_name_that_is_a_file_goes_before_one_that_another_file_had() -> None:
    swapped = [*slices("+x = 1", path="a.py", old="b.py"), *slices("+x = 1", path="b.py", old="a.py")]

    assert [file_of(named(name), swapped) for name in ("a.py", "b.py")] == ["a.py", "b.py"]


def test_a_file_in_several_slices_is_still_one_file() -> None:
    assert file_of(named("a.py"), slices("+x = 1", "+y = 2")) == "src/a.py"
