"""Walk a syntax tree once: collect its scopes, what is bound in them, and what stands in which loops."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewbot.analyzers.loops.name_chains import modules
from reviewbot.analyzers.loops.places import Binding, Function, Loop, LoopScope
from reviewbot.analyzers.python.views import Budget, below, parts
from reviewbot.context.python_text import dotted_name

_ADDING = frozenset({"append", "extend", "insert", "appendleft", "update", "add", "setdefault"})
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class LoopContext(NamedTuple):
    """What stands around a node."""

    scope: LoopScope
    loops: tuple[Loop, ...] = ()
    """Of the same function, the outermost first."""
    rare: bool = False
    """In its loop it happens now and then only: the first time, for a full batch, after an error, once at the end."""


class Site(NamedTuple):
    """A node, what it stands directly in, and what is around it."""

    node: ast.AST
    parent: ast.AST | None
    place: LoopContext


def walk(tree: ast.Module, budget: Budget, *, whole: bool = True) -> list[Site]:
    """Every node of a tree with its place, in the order of the text. `whole`: the tree is no hunk of a file."""
    imports: dict[str, str] = {}
    module = LoopScope(tree, imports=imports)
    sites: list[Site] = []
    stack = [Site(tree, None, LoopContext(module))]
    while stack:
        site = stack.pop()
        budget.spend()
        sites.append(site)
        _note(site, imports)
        parts = _Parts(site, budget, whole=whole)
        stack += [Site(node, site.node, place) for node, place in reversed(list(parts.all()))]
    return sites


class _Parts:
    """The parts of one node, each with its place."""

    def __init__(self, site: Site, budget: Budget, *, whole: bool) -> None:
        self._node = site.node
        self._place = site.place
        self._budget = budget
        self._whole = whole

    def all(self) -> Iterator[tuple[ast.AST, LoopContext]]:
        """All of them, in the order of the text."""
        node = self._node
        if isinstance(node, Function | ast.ClassDef):
            return self._definition(node)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self._loop(node)
        if isinstance(node, _Comprehension):
            return self._comprehension(node)
        if isinstance(node, ast.If | ast.IfExp):
            return self._branches(node)
        if isinstance(node, ast.ExceptHandler):
            return self._in(parts(node), self._place._replace(rare=bool(self._place.loops)))
        return self._in(parts(node), self._place)

    def _in(self, nodes: Iterable[ast.AST], place: LoopContext) -> Iterator[tuple[ast.AST, LoopContext]]:
        return ((node, place) for node in nodes)

    def _definition(self, node: Function | ast.ClassDef) -> Iterator[tuple[ast.AST, LoopContext]]:
        """A body runs when it is called, and only a class body runs where it stands."""
        scope = LoopScope(node, self._place.scope, self._place.scope.imports)
        inner = self._place._replace(scope=scope) if isinstance(node, ast.ClassDef) else LoopContext(scope)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        kept = {id(part) for part in body}
        yield from self._in((part for part in parts(node) if id(part) not in kept), self._place)
        if not isinstance(node, ast.ClassDef):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                scope.bindings[argument.arg].append(Binding(None, argument.annotation))
        yield from self._in(body, inner)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[tuple[ast.AST, LoopContext]]:
        turn = (node.test, *node.body) if isinstance(node, ast.While) else tuple(node.body)
        if not isinstance(node, ast.While):
            yield from self._in((node.iter, node.target), self._place)
        yield from self._in(turn, self._inside(Loop(node, node.lineno, turn, self._place.scope, self._budget)))
        yield from self._in(node.orelse, self._place)

    def _comprehension(self, node: _Comprehension) -> Iterator[tuple[ast.AST, LoopContext]]:
        place = self._place
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for number, part in enumerate(node.generators):
            yield part.iter, place
            _bind(place.scope, part.target, Binding())
            rest = [other for after in node.generators[number + 1 :] for other in (after.iter, *after.ifs)]
            turn = (*part.ifs, *rest, *results)
            loop = Loop(part, part.iter.lineno, turn, place.scope, self._budget)
            place = place._replace(loops=(*place.loops, loop))
            yield from self._in(part.ifs, place)
        yield from self._in(results, place)

    def _branches(self, node: ast.If | ast.IfExp) -> Iterator[tuple[ast.AST, LoopContext]]:
        yield node.test, self._place
        for branch in (node.body, node.orelse):
            parts = branch if isinstance(branch, list) else [branch]
            rare = bool(self._place.loops) and (_ends(parts) or (branch is node.body and _is_now_and_then(node.test)))
            yield from self._in(parts, self._place._replace(rare=self._place.rare or rare))

    def _inside(self, loop: Loop) -> LoopContext:
        """The place of a loop's body. A hunk's own heads, put in front of it, are loops over "_" and do not count."""
        ours = not self._whole and isinstance(loop.target, ast.Name) and loop.target.id == "_"
        if ours:
            return self._place
        rare = self._place.rare and bool(self._place.loops)
        return self._place._replace(loops=(*self._place.loops, loop), rare=rare or _ends(loop.turn))


def _ends(nodes: Iterable[ast.AST]) -> bool:
    """Whether some statements end with the last turn of the loop that they are in."""
    return any(isinstance(node, ast.Break | ast.Return | ast.Raise) for node in [*nodes][-1:])


def _is_now_and_then(test: ast.expr) -> bool:
    """Whether a condition says: not known yet, not there yet, or enough gathered."""
    if isinstance(test, ast.BoolOp):
        return any(_is_now_and_then(value) for value in test.values)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    if not isinstance(test, ast.Compare):
        return False
    if any(isinstance(op, ast.NotIn | ast.Is) for op in test.ops):
        return True
    sides = (test.left, *test.comparators)
    return any(
        (isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod))
        or (isinstance(side, ast.Call) and dotted_name(side.func) == "len")
        for side in sides
    )


def _note(site: Site, imports: dict[str, str]) -> None:
    """Write down what a node binds or makes longer."""
    node, scope = site.node, site.place.scope
    if isinstance(node, ast.Import | ast.ImportFrom):
        for name, source in modules(node):
            imports.setdefault(name, source)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            _bind(scope, target, Binding(node.value))
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        _bind(scope, node.target, Binding(node.value, annotation))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _bind(scope, node.optional_vars, Binding(node.context_expr))
    elif isinstance(node, ast.For | ast.AsyncFor):
        _bind(scope, node.target, Binding())
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
        _grow(scope, dotted_name(node.func.value), site)
    elif isinstance(node, ast.AugAssign):
        _grow(scope, dotted_name(node.target), site)


def _bind(scope: LoopScope, target: ast.expr, binding: Binding) -> None:
    name = dotted_name(target)
    if name:
        holder = scope.self_holder() if name.startswith("self.") else scope
        holder.bindings[name].append(binding)
        return
    for part in below(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            scope.bindings[part.id].append(Binding())


def _grow(scope: LoopScope, name: str, site: Site) -> None:
    if name:
        (scope.holder(name) or scope).growths[name].append(site.place.loops)
