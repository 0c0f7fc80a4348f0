"""Check by parsing alone that a changed file still parses, and which parts of it are unchanged."""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from reviewbot.analyzers.python.reader import parse

MAX_CHARS = 1_000_000
"""Of a larger file the tree would take hundreds of megabytes."""

Outline = Counter[tuple[str, int, int, int, int]]
"""By kind, and by where in the file they begin and end: the parts of a syntax tree, counted."""


def fault_of(language: str, text: str) -> str | None:
    """Why a text does not parse, as a fixed message; "" where it does; None for a language without a parser here."""
    check = _CHECKS.get(language)
    if check is None:
        return None
    return "the file is too large to be parsed" if len(text) > MAX_CHARS else check(text)


def outside(text: str, first: int, last: int, delta: int = 0) -> Outline:
    """The parts of a Python text that do not touch lines `first` to `last`; those below count as `delta` higher up."""
    tree, _ = parse(text)
    found: Outline = Counter()
    for node in ast.walk(tree) if tree is not None else ():
        line, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if line is None or end is None or not (end < first or line > last):
            continue
        moved = delta if line > last else 0
        found[type(node).__name__, line - moved, node.col_offset, end - moved, node.end_col_offset] += 1  # type: ignore[attr-defined] # a node with a line has columns
    return found


def _python(text: str) -> str:
    return parse(text)[1]


def _data(name: str, load: Callable[[str], object], text: str) -> str:
    try:
        load(text)
    except (ValueError, RecursionError):
        return f"it is no {name} any more"
    return ""


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "python": _python,
    "json": partial(_data, "JSON", json.loads),
    "toml": partial(_data, "TOML", tomllib.loads),
}
