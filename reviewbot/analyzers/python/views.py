"""The input (`View`) and the output (`Found`) of a check of a syntax tree; make and walk such trees at little cost."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewbot.threads import check_stopped

_PLAIN = frozenset(
    {"ctx", "id", "attr", "arg", "name", "asname", "module", "level", "kind", "type_comment", "type_ignores"}
    | {"conversion", "simple", "is_async", "rest", "kwd_attrs", "n", "s"}
)
"""Fields that hold no part of the code: names, numbers, and whether a name is read or written."""

_VALUES = (ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal)
"""Nodes without any parts, whose fields have the names of those of other nodes."""


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return () if kind in _VALUES else tuple(name for name in kind._fields if name not in _PLAIN)


_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: _fields(kind) for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""By the kind of a node: its fields that hold other nodes, in the order of the text."""


def parts(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, in the order of the text, without the marks of names that are read or written.

    It does what `ast.iter_child_nodes` does in a third of the time: trees are walked more than anything else.
    """
    found: list[ast.AST] = []
    for name in _PARTS[type(node)]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            # Some lists have holes, such as the keys of `{**a}`.
            found += [part for part in value if part is not None]
        elif value is not None:
            found.append(value)
    return found


def below(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Nodes with all that stands below them, in the order of the text."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(parts(node))


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


class FlowStep(NamedTuple):
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
    flow: tuple[FlowStep, ...] = ()
    """How the value came here, from its source on; shown as what makes the finding bite."""
    code: ast.AST | None = None
    """The part of the code that is at fault; the whole row where that is not said."""
    most: int = 100
    """How far it is trusted at most, 0-100."""


Check = Callable[[View, Budget], Iterable[Found]]
"""Pure, deterministic, bounded by the budget. It looks at a whole piece; what the change did not add is left out."""
