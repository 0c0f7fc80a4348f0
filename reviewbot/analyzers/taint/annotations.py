"""Read the annotation of a parameter: its type, and whether only a few values are let through."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from reviewbot.analyzers.taint.flow import Flow
from reviewbot.analyzers.taint.knowledge import words_of
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.values import Function

_MAX_PARTS = 40
"""Of one annotation that are looked at, so that aliases of each other come to an end."""

_MAX_DEPTH = 4
"""Containers inside each other."""

_MAX_CHARS = 300
"""Characters of an annotation or a pattern that is written as a text."""

_PATTERN = re.compile(
    r"\((?:\?:)?|\)|\||\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\\[wd-]|\w){1,100}-?\]|\\[wd-]|[\w -]|[+*?]"
    r"|\{\d{1,4}(?:,\d{0,4})?\}",
    re.ASCII,
)
"""A part of a pattern that lets only letters, digits and words through."""


class Declared(NamedTuple):
    """What the declaration of a parameter says."""

    path: str
    """The dotted name of its type."""
    harmless: bool = False
    """It is not free text from a user: a number, one of a few words, or what the program provides."""
    fields: tuple[str, ...] = ()
    """Of a model of this file: the fields that are harmless."""


class Annotations:
    """Reads annotations with the aliases and classes of the file."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._words = flow.knowledge.words
        self._aliases: dict[str, ast.expr] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        for node in flow.view.tree.body:
            if isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(
                node.value, (ast.Subscript, ast.Name, ast.BinOp)
            ):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self._aliases[target.id] = node.value

    def of(self, function: Function, arg: ast.arg, scope: ValueScope) -> Declared:
        """What is known of a parameter. Raises OutOfSteps."""
        options, notes = self._unfolded(arg.annotation)
        default = _default(function, arg)
        path = self._dotted(options[0], scope) if options else ""
        if self._provided(notes, default) or self._typed(options, scope):
            return Declared(path, harmless=True)
        return Declared(path, fields=self._fields(path, scope))

    def _provided(self, notes: list[ast.expr], default: ast.expr | None) -> bool:
        calls = [node for node in (*notes, default) if isinstance(node, ast.Call)]
        return any(
            place(call.func)[1].rsplit(".", 1)[-1] in self._words["routes.dependencies"] or _limited(call)
            for call in calls
        )

    def _unfolded(self, node: ast.expr | None) -> tuple[list[ast.expr], list[ast.expr]]:
        """The types that an annotation allows, without None, and what it notes beside them."""
        options: list[ast.expr] = []
        notes: list[ast.expr] = []
        todo = [node] if node is not None else []
        for _ in range(_MAX_PARTS):
            if not todo:
                break
            self._flow.budget.spend()
            current = todo.pop(0)
            inner = self._inside(current, notes)
            if inner is None:
                options.append(current)
            else:
                todo[:0] = inner
        return options + todo, notes

    def _inside(self, node: ast.expr, notes: list[ast.expr]) -> list[ast.expr] | None:
        if isinstance(node, ast.Constant):
            return _read(node.value)
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.Name):
            return [self._aliases[node.id]] if node.id in self._aliases else None
        outer = place(node.value)[1].rsplit(".", 1)[-1] if isinstance(node, ast.Subscript) else ""
        if not isinstance(node, ast.Subscript) or outer not in ("Optional", "Union", "Annotated"):
            return None
        parts = _parts(node)
        if outer == "Annotated":
            notes += parts[1:]
            return parts[:1]
        return parts

    def _typed(self, options: list[ast.expr], scope: ValueScope, depth: int = 0) -> bool:
        return bool(options) and all(self._is_typed(option, scope, depth) for option in options)

    def _is_typed(self, node: ast.expr, scope: ValueScope, depth: int) -> bool:
        last = self._dotted(node, scope).rpartition(".")[2]
        if isinstance(node, ast.Subscript):
            if last not in self._words["routes.containers"] or depth >= _MAX_DEPTH:
                return last in self._words["routes.typed"]
            inner = [part for part in _parts(node) if not (isinstance(part, ast.Constant) and part.value is ...)]
            return self._typed([one for part in inner for one in self._unfolded(part)[0]], scope, depth + 1)
        if last in self._words["routes.typed"] or self._is_a(last, "routes.enums"):
            return True
        module = self._dotted(node, scope).split(".")[:-1]
        return words_of(last)[-1:] == ["dep"] or not self._words["routes.providers"].isdisjoint(module)

    def _is_a(self, name: str, roots: str) -> bool:
        """Whether a class of the file comes from one of some others."""
        return any(base.rpartition(".")[2] in self._words[roots] for base in self._bases(name))

    def _bases(self, name: str) -> list[str]:
        found = [name]
        for current in found:
            bases = self._flow.bases.get(current, ()) if len(found) < _MAX_PARTS else ()
            found += [base for base in bases if base not in found]
        return found[1:]

    def _fields(self, name: str, scope: ValueScope) -> tuple[str, ...]:
        if not self._is_a(name, "routes.models"):
            return ()
        classes = [self._classes[one] for one in (name, *self._bases(name)) if one in self._classes]
        found: dict[str, bool] = {}
        for node in (node for one in classes for node in one.body if isinstance(node, ast.AnnAssign)):
            if isinstance(node.target, ast.Name):
                options, notes = self._unfolded(node.annotation)
                harmless = self._provided(notes, node.value) or self._typed(options, scope)
                found.setdefault(node.target.id, harmless)
        return tuple(field for field, harmless in found.items() if harmless)

    def _dotted(self, node: ast.expr, scope: ValueScope) -> str:
        if isinstance(node, ast.Subscript):
            node = node.value
        name, key = place(node)
        there = scope.get(name) if name else None
        return there.path + key[len(name) :] if there is not None and there.path else key


def allows_few(pattern: str) -> bool:
    """Whether a pattern stands for a whole text and lets only letters, digits and words through."""
    if len(pattern) > _MAX_CHARS or not pattern.startswith("^") or not pattern.endswith("$"):
        return False
    at, depth = 1, 0
    while at < len(pattern) - 1:
        part = _PATTERN.match(pattern, at, len(pattern) - 1)
        if part is None or (part[0] == "|" and not depth):
            return False
        depth += part[0].startswith("(") - (part[0] == ")")
        at = part.end()
    return True


def _limited(call: ast.Call) -> bool:
    return any(
        word.arg in ("pattern", "regex")
        and isinstance(word.value, ast.Constant)
        and isinstance(word.value.value, str)
        and allows_few(word.value.value)
        for word in call.keywords
    )


def _default(function: Function, arg: ast.arg) -> ast.expr | None:
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    named = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((default for one, default in named if one is arg), None)


def _read(value: object) -> list[ast.expr] | None:
    """An annotation that is written as a text; None stands for nothing that comes in."""
    if value is None:
        return []
    if not isinstance(value, str) or len(value) > _MAX_CHARS:
        return None
    try:
        return [ast.parse(value.strip(), mode="eval").body]
    except (SyntaxError, ValueError):
        return None


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
