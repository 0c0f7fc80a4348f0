"""Apply assignments to the names, attributes and items that they are made to.

`never` and `always` decide which patterns of a `match` a value takes for certain. `Members` resolves members of the
objects that a framework passes in: the request, and its handler.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from reviewbot.analyzers.taint.call_evaluator import CallEvaluator
from reviewbot.analyzers.taint.flow import Flow, Here, is_request, nothing, source
from reviewbot.analyzers.taint.places import place, render_expression
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.values import (
    CLEAN,
    SEQUENCES,
    Value,
    element,
    is_container,
    join_values,
    merge_taints,
    plain,
)

_MAX_PATH_CHARS = 150
"""Characters of a dotted name; a longer one is no name that a table knows."""


def never(case: ast.match_case, subject: Value) -> bool:
    """Whether a constant differs from all those that a case is for."""
    constants = constants_of(case.pattern)
    return subject.known and constants is not None and subject.const not in constants


def always(case: ast.match_case, subject: Value) -> bool:
    """Whether no later case is looked at: this one takes everything, or the constant that it is for."""
    if case.guard is not None:
        return False
    constants = constants_of(case.pattern)
    takes_all = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
    return takes_all or (subject.known and constants is not None and subject.const in constants)


def constants_of(pattern: ast.pattern) -> list[object] | None:
    """The constants that a pattern stands for; None where it is no list of constants."""
    found: list[object] = []
    for option in pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]:
        if isinstance(option, ast.MatchSingleton):
            found.append(option.value)
        elif isinstance(option, ast.MatchValue) and isinstance(option.value, ast.Constant):
            found.append(option.value.value)
        else:
            return None
    return found


def bind_names(pattern: ast.pattern, subject: Value, scope: ValueScope) -> int:
    """Give the names of a pattern the whole value that is matched; how many nodes the pattern has."""
    nodes = list(ast.walk(pattern))
    for node in nodes:
        name = node.name if isinstance(node, (ast.MatchAs, ast.MatchStar)) else None
        if isinstance(node, ast.MatchMapping):
            name = node.rest
        if name is not None:
            scope.set(name, subject)
    return len(nodes)


class Members:
    """Finds what members of requests, handlers and inherited classes are."""

    def __init__(self, flow: Flow, here: Here) -> None:
        self._flow = flow
        self._here = here

    def of(self, node: ast.Attribute, base: Value) -> Value | None:
        """What a request or a handler holds under a name; None where it is neither."""
        words = self._flow.knowledge.words
        if is_request(base.path, self._flow.knowledge):
            if node.attr in words["request.route"] and self._here.fixed_route:
                return CLEAN
            if self._flow.in_request(base.path, node.attr):
                return self._flow.read_request(node, node.attr)
            return nothing(f"request.{node.attr}") if node.attr == "session" else None
        owner = self._here.function.owner if self._here.function is not None else ""
        if not owner or base.path != f"{owner}()":
            return None
        if node.attr == "request":
            return nothing("request")
        if node.attr in words["handler.members"] and self._flow.is_handler(owner):
            return source("remote", node, render_expression(node))
        return self._flow.fields.get((owner, node.attr))

    def dotted_name(self, base: Value, name: str) -> str:
        """The dotted name of a member; of what a class inherits from elsewhere, by the name of the class there."""
        if not 0 < len(base.path) < _MAX_PATH_CHARS:
            return ""
        owner = base.path.removesuffix("()")
        if owner in self._flow.bases and self._flow.method(owner, name) < 0:
            foreign = next((path for path in self._flow.bases[owner] if "." in path), owner)
            return f"{foreign}.{name}"
        return f"{base.path}.{name}"


class Targets:
    """Gives targets their values."""

    def __init__(self, here: Here, calls: CallEvaluator, value: Callable[[ast.expr, ValueScope], Value]) -> None:
        self._here = here
        self._calls = calls
        self._value = value

    def bind(self, target: ast.expr, value: Value, scope: ValueScope) -> None:
        """Give a target of an assignment its value."""
        if isinstance(target, ast.Name):
            scope.set(target.id, value if value.known else value.after(target.lineno, f"`{target.id}`"))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, inner in enumerate(target.elts):
                item = None if value.items is None else value.items.get(index)
                self.bind(inner, item if item is not None else element(value), scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, plain(value), scope)
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value, scope)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value, scope)

    def _bind_attribute(self, target: ast.Attribute, value: Value, scope: ValueScope) -> None:
        base = self._value(target.value, scope)
        name, key = place(target)
        if not name:
            return
        scope.put(name, key, value.after(target.lineno, f"`{key}`"))
        if self._here.function is not None and base.path == f"{self._here.function.owner}()":
            self._calls.keep_field(self._here.function.owner, target.attr, value)

    def _bind_item(self, target: ast.Subscript, value: Value, scope: ValueScope) -> None:
        base = self._value(target.value, scope)
        index = CLEAN if isinstance(target.slice, ast.Slice) else self._value(target.slice, scope)
        self._calls.sinks.check_assignment(target, base, index, value)
        name, key = place(target.value)
        if not name:
            return
        items = dict(base.items) if base.items is not None and index.known else None
        if items is not None:
            items[index.const] = value
        held = merge_taints(items.values()) if items is not None else merge_taints([base, value])
        each = None
        if items is None and is_container(base):
            each = join_values([element(base), value if base.form in SEQUENCES else plain(index)])
        scope.put(name, key, Value(held, path=base.path, items=items, form=base.form or "dict", each=each))
        inner_name, inner_key = place(target)
        if inner_name and scope.get(inner_key) is not None:
            scope.put(inner_name, inner_key, value)
