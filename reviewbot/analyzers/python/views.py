"""The input and the output of a check of a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewbot.threads import check_stopped

_STEPS_BETWEEN_LOOKS = 1_000

DEFAULT_STEPS = 2_000_000
"""Of one check on one piece: a second or two. Code that needs more may have been written to exhaust the check."""


class OutOfSteps(Exception):  # noqa: N818 - not an error: the check stops, and a gap says so
    """A check has used up the work that it may do."""


class Budget:
    """How much work a check may still do.

    Threads cannot be stopped from outside, so each check counts for itself, and looks whether it is still waited for.
    """

    def __init__(self, steps: int = DEFAULT_STEPS) -> None:
        self._left = steps
        self._look = steps

    def spend(self, steps: int = 1) -> None:
        """Count some work. Raises OutOfSteps, and Stopped where the result is not waited for any more."""
        self._left -= steps
        if self._left < self._look:
            if self._left < 0:
                raise OutOfSteps
            check_stopped()
            self._look = max(0, self._left - _STEPS_BETWEEN_LOOKS)


@dataclass(frozen=True)
class View:
    """What a check sees of one piece of Python. Rows are 1-based rows of `text`, and of the nodes of `tree`."""

    path: str
    tree: ast.Module
    text: str
    whole: bool
    """It is the whole file and no hunk of it: what is not in it is not in the file."""
    added: frozenset[int]
    """The rows that the change added."""

    @cached_property
    def rows(self) -> list[str]:
        """The rows of the text as Python counts them; row n is `rows[n - 1]`."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def row(self, number: int) -> str:
        """One row; empty where there is none."""
        return self.rows[number - 1] if 0 < number <= len(self.rows) else ""


class Step(NamedTuple):
    """One step of a flow: a row, and what happens there in a few words."""

    row: int
    what: str


class Found(NamedTuple):
    """What a check has found, reported on the first added row among `row` and the rows of `flow`, last first.

    Where that is only a step of the flow and the old side has the same, it is left out.
    """

    rule: str
    row: int
    end_row: int = 0
    """The last row of it; 0 for the same row."""
    message: str = ""
    """Empty: the rule's own."""
    flow: tuple[Step, ...] = ()
    """How the value came here, from its source on; shown as what makes the finding bite."""
    code: ast.AST | None = None
    """The part of the code that is at fault; the whole row where that is not said."""


Check = Callable[[View, Budget], Iterable[Found]]
"""Pure, deterministic, bounded by the budget. It looks at a whole piece; what the change did not add is left out."""
