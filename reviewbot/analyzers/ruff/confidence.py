"""Lower the confidence of a ruff report where the code around it makes it less likely to be right."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, ShownLines
from reviewbot.analyzers.python.reader import Piece
from reviewbot.analyzers.python.sql_texts import Made, SqlTexts
from reviewbot.analyzers.python.views import below, parts
from reviewbot.analyzers.ruff.run import RuffDiagnostic
from reviewbot.analyzers.text.debug_statements import DEBUGS
from reviewbot.context.python_text import Definition
from reviewbot.domain.contracts import Severity


class Doubt(NamedTuple):
    """How far a report can be trusted at most, 0-100 (0: it is wrong), and how much it matters if that changes."""

    most: int
    severity: Severity | None = None


_NONE = Doubt(100)
_UNNAMED = Doubt(60)
_QUOTED = Doubt(60, "warning")
_NO_SECRET = Doubt(30)
_ASKED_FOR = Doubt(50)
_WRONG = Doubt(0)
_ONLY_NAMES = Doubt(40, "warning")

_MAX_HEAD_LINES = 200
"""Lines from a report up to the head of its function; further up nothing is looked for."""

_MAX_LINE_CHARS = 1_000
"""Characters of a line that are looked at."""

_SECURITY = re.compile(
    r"passwords?|passwd|tokens?(?![a-z])|secret|hmac|credential"
    r"|(?<![a-z])(?:pwd|sign|signed|signature|verify|auth|authenticate|cert|certificate)(?![a-z])"
)
"""Words beside a weak hash that show that security depends on it. Without one it may name a file or an object."""

_HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?def[ \t]+(\w{1,200})")
_SWITCH = re.compile(r"[ \t]*(?:el)?if\b.*(?:debug|pdb|attach|getenv|environ|breakpoint)", re.IGNORECASE)
"""The head of a block that runs only where a user switches it on."""

_FROM_LINE = re.compile(r" from line (\d{1,7})")
_NAME = re.compile(r"`(\w{1,200})`")
_LITERAL = re.compile(r"""(?<!\w)[rRbBuU]{0,2}(?:"[^"\\]{0,500}"|'[^'\\]{0,500}')""")
"""A string that is no f-string: in those, names are looked up."""

_GIVEN = re.compile(r"""(\w{1,200})[^=\w]{0,9}=[ \t]{0,9}["']([^"']{0,500})["']""")
_ADDRESS = ("http://", "https://", "/")
_GROWS = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault"})
"""Methods that put something into a collection."""


NEED_TREES = frozenset({"B006", "F811", "S608"})
"""Rules whose confidence depends on the syntax tree of the code."""


class ReportContext:
    """The code around the reports of one file: the lines that the diff shows, and trees where they were parsed."""

    def __init__(self, shown: ShownLines, pieces: Sequence[Piece] = ()) -> None:
        self.shown = shown
        self._pieces = pieces

    def origin_of(self, found: RuffDiagnostic) -> Made:
        """What the statement for a database is put together from that a report is about."""
        for rows, texts in self._statements:
            if found.first in rows and found.last in rows:
                return texts.origin_of(rows[found.first], rows[found.last])
        return Made.OPEN

    @cached_property
    def _statements(self) -> list[tuple[dict[int, int], SqlTexts]]:
        """Of each piece: the row on which each line stands, and its texts."""
        numbered = ({n: row for row, n in enumerate(piece.source.numbers, 1) if n} for piece in self._pieces)
        return [(rows, SqlTexts(piece.tree)) for rows, piece in zip(numbered, self._pieces, strict=True)]

    @cached_property
    def decorated(self) -> frozenset[int]:
        """The rows of the definitions of a whole file that a decorator was given."""
        trees = (piece.tree for piece in self._pieces if piece.source.whole)
        nodes = (node for tree in trees for node in below(tree) if isinstance(node, Definition))
        return frozenset(node.lineno for node in nodes if node.decorator_list)

    def changes_default(self, found: RuffDiagnostic) -> bool:
        """Whether the function of a default that a report is about changes it; no where no tree shows it.

        A parameter whose name begins with "_", or whose default has items, is there to keep something, or to be read.
        """
        for piece in self._pieces:
            rows = [
                row
                for row, number in enumerate(piece.source.numbers, 1)
                if number and found.first <= number <= found.last
            ]
            for node in below(piece.tree) if rows else ():
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    name = _default_on(node.args, range(rows[0], rows[-1] + 1))
                    if name is not None:
                        return _changes(node.body, name)
        return False


def doubt_of(found: RuffDiagnostic, line: ChangedLine, around: ReportContext) -> Doubt:
    """The doubt about a report on this line of a file; 100 and no severity where there is none."""
    ask = _BY_RULE.get(found.code)
    return _NONE if ask is None else ask(found, line, around)


def _of_weak_hash(_found: RuffDiagnostic, line: ChangedLine, around: ReportContext) -> Doubt:
    words = f"{_function(line, around.shown)} {line.text[:_MAX_LINE_CHARS]}".lower()
    return _NONE if _SECURITY.search(words) else _UNNAMED


def _of_undefined_name(found: RuffDiagnostic, line: ChangedLine, _around: ReportContext) -> Doubt:
    return _QUOTED if _is_quoted(found.message, line.text[:_MAX_LINE_CHARS]) else _NONE


def _of_password(_found: RuffDiagnostic, line: ChangedLine, _around: ReportContext) -> Doubt:
    return _NO_SECRET if _is_no_secret(line.text[:_MAX_LINE_CHARS]) else _NONE


def _of_second_definition(found: RuffDiagnostic, _line: ChangedLine, around: ReportContext) -> Doubt:
    """A function that a decorator was given is known elsewhere: its name is free again."""
    first = _FROM_LINE.search(found.message)
    return _WRONG if first is not None and int(first[1]) in around.decorated else _NONE


def _of_statement(found: RuffDiagnostic, _line: ChangedLine, around: ReportContext) -> Doubt:
    return {Made.FIXED: _WRONG, Made.NAMED: _ONLY_NAMES, Made.OPEN: _NONE}[around.origin_of(found)]


def _of_debugger(_found: RuffDiagnostic, line: ChangedLine, around: ReportContext) -> Doubt:
    heads = _heads(line, around.shown)
    return _ASKED_FOR if any(_SWITCH.match(head) or DEBUGS.match(head) for head in heads) else _NONE


def _heads(line: ChangedLine, shown: Mapping[int, ChangedLine]) -> Iterator[str]:
    """The lines above a line that are indented less than all below them, as far as the hunks show them."""
    depth = len(line.text) - len(line.text.lstrip())
    for number in range(line.number - 1, max(0, line.number - _MAX_HEAD_LINES), -1):
        text = shown[number].text[:_MAX_LINE_CHARS] if number in shown else ""
        indent = len(text) - len(text.lstrip())
        if text.strip() and indent < depth:
            depth = indent
            yield text


def _function(line: ChangedLine, shown: Mapping[int, ChangedLine]) -> str:
    """The name of the function that a line stands in, as far as the hunks show it; empty where it does not."""
    return next((head[2] for text in _heads(line, shown) if (head := _HEAD.match(text)) is not None), "")


def _is_quoted(message: str, text: str) -> bool:
    """Whether the name that a message gives stands in strings alone: an annotation that nothing looks up."""
    name = _NAME.search(message)
    if name is None:
        return False
    word = re.compile(rf"\b{re.escape(name[1])}\b")
    return bool(word.search(text)) and not word.search(_LITERAL.sub(" ", text[:_MAX_LINE_CHARS]))


def _is_no_secret(text: str) -> bool:
    """Whether what looks like a password by its name is an address, a sentence, or the name of a field."""
    given = _GIVEN.search(text)
    if given is None:
        return False
    name, value = given[1].lower(), given[2].lower()
    parts = [part for part in re.split(r"[^a-z0-9]{1,9}", value) if part]
    said = bool(parts) and set(parts) <= set(name.split("_"))
    return said or value.startswith(_ADDRESS) or " " in value.strip()


def _of_default(found: RuffDiagnostic, _line: ChangedLine, around: ReportContext) -> Doubt:
    """A default that its function only reads is the same at the next call; some are meant to be shared, and say so."""
    above = (around.shown[row].text for row in range(found.first - 2, found.first + 1) if row in around.shown)
    meant = any("noinspection PyDefaultArgument" in text for text in above)
    return _WRONG if meant or not around.changes_default(found) else _NONE


def _default_on(arguments: ast.arguments, rows: range) -> str | None:
    """The name of the parameter whose default stands on one of these rows; empty where it is meant to be kept."""
    plain = [*arguments.posonlyargs, *arguments.args]
    last = plain[len(plain) - len(arguments.defaults) :]
    pairs = [
        *zip(last, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next(
        (
            "" if each.arg[0] == "_" or getattr(value, "elts", None) else each.arg
            for each, value in pairs
            if value is not None and value.lineno in rows
        ),
        None,
    )


def _changes(body: Sequence[ast.AST], name: str) -> bool:
    """Whether code puts into what a name holds from the start something that differs from call to call.

    Most that is handed on, or kept in an attribute, is only read there; an empty default that is sorted stays empty.
    """
    inside = list(_below_scope(body, name))
    grown = {node.target for node in inside if isinstance(node, ast.AugAssign)}
    stored = (node for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    if any(node.id == name and node not in grown for node in stored):
        return False
    return any(_is_named(each, name) for node in inside for each in _put_into(node))


def _below_scope(body: Sequence[ast.AST], name: str) -> Iterator[ast.AST]:
    """All nodes below some, without the functions that have a parameter of the same name."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not any(isinstance(part, ast.arguments) and _takes(part, name) for part in parts(node)):
            stack += parts(node)


def _takes(arguments: ast.arguments, name: str) -> bool:
    return any(isinstance(part, ast.arg) and part.arg == name for part in parts(arguments))


def _put_into(node: ast.AST) -> Iterator[ast.AST | None]:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _GROWS:
            yield value
        case ast.Assign(targets=targets, value=given):
            for target in targets:
                match target:
                    case ast.Subscript(slice=ast.Constant(value=int())):  # an empty list has no such place
                        continue
                    case ast.Subscript(value=value, slice=key) if not _are_constant(key, given):
                        yield value
        case ast.AugAssign(target=ast.Subscript(value=value)) | ast.AugAssign(target=value):
            yield value


def _are_constant(*nodes: ast.AST) -> bool:
    return all(isinstance(node, ast.Constant) for node in nodes)


def _is_named(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


_BY_RULE: dict[str, Callable[[RuffDiagnostic, ChangedLine, ReportContext], Doubt]] = {
    "B006": _of_default,
    "F811": _of_second_definition,
    "F821": _of_undefined_name,
    "S105": _of_password,
    "S324": _of_weak_hash,
    "S608": _of_statement,
    "T100": _of_debugger,
}
