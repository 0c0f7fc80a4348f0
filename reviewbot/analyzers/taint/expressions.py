"""Evaluate expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from reviewbot.analyzers.taint.call_evaluator import CallEvaluator
from reviewbot.analyzers.taint.flow import Call, Flow, Here, is_request, nothing, read_header, source
from reviewbot.analyzers.taint.guards import Guards
from reviewbot.analyzers.taint.operations import (
    PATH,
    combine,
    compare,
    compose,
    container,
    item_of,
    position,
    tracked_constant,
    truth_of,
    without,
)
from reviewbot.analyzers.taint.places import place, render_expression
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.targets import Members, Targets
from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    CLEAN,
    MEMBER,
    UPLOAD,
    YIELDED,
    Value,
    element,
    join_values,
    merge_taints,
    mix,
    plain,
)

_MAX_DEPTH = 60
"""Levels of one expression. What lies deeper is looked through for names only, so that no code exhausts the stack."""

_STEPS = 3
"""Of the budget for one expression, which costs as much as so many steps of other checks."""

_NUMERIC_FORMATS = tuple("bdeEfFgGoxX%")
"""How the format of a number ends; a text cannot be written in it."""

_PARSED = frozenset({"netloc", "hostname", "host", "scheme", "path", "query"})


class Expressions:
    """Evaluates expressions in a scope, and passes to the sinks what arrives at them."""

    def __init__(self, flow: Flow, here: Here, calls: CallEvaluator, guards: Guards) -> None:
        self._flow = flow
        self._here = here
        self._members = Members(flow, here)
        self._calls = calls
        self._guards = guards
        self.targets = Targets(here, calls, self.value)
        """What is assigned to."""
        self._depth = 0
        self._by_type = self._table()

    def _table(self) -> dict[type[ast.expr], Callable[..., Value]]:
        return {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
            ast.BinOp: self._operation,
            ast.BoolOp: self._boolean,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.IfExp: self._choice,
            ast.JoinedStr: self._joined_text,
            ast.FormattedValue: self._formatted,
            ast.List: self._sequence,
            ast.Tuple: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._mapping,
            ast.NamedExpr: self._walrus,
            ast.Lambda: self._lambda,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.Await: self._inner,
            ast.Starred: self._inner,
            ast.YieldFrom: self._yield,
            ast.Yield: self._yield,
        }

    def value(self, node: ast.expr, scope: ValueScope) -> Value:
        """Evaluate an expression. Raises OutOfSteps."""
        self._flow.budget.spend(_STEPS)
        if self._depth >= _MAX_DEPTH:
            return self._looked_through(node, scope)
        self._depth += 1
        try:
            handle = self._by_type.get(type(node))
            return CLEAN if handle is None else handle(node, scope)
        finally:
            self._depth -= 1

    def values(self, nodes: Sequence[ast.expr], scope: ValueScope) -> list[Value]:
        """Evaluate some expressions."""
        return [self.value(node, scope) for node in nodes]

    def _looked_through(self, node: ast.expr, scope: ValueScope) -> Value:
        held: list[Value] = []
        for inner in ast.walk(node):
            self._flow.budget.spend()
            if isinstance(inner, ast.Name) and (value := scope.get(inner.id)) is not None:
                held.append(value)
        return mix(held, BUILT)

    def _constant(self, node: ast.Constant, _scope: ValueScope) -> Value:
        return Value(const=tracked_constant(node.value))

    def _name(self, node: ast.Name, scope: ValueScope) -> Value:
        value = scope.get(node.id)
        if value is None:
            return self._known(node, node.id) or nothing(node.id)
        return (self._known(node, value.path) if value.path and not value.taints else None) or value

    def _known(self, node: ast.expr, path: str) -> Value | None:
        """A source by its name, where it is a value and no function."""
        reach = self._flow.reach(path)
        return None if reach is None else source(reach, node, render_expression(node), path)

    def _attribute(self, node: ast.Attribute, scope: ValueScope) -> Value:
        name, key = place(node)
        if name and (there := scope.get(key)) is not None:
            return there
        base = self.value(node.value, scope)
        found = self._members.of(node, base)
        if found is not None:
            return found
        path = self._members.dotted_name(base, node.attr)
        if node.attr in self._flow.knowledge.words["request.upload_names"]:
            base = without(base, UPLOAD)
        if not base.taints:
            return self._known(node, path) or nothing(path)
        if base.about is not None and node.attr in _PARSED:
            return Value(base.taints, about=base.about)
        safe = self._flow.knowledge.sanitizers.get(path, frozenset())
        how = () if self._flow.knowledge.words["passes.methods"].issuperset({node.attr}) else (MEMBER,)
        return Value(base.taints, path=PATH if path == f"{PATH}.parent" else path).mark(*safe).became(*how)

    def _subscript(self, node: ast.Subscript, scope: ValueScope) -> Value:
        name, key = place(node)
        if name and (there := scope.get(key)) is not None:
            return there
        base = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = [bound for bound in (node.slice.lower, node.slice.upper, node.slice.step) if bound is not None]
            self.values(bounds, scope)
            return plain(base)
        index = self.value(node.slice, scope)
        if base.known and index.known:
            return Value(const=item_of(base.const, index.const))
        if base.items is not None and index.known:
            found = base.items.get(position(base, index.const))
            return found if found is not None else plain(base)
        if is_request(base.path, self._flow.knowledge):
            return CLEAN if self._flow.is_stored(index) else source("remote", node, render_expression(node))
        path = f"{base.path}[]" if base.path else ""
        held = read_header(base, index, self._flow.knowledge)
        return Value(held.taints, path=path) if held.taints else nothing(path)

    def _call(self, node: ast.Call, scope: ValueScope) -> Value:
        name, key = place(node)
        if name and (there := scope.get(key)) is not None:
            return there
        receiver: Value | None = None
        function = -1
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value, scope)
            name = node.func.attr
            path = self._members.dotted_name(receiver, name)
            owner, key = place(node.func)
            bound = scope.get(key) if owner else None
            if bound is not None and bound.path:
                path = bound.path
        else:
            target = self.value(node.func, scope)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            path, function = target.path, target.function
        args = self.values(node.args, scope)
        keywords = {word.arg or "**": self.value(word.value, scope) for word in node.keywords}
        call = Call(node, name, path, receiver, args, keywords, function, render_expression(node.func))
        return self._calls.result(call, scope)

    def _operation(self, node: ast.BinOp, scope: ValueScope) -> Value:
        """A chain of operations, which is followed from its left end without going deeper for each of them."""
        chain: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            self._flow.budget.spend()
            chain.append(left)
            left = left.left
        value = self.value(left, scope)
        for operation in reversed(chain):
            value = combine(operation.op, value, self.value(operation.right, scope))
        return value

    def _boolean(self, node: ast.BoolOp, scope: ValueScope) -> Value:
        inner = scope.fork()
        found: list[Value] = []
        for operand in node.values:
            value = self.value(operand, inner)
            found.append(value)
            decided = truth_of(value.const)
            if decided is (isinstance(node.op, ast.Or)):
                break
            self._guards.refine(operand, truth=isinstance(node.op, ast.And), scope=inner, evaluate=self.value)
        live = [value for value in found[:-1] if not value.known] + found[-1:]
        return join_values(live)

    def _unary(self, node: ast.UnaryOp, scope: ValueScope) -> Value:
        value = self.value(node.operand, scope)
        decided = truth_of(value.const)
        if isinstance(node.op, ast.Not):
            return CLEAN if decided is None else Value(const=not decided)
        if isinstance(node.op, ast.USub) and isinstance(value.const, (int, float)):
            return Value(const=-value.const)
        return plain(value)

    def _compare(self, node: ast.Compare, scope: ValueScope) -> Value:
        left, *others = self.values([node.left, *node.comparators], scope)
        if len(others) != 1:
            return CLEAN
        if left.known and others[0].known:
            return Value(const=compare(node.ops[0], left.const, others[0].const))
        asked = isinstance(node.ops[0], (ast.In, ast.Eq)) and left.taints and not others[0].taints
        return Value(about=left, form="match") if asked and not others[0].known else CLEAN

    def _choice(self, node: ast.IfExp, scope: ValueScope) -> Value:
        decided = truth_of(self.value(node.test, scope).const)
        if decided is not None:
            return self.value(node.body if decided else node.orelse, scope)
        found: list[Value] = []
        for truth, branch in ((True, node.body), (False, node.orelse)):
            inner = scope.fork()
            self._guards.refine(node.test, truth=truth, scope=inner, evaluate=self.value)
            found.append(self.value(branch, inner))
        return join_values(found)

    def _joined_text(self, node: ast.JoinedStr, scope: ValueScope) -> Value:
        return compose(self.values(node.values, scope))

    def _formatted(self, node: ast.FormattedValue, scope: ValueScope) -> Value:
        value = self.value(node.value, scope)
        if node.conversion == ord("r"):
            value = value.mark("log", "header")
        return value.mark(ALL) if _is_numeric(node.format_spec) else value

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: ValueScope) -> Value:
        found = self.values(node.elts, scope)
        form = type(node).__name__.lower()
        starred = any(isinstance(element, ast.Starred) for element in node.elts)
        items = None if starred else dict(enumerate(found))
        return Value(merge_taints(found), items=items, form=form)

    def _mapping(self, node: ast.Dict, scope: ValueScope) -> Value:
        items: dict[object, Value] | None = {}
        found: list[Value] = []
        keys: list[Value] = []
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope)
            found.append(value)
            name = self.value(key, scope) if key is not None else element(value)
            keys.append(name)
            if items is not None and name.known:
                items[name.const] = value
            else:
                items = None
        return Value(merge_taints(found), items=items, form="dict", each=join_values(keys) if items is None else None)

    def _walrus(self, node: ast.NamedExpr, scope: ValueScope) -> Value:
        value = self.value(node.value, scope)
        scope.set(node.target.id, value)
        return value

    def _lambda(self, node: ast.Lambda, scope: ValueScope) -> Value:
        inner = scope.fork()
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner.set(arg.arg, CLEAN)
        return plain(self.value(node.body, inner))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: ValueScope
    ) -> Value:
        inner = scope.fork()
        for part in node.generators:
            self.targets.bind(part.target, element(self.value(part.iter, inner)), inner)
            for test in part.ifs:
                self.value(test, inner)
                self._guards.refine(test, truth=True, scope=inner, evaluate=self.value)
        if isinstance(node, ast.DictComp):
            key, held = self.values([node.key, node.value], inner)
            return Value(merge_taints([key, held]), form="dict", each=plain(key))
        return container(self.value(node.elt, inner))

    def _inner(self, node: ast.Await | ast.Starred, scope: ValueScope) -> Value:
        return self.value(node.value, scope)

    def _yield(self, node: ast.Yield | ast.YieldFrom, scope: ValueScope) -> Value:
        if node.value is not None:
            value = self.value(node.value, scope)
            several = isinstance(node, ast.Yield) and value.form == "tuple"
            self._here.returns.append(container(value, YIELDED) if several else value)
        return CLEAN


def _is_numeric(spec: ast.expr | None) -> bool:
    """Whether a format lets only numbers through: `f"{value:04d}"`."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    last = parts[-1] if parts else None
    return isinstance(last, ast.Constant) and isinstance(last.value, str) and last.value.endswith(_NUMERIC_FORMATS)
