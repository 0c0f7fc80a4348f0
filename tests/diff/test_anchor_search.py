"""The search behind a quote's place: every place, no other one, and what is taken off a quote before it."""

from __future__ import annotations

from itertools import product

import pytest

from reviewbot.diff.anchor import Place, _NewLine, _starts, anchor
from reviewbot.domain.contracts import Candidate, Payload


def found(quote: str, *codes: str) -> Place | None:
    """The place of a quote in slices of one file, a hundred lines apart."""
    candidate = Candidate(
        severity="warning", path="a.py", quote=quote, message="m", confidence=90, source="s", category="c"
    )
    parts = [
        Payload(
            code=code,
            file_path="a.py",
            language="python",
            starts=tuple((1 + 100 * at + 10 * hunk, 1 + 100 * at + 10 * hunk) for hunk in range(code.count("@@"))),
        )
        for at, code in enumerate(codes)
    ]
    return anchor(candidate, *parts)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_every_place_is_found_in_whatever_repeats_itself(size: int) -> None:
    for texts in product("ab", repeat=8):
        rows = [_NewLine(0, number, added=True, text=text) for number, text in enumerate(texts)]
        for quote in product("ab", repeat=size):
            places = [at for at in range(9 - size) if texts[at : at + size] == quote]
            assert list(_starts([*quote], rows, str)) == places, (texts, quote)


def test_no_place_reaches_over_the_end_of_a_hunk() -> None:
    for hunks in product((0, 1), repeat=5):
        rows = [_NewLine(hunk, number, added=True, text="a") for number, hunk in enumerate(sorted(hunks))]
        places = [at for at in range(4) if rows[at].hunk == rows[at + 1].hunk]
        assert list(_starts(["a", "a"], rows, str)) == places


@pytest.mark.parametrize(
    "quote",
    ["\nx = 1", "\n\n\nx = 1\n\n\n", "x = 1\n", "   \nx = 1\n\t\n  ", "+x = 1", "+\n+x = 1\n+", "\n+x = 1\n+ "],
)
def test_empty_lines_around_a_quote_say_nothing(quote: str) -> None:
    assert found(quote, "@@\n+w\n+x = 1\n+y") == Place(2, 2, "x = 1")


@pytest.mark.parametrize("quote", ["a = 1\n\nb = 2", "+a = 1\n+\n+b = 2", "+a = 1\n\n+b = 2", " a = 1\n+\n+b = 2"])
def test_an_empty_line_inside_a_quote_is_one_of_its_lines(quote: str) -> None:
    assert found(quote, "@@\n+a = 1\n+\n+b = 2") == Place(1, 3, "a = 1\n\nb = 2")
    assert found(quote, "@@\n+a = 1\n+b = 2") is None


@pytest.mark.parametrize("quote", ["-x = 1\n+y = 2", "+x = 1\n-y = 2", "*x = 1\n+y = 2"])
def test_a_quote_with_another_mark_than_that_of_added_lines_is_not_unmarked(quote: str) -> None:
    assert found(quote, "@@\n+x = 1\n+y = 2") is None


def test_marks_and_white_space_may_both_differ() -> None:
    assert found("+if  x:\n+\treturn", "@@\n+    if x:\n+        return") == Place(1, 2, "    if x:\n        return")


def test_the_last_hunk_of_a_slice_and_the_first_of_the_next_are_not_one() -> None:
    assert found("x = 1\ny = 2", "@@\n+w = 0\n@@\n+x = 1", "@@\n+y = 2") is None
    assert found("x = 1\ny = 2", "@@\n+w = 0\n@@\n+x = 1\n+y = 2", "@@\n+z = 3") == Place(11, 12, "x = 1\ny = 2")


def test_a_place_of_which_one_line_was_added_goes_before_one_of_context_alone() -> None:
    assert found("a = 1\nb = 2", "@@\n a = 1\n b = 2\n c\n a = 1\n+b = 2") == Place(4, 5, "a = 1\nb = 2")
    assert found("a = 1\nb = 2", "@@\n+a = 1\n b = 2\n c\n a = 1\n+b = 2") is None
