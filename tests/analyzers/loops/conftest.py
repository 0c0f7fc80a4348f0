"""What the tests of the loop costs share: the rules that speak of a text, and on which rows."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.loops import loop_costs
from reviewbot.analyzers.python.views import Budget, Found, View

if TYPE_CHECKING:
    from collections.abc import Callable


def _found(text: str, *, path: str = "src/app.py", whole: bool = True, added: set[int] | None = None) -> list[Found]:
    source = dedent(text).strip("\n") + "\n"
    rows = frozenset(range(1, source.count("\n") + 1)) if added is None else frozenset(added)
    return list(loop_costs(View(path, ast.parse(source), source, whole, rows), Budget()))


@pytest.fixture(scope="session")
def found() -> Callable[..., list[Found]]:
    """All that is found in a text; by default all of it is new."""
    return _found


@pytest.fixture(scope="session")
def rules() -> Callable[..., list[str]]:
    """The names of the rules that speak of a text."""
    return lambda text, **more: [one.rule for one in _found(text, **more)]
