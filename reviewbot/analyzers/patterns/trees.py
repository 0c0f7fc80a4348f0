"""Parse a text with the grammar of its language, and each side of a changed file once for all tools."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from reviewbot.analyzers.core.preexisting import old_side
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.analyzers.patterns.languages import TABLES, syntax_of
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.domain.ports import ChangedFile
from reviewbot.threads import check_stopped

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

MAX_CHARS = 400_000
"""Of one text. A tree takes up to 400 bytes for each, and a longer text is generated."""

MAX_SECONDS = 5.0
"""Of this thread's processor for one text: `MAX_CHARS` of ordinary code take half a second."""

MAX_DEPTH = 1_000
"""Of a syntax tree: what a query costs grows with the square of it. Ordinary code stays below 200."""

MAX_IN_ERROR = 5_000
"""Parts of what the grammar makes nothing of: each query takes time that grows with the square of it."""

_NESTED_TYPES = re.compile(rb"(?:\w<\s{0,20}\w{0,80}){200}")
"""What the parser of Java recovers from in a time that grows with its square, and without asking whether to go on."""

_READ_AT_ONCE = 1 << 11
"""Bytes. The text of a node is read in the same way: larger pieces make that slow, smaller ones the parser."""


@once_per_file
def new_tree(file: ChangedFile) -> Tree | None:
    """The tree of the new side; None where it is not at hand, too long, or takes too long to parse or to search."""
    if file.head is None or len(file.head) > MAX_CHARS:
        return None
    grammar = syntax_of(TABLES[file.language]).grammar(file.language)
    try:
        return parse(
            file.head.encode("utf-8", "replace"), grammar, partial(check_time, time.thread_time() + MAX_SECONDS)
        )
    except OutOfSteps:
        return None


def old_tree(file: ChangedFile) -> Tree | None:
    """The tree of the old side, as above."""
    old = old_side(file)
    return None if old is None else new_tree(old)


def parse(source: bytes, grammar: Grammar, check: Callable[[], None]) -> Tree:
    """The syntax tree of a text. Raises OutOfSteps for one that takes too long to search, and what `check` raises."""
    from tree_sitter import Parser  # noqa: PLC0415 - a review without such a file does not wait for it

    def keep_parsing(_: int, __: bool) -> bool:  # noqa: FBT001 - the parser's own call
        check()
        return False

    if _NESTED_TYPES.search(source) is not None:
        raise OutOfSteps
    # Only a parser that reads by a callback can be stopped.
    tree = Parser(grammar).parse(lambda at, _: source[at : at + _READ_AT_ONCE], progress_callback=keep_parsing)
    if _is_too_deep(tree):
        raise OutOfSteps
    return tree


def check_time(until: float) -> None:
    """Raise OutOfSteps after a moment of this thread's processor, and Stopped where nothing waits for the result."""
    check_stopped()
    if time.thread_time() > until:
        raise OutOfSteps


def _is_too_deep(tree: Tree) -> bool:
    """Whether nodes are nested deeper than `MAX_DEPTH`, or an error has too many parts; ends at the first of these."""
    if not tree.root_node.has_error and _is_shallow(tree):
        return False
    cursor = tree.walk()
    siblings = [1]
    while cursor.depth <= MAX_DEPTH:
        if cursor.goto_first_child():
            siblings.append(1)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
            siblings.pop()
        siblings[-1] += 1
        if siblings[-1] == MAX_IN_ERROR and _is_in_error(cursor.node):
            return True
    return True


def _is_shallow(tree: Tree) -> bool:
    """Whether no node is deeper than `MAX_DEPTH`, by some of them: none is more than one deeper than the one before."""
    cursor, at = tree.walk(), 0
    while at < tree.root_node.descendant_count:
        cursor.goto_descendant(at)
        if cursor.depth > MAX_DEPTH // 2:  # many would have to be looked at
            return False
        at += MAX_DEPTH - cursor.depth + 1
    return True


def _is_in_error(node: Node | None) -> bool:
    return node is not None and node.parent is not None and node.parent.is_error
