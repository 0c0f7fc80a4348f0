"""Names of variables, attributes and items, as the code writes them."""

from __future__ import annotations

import ast

_MAX_PARTS = 8
"""Parts of a dotted name that are tracked; a deeper name is not followed."""

_MAX_CHARS = 60
"""Characters of code that are shown in a step."""


def place(node: ast.expr) -> tuple[str, str]:
    """The name that a place begins with and how it is written: "a", "a.b", "a['b']"; empty texts for anything else.

    `a.get('b')` is the place `a['b']`, so that what a check says of the one holds for the other.
    """
    tail: list[str] = []
    for _ in range(_MAX_PARTS):
        if isinstance(node, ast.Name):
            return node.id, node.id + "".join(reversed(tail))
        if isinstance(node, ast.Attribute):
            tail.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            tail.append(f"[{node.slice.value!r}]"[:_MAX_CHARS])
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_look_up(node, node.func):
            tail.append(f"[{ast.literal_eval(node.args[0])!r}]"[:_MAX_CHARS])
            node = node.func.value
        else:
            break
    return "", ""


def _is_look_up(call: ast.Call, method: ast.Attribute) -> bool:
    """Whether a call is one such as `a.get('b')` or `a.get('b', '')`."""
    constant = bool(call.args) and all(isinstance(arg, ast.Constant) for arg in call.args) and not call.keywords
    return method.attr == "get" and constant


def render_expression(node: ast.expr) -> str:
    """An expression as a step shows it: its names, short."""
    parts: list[str] = []
    for _ in range(_MAX_PARTS):
        if isinstance(node, ast.Name):
            parts.append(node.id)
            break
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Call):
            parts.append("()")
            node = node.func
        elif isinstance(node, ast.Subscript):
            key = repr(node.slice.value) if isinstance(node.slice, ast.Constant) else "…"
            parts.append(f"[{key}]")
            node = node.value
        else:
            parts.append("…")
            break
    return "".join(reversed(parts))[:_MAX_CHARS]
