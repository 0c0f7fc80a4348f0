"""What a file imports: by the syntax tree for Python, by the form of its lines for others."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.context.python_text import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_IMPORTS = 60
MAX_SCANNED = 400
"""Lines; imports stand at the top."""

_LINE = 300
_IMPORT = re.compile(
    r"(?:import\b|from\s{1,4}[\w.]{1,200}\s{1,4}import\b|export\s.{0,200}\bfrom\b|use\s|using\s|package\s|require(?:_relative)?\b|"
    r"include\b|#\s{0,2}include\b|extern\s{1,4}crate\b|mod\s{1,4}\w{1,80};|@import\b|source\s|\.\s)"
    r"|(?:const|let|var)\s.{1,200}=\s{0,4}require\("
)

_BRANCHES = (ast.Module, ast.If, ast.Try, ast.ExceptHandler, ast.With)
"""What may stand around an import that is still made where the file is read."""


@dataclass(frozen=True)
class Imports:
    """The import statements of a file, each on one line, from the top."""

    statements: tuple[str, ...]
    truncated: bool


def imports(text: str, language: str) -> Imports:
    """What a text imports; for Python wherever on its top level, for others in its first `MAX_SCANNED` lines."""
    tree = parsed(text) if language == "python" else None
    found = list(dict.fromkeys(_of_tree(tree) if tree is not None else _of_lines(text)))
    return Imports(tuple(found[:MAX_IMPORTS]), len(found) > MAX_IMPORTS)


def _of_tree(tree: ast.Module) -> Iterator[str]:
    """Yield what is imported where the file is read, on whatever branch: what has another name elsewhere as well."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield ast.unparse(node)[:_LINE]
        elif isinstance(node, _BRANCHES):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _of_lines(text: str) -> Iterator[str]:
    """Yield lines that import, and those inside the brackets of Go's form."""
    inside = False
    for line in text.split("\n", MAX_SCANNED)[:MAX_SCANNED]:
        short = line[:_LINE].strip()
        if inside:
            inside = not short.startswith(")")
            if inside and short and not short.startswith("//"):
                yield f"import {short}"
        elif short in {"import (", "import("}:
            inside = True
        elif _IMPORT.match(short):
            yield short
