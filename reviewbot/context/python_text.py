"""Parse Python into a syntax tree, for what is asked about the surroundings of a change.

Python's warnings are suppressed meanwhile (`without_warnings`): they are about the reviewed code.
"""

from __future__ import annotations

import ast
import contextlib
import re
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

_ONE_AT_A_TIME = threading.Lock()
"""The filters belong to the process: of two threads that save and restore them, one would leave the other's behind."""


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings in the block; other threads wait to enter theirs, so keep it short."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


MAX_CHARS = 1_000_000
"""Of a text that is parsed."""

MAX_TOKENS = 100_000
"""Of a text that is parsed, about 10,000 lines. A tree takes up to 900 bytes for each, ordinary code half of that."""

_TOKEN = re.compile(r"\w+|[^\w\s]")

MAX_NODES = 400_000
"""Of a tree that is walked; 100,000 lines of ordinary code have about as many."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse_python(text: str | None) -> ast.Module | None:
    """The tree of a text, parsed once for questions in a row; None where there is none: it is too large or no Python.

    A lone CR ends a row for Python and no line for git, so that a text with one has no tree here: its rows would lie.
    """
    return None if text is None else _parsed(text)


def is_parsable(text: str) -> bool:
    """Whether the tree of a text of Python has a size that can be held in memory, whatever is in it."""
    return len(text) <= MAX_CHARS and not tokens(text, MAX_TOKENS) > MAX_TOKENS


def tokens(text: str, most: int) -> int:
    """About how many tokens a text has; `most` + 1 where it has more than `most`. What is in strings counts as well."""
    return len(text) if len(text) <= most else sum(1 for _ in islice(_TOKEN.finditer(text), most + 1))


@lru_cache(maxsize=1)
def _parsed(text: str) -> ast.Module | None:
    # The size is looked at once for all questions, too: of a long text that takes as long as many answers.
    return None if not is_parsable(text) or "\r" in text.replace("\r\n", "\n") else tree_of(text)


def tree_of(text: str) -> ast.Module | None:
    """The tree of a text; None where this Python cannot parse it. Nothing runs, nothing is warned about."""
    try:
        with without_warnings():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, at most `MAX_NODES`, in no promised order."""
    for count, node in enumerate(ast.walk(tree)):
        if count >= MAX_NODES:
            return
        yield node


def dotted_name(node: ast.AST | None) -> str:
    """The dotted name that an expression is ("a.b.c"); empty for any other, also with a call or subscript in it."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def imported_names(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """The names that an import binds, and the dotted name of what each is; neighbours in the package begin with "."."""
    if isinstance(node, ast.Import):
        return [
            (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2  # `import a.b` binds a
            for alias in node.names
        ]
    module = "." * node.level + (node.module or "")
    return [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names]


def bound_names(node: ast.AST) -> tuple[str, ...]:
    """The names that one node binds by itself: what it assigns, defines, imports or takes as an argument."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, Definition):
        return (node.name,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.ImportFrom):
        return tuple(alias.asname or alias.name for alias in node.names)
    if isinstance(node, ast.Import):
        return tuple(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return (node.name,) if node.name else ()
    return (node.rest,) if isinstance(node, ast.MatchMapping) and node.rest else ()
