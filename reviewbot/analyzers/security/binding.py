"""Find the names that a node of a syntax tree binds, and what it binds them to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

BINDERS = frozenset(
    {ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.withitem, ast.AugAssign, ast.For}
    | {ast.AsyncFor, ast.comprehension, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef}
    | {ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Global, ast.Nonlocal}
)
"""The kinds of nodes that bind or declare a name: of all others nothing need be asked."""


class Bound(NamedTuple):
    """A name, the expression that it is bound to (None where none tells), and whether it lives inside the node."""

    name: str
    value: ast.expr | None
    inside: bool = False


def bound_names(node: ast.AST) -> Iterator[Bound]:
    """Yield what a node binds itself, without what its children bind."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _targets(target, node.value)
        case ast.AnnAssign() if node.value is not None:
            yield from _targets(node.target, node.value)
        case ast.NamedExpr():
            yield from _targets(node.target, node.value)
        case ast.withitem() if node.optional_vars is not None:
            yield from _targets(node.optional_vars, node.context_expr)
        case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
            yield from _targets(node.target, None)
        case _:
            yield from _declared(node)


def _declared(node: ast.AST) -> Iterator[Bound]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield Bound(node.name, None)
            yield from _arguments(node.args)
        case ast.Lambda():
            yield from _arguments(node.args)
        case ast.ClassDef():
            yield Bound(node.name, None)
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            yield Bound(node.name, None)
        case ast.Global() | ast.Nonlocal():
            yield from (Bound(name, None) for name in node.names)
        case _:
            return


def _targets(target: ast.expr, value: ast.expr | None) -> Iterator[Bound]:
    if isinstance(target, ast.Name):
        yield Bound(target.id, value)
        return
    if isinstance(target, ast.Tuple | ast.List | ast.Starred):
        inner = (each for each in ast.walk(target) if isinstance(each, ast.Name))
        yield from (Bound(each.id, None) for each in inner)


def _arguments(arguments: ast.arguments) -> Iterator[Bound]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    yield from (Bound(each.arg, None, inside=True) for each in every if each is not None)
