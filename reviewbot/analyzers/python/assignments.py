"""Collect the values that are assigned to the names of a function or a module, anywhere in it.

`imports_of` adds imports of well-known names for a hunk that does not show its own.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from reviewbot.analyzers.python.views import parts
from reviewbot.context.python_text import Function, dotted_name
from reviewbot.tables import made_once, packaged_text

_FILLS = frozenset({"append", "appendleft", "extend", "add", "insert", "update"})
"""Methods that put what they are given into their receiver."""

IMPORTS: Final = "; ".join(packaged_text("implicit_imports.txt").splitlines())
"""On one line, in front: rules follow a name to the module that it came from, and a hunk seldom shows the import.

Names that several modules have (`Template`, `load`, `choice`) are not in it: a guess would blame the wrong one.
"""

_ALWAYS = frozenset({"aiohttp", "django", "flask"})
"""Packages whose presence shows what a function with a certain shape is, also where it does not name them."""

_WORD = re.compile(r"\w+")


class Element(NamedTuple):
    """An element of an iterated expression."""

    of: ast.expr
    at: int = -1
    """Of a tuple that is unpacked; -1 for the whole of it."""


class Item(NamedTuple):
    """The value under a key of a container."""

    key: ast.expr
    value: ast.expr


class Parameter(NamedTuple):
    """A parameter: the caller of the function chooses its value."""

    type: str
    """The last part of the name of its type; empty for none."""


class Imported(NamedTuple):
    """A name that is imported from another module."""

    name: str


AssignedValue = ast.expr | Element | Item | Parameter | Imported | None
"""A value that is assigned to a name; None where it is not known."""


class NameScope:
    """A function, or the module, with the values that are assigned to its names."""

    def __init__(self, node: ast.Module | Function, outer: NameScope | None = None) -> None:
        self.node = node
        self.outer = outer

    @cached_property
    def assignments(self) -> dict[str, list[AssignedValue]]:
        """All values that are assigned to each name of this scope."""
        found: dict[str, list[AssignedValue]] = defaultdict(list)
        for name, value in _assignments(self.node):
            found[name].append(value)
        return found

    def find(self, name: str) -> tuple[NameScope, list[AssignedValue]] | None:
        """Find all values of a name in the innermost scope that has it, and that scope; None where none has."""
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.assignments:
                return scope, scope.assignments[name]
            scope = scope.outer
        return None


def _assignments(scope: ast.Module | Function) -> Iterator[tuple[str, AssignedValue]]:
    """Every name of a scope with what it is given, without the functions and classes inside."""
    if isinstance(scope, Function):
        yield from _parameters(scope.args)
    todo: list[ast.AST] = [*reversed(scope.body)]
    while todo:
        node = todo.pop()
        if not isinstance(node, (Function, ast.ClassDef, ast.Lambda)):
            yield from _given_by(node)
            todo += reversed(parts(node))


def _parameters(arguments: ast.arguments) -> Iterator[tuple[str, AssignedValue]]:
    for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        note = arg.annotation.value if isinstance(arg.annotation, ast.Subscript) else arg.annotation
        yield arg.arg, Parameter("" if note is None else dotted_name(note).rpartition(".")[2])
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            yield rest.arg, Parameter("")


def _given_by(node: ast.AST) -> Iterator[tuple[str, AssignedValue]]:
    """What one node gives, without what stands below it."""
    handle = _BY_TYPE.get(type(node))
    return iter(()) if handle is None else handle(node)


def _assigned(node: ast.Assign) -> Iterator[tuple[str, AssignedValue]]:
    for target in node.targets:
        yield from _bound(target, node.value)


def _assigned_once(node: ast.AnnAssign | ast.AugAssign | ast.NamedExpr) -> Iterator[tuple[str, AssignedValue]]:
    if node.value is not None:
        yield from _bound(node.target, node.value)


def _entered(node: ast.withitem) -> Iterator[tuple[str, AssignedValue]]:
    if node.optional_vars is not None:
        yield from _bound(node.optional_vars, None)


def _filled(node: ast.Call) -> Iterator[tuple[str, AssignedValue]]:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.attr in _FILLS:
        for arg in node.args:
            yield function.value.id, arg


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, AssignedValue]]:
    for alias in node.names:
        yield alias.asname or alias.name.partition(".")[0], Imported(alias.name)


def _bound(target: ast.expr, value: AssignedValue) -> Iterator[tuple[str, AssignedValue]]:
    """The names of a target of an assignment, with their part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, inner in enumerate(target.elts):
            yield from _bound(inner, _part(value, index, len(target.elts)))
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, None)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        yield target.value.id, Item(target.slice, value) if isinstance(value, ast.expr) else None


def _part(value: AssignedValue, index: int, length: int) -> AssignedValue:
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == length:
        return value.elts[index]
    return Element(value.of, index) if isinstance(value, Element) and value.at < 0 else None


_BY_TYPE: dict[type[ast.AST], Callable[..., Iterator[tuple[str, AssignedValue]]]] = {
    ast.Assign: _assigned,
    **dict.fromkeys((ast.AnnAssign, ast.AugAssign, ast.NamedExpr), _assigned_once),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.comprehension), lambda node: _bound(node.target, Element(node.iter))),
    ast.withitem: _entered,
    ast.Call: _filled,
    **dict.fromkeys((ast.Import, ast.ImportFrom), _imported),
    **dict.fromkeys((ast.Global, ast.Nonlocal), lambda node: iter([(name, None) for name in node.names])),
}


class _Import(NamedTuple):
    """One name of one import, as a statement of its own."""

    name: str
    package: str
    statement: ast.stmt


def imports_of(text: str) -> list[ast.stmt]:
    """Statements, all of row 1, that import those of the well-known names that stand in a text.

    A tree without the others means the same and is walked several times faster: most hunks are short.
    """
    words = set(_WORD.findall(text))
    return [known.statement for known in _imports() if known.name in words or known.package in _ALWAYS]


@made_once
def _imports() -> tuple[_Import, ...]:
    """Each name apart. The nodes are shared by all trees: code that walks a tree must not change them."""
    found: list[_Import] = []
    for statement in ast.parse(IMPORTS).body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):  # pragma: no cover - there is nothing else
            continue
        source = (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            made = ast.ImportFrom(source, [alias], 0) if source else ast.Import([alias])
            name = alias.asname or alias.name.partition(".")[0]
            package = (source or alias.name).partition(".")[0]
            found.append(_Import(name, package, ast.copy_location(made, statement)))
    return tuple(found)
