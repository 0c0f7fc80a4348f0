"""Index one piece of Python for all checks: nodes by kind, full names by imports, and values behind names.

One walk over the tree collects them, with the names that each node binds; later look-ups count against the same budget.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar, cast

from reviewbot.analyzers.python.views import Budget, View, parts
from reviewbot.context.python_text import imported_names

BINDERS = frozenset(
    {ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.withitem, ast.AugAssign, ast.For}
    | {ast.AsyncFor, ast.comprehension, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef}
    | {ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Global, ast.Nonlocal}
)
"""The kinds of nodes that bind or declare a name: of all others nothing need be asked."""


class BoundName(NamedTuple):
    """A name, the expression that it is bound to (None where none tells), and whether it lives inside the node."""

    name: str
    value: ast.expr | None
    inside: bool = False


def bound_names(node: ast.AST) -> Iterator[BoundName]:
    """Yield what a node binds itself, without what its children bind."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _targets(target, node.value)
        case ast.AnnAssign() if node.value is not None:
            yield from _targets(node.target, node.value)
        case ast.NamedExpr():
            yield from _targets(node.target, node.value)
        case ast.withitem() if node.optional_vars is not None:
            yield from _targets(node.optional_vars, node.context_expr)
        case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
            yield from _targets(node.target, None)
        case _:
            yield from _declared(node)


def _declared(node: ast.AST) -> Iterator[BoundName]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield BoundName(node.name, None)
            yield from _arguments(node.args)
        case ast.Lambda():
            yield from _arguments(node.args)
        case ast.ClassDef():
            yield BoundName(node.name, None)
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            yield BoundName(node.name, None)
        case ast.Global() | ast.Nonlocal():
            yield from (BoundName(name, None) for name in node.names)
        case _:
            return


def _targets(target: ast.expr, value: ast.expr | None) -> Iterator[BoundName]:
    if isinstance(target, ast.Name):
        yield BoundName(target.id, value)
        return
    if isinstance(target, ast.Tuple | ast.List | ast.Starred):
        inner = (each for each in ast.walk(target) if isinstance(each, ast.Name))
        yield from (BoundName(each.id, None) for each in inner)


def _arguments(arguments: ast.arguments) -> Iterator[BoundName]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    yield from (BoundName(each.arg, None, inside=True) for each in every if each is not None)


Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | Function | ast.Lambda

_SCOPES = frozenset({ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})

_Node = TypeVar("_Node", bound=ast.AST)

_MAX_LINKS = 4
"""Names that lead to names. Longer chains are not followed."""

_UNKNOWN = "?"
"""In place of what a dotted name stands on where that is no name, such as the result of a call."""

_SAME = (("Cryptodome.", "Crypto."), ("ldap3.core.connection.", "ldap3."), ("lxml.objectify.", "lxml.etree."))
"""Packages that are known by two names."""


class CodeIndex:
    """One piece of Python, walked once."""

    def __init__(self, view: View, budget: Budget) -> None:
        self.view = view
        self.parents: dict[ast.AST, ast.AST] = {}
        self._budget = budget
        self._kinds: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._scopes: dict[ast.AST, Scope] = {}
        self._bound: dict[tuple[Scope, str], list[ast.expr | None]] = defaultdict(list)
        self._uses: dict[tuple[Scope, str], list[ast.Name]] = defaultdict(list)
        self._imports: dict[str, str] = {}
        self._names: dict[ast.AST, str] = {}
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        self._walk(view.tree)
        for call in self.of(ast.Call):
            self._calls[self.name(call.func)].append(call)

    def of(self, kind: type[_Node]) -> Sequence[_Node]:
        """All nodes of exactly one kind, in the order of the text."""
        return cast("Sequence[_Node]", self._kinds.get(kind, ()))

    def functions(self) -> Sequence[Function]:
        """All functions, plain ones first."""
        return [*self.of(ast.FunctionDef), *self.of(ast.AsyncFunctionDef)]

    def calls_to(self, *names: str) -> Iterator[ast.Call]:
        """The calls whose full name is one of these."""
        return (call for name in names for call in self._calls.get(name, ()))

    def under(self, *nodes: ast.AST) -> Iterator[ast.AST]:
        """Nodes with all that stands below them."""
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            self._budget.spend()
            yield node
            stack += reversed(parts(node))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside to the outside."""
        parent = self.parents.get(node)
        while parent is not None:
            self._budget.spend()
            yield parent
            parent = self.parents.get(parent)

    def scope_of(self, node: ast.AST) -> Scope:
        """The function, or the module, whose names a node sees first."""
        return self._scopes.get(node, self.view.tree)

    def function(self, node: ast.AST) -> Function | None:
        """The function that a node stands in; None at the top and in a lambda there."""
        scope = self.scope_of(node)
        return scope if isinstance(scope, Function) else None

    def name(self, node: ast.AST | None) -> str:
        """The full name of an expression by the imports: "os.path.join"; "?.x" for an attribute of a value."""
        if node is None:
            return _UNKNOWN
        known = self._names.get(node)
        if known is None:
            known = self._names[node] = self._named(node)
        return known

    def _named(self, node: ast.AST) -> str:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            self._budget.spend()
            parts.append(node.attr)
            node = node.value
        root = self._imports.get(node.id, node.id) if isinstance(node, ast.Name) else _UNKNOWN
        full = ".".join([root, *reversed(parts)])
        for old, new in _SAME:
            if full.startswith(old):
                return new + full.removeprefix(old)
        return full

    def imports(self, *modules: str) -> bool:
        """Whether the piece imports one of these packages, or something of them."""
        return any(full == m or full.startswith(f"{m}.") for full in self._imports.values() for m in modules)

    def value(self, node: ast.expr | None) -> ast.expr | None:
        """The expression behind a name that is bound exactly once; anything else is its own value."""
        for _ in range(_MAX_LINKS):
            if not isinstance(node, ast.Name):
                break
            self._budget.spend()
            bound = self._single(node)
            if bound is None:
                break
            node = bound
        return node

    def constant(self, node: ast.expr | None) -> object:
        """The literal that an expression is or leads to; None for None and for everything else."""
        found = self.value(node)
        if isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.USub):
            inner = found.operand.value if isinstance(found.operand, ast.Constant) else None
            return -inner if isinstance(inner, int) else None
        return found.value if isinstance(found, ast.Constant) else None

    def text(self, node: ast.expr | None) -> str:
        """The literal text that an expression is or leads to, or an empty one."""
        found = self.constant(node)
        return found if isinstance(found, str) else ""

    def number(self, node: ast.expr | None) -> int | None:
        """The literal whole number that an expression is or leads to."""
        found = self.constant(node)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def maker_of(self, node: ast.expr | None) -> str:
        """The full name of the call whose result an expression is; empty where it is no result of one."""
        found = self.value(node)
        if isinstance(found, ast.Await):
            found = found.value
        return self.name(found.func) if isinstance(found, ast.Call) else ""

    def bindings(self, node: ast.AST, name: str) -> Sequence[ast.expr | None]:
        """All that a name is bound to in the scope of a node; None for what no expression tells."""
        return self._bound.get((self.scope_of(node), name), ())

    def uses(self, node: ast.AST, name: str) -> Iterator[ast.Name]:
        """Where a name is read in the scope of a node."""
        for use in self._uses.get((self.scope_of(node), name), ()):
            self._budget.spend()
            yield use

    def _single(self, node: ast.Name) -> ast.expr | None:
        """What the one binding of a name says, in the innermost scope that has any."""
        scope: Scope | None = self.scope_of(node)
        while scope is not None:
            self._budget.spend()
            found = self._bound.get((scope, node.id))
            if found:
                return found[0] if len(found) == 1 else None
            scope = None if isinstance(scope, ast.Module) else self.scope_of(scope)
        return None

    def _walk(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope]] = [(tree, tree)]
        kinds, scopes, parents, uses = self._kinds, self._scopes, self.parents, self._uses
        while stack:
            node, scope = stack.pop()
            kind = type(node)
            kinds[kind].append(node)
            scopes[node] = scope
            if kind is ast.Name:
                name = cast("ast.Name", node)
                if type(name.ctx) is ast.Load:
                    uses[scope, name.id].append(name)
                continue
            inner = cast("Scope", node) if kind in _SCOPES else scope
            if kind in BINDERS:
                self._bind(node, scope, inner)
            found = parts(node)
            # Counted for all of them at once: most of the time goes into this loop.
            self._budget.spend(len(found))
            for child in reversed(found):
                parents[child] = node
                stack.append((child, inner))

    def _bind(self, node: ast.AST, scope: Scope, inner: Scope) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._imports.update(imported_names(node))
            return
        for name, value, inside in bound_names(node):
            self._bound[inner if inside else scope, name].append(value)
