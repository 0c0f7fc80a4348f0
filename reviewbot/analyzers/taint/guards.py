"""Refine values by conditions: a value that was compared with a list of allowed ones does no harm."""

from __future__ import annotations

import ast
from collections.abc import Callable

from reviewbot.analyzers.taint.flow import Flow
from reviewbot.analyzers.taint.knowledge import words_of
from reviewbot.analyzers.taint.operations import fixes_host
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.values import ALL, ASKED, CLEAN, HOSTED, LEVEL, RESOLVED, Value
from reviewbot.tables import words_in

Evaluate = Callable[[ast.expr, ValueScope], Value]

_ANYTHING = (ALL, "size")
_SAME_HOST = ("redirect", "ssrf", "ssrf-path", HOSTED)
_NUMBERS = frozenset({"int", "float", "bool", "complex", "datetime", "UUID", "Decimal"})
_KEEPS = words_in("names/taint", "keeps")
"""Calls that are looked through: what a check says of their result holds for what they were given."""

_LINE_BREAKS = ("\n", "\r", "\r\n")
_QUOTES = ("'", '"')
_QUOTED = "~quoted"
"""In `Taint.safe`: it begins with a quote; without another one inside it is a literal."""

_MAX_DEPTH = 20
_ENDS = ("$", "\\Z", "\\z")


class Guards:
    """Refines a scope by the conditions under which it is entered."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._depth = 0
        self._by_name: dict[str, Callable[[ast.Call, ValueScope, Evaluate], None]] = {
            "startswith": self._begins,
            "is_relative_to": self._under,
            "match": self._matched,
            "fullmatch": self._matched,
            "isinstance": self._of_type,
        }

    def refine(self, test: ast.expr, *, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:
        """Note in a scope what follows from a condition being true, or being false. Raises OutOfSteps."""
        self._flow.budget.spend()
        if self._depth >= _MAX_DEPTH:
            return
        self._depth += 1
        try:
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                self.refine(test.operand, truth=not truth, scope=scope, evaluate=evaluate)
            elif isinstance(test, ast.BoolOp):
                self._several(test, truth, scope, evaluate)
            elif isinstance(test, ast.Compare):
                self._compared(test, truth, scope, evaluate)
            elif isinstance(test, ast.Call):
                self._called(test, truth, scope, evaluate)
            elif isinstance(test, ast.NamedExpr):
                self._true_or_not(test.target, truth, scope, evaluate)
                self.refine(test.value, truth=truth, scope=scope, evaluate=evaluate)
            else:
                self._true_or_not(test, truth, scope, evaluate)
        finally:
            self._depth -= 1

    def settle(self, node: ast.expr, scope: ValueScope, evaluate: Evaluate, kinds: tuple[str, ...]) -> None:
        """Make what an expression names harmless for some kinds, under all of its names."""
        node = _inside(node)
        name, key = place(node)
        if not name:
            value = evaluate(node, scope)
        else:
            there = scope.get(key)
            value = there if there is not None else evaluate(node, scope)
            if value.taints:
                marked = value.mark(*kinds)
                scope.check(name, key, marked)
                scope.spread(value, marked)
        if value.about is not None:
            scope.spread(value.about, value.about.mark(*kinds))

    def _several(self, test: ast.BoolOp, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - one of two sides
        if isinstance(test.op, ast.And) == truth:
            for operand in test.values:
                self.refine(operand, truth=truth, scope=scope, evaluate=evaluate)
            return
        branches: list[ValueScope] = []
        for index, operand in enumerate(test.values[:_MAX_DEPTH]):
            branch = scope.fork()
            for before in test.values[:index]:
                self.refine(before, truth=not truth, scope=branch, evaluate=evaluate)
            self.refine(operand, truth=truth, scope=branch, evaluate=evaluate)
            branches.append(branch)
        scope.join(branches)

    def _true_or_not(self, test: ast.expr, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - the same
        name, key = place(test)
        value = evaluate(test, scope)
        if value.form == "match":
            if truth and value.about is not None:
                self._spread(value.about, scope, _ANYTHING)
        elif not truth:
            if value.about is not None and isinstance(test, ast.Attribute):
                self._spread(value.about, scope, _SAME_HOST)
            elif value.taints and name:
                scope.check(name, key, CLEAN)  # what is empty does no harm

    def _spread(self, value: Value, scope: ValueScope, kinds: tuple[str, ...]) -> None:
        """Make a value harmless under all of its names, and the addresses that were parsed from it."""
        parsed = [there for _, there in scope.entries() if there.about is value and there.form == "address"]
        for there in (value, *parsed):
            scope.spread(there, there.mark(*kinds))

    def _compared(self, test: ast.Compare, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - the same
        left, right, operation = test.left, test.comparators[0], test.ops[0]
        if isinstance(operation, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            for side in (left, *test.comparators):
                self.settle(side, scope, evaluate, ("size",))
        elif len(test.ops) > 1:
            return
        elif isinstance(operation, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            if truth == isinstance(operation, (ast.Eq, ast.Is)):
                self._equal(left, right, scope, evaluate)
                self._equal(right, left, scope, evaluate)
        else:
            self._among(left, right, truth == isinstance(operation, ast.In), scope, evaluate)

    def _equal(self, node: ast.expr, other: ast.expr, scope: ValueScope, evaluate: Evaluate) -> None:
        if evaluate(other, scope).taints and not isinstance(node, ast.Call):
            return
        if isinstance(node, ast.Call) and _last(node.func) in ("commonpath", "commonprefix", "dirname"):
            for arg in node.args:
                for part in arg.elts if isinstance(arg, (ast.List, ast.Tuple)) else [arg]:
                    self.settle(part, scope, evaluate, ("path",))
            return
        value = evaluate(node, scope)
        if value.form == "address" or (value.about is not None and value.form != "match"):
            self._spread(value.about or value, scope, _SAME_HOST)
        elif not evaluate(other, scope).taints:
            self.settle(node, scope, evaluate, _ANYTHING)

    def _among(self, left: ast.expr, right: ast.expr, inside: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - the same
        container, item = evaluate(right, scope), evaluate(left, scope)
        if item.known and isinstance(item.const, str) and container.taints:
            if not inside and ".." in item.const:
                self.settle(right, scope, evaluate, (LEVEL,))
            if not inside and item.const in _LINE_BREAKS:
                self.settle(right, scope, evaluate, ("header", "log"))
            if not inside and item.const in _QUOTES:
                quoted = all(_QUOTED in taint.safe for taint in container.taints)
                self.settle(right, scope, evaluate, ("sql", "xpath", *(("code",) if quoted else ())))
        if not inside:
            return
        if isinstance(right, ast.Attribute) and right.attr == "parents":
            self.settle(right.value, scope, evaluate, ("path",))
        elif not container.known and not any(taint.origin.reach in ("remote", "typed") for taint in container.taints):
            if item.about is not None and item.form != "match":
                self._spread(item.about, scope, _SAME_HOST)
            else:
                self.settle(left, scope, evaluate, _ANYTHING)

    def _called(self, test: ast.Call, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - the same
        name, words = _last(test.func), self._flow.knowledge.words
        if name in ("all", "any") and test.args:
            self._each(test, name, truth, scope, evaluate)
        elif truth and (handle := self._by_name.get(name)) is not None:
            handle(test, scope, evaluate)
        elif truth and name in words["checks.methods"] and isinstance(test.func, ast.Attribute):
            self.settle(test.func.value, scope, evaluate, _ANYTHING)
        elif not words["checks.good" if truth else "checks.bad"].isdisjoint(words_of(name)):
            for arg in (*test.args, *(word.value for word in test.keywords)):
                self.settle(arg, scope, evaluate, _ANYTHING)
        elif truth and name.startswith("is_") and isinstance(test.func, ast.Name) and test.args:
            self.settle(test.args[0], scope, evaluate, (ASKED,))

    def _matched(self, test: ast.Call, scope: ValueScope, evaluate: Evaluate) -> None:
        value = evaluate(test, scope)
        if value.form == "match" and value.about is not None:
            self.settle(test.args[-1], scope, evaluate, _ANYTHING)

    def _of_type(self, test: ast.Call, scope: ValueScope, evaluate: Evaluate) -> None:
        if len(test.args) < len(("value", "type")):
            return
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        names = {_last(kind) for kind in kinds}
        if names <= _NUMBERS:
            self.settle(test.args[0], scope, evaluate, (ALL,))
        elif names <= {"str", "bytes", *_NUMBERS}:
            self.settle(test.args[0], scope, evaluate, ("nosql",))

    def _under(self, test: ast.Call, scope: ValueScope, evaluate: Evaluate) -> None:
        if isinstance(test.func, ast.Attribute):
            self.settle(test.func.value, scope, evaluate, ("path",))

    def _begins(self, test: ast.Call, scope: ValueScope, evaluate: Evaluate) -> None:
        if not isinstance(test.func, ast.Attribute):
            return
        receiver = test.func.value
        value = evaluate(receiver, scope)
        prefix = evaluate(test.args[0], scope) if test.args else CLEAN
        if value.taints and all(RESOLVED in taint.safe for taint in value.taints) and not _is_root(prefix):
            self.settle(receiver, scope, evaluate, ("path",))
        if prefix.const in _QUOTES:
            self.settle(receiver, scope, evaluate, (_QUOTED,))
        if isinstance(prefix.const, str) and len(prefix.const) > 1 and fixes_host(prefix.const):
            self.settle(receiver, scope, evaluate, _SAME_HOST)

    def _each(self, test: ast.Call, name: str, truth: bool, scope: ValueScope, evaluate: Evaluate) -> None:  # noqa: FBT001 - the same
        inner = test.args[0]
        if not isinstance(inner, (ast.GeneratorExp, ast.ListComp)) or (name == "all") != truth:
            return
        target = place(inner.generators[0].target)[1]
        if self._allows(inner.elt, target, truth=name == "all"):
            self.settle(inner.generators[0].iter, scope, evaluate, _ANYTHING)
        elif name == "any" and isinstance(inner.elt, ast.Compare) and isinstance(inner.elt.ops[0], ast.In):
            refused = evaluate(inner.generators[0].iter, scope)
            parts = (refused, *(refused.items or {}).values())
            if any(part.const == ".." for part in parts):
                self.settle(inner.elt.comparators[0], scope, evaluate, (LEVEL,))

    def _allows(self, node: ast.expr, target: str, *, truth: bool, depth: int = 0) -> bool:
        """Whether a condition on each item says what is allowed; one that says what is not leaves the rest open."""
        words = self._flow.knowledge.words
        if depth >= _MAX_DEPTH:
            return False
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._allows(node.operand, target, truth=not truth, depth=depth + 1)
        if isinstance(node, ast.BoolOp):
            allowed = [self._allows(one, target, truth=truth, depth=depth + 1) for one in node.values]
            return any(allowed) if isinstance(node.op, ast.And) == truth else all(allowed)
        if isinstance(node, ast.Compare):
            kinds = (ast.In, ast.Eq) if truth else (ast.NotIn, ast.NotEq)
            return isinstance(node.ops[0], kinds) and place(_inside(node.left))[1] == target
        name = _last(node.func) if isinstance(node, ast.Call) else ""
        if name in words["checks.methods"]:
            return truth
        return not words["checks.good" if truth else "checks.bad"].isdisjoint(words_of(name))


def is_anchored(pattern: Value, name: str) -> bool:
    """Whether a match of a pattern speaks for the whole text."""
    text = pattern.const if isinstance(pattern.const, str) else pattern.lead
    return name == "fullmatch" or (name == "match" and (not text or text.endswith(_ENDS)))


def _is_root(prefix: Value) -> bool:
    """Whether every path begins like that once it is resolved."""
    parts = [prefix, *(prefix.items or {}).values()]
    return any(part.path == "os.sep" or (isinstance(part.const, str) and len(part.const) <= 1) for part in parts)


def _inside(node: ast.expr) -> ast.expr:
    """What a call is about that keeps what it is given."""
    for _ in range(_MAX_DEPTH):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            node = node.value
            continue
        if not isinstance(node, ast.Call) or _last(node.func) not in _KEEPS:
            break
        if node.args:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            break
    return node


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
