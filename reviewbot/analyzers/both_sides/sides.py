"""Both sides of a Python file, definition by definition, and the findings of its checks before they have a line."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewbot.context.python_text import Definition, Function, dotted_name
from reviewbot.context.uses import Library, PythonFile
from reviewbot.domain.ports import Snapshot

Rows = tuple[int, int]
"""First and last row, both included."""

NOWHERE: Rows = (0, 0)

MAX_SHOWN = 80
"""Characters of an expression in a message."""


class SideFinding(NamedTuple):
    """A finding of a check, before it is mapped to an added line."""

    rule: str
    message: str
    gone: Rows = NOWHERE
    """The rows of the old side that the change took away."""
    spot: Rows = NOWHERE
    """The rows of the new side that are at fault, where there are any."""
    within: Rows = NOWHERE
    """The definition on the new side in which it may be reported as well."""


class Unit(NamedTuple):
    """A function or method of one side."""

    name: str
    """Dotted, with the classes and functions around it."""
    node: Function
    owner: ast.ClassDef | None
    """The class that it is a method of."""

    @property
    def rows(self) -> Rows:
        """Its rows, decorators included."""
        return rows_of(self.node)

    @property
    def short(self) -> str:
        """The name without what is around it."""
        return self.node.name


@dataclass(frozen=True)
class Sides:
    """A file before and after, and what is around it."""

    old: PythonFile
    new: PythonFile
    snapshot: Snapshot

    @property
    def path(self) -> str:
        """Of the new side."""
        return self.new.path

    @cached_property
    def library(self) -> Library:
        """The other files of the new side."""
        return Library(self.snapshot)

    @cached_property
    def pairs(self) -> list[tuple[Unit, Unit]]:
        """The functions that both sides have under one name, and that the change altered."""
        before, after = units(self.old.tree), units(self.new.tree)
        both = [(old, after[name]) for name, old in before.items() if name in after]
        return [(old, new) for old, new in both if ast.dump(old.node) != ast.dump(new.node)]

    @cached_property
    def old_expressions(self) -> Counter[str]:
        """How often each operand of a condition stands on the old side."""
        return _asked(self.old)

    @cached_property
    def new_expressions(self) -> Counter[str]:
        """The same of the new side."""
        return _asked(self.new)

    @cached_property
    def old_words(self) -> Counter[str]:
        """The number of occurrences of each name, attribute and keyword on the old side."""
        return words(self.old.nodes)

    @cached_property
    def new_words(self) -> Counter[str]:
        """The same of the new side."""
        return words(self.new.nodes)


def rows_of(node: ast.stmt) -> Rows:
    """The rows of a statement, decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return first, node.end_lineno or node.lineno


def units(tree: ast.Module) -> dict[str, Unit]:
    """The functions of a file by dotted name. One that is defined twice is left out: which one runs?"""
    found: dict[str, Unit] = {}
    twice: set[str] = set()
    waiting: list[tuple[ast.AST, str, ast.ClassDef | None]] = [(tree, "", None)]
    while waiting:
        node, prefix, owner = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                name = prefix + child.name
                twice |= {name} & found.keys()
                found[name] = Unit(name, child, owner)
                waiting.append((child, f"{name}.", None))
            elif isinstance(child, ast.ClassDef):
                waiting.append((child, f"{prefix}{child.name}.", child))
            elif isinstance(child, (ast.stmt, ast.ExceptHandler)):
                waiting.append((child, prefix, owner))
    return {name: unit for name, unit in found.items() if name not in twice}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks in it from the top, but not those of definitions in it."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Definition):
            waiting.extend(reversed(_inner(node)))


def _inner(node: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            found += child.body
    return found


def leaves(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block that hold no other statement; neither docstrings nor `pass`."""
    return [node for node in statements(body) if not _inner(node) and not _says_nothing(node)]


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of a block, but not those of definitions and lambdas in it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _asked(file: PythonFile) -> Counter[str]:
    """How often each operand of a condition stands in a file."""
    tests = (node.test for node in file.nodes if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)))
    return Counter(ast.dump(part) for test in tests for part in operands(test))


def operands(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what `and`, `or` and `not` join."""
    waiting = [test]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BoolOp):
            waiting += node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            waiting.append(node.operand)
        else:
            yield node


def words(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often each name, attribute and keyword stands in some nodes."""
    found: Counter[str] = Counter()
    for inner in nodes:
        if isinstance(inner, ast.Name):
            found[inner.id] += 1
        elif isinstance(inner, ast.Attribute):
            found[inner.attr] += 1
        elif isinstance(inner, ast.keyword) and inner.arg:
            found[inner.arg] += 1
    return found


def count_calls(body: list[ast.stmt]) -> Counter[str]:
    """How often each function is called in a block, by dotted name; its last part where it hangs on an expression."""
    found: Counter[str] = Counter()
    for node in own_nodes(body):
        if isinstance(node, ast.Call):
            found[name_of_call(node)] += 1
    return found


def name_of_call(node: ast.Call) -> str:
    """The name by which something is called; empty where it has none."""
    return dotted_name(node.func) or (node.func.attr if isinstance(node.func, ast.Attribute) else "")


def names_in(node: ast.AST) -> frozenset[str]:
    """What an expression speaks of: its dotted names, without the functions that it only calls by name."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        name = dotted_name(inner)
        if name:
            found.add(name)
            continue
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            waiting += [*inner.args, *(keyword.value for keyword in inner.keywords)]
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            waiting += [inner.func.value, *inner.args, *(keyword.value for keyword in inner.keywords)]
        else:
            waiting += ast.iter_child_nodes(inner)
    return frozenset(found)


def dumps(nodes: list[ast.stmt]) -> Counter[str]:
    """How often each statement stands in a list, without regard to where."""
    return Counter(ast.dump(node) for node in nodes)


def kept_share(old: list[ast.stmt], new: list[ast.stmt]) -> float:
    """The share of the plain statements of one block that another one still has; 1 where there are none."""
    before, after = dumps(leaves(old)), dumps(leaves(new))
    return (before & after).total() / before.total() if before else 1.0


def short(node: ast.expr) -> str:
    """An expression as a message shows it."""
    text = ast.unparse(node)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
