"""One side of a file from the other; hunks that do not fit give nothing."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.diff.apply import added_text, new_side, old_side
from reviewbot.domain.contracts import FileChange, Hunk

NOTE = "\\ No newline at end of file"


def file(*hunks: tuple[str, int, int], **fields: Any) -> FileChange:
    made = []
    for body, old, new in hunks:
        marks = [line[:1] for line in body.split("\n")]
        both = marks.count(" ")
        made.append(
            Hunk(
                old_start=old,
                old_count=both + marks.count("-"),
                new_start=new,
                new_count=both + marks.count("+"),
                body=body,
            )
        )
    values = {"path": "a.py", "status": "modified", "language": "python", "kind": "code", **fields}
    return FileChange(hunks=tuple(made), **values)


@pytest.mark.parametrize(
    ("hunks", "old", "new"),
    [
        ([(" a\n-b\n+c", 1, 1)], "a\nb\nz\n", "a\nc\nz\n"),
        ([("-a\n+b", 1, 1), ("-y\n+z\n+zz", 3, 3)], "a\nx\ny\n", "b\nx\nz\nzz\n"),
        ([("+b", 1, 2)], "a\nc\n", "a\nb\nc\n"),
        ([("-b", 2, 1)], "a\nb\nc\n", "a\nc\n"),
        ([("+a", 0, 1)], "", "a\n"),
        ([("-a", 1, 0)], "a\n", ""),
        ([(f"-a\n{NOTE}\n+a", 1, 1)], "a", "a\n"),
        ([(f"-a\n+a\n{NOTE}", 1, 1)], "a\n", "a"),
        ([(f"-a\n{NOTE}\n+b\n{NOTE}", 1, 1)], "a", "b"),
        ([(f"-a\n+b\n z\n{NOTE}", 1, 1)], "a\nz", "b\nz"),
        ([("-a\r\n+b\r", 1, 1)], "a\r\nz", "b\r\nz"),
        ([("-a\x0c\n+b\u2028", 1, 1)], "a\x0c\n", "b\u2028\n"),
        ([], "same", "same"),
    ],
)
def test_each_side_gives_the_other(hunks: list[tuple[str, int, int]], old: str, new: str) -> None:
    assert new_side(file(*hunks), old) == new
    assert old_side(file(*hunks), new) == old


@pytest.mark.parametrize(
    "old",
    ["", "a\nx\nz\n", "b\na\n", "a\n", "a\nb", "a\r\nb\n", "z\na\nb\n"],
)
def test_an_old_text_that_does_not_fit_gives_none(old: str) -> None:
    assert new_side(file((" a\n-b\n+c", 1, 1)), old) is None


def test_a_missing_newline_must_fit_as_well() -> None:
    assert new_side(file((f"-a\n{NOTE}\n+b", 1, 1)), "a\n") is None
    assert new_side(file(("-a\n+b", 1, 1)), "a") is None
    assert new_side(file(("+b", 1, 2)), "a") is None
    assert new_side(file((f"+b\n{NOTE}", 0, 1)), "a\n") is None


def test_hunks_that_overlap_or_lie_behind_the_end_fit_nothing() -> None:
    assert new_side(file((" a\n-b\n+c", 1, 1), ("-b\n+d", 2, 2)), "a\nb\n") is None
    assert new_side(file(("-x\n+d", 9, 9)), "a\n") is None
    assert new_side(file(("+d", 9, 10)), "a\n") is None


def test_a_cut_line_fits_nothing() -> None:
    assert new_side(file(("+a", 0, 1), minified=True), "") is None
    assert added_text(file(("+a", 0, 1), minified=True, status="added")) is None


def test_an_added_file_has_its_text_in_its_hunks() -> None:
    assert added_text(file((f"+a\n+b\n{NOTE}", 0, 1), status="added")) == "a\nb"
    assert added_text(file((" a\n+b", 1, 1), status="added")) is None
    assert added_text(file(("+a", 0, 1))) is None
    assert added_text(file(status="added")) is None
