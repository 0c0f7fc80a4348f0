from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context.statements import Statement, Statements

TEXT = """# a comment
@cache
def run(
    first,  # why
    second,
):
    \'\'\'What it does.\'\'\'

    if first and (
        second  # or not
    ):  # then
        return call(
            # the first
            first,
        )
    else:
        x = 1; y = 2
"""


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ((1, 1), []),
        ((2, 2), [(2, 2, "@cache")]),
        ((4, 4), [(3, 6, "def run(\n    first,  \n    second,\n):")]),
        ((7, 7), [(7, 7, "'''What it does.'''")]),
        ((8, 8), []),
        ((10, 10), [(9, 11, "if first and (\n        second  \n    ):  ")]),
        ((14, 14), [(12, 15, "return call(\n            \n            first,\n        )")]),
        ((16, 17), [(16, 16, "else:"), (17, 17, "x = 1; y = 2")]),
        ((18, 90), []),
    ],
)
def test_a_row_belongs_to_a_statement_whose_comments_do_not_count(
    rows: tuple[int, int], found: list[tuple[int, int, str]]
) -> None:
    assert Statements(TEXT).over(*rows) == tuple(Statement(*each) for each in found)


def test_rows_of_several_statements_belong_to_all_of_them() -> None:
    assert [each.first for each in Statements(TEXT).over(10, 16)] == [9, 12, 16]


@pytest.mark.parametrize("text", [None, "", "def (:\n", "x = 1\ry = 2\n", "x = (1\n", "\x00"])
def test_what_does_not_parse_has_no_statements(text: str | None) -> None:
    assert Statements(text).over(1, 9) == ()


def test_a_file_of_windows_has_the_same_rows() -> None:
    assert Statements("a = 1\r\nb = (\r\n    2)\r\n").over(3, 3)[0].first == 2


@given(text=st.text(alphabet="ab=():#\n \t'\"\\\\\\f;,", max_size=60), row=st.integers(1, 9))
def test_any_text_has_statements_in_order_or_none(text: str, row: int) -> None:
    found = Statements(text).over(1, 99)

    assert list(found) == sorted(found)
    assert all(each in found for each in Statements(text).over(row, row))
