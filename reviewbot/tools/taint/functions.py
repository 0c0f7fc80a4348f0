"""One function after the other: what its parameters are, what it returns, and what arrives where inside of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from reviewbot.tools.taint.calls import Calls
from reviewbot.tools.taint.expressions import Expressions
from reviewbot.tools.taint.flow import Flow, Here, is_request, parameter, source
from reviewbot.tools.taint.guards import Guards
from reviewbot.tools.taint.index import route
from reviewbot.tools.taint.operations import PATH
from reviewbot.tools.taint.places import place
from reviewbot.tools.taint.statements import Statements
from reviewbot.tools.taint.values import CLEAN, OBJECT, Function, Value, joined, merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reviewbot.tools.taint.scopes import Scope

_PART = re.compile(
    r"<(?:([a-zA-Z_]\w{0,30})(?:\([^)>]{0,100}\))?:)?([a-zA-Z_]\w{0,60})>|\{([a-zA-Z_]\w{0,60})(?::(\w{1,30}))?\}"
)
"""A variable part of a route: `<int:number>`, `<name>`, `{name}`, `{name:path}`."""

_MOST_TIMES = 3
"""That one function is followed: one that is defined inside a loop is met in each round."""

_WITH_SLASHES = frozenset({"path", "re"})
_TEXTS = frozenset({"string", "str", "any", ""})


class Functions:
    """Follows functions, each once; those inside others where they are defined."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._times: Counter[int] = Counter()

    def module(self, tree: ast.Module, scope: Scope) -> None:
        """Follow the statements of the module. Raises OutOfSteps."""
        self._parts(Here()).run(tree.body, scope)

    def follow(self, number: int, outer: Scope) -> None:
        """Follow one function, and keep what it returns. Raises OutOfSteps."""
        if self._times[number] >= _MOST_TIMES:
            return
        self._times[number] += 1
        function = self._flow.functions[number]
        pattern = route(function.node, self._flow.knowledge)
        page = pattern is not None and not self._flow.knowledge.words["routes.pages"].isdisjoint(self._flow.frameworks)
        here = Here(
            function, page=page, fixed_route=pattern is not None and bool(pattern) and not _PART.search(pattern)
        )
        scope = outer.function()
        for arg in function.parameters:
            scope.set(arg.arg, self._parameter(function, arg, pattern, scope))
        self._parts(here).run(function.node.body, scope)
        self._flow.summaries[number] = _returned(here.returns)

    def _parts(self, here: Here) -> Statements:
        calls, guards = Calls(self._flow), Guards(self._flow)
        expressions = Expressions(self._flow, here, calls, guards)
        return Statements(self._flow, here, (expressions, calls, guards), self.follow)

    def _parameter(self, function: Function, arg: ast.arg, pattern: str | None, scope: Scope) -> Value:
        first = function.parameters[0]
        if function.owner and arg is first and arg.arg in ("self", "cls"):
            return Value(path=f"{function.owner}()")
        annotation, words = _annotated(arg, scope), self._flow.knowledge.words
        unsaid = not annotation and arg.arg in words["request.names"]
        if unsaid or is_request(annotation, self._flow.knowledge):
            return Value(path="request")
        rest = arg in (function.node.args.vararg, function.node.args.kwarg)
        if rest or annotation.rpartition(".")[2] in words["routes.typed"]:
            return CLEAN
        if pattern is not None:
            return self._of_route(function, arg, pattern)
        if arg is first and ",".join(other.arg for other in function.parameters[:2]) in words["handler.events"]:
            return source("remote", arg, arg.arg, "", OBJECT)
        return parameter(function, arg, PATH if annotation in ("pathlib.Path", "Path") else "")

    def _of_route(self, function: Function, arg: ast.arg, pattern: str) -> Value:
        """A parameter that a framework fills from the address, or from the query where it does that by itself."""
        for match in _PART.finditer(pattern):
            converter, name, braced, kind = match.groups(default="")
            if (name or braced) != arg.arg:
                continue
            kept = converter or kind
            if kept not in _TEXTS and kept not in _WITH_SLASHES:
                return CLEAN
            value = source("remote", arg, arg.arg)
            return value if kept in _WITH_SLASHES else value.marked("path")
        by_itself = not self._flow.knowledge.words["routes.asks"].isdisjoint(self._flow.frameworks)
        if not by_itself or _asks_for_another(function, arg):
            return CLEAN
        return source("remote", arg, arg.arg)


def _asks_for_another(function: Function, arg: ast.arg) -> bool:
    """Whether a parameter has a default that is a call: what it is then depends on more than the request."""
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for named, default in defaults:
        if named is arg and isinstance(default, ast.Call):
            return place(default.func)[1].rsplit(".", 1)[-1] in ("Depends", "Security")
    return False


def _annotated(arg: ast.arg, scope: Scope) -> str:
    """The dotted name of an annotation; of `X | None` and `Optional[X]` the name of X."""
    node = arg.annotation
    if isinstance(node, ast.BinOp):
        node = node.left
    if isinstance(node, ast.Subscript):
        outer = place(node.value)[1].rsplit(".", 1)[-1]
        if outer in ("Optional", "Annotated"):
            node = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        else:
            node = node.value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if node is None:
        return ""
    name, key = place(node)
    there = scope.get(name) if name else None
    return there.path + key[len(name) :] if there is not None and there.path else key


def _returned(values: Sequence[Value]) -> Value:
    if not values:
        return CLEAN
    value = joined(list(values))
    return value if value.items is None else Value(merged(values), path=value.path, form=value.form)
