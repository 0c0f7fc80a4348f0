"""Infer the kinds of values from the places where their names are bound."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Literal

from reviewbot.analyzers.loops.name_chains import chain_of, qualify
from reviewbot.analyzers.loops.places import Binding, LoopScope
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import packaged_table, words_in

Kind = Literal[
    "",
    "list",
    "mapping",
    "text",
    "frame",
    "http",
    "http-async",
    "database",
    "cursor",
    "socket",
    "cloud",
    "path",
    "rows",
]
"""Empty where nothing tells. "http" and "database" are clients that wait; "rows" are objects of an ORM's query."""

_MAKERS: Mapping[str, Kind] = packaged_table("names/loops")["makers"]
"""What a call makes, by its name and the module that the name came from."""

_BY_METHOD: dict[str, Kind] = {"cursor": "cursor", "readlines": "list", "splitlines": "list"}
_BY_ANNOTATION: Mapping[str, Kind] = packaged_table("names/loops")["by_annotation"]
_QUERIES = words_in("names/loops", "queries")
_MAX_DEPTH = 4
"""Assignments that are followed from one name to the next."""


def kind_of(scope: LoopScope, node: ast.AST | None, depth: int = 0) -> Kind:
    """What a value is: what all bindings of its name agree on, or what the expression itself tells."""
    if isinstance(node, ast.Await):
        node = node.value
    name = dotted_name(node)
    if depth >= _MAX_DEPTH:
        return ""
    if not name:
        return _made(scope, node, depth)
    bindings = [binding for binding in scope.bindings_of(name) if not _says_nothing(binding.value, name)]
    kinds = {_bound(scope, binding, depth) for binding in bindings}
    return kinds.pop() if len(kinds) == 1 else ""


def literal_length(node: ast.expr | None) -> int | None:
    """How many elements a literal has; None for anything that is no literal."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return None if any(isinstance(item, ast.Starred) for item in node.elts) else len(node.elts)
    if isinstance(node, ast.Dict):
        return None if None in node.keys else len(node.keys)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return len(node.value)
    return None


def _bound(scope: LoopScope, binding: Binding, depth: int) -> Kind:
    if binding.value is not None:
        return kind_of(scope, binding.value, depth + 1)
    annotation = binding.annotation
    annotation = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return _BY_ANNOTATION.get(dotted_name(annotation).rpartition(".")[2], "")


def _says_nothing(node: ast.expr | None, name: str) -> bool:
    """Whether a value leaves open what a name stands for: None, or the same thing with one more element."""
    if isinstance(node, ast.Constant):
        return node.value is None
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and dotted_name(node.func.value) == name
    )


def _made(scope: LoopScope, node: ast.AST | None, depth: int) -> Kind:
    """What an expression makes that is no name."""
    if isinstance(node, ast.List | ast.ListComp):
        return "list"
    if isinstance(node, ast.Dict | ast.DictComp):
        return "mapping"
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return "text"
    if isinstance(node, ast.BinOp):
        sides = {kind_of(scope, node.left, depth + 1), kind_of(scope, node.right, depth + 1)}
        kinds: tuple[Kind, ...] = ("list", "path", "text")
        return next((kind for kind in kinds if kind in sides), "")
    return _called(scope, node) if isinstance(node, ast.Call) else ""


def _called(scope: LoopScope, node: ast.Call) -> Kind:
    name = qualify(node.func, scope.imports) or dotted_name(node.func)
    if name in _MAKERS:
        return _MAKERS[name]
    chain = chain_of(node.func)
    if "objects" in chain.names and chain.last in _QUERIES:
        return "rows"
    return _BY_METHOD.get(chain.last, "") if chain.names else ""
