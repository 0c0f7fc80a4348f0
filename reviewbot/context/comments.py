"""What is written about the code in the code: comments and docstrings at and around some lines."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reviewbot.context.enclosing import enclosing
from reviewbot.context.python_text import Definition, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_COMMENTS = 20
MAX_CHARS = 1_500
"""Of one comment."""

_HASHES = frozenset(
    {"python", "ruby", "shell", "perl", "r", "julia", "elixir", "yaml", "toml", "make", "docker", "cython"}
    | {"cmake", "starlark", "just", "nim", "powershell", "graphql", "requirements", "ignorefile", "codeowners"}
)
"""Languages, as `language_of` names them, in which nothing else begins a comment: `--hash=..` and `*.log` do not."""
_MARKS = {True: re.compile(r"\s{0,200}#"), False: re.compile(r"\s{0,200}(?://|/\*|\*|--|;;|#|<!--)")}

Where = Literal["docstring", "above", "inside"]


@dataclass(frozen=True)
class Comment:
    """One block of comment lines, or a docstring."""

    first: int
    last: int
    text: str
    where: Where
    truncated: bool


@dataclass(frozen=True)
class Comments:
    """Comments in the order of their lines."""

    comments: tuple[Comment, ...]
    truncated: bool
    """There are more."""


def comments(text: str, language: str, first: int, last: int) -> Comments:
    """The comments that lines `first` to `last` touch, and those above and in the definition that holds the lines."""
    lines = text.split("\n")
    first, last = max(1, min(first, len(lines))), max(1, min(last, len(lines)))
    held = enclosing(text, language, first, last)
    begin, end = (held.first, held.last) if held else (first, last)
    found = [*_docstrings(text, language, begin, end), *_blocks(lines, language, (begin, end))]
    # Those that the lines touch go before the others, where there are too many.
    found.sort(key=lambda each: (not (each.first <= last and each.last >= first), abs(each.first - first)))
    kept = sorted(found[:MAX_COMMENTS], key=lambda each: each.first)
    return Comments(tuple(kept), len(found) > MAX_COMMENTS)


def _docstrings(text: str, language: str, begin: int, end: int) -> Iterator[Comment]:
    tree = parsed(text) if language == "python" else None
    if tree is None:
        return
    for node in ast.walk(tree):
        if not isinstance(node, Definition | ast.Module) or ast.get_docstring(node, clean=False) is None:
            continue
        said = node.body[0]
        if begin <= said.lineno <= end:
            yield _comment(said.lineno, said.end_lineno or said.lineno, ast.get_docstring(node) or "", "docstring")


def _blocks(lines: Sequence[str], language: str, rows: tuple[int, int]) -> Iterator[Comment]:
    """Yield runs of comment lines inside some rows and directly above them."""
    mark = _MARKS[language in _HASHES]
    begin, (top, end) = rows[0], rows
    while top > 1 and mark.match(lines[top - 2]):
        top -= 1
    run: list[int] = []
    for number in range(top, end + 2):
        # The definition's first row ends the comment above it, also where that row is none.
        if number <= end and mark.match(lines[number - 1]):
            run.append(number)
        elif run:
            text = "\n".join(lines[each - 1].strip() for each in run)
            yield _comment(run[0], run[-1], text, "above" if run[0] < begin else "inside")
            run = []


def _comment(first: int, last: int, text: str, where: Where) -> Comment:
    return Comment(first, last, text[:MAX_CHARS], where, len(text) > MAX_CHARS)
