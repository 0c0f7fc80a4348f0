"""Both sides of a file in a language with a grammar: functions and branches by rows counted from 0, and names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from reviewbot.analyzers.core.preexisting import SideLines, old_side
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.analyzers.patterns.languages import TABLES, syntax_of
from reviewbot.analyzers.patterns.trees import MAX_CHARS, new_tree, old_tree
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.context.symbols.call_sites import Signature, signatures
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import FileSymbols
from reviewbot.context.symbols.parsing import definitions, file_symbols
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MIN_KEPT = 0.8
"""Of the lines of a function, without those of what is gone. With fewer of them, or a new one, it was rewritten."""

_SAYS_SOMETHING = 4
"""Characters; a shorter line is a bracket or an `end`."""

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


class DefinedNames(NamedTuple):
    """What one side of a file defines."""

    root: Node | None
    """None where the side was not parsed."""
    symbols: FileSymbols
    signatures: dict[str, tuple[Signature, int, int]]


@once_per_file
def new_names(file: ChangedFile) -> DefinedNames:
    """The names of the new side, in the languages of the symbol index."""
    tree, language = new_tree(file), LANGUAGES[file.language]
    if tree is None:
        return DefinedNames(None, FileSymbols(), {})
    defined = definitions(language, tree.root_node)
    return DefinedNames(tree.root_node, file_symbols(language, tree.root_node, defined), signatures(defined))


def old_names(file: ChangedFile) -> DefinedNames:
    """The names of the old side."""
    old = old_side(file)
    return DefinedNames(None, FileSymbols(), {}) if old is None else new_names(old)


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


class SyntaxChange:
    """Both sides of a file, and the rows that the change removed and added."""

    def __init__(self, file: ChangedFile) -> None:
        self.file = file
        rows = [row for hunk in file.hunks for row in hunk_rows(hunk)]
        self._comment = re.compile((statement_table(file.language) or {})["comments"])
        self.removed = [row for row in rows if row.kind == "-" and self._says_something(row.text)]
        self.added = [row for row in rows if row.kind == "+" and self._says_something(row.text)]

    def _says_something(self, text: str) -> bool:
        return bool(text.strip()) and self._comment.match(text) is None

    @cached_property
    def old(self) -> SyntaxSide:
        """The old side. Raises OutOfSteps."""
        return SyntaxSide(self.file.base or "", self.file.language, old_tree(self.file))

    @cached_property
    def new(self) -> SyntaxSide:
        """The new side. Raises OutOfSteps."""
        return SyntaxSide(self.file.head or "", self.file.language, new_tree(self.file))

    @cached_property
    def gone(self) -> frozenset[int]:
        """The removed rows, from 0."""
        return frozenset((row.old or 0) - 1 for row in self.removed)

    def is_gone(self, node: Node) -> bool:
        """Whether no row of a node of the old side stayed, without comments."""
        rows = range(node.start_point[0], node.end_point[0] + 1)
        return all(row in self.gone or not self._says_something(self.old.lines[row]) for row in rows)

    def counterpart(self, inside: Node | None) -> tuple[int, int]:
        """The rows, from 1, of the function on the new side that one of the old side has become; (0, 0) for none."""
        if inside is None:
            return 0, 0
        row = self._new_rows.get(inside.start_point[0] + 1)
        now = self.new.functions.get(row - 1) if row is not None else None
        name = self.old.text(inside.child_by_field_name("name"))
        if now is None and name:
            same = [f for f in self.new.functions.values() if self.new.text(f.child_by_field_name("name")) == name]
            now = same[0] if len(same) == 1 else None
        return (0, 0) if now is None else (now.start_point[0] + 1, now.end_point[0] + 1)

    @cached_property
    def _new_rows(self) -> dict[int, int]:
        """By a row of the old side that stayed: where it is on the new one."""
        lines = SideLines(self.file.hunks)
        return {old: new for new in range(1, len(self.new.lines) + 1) if (old := lines.before(new)) is not None}

    def does_only(self, now: tuple[int, int], left: Iterable[str], apart: Collection[Row] = ()) -> bool:
        """Whether a function of the new side does most of what was left of it, by lines, and nothing new but `apart`.

        Raises OutOfSteps.
        """
        wanted = Counter(line for line in map(plain, left) if len(line) >= _SAYS_SOMETHING)
        there = Counter(map(plain, self.new.lines[now[0] - 1 : now[1]]))
        inside = [row for row in self.added if now[0] <= (row.new or 0) <= now[1] and row not in apart]
        fresh = [row for row in inside if not wanted[plain(row.text)]]
        return not fresh and bool(wanted) and (wanted & there).total() >= MIN_KEPT * wanted.total()


def plain(text: str) -> str:
    """A line without its layout."""
    return "".join(text.split()).rstrip(";,")


def words_of(text: str) -> list[str]:
    """The names in a text, with the mark that Ruby's may end with."""
    return _WORD.findall(text)


def is_readable(*texts: str | None) -> bool:
    """Whether all texts are at hand and short enough to be parsed."""
    return all(text is not None and len(text) <= MAX_CHARS for text in texts)
