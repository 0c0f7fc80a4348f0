"""Apply assignments to the names, attributes and items that they are made to."""

from __future__ import annotations

import ast
from collections.abc import Callable

from reviewbot.analyzers.taint.calls import Calls
from reviewbot.analyzers.taint.flow import Here
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.scopes import Scope
from reviewbot.analyzers.taint.values import CLEAN, SEQUENCES, Value, element, is_container, joined, merged, plain


class Targets:
    """Gives targets their values."""

    def __init__(self, here: Here, calls: Calls, value: Callable[[ast.expr, Scope], Value]) -> None:
        self._here = here
        self._calls = calls
        self._value = value

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
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

    def _bind_attribute(self, target: ast.Attribute, value: Value, scope: Scope) -> None:
        base = self._value(target.value, scope)
        name, key = place(target)
        if not name:
            return
        scope.put(name, key, value.after(target.lineno, f"`{key}`"))
        if self._here.function is not None and base.path == f"{self._here.function.owner}()":
            self._calls.keep_field(self._here.function.owner, target.attr, value)

    def _bind_item(self, target: ast.Subscript, value: Value, scope: Scope) -> None:
        base = self._value(target.value, scope)
        index = CLEAN if isinstance(target.slice, ast.Slice) else self._value(target.slice, scope)
        self._calls.assigned(target, base, index, value)
        name, key = place(target.value)
        if not name:
            return
        items = dict(base.items) if base.items is not None and index.known else None
        if items is not None:
            items[index.const] = value
        held = merged(items.values()) if items is not None else merged([base, value])
        each = None
        if items is None and is_container(base):
            each = joined([element(base), value if base.form in SEQUENCES else plain(index)])
        scope.put(name, key, Value(held, path=base.path, items=items, form=base.form or "dict", each=each))
        inner_name, inner_key = place(target)
        if inner_name and scope.get(inner_key) is not None:
            scope.put(inner_name, inner_key, value)
