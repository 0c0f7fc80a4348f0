"""Classify what an SQL statement is put together from: words of the program alone, names, or anything.

Ruff reports every statement with a part that is not a literal. A list of marks for bound values is made by the program,
however long it is, and so is a condition that is one of three.
"""

from __future__ import annotations

import ast
import enum
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from reviewbot.analyzers.python.assignments import AssignedValue, Element, Imported, Item, NameScope, Parameter
from reviewbot.analyzers.python.views import below, parts
from reviewbot.context.python_text import Function

_MAX_STEPS, _MAX_STEPS_OF_FILE = 2_000, 40_000
"""Parts that are looked at for one statement, and for all of one file; of a larger one nothing is said."""

_MARKS = re.compile(r"(?:^|_)(?:placeholders?|q?marks?|binds?|bindvars?)(?:_|$)", re.IGNORECASE)
"""Names of functions that make marks for bound values."""

_QUOTES = re.compile(r"quote|escape|(?:^|_)ident", re.IGNORECASE)
"""Names of functions that quote names."""

_NAMES = re.compile(r"(?:^|_)(?:tables?|tablename|columns?|cols|schema|view|index|pk|fts)(?:_|$)", re.IGNORECASE)
"""Attributes that hold names of a database."""

_NUMBERS = frozenset({"int", "len", "float", "abs", "round", "ord", "sum", "bool", "id", "range", "count"})
_SAME = frozenset({"str", "list", "tuple", "set", "frozenset", "sorted", "reversed", "repr", "dict", "chain"})
"""Functions whose result is made of what they are given."""

_SAME_METHODS = frozenset(
    {"strip", "rstrip", "lstrip", "lower", "upper", "title", "format", "join", "replace", "removesuffix"}
    | {"removeprefix", "copy", "splitlines", "split", "get", "pop", "keys", "values", "items"}
)
_NUMERIC_TYPES = frozenset({"int", "bool", "float", "UUID", "date", "datetime", "Literal"})
_ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)


class Made(enum.IntEnum):
    """What a text is put together from; the worst part of it counts."""

    FIXED = 0
    """Literals, marks for bound values, and numbers."""
    NAMED = 1
    """Names that are quoted, constants of other modules, and attributes that are called like tables or columns."""
    OPEN = 2
    """Anything."""


class _TooLarge(Exception):  # noqa: N818 - not an error: nothing can be said
    """It has more parts than are looked at."""


class SqlTexts:
    """The texts of one tree that are put together, looked through once for all that is asked."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._left = _MAX_STEPS_OF_FILE

    def origin_of(self, first: int, last: int) -> Made:
        """What the statements on exactly the rows `first` to `last` are put together from; OPEN where none is there."""
        found = self._texts.get((first, last), ())
        return max((self._made(node, scope) for node, scope in found), default=Made.OPEN)

    def _made(self, node: ast.expr, scope: NameScope) -> Made:
        reader = _Reader(self._functions, min(_MAX_STEPS, self._left))
        try:
            return reader.made(node, scope)
        except (_TooLarge, RecursionError):
            return Made.OPEN
        finally:
            self._left -= min(_MAX_STEPS, self._left) - max(0, reader.left)

    @cached_property
    def _functions(self) -> dict[str, NameScope]:
        """The functions of the module and its classes by name."""
        module = NameScope(self._tree)
        return {node.name: NameScope(node, module) for node in below(self._tree) if isinstance(node, Function)}

    @cached_property
    def _texts(self) -> dict[tuple[int, int], list[tuple[ast.expr, NameScope]]]:
        """By first and last row: the outermost texts that are put together, each with the function around it."""
        found: dict[tuple[int, int], list[tuple[ast.expr, NameScope]]] = defaultdict(list)
        todo: list[tuple[ast.AST, NameScope, bool]] = [(self._tree, NameScope(self._tree), False)]
        while todo:
            node, scope, inside = todo.pop()
            if isinstance(node, ast.expr) and _is_built(node):
                if not inside:
                    found[node.lineno, node.end_lineno or node.lineno].append((node, scope))
                inside = True
            inner = NameScope(node, scope) if isinstance(node, Function) else scope
            todo += [(child, inner, inside and not isinstance(node, ast.Call)) for child in parts(node)]
        return found


def _is_built(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)))


class _Reader:
    """Looks through one statement after the other."""

    def __init__(self, functions: Mapping[str, NameScope], steps: int) -> None:
        self._functions = functions
        self.left = steps
        self._open: set[tuple[int, str, bool]] = set()
        """Names that are being looked at: one that is made of itself and something else is made of that."""

    def made(self, value: AssignedValue, scope: NameScope) -> Made:
        """What a value is made of."""
        self.left -= 1
        if self.left < 0:
            raise _TooLarge
        if isinstance(value, ast.expr):
            handle = _BY_TYPE.get(type(value))
            return Made.OPEN if handle is None else handle(self, value, scope)
        if isinstance(value, Element):
            return self.each(value.of, scope, value.at)
        if isinstance(value, Item):
            return self.made(value.value, scope)
        if isinstance(value, Parameter):
            return Made.FIXED if value.type in _NUMERIC_TYPES else Made.OPEN
        return Made.NAMED if isinstance(value, Imported) and value.name.isupper() else Made.OPEN

    def each(self, value: AssignedValue, scope: NameScope, index: int = -1) -> Made:
        """What one gets of a value by iterating over it; `index` is that of a tuple which is unpacked."""
        if isinstance(value, ast.Name):
            return self.name(value, scope, lambda given, there: self.each(given, there, index), each=True)
        if isinstance(value, ast.Call):
            return self._each_of_call(value, scope, index)
        return self.worst((_unpacked(element, index) for element in _elements(value)), scope)

    def worst(self, values: Iterable[AssignedValue], scope: NameScope) -> Made:
        """The worst of some values."""
        return max((self.made(value, scope) for value in values), default=Made.FIXED)

    def _each_of_call(self, call: ast.Call, scope: NameScope, index: int) -> Made:
        name = _last(call)
        if name == "enumerate" and call.args and index >= 0:
            return self.each(call.args[0], scope) if index else Made.FIXED
        if name == "zip" and 0 <= index < len(call.args):
            return self.each(call.args[index], scope)
        if name in ("enumerate", "zip", *_SAME):
            return max((self.each(arg, scope, index) for arg in call.args), default=Made.FIXED)
        if isinstance(call.func, ast.Attribute) and (name == "keys" or (name == "items" and not index)):
            return self.each(call.func.value, scope)
        return self.made(call, scope)

    def name(
        self,
        node: ast.Name,
        scope: NameScope,
        look: Callable[[AssignedValue, NameScope], Made] | None = None,
        *,
        each: bool = False,
    ) -> Made:
        """What a name is made of: all that it is given."""
        found = scope.find(node.id)
        if found is None:
            return Made.NAMED if node.id.isupper() else Made.OPEN
        there, values = found
        key = (id(there), node.id, each)
        if key in self._open:
            return Made.FIXED
        self._open.add(key)
        try:
            return max((look or self.made)(value, there) for value in values)
        finally:
            self._open.discard(key)

    def attribute(self, node: ast.Attribute, _scope: NameScope) -> Made:
        """What an attribute is made of, as its name has it."""
        return Made.NAMED if node.attr.isupper() or _NAMES.search(node.attr) else Made.OPEN

    def operation(self, node: ast.BinOp, scope: NameScope) -> Made:
        """What a sum, a filled pattern or something repeated is made of."""
        if isinstance(node.op, _ARITHMETIC):
            return Made.FIXED
        if isinstance(node.op, ast.Mult):
            sequences = [side for side in (node.left, node.right) if isinstance(side, (ast.Constant, ast.List))]
            return self.worst(sequences or (node.left, node.right), scope)
        right = node.right
        if isinstance(node.op, ast.Mod) and isinstance(right, ast.Dict):
            return self.worst((node.left, *right.values), scope)
        operands = [right]
        left: ast.expr = node.left
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):  # a long sum is a deep tree
            operands.append(left.right)
            left = left.left
        return self.worst((left, *operands), scope)

    def boolean(self, node: ast.BoolOp, scope: NameScope) -> Made:
        """What `or` gives is any of its operands, and `and` the last one, or one that is empty."""
        return self.worst(node.values if isinstance(node.op, ast.Or) else node.values[-1:], scope)

    def call(self, node: ast.Call, scope: NameScope) -> Made:
        """What a call returns, as its name or the code of the function has it."""
        name = _last(node)
        if name in _NUMBERS or _MARKS.search(name):
            return Made.FIXED
        if _QUOTES.search(name):
            return Made.NAMED
        args = [*node.args, *(word.value for word in node.keywords)]
        if isinstance(node.func, ast.Attribute) and name in _SAME_METHODS:
            args = [args[-1]] if name == "get" and len(args) > 1 else [] if name in ("get", "pop") else args
            joined = [self.each(arg, scope) for arg in args] if name == "join" else []
            return max([self.worst([node.func.value, *([] if joined else args)], scope), *joined])
        if isinstance(node.func, ast.Name) and name in _SAME:
            return self.worst(args, scope)
        function = self._functions.get(name)
        return Made.OPEN if function is None else self._returned(function)

    def _returned(self, function: NameScope) -> Made:
        """What a function of the file returns, whatever it is given."""
        key = (id(function), "return", False)
        if key in self._open:
            return Made.FIXED
        self._open.add(key)
        try:
            nodes = below(*function.node.body)
            returned = [node.value for node in nodes if isinstance(node, ast.Return)]
            return self.worst(returned or [None], function)
        finally:
            self._open.discard(key)


def _elements(value: AssignedValue) -> Sequence[AssignedValue]:
    """What a container holds that is written down, of a dict its keys; anything else is its own element."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return value.elts
    if isinstance(value, ast.Dict):
        return [key or taken for key, taken in zip(value.keys, value.values, strict=True)]
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return [value.elt]
    if isinstance(value, ast.DictComp):
        return [value.key]
    if isinstance(value, Item):  # the key of a dict, or the value in a list
        text = isinstance(value.key, ast.JoinedStr) or isinstance(getattr(value.key, "value", 0), str)
        return [value.key] if text else [value.key, value.value]
    return [value]


def _last(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _unpacked(node: AssignedValue, index: int) -> AssignedValue:
    return node.elts[index] if isinstance(node, ast.Tuple) and 0 <= index < len(node.elts) else node


def _is_numeric(node: ast.FormattedValue) -> bool:
    """Whether a format lets only numbers through: `{value:04d}`."""
    spec = node.format_spec.values[-1:] if isinstance(node.format_spec, ast.JoinedStr) else []
    return any(isinstance(part, ast.Constant) and str(part.value).endswith(tuple("bdeEfFgGoxX%")) for part in spec)


_BY_TYPE: dict[type[ast.expr], Callable[..., Made]] = {
    ast.Constant: lambda _reader, _node, _scope: Made.FIXED,
    ast.JoinedStr: lambda reader, node, scope: reader.worst(node.values, scope),
    ast.FormattedValue: lambda reader, node, scope: Made.FIXED if _is_numeric(node) else reader.made(node.value, scope),
    ast.BinOp: _Reader.operation,
    ast.IfExp: lambda reader, node, scope: reader.worst((node.body, node.orelse), scope),
    ast.BoolOp: _Reader.boolean,
    ast.NamedExpr: lambda reader, node, scope: reader.made(node.value, scope),
    ast.Starred: lambda reader, node, scope: reader.each(node.value, scope),
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: lambda reader, node, scope: reader.made(node.value, scope),
    ast.Call: _Reader.call,
    ast.List: lambda reader, node, scope: reader.worst(node.elts, scope),
    ast.Tuple: lambda reader, node, scope: reader.worst(node.elts, scope),
    ast.Set: lambda reader, node, scope: reader.worst(node.elts, scope),
    ast.Dict: lambda reader, node, scope: reader.worst(node.values, scope),
    ast.ListComp: lambda reader, node, scope: reader.made(node.elt, scope),
    ast.SetComp: lambda reader, node, scope: reader.made(node.elt, scope),
    ast.GeneratorExp: lambda reader, node, scope: reader.made(node.elt, scope),
    ast.DictComp: lambda reader, node, scope: reader.made(node.value, scope),
}
