"""What the tests of the taint analysis share: code that says itself where a finding is expected."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING, Protocol

import pytest

from reviewbot.analyzers.python.views import Budget, View
from reviewbot.analyzers.taint import check

if TYPE_CHECKING:
    from reviewbot.analyzers.python.views import Found

MARK = "  # <<< "


class Follow(Protocol):
    def __call__(self, code: str, *, whole: bool = ..., steps: int = ...) -> list[Found]: ...


def follow_flows(code: str, *, whole: bool = True, steps: int = 2_000_000) -> list[Found]:
    text = textwrap.dedent(code).strip("\n") + "\n"
    rows = frozenset(range(1, text.count("\n") + 1))
    return list(check(View("src/app.py", ast.parse(text), text, whole, rows), Budget(steps)))


@pytest.fixture
def follow() -> Follow:
    """The flows of some code."""
    return follow_flows


class Agree(Protocol):
    def __call__(self, code: str, *, whole: bool = ...) -> None: ...


@pytest.fixture
def agree() -> Agree:
    """Holds the flows of some code against the marks in it: "# <<< RULE" ends each line that has one, and no other."""

    def hold(code: str, *, whole: bool = True) -> None:
        text = textwrap.dedent(code).strip("\n")
        expected = [
            (row, rule)
            for row, line in enumerate(text.split("\n"), 1)
            for rule in line.partition(MARK)[2].replace(",", " ").split()
        ]
        found = follow_flows(text, whole=whole)
        assert sorted((one.row, one.rule) for one in found) == sorted(expected)

    return hold
