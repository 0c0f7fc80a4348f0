"""One side of a file in a language with a grammar: its functions, branches and calls, by rows counted from 0."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reviewbot.analyzers.patterns.languages import TABLES, syntax_of
from reviewbot.analyzers.patterns.trees import MAX_CHARS
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_GUARD_STATEMENTS = 4
"""Statements in the body of a branch that only leaves the function."""

_WORD = re.compile(r"[A-Za-z_$][\w$]*[?!]?")
_LAST_NAME = re.compile(r"([\w$]+[?!]?)\s?$")


def statement_table(language: str) -> dict[str, Any] | None:
    """The names of the statements of a language; None for one that is not compared."""
    found: dict[str, Any] | None = packaged_table("statements").get(TABLES.get(language, "").removeprefix("patterns_"))
    return found


@dataclass(frozen=True)
class Branch:
    """A condition and what is done under it."""

    condition: str
    body: tuple[str, ...]
    """The text of its statements."""
    exits: bool
    """The last of them leaves the function or the round of the loop."""


class SyntaxSide:
    """A parsed text. Raises OutOfSteps where there is no tree: parsing took too long."""

    def __init__(self, text: str, language: str, tree: Tree | None) -> None:
        if tree is None:
            raise OutOfSteps
        self.words = statement_table(language) or {}
        self._syntax = syntax_of(TABLES[language])
        self.lines = text.split("\n")
        self._source = text.encode("utf-8", "replace")
        self.root = tree.root_node

    @cached_property
    def functions(self) -> dict[int, Node]:
        """The functions by the row on which they begin; of several on one row the outermost."""
        found: dict[int, Node] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.type in self._syntax.functions:
                found.setdefault(node.start_point[0], node)
            waiting += node.named_children
        return found

    def starting_on(self, rows: Collection[int]) -> Iterator[Node]:
        """Yield the nodes that begin on some rows, from the top."""
        ordered = sorted(rows)
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            first, last = node.start_point[0], node.end_point[0]
            at = bisect_left(ordered, first)
            if at == len(ordered) or ordered[at] > last:
                continue
            if first in rows:
                yield node
            waiting += reversed(node.named_children)

    def function_of(self, node: Node) -> Node | None:
        """The innermost function around a node."""
        above = node.parent
        while above is not None and above.type not in self._syntax.functions:
            above = above.parent
        return above

    def function_around(self, row: int) -> Node | None:
        """The innermost function that a row is in."""
        around = [node for node in self.functions.values() if node.start_point[0] <= row <= node.end_point[0]]
        return max(around, key=lambda node: node.start_point[0], default=None)

    def text(self, node: Node | None) -> str:
        """The text of a node; empty for none."""
        return "" if node is None else self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def branch(self, node: Node) -> Branch | None:
        """A node as a branch; None where it is not a branch, or has another one beside it."""
        if node.type not in self.words["branches"] or node.child_by_field_name("alternative") is not None:
            return None
        body = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        condition = node.child_by_field_name("condition")
        if body is None or condition is None:
            return None
        statements = [*self._statements(body)]
        exits = bool(statements) and len(statements) <= MAX_GUARD_STATEMENTS and self._leaves(statements[-1])
        return Branch(self.text(condition), tuple(map(self.text, statements)), exits)

    def _statements(self, body: Node) -> Sequence[Node]:
        while body.type in self.words["blocks"] and len(body.named_children) == 1:
            body = body.named_children[0]
        inside = body.named_children if body.type in self.words["blocks"] else [body]
        return [node for node in inside if node.type != "comment"]

    def _leaves(self, node: Node) -> bool:
        node = self._unwrapped(node)
        if node.type in self.words["exits"]:
            return True
        said = self.text(node)[:200]
        return re.match(rf"(?:{self.words['exit_calls']})(?![\w.])", said) is not None

    def _unwrapped(self, node: Node) -> Node:
        while node.type in self.words["wrappers"] and node.named_children:
            node = node.named_children[0]
        return node

    def is_statement(self, call: Node) -> bool:
        """Whether a call is all of a statement."""
        above = call.parent
        while above is not None and above.type in self.words["wrappers"]:
            above = above.parent
        return above is not None and above.type in self.words["blocks"]

    def callee(self, node: Node) -> str:
        """The last name of what a node calls; empty where it is no call."""
        if node.type not in self.words["calls"]:
            return ""
        named = node.child_by_field_name("method") or node.child_by_field_name("name")
        if named is None:
            named = node.child_by_field_name("function")
        match = _LAST_NAME.search(self.text(named)[-100:])
        return match[1] if match else ""


def words_of(text: str) -> list[str]:
    """The names in a text, with the mark that Ruby's may end with."""
    return _WORD.findall(text)


def is_readable(*texts: str | None) -> bool:
    """Whether all texts are at hand and short enough to be parsed."""
    return all(text is not None and len(text) <= MAX_CHARS for text in texts)
