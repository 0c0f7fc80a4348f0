"""The definition in which some lines stand: by the syntax tree for Python, by indentation for everything else."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from reviewbot.context.python_text import Definition, parse_python

_MAX_LINES_BACK = 2_000
"""How far up a heading is looked for."""

_HEADING = re.compile(
    r"[ \t]{0,80}(?:(?:export|default|public|private|protected|internal|static|async|final|abstract|override|virtual|"
    r"pub|open|sealed|inline|unsafe|local|partial|suspend|data)[ \t]{1,4}){0,5}"
    r"(?:def|class|func|function|fn|interface|impl|struct|trait|module|enum|object|namespace|sub|proc|describe|it|"
    r"constructor)\b"
)
_METHOD = re.compile(
    r"[ \t]{1,80}(?:[A-Za-z_<>\[\],.?*&]{1,60}[ \t]{1,4}){0,6}[A-Za-z_$][\w$]{0,80}[ \t]?\([^;{}]{0,300}\{[ \t]{0,20}"
)
"""A method of a language with braces, which no word announces."""

_NO_METHOD = re.compile(
    r"[ \t]{0,80}\}?[ \t]{0,4}(?:if|for|while|switch|catch|else|do|try|return|with|using|lock|foreach)\b"
)
_NAME = re.compile(r"([A-Za-z_$][\w$]{0,80})[ \t]{0,4}(?:[(<{:=]|$)")
_RECEIVER = re.compile(r"[ \t]{0,80}func[ \t]{0,4}\([^()]{0,200}\)")
"""What stands in front of a method's name in Go."""

_TYPES = re.compile(r"[\[<][^()]{0,100}[\]>][ \t]{0,4}$")
"""Names for types, which may stand between a function's name and its brackets."""

_NAMED = re.compile(
    r"(?:enum[ \t]{1,4}(?:class|struct)|class|interface|struct|trait|module|enum|object|namespace|impl)[ \t]{1,4}"
    r"([\w$.:]{1,80})"
)
_CLOSING = re.compile(r"[ \t]{0,80}(?:[})\]]|end\b)")


class Enclosing(NamedTuple):
    """A definition by its name and its rows."""

    name: str
    """Dotted with what is around it in Python; else the word before the brackets."""
    first: int
    last: int


def enclosing(text: str, language: str, first: int, last: int) -> Enclosing | None:
    """The innermost definition that holds lines `first` to `last` of a text; None where there is none.

    Args:
        text: one side of a file.
        language: as in `FileChange.language`.
        first: 1-based.
        last: included.
    """
    tree = parse_python(text) if language == "python" else None
    lines = text.split("\n")
    last = min(last, len(lines))
    if not 0 < first <= last:
        return None
    return _of_indentation(lines, first, last) if tree is None else _innermost(_definitions(tree), first, last)


class _Definition(NamedTuple):
    """A definition by its dotted name, its rows, and those directly in it in the order of the text."""

    name: str
    first: int
    last: int
    inner: tuple[_Definition, ...]


@lru_cache(maxsize=1)
def _definitions(tree: ast.Module) -> tuple[_Definition, ...]:
    """The definitions of a tree: many lines are asked for in a row, and to walk it for each would take seconds."""
    return _inner_of(tree, "")


def _inner_of(node: ast.AST, prefix: str) -> tuple[_Definition, ...]:
    found: list[_Definition] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, Definition):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                name = f"{prefix}{child.name}"
                found.append(_Definition(name, first, child.end_lineno or child.lineno, _inner_of(child, f"{name}.")))
            elif not isinstance(child, ast.expr):
                waiting.append(child)
    return tuple(sorted(found, key=_first_of))


def _innermost(definitions: Sequence[_Definition], first: int, last: int) -> Enclosing | None:
    """The innermost definition that holds some rows; what holds them holds them alone."""
    found: Enclosing | None = None
    while True:
        at = bisect_right(definitions, first, key=_first_of) - 1
        if at < 0 or definitions[at].last < last:
            return found
        found = Enclosing(*definitions[at][:3])
        definitions = definitions[at].inner


def _first_of(definition: _Definition) -> int:
    return definition.first


def _of_indentation(lines: Sequence[str], first: int, last: int) -> Enclosing | None:
    """The nearest heading above that is indented less than the lines, or is the first of them."""
    inside = [_indent(line) for line in lines[first - 1 : last] if line.strip()]
    least = min(inside, default=0)
    for number in range(first, max(0, first - _MAX_LINES_BACK), -1):
        line = lines[number - 1]
        if not line.strip() or (number < first and _indent(line) >= least):
            continue
        if _is_heading(line):
            end = _block_end(lines, number)
            if end >= last:
                return Enclosing(_name_of(line), number, end)
        least = min(least, _indent(line)) if number < first else least
    return None


def _block_end(lines: Sequence[str], start: int) -> int:
    """The last line of the block that a line opens: before the next one that is indented no more and closes nothing."""
    indent, end = _indent(lines[start - 1]), start
    for number in range(start + 1, len(lines) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if _indent(line) <= indent:
            return number if _CLOSING.match(line) and _indent(line) == indent else end
        end = number
    return end


def _is_heading(line: str) -> bool:
    if _HEADING.match(line[:400]):
        return True
    return not _NO_METHOD.match(line) and _METHOD.fullmatch(line.rstrip()[:400]) is not None


def _name_of(line: str) -> str:
    line = _RECEIVER.sub("", line, count=1) if _RECEIVER.match(line) else line
    before = _TYPES.sub("", line.partition("(")[0][-200:])
    words = re.findall(r"[\w$]{1,80}", before)
    if "(" in line and words:
        return str(words[-1])
    match = _NAME.search(line[:400].strip())
    named = _NAMED.search(line[:400])
    return named[1] if named else (match[1] if match else line.strip()[:80])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
