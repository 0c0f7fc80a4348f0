"""Ruff's own fixes as whole lines: only safe ones, only on the lines of their report, and never a half one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.ruff.fixes import Edit, edits_of, replacement_of
from reviewbot.review.calibration import Calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import Candidate, FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]


def an_edit(content: object = "y", **fields: Any) -> dict[str, Any]:
    place = {"location": {"row": 1, "column": 1}, "end_location": {"row": 1, "column": 2}}
    return {"content": content, **place, **fields}


def a_fix(*edits: object, applicability: str = "safe") -> dict[str, Any]:
    return {"applicability": applicability, "message": "mend it", "edits": list(edits)}


def replaced(rows: list[str], *edits: Edit, first: int = 1) -> str | None:
    return replacement_of(edits, first, rows)


def test_a_safe_fix_is_read_in_the_order_of_its_places() -> None:
    later = an_edit("z", location={"row": 2, "column": 1}, end_location={"row": 2, "column": 2})

    assert edits_of(a_fix(later, an_edit())) == (Edit((1, 1), (1, 2), "y"), Edit((2, 1), (2, 2), "z"))


@pytest.mark.parametrize(
    "fix",
    [
        None,
        "fix",
        a_fix(an_edit(), applicability="unsafe"),
        a_fix(an_edit(), applicability="display-only"),
        {**a_fix(), "edits": None},
        a_fix("no edit"),
        a_fix(an_edit(None)),
        a_fix(an_edit(location=None)),
        a_fix(an_edit(location={"row": 0, "column": 1})),
        a_fix(an_edit(end_location={"row": True, "column": 1})),
        a_fix(an_edit(), an_edit(3)),
        a_fix(*[an_edit()] * 51),
    ],
)
def test_what_is_not_safe_or_has_another_form_is_no_fix(fix: object) -> None:
    assert edits_of(fix) == ()


def test_an_edit_inside_a_line_gives_the_whole_line() -> None:
    assert replaced(["    if not x in y:"], Edit((7, 8), (7, 18), "x not in y"), first=7) == "    if x not in y:"


def test_a_line_that_is_taken_out_leaves_nothing() -> None:
    assert replaced(["import os"], Edit((1, 1), (2, 1), "")) == ""


def test_several_edits_of_several_lines_are_made_together() -> None:
    edits = (Edit((3, 1), (3, 2), "A"), Edit((4, 2), (4, 3), "BB\nC"))

    assert replaced(["abc", "def"], *edits, first=3) == "Abc\ndBB\nCf"


def test_lines_that_end_with_cr_lf_are_told_without_cr() -> None:
    assert replaced(["a = 1\r", "b = 2\r"], Edit((1, 5), (2, 2), "3\r\nc")) == "a = 3\nc = 2"


@pytest.mark.parametrize(
    "edit",
    [
        Edit((1, 1), (1, 2), "x"),  # above
        Edit((4, 1), (4, 1), "import os\n"),  # below
        Edit((3, 2), (3, 9), "x"),  # behind the end of the line
        Edit((2, 1), (3, 2), "x"),  # begins above
        Edit((3, 1), (4, 2), "x"),  # ends below
        Edit((2, 3), (2, 1), "x"),  # the wrong way round
        Edit((2, 3), (3, 1), ""),  # makes one line of two, of which one is not its own
        Edit((2, 1), (2, 3), ""),  # an empty line, which would be told like none
    ],
)
def test_what_reaches_beyond_the_lines_of_the_report_or_leaves_no_lines_is_left_out(edit: Edit) -> None:
    assert replaced(["ab"], edit, first=2) is None


def test_edits_that_overlap_are_left_out() -> None:
    assert replaced(["abcd"], Edit((1, 1), (1, 3), "x"), Edit((1, 2), (1, 4), "y")) is None


@pytest.mark.parametrize("row", ["a\rb", "\ufeffab"])
def test_lines_whose_columns_ruff_counts_in_another_way_have_no_replacement(row: str) -> None:
    assert replaced([row], Edit((1, 1), (1, 2), "x")) is None


def test_without_edits_and_of_a_very_long_one_there_is_no_replacement() -> None:
    assert replaced(["ab"]) is None
    assert replaced(["ab"], Edit((1, 1), (1, 1), "x" * 4_000)) is None


@given(st.lists(st.text("ab ", max_size=6), min_size=1, max_size=4), st.data())
def test_one_edit_is_made_just_where_ruff_means_it(rows: list[str], data: st.DataObject) -> None:
    row = data.draw(st.integers(1, len(rows)))
    start = data.draw(st.integers(1, len(rows[row - 1]) + 1))
    end = data.draw(st.integers(start, len(rows[row - 1]) + 1))
    expected = [*rows]
    expected[row - 1] = rows[row - 1][: start - 1] + "Z" + rows[row - 1][end - 1 :]

    assert replaced(rows, Edit((row, start), (row, end), "Z")) == "\n".join(expected)


def told(tool: str, change: FileChange, snapshot: Snapshot) -> tuple[Candidate, ...]:
    return asyncio.run(
        all_tools(calibration=Calibration())[tool].run(changed_file([change], snapshot), snapshot)
    ).candidates


IS_LITERAL = "def f(x):\n    if x is 3:\n        return 1\n    return 0\n"


def test_what_ruff_mends_safely_comes_with_its_report(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    (found,) = told("ruff-logic", file_of(IS_LITERAL.rstrip("\n")), snapshot_of(IS_LITERAL))

    assert (found.rule, found.line, found.replacement) == ("F632", 2, "    if x == 3:")


def test_of_a_hunk_alone_nothing_is_offered(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = told("ruff-logic", file_of(IS_LITERAL.rstrip("\n")), bare)

    assert (found.rule, found.replacement) == ("F632", None)


def test_where_a_lone_cr_ends_a_row_further_up_nothing_is_offered(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    text = f"a = 1\rb = 2\n{IS_LITERAL}"

    (found,) = told("ruff-logic", file_of(text.rstrip("\n")), snapshot_of(text))

    assert (found.rule, found.line, found.replacement) == ("F632", 3, None)
