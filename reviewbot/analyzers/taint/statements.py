"""Interpret statements: their effect on the names of a scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from reviewbot.analyzers.taint.call_evaluator import CallEvaluator
from reviewbot.analyzers.taint.expressions import Expressions
from reviewbot.analyzers.taint.flow import Flow, Here
from reviewbot.analyzers.taint.guards import Guards
from reviewbot.analyzers.taint.index import changed_names
from reviewbot.analyzers.taint.knowledge import words_of
from reviewbot.analyzers.taint.operations import combine, truth_of
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.summaries import Called, raises, stops
from reviewbot.analyzers.taint.targets import always, bind_names, constants_of, never
from reviewbot.analyzers.taint.values import ALL, CLEAN, UNKNOWN, YIELDED, Value, element
from reviewbot.context.python_text import imported_names
from reviewbot.tables import words_in

_TRUSTED = words_in("names/taint", "trusted")
"""Words of context managers that let errors through; of any other, what stands in it may end halfway and go on."""

_SWALLOWS = frozenset({"suppress", "ignore", "catch", "swallow", "silence", "quiet", "raises"})
"""Words of those that do not, whatever else they are called; `catch_warnings` is about no errors."""

_STAGES = 8
"""Statements of a `try` after each of which a handler may be entered; of a longer one, also after the last."""

_TWICE = 3
"""Loops inside each other that are passed over so often; those further in once, or each would double the work."""

_PASSES = 2
"""Over a loop: what one round leaves behind, the next one reads."""


class _Loop(NamedTuple):
    """A loop that is being followed."""

    before: ValueScope
    breaks: list[ValueScope]
    """What is known at each place where it is left."""
    rounds: list[ValueScope]
    """What is known at each place where a round of it ends."""


class StatementInterpreter:
    """Runs statements on a scope, both sides of each branch."""

    def __init__(
        self,
        flow: Flow,
        here: Here,
        parts: tuple[Expressions, CallEvaluator, Guards],
        nested: Callable[[int, ValueScope], None],
    ) -> None:
        self._flow = flow
        self._here = here
        self._expressions, self._calls, self._guards = parts
        self._nested = nested
        self._loops: list[_Loop] = []
        self._by_type = self._table()

    def _table(self) -> dict[type[ast.stmt], Callable[..., None]]:
        return {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Return: self._return,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Raise: self._raise,
            ast.Assert: self._assert,
            ast.Match: self._match,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Break: self._break,
            ast.Continue: self._continue,
            ast.Delete: self._delete,
            ast.FunctionDef: self._define,
            ast.AsyncFunctionDef: self._define,
            ast.ClassDef: self._class,
        }

    def run(self, body: Sequence[ast.stmt], scope: ValueScope) -> None:
        """Run statements until one after which nothing runs. Raises OutOfSteps."""
        for statement in body:
            if scope.dead:
                break
            self._flow.budget.spend()
            handle = self._by_type.get(type(statement))
            if handle is not None:
                handle(statement, scope)
        if body is self._flow.view.tree.body:
            self._loosen(scope)

    def _loosen(self, scope: ValueScope) -> None:
        """Forget the constants of a module that something else changes: functions run after that."""
        for name, value in list(scope.entries()):
            if (value.known or value.items is not None) and name in self._changed:
                scope.own[name] = _loosened(value)

    @cached_property
    def _changed(self) -> frozenset[str]:
        return changed_names(self._flow.view.tree, self._flow.budget)

    def _value(self, node: ast.expr, scope: ValueScope) -> Value:
        return self._expressions.value(node, scope)

    def _refine(self, test: ast.expr, scope: ValueScope, *, truth: bool) -> None:
        self._guards.refine(test, truth=truth, scope=scope, evaluate=self._value)

    def _expression(self, node: ast.Expr, scope: ValueScope) -> None:
        self._value(node.value, scope)
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(call, ast.Call):
            return
        called = self._called(call, scope)
        if stops(called, self._flow):
            scope.dead = True
        elif called.name == "relative_to" and isinstance(call.func, ast.Attribute):
            self._guards.settle(call.func.value, scope, self._value, ("path",))
        else:
            for number, arg in enumerate(call.args):
                if raises(called, number, self._flow):
                    self._guards.settle(arg, scope, self._value, (ALL, "size"))

    def _called(self, call: ast.Call, scope: ValueScope) -> Called:
        """What a call runs that stands alone."""
        value = self._value(call.func, scope)
        if not isinstance(call.func, ast.Attribute):
            name, number = getattr(call.func, "id", ""), value.function
            if number < 0 and value.path in self._flow.bases:
                number = self._flow.method(value.path, "__init__")
            return Called(name, value.path, None, number)
        receiver = self._value(call.func.value, scope).path
        owner = receiver.removesuffix("()")
        number = self._flow.method(owner, call.func.attr) if owner in self._flow.bases else -1
        return Called(call.func.attr, value.path, place(call.func.value)[1], number)

    def _assign(self, node: ast.Assign, scope: ValueScope) -> None:
        value = self._value(node.value, scope)
        if self._here.function is None and value.known and not self._changed.isdisjoint(map(_id, node.targets)):
            value = _loosened(value)
        for target in node.targets:
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Name):
                scope.set(target.id, value)  # the same object under both names: a check of one holds for the other
            else:
                self._expressions.targets.bind(target, value, scope)

    def _annotated(self, node: ast.AnnAssign, scope: ValueScope) -> None:
        if node.value is not None:
            self._expressions.targets.bind(node.target, self._value(node.value, scope), scope)

    def _augmented(self, node: ast.AugAssign, scope: ValueScope) -> None:
        before = self._value(node.target, scope)
        value = combine(node.op, before, self._value(node.value, scope))
        self._expressions.targets.bind(node.target, value, scope)

    def _return(self, node: ast.Return, scope: ValueScope) -> None:
        if node.value is not None:
            value = self._value(node.value, scope)
            self._here.returns.append(value)
            if self._here.page:
                self._calls.sinks.check_return(node.value, value)
        scope.dead = True

    def _raise(self, node: ast.Raise, scope: ValueScope) -> None:
        if node.exc is not None:
            self._value(node.exc, scope)
        scope.dead = True

    def _assert(self, node: ast.Assert, scope: ValueScope) -> None:
        self._value(node.test, scope)
        self._refine(node.test, scope, truth=True)

    def _delete(self, node: ast.Delete, scope: ValueScope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.set(target.id, CLEAN)

    def _if(self, node: ast.If, scope: ValueScope) -> None:
        """A chain of conditions, followed without going deeper for each `elif`."""
        branches: list[ValueScope] = []
        rest = scope.fork()
        current: ast.If | None = node
        while current is not None:
            self._flow.budget.spend()
            decided = truth_of(self._value(current.test, rest).const)
            if decided is not False:
                branch = rest.snapshot(scope)
                self._refine(current.test, branch, truth=True)
                self.run(current.body, branch)
                branches.append(branch)
            if decided is True:
                break
            self._refine(current.test, rest, truth=False)
            following = current.orelse
            current = following[0] if len(following) == 1 and isinstance(following[0], ast.If) else None
            if current is None:
                self.run(following, rest)
                branches.append(rest)
        scope.join(branches)

    def _for(self, node: ast.For | ast.AsyncFor, scope: ValueScope) -> None:
        item = element(self._value(node.iter, scope))

        def round_of(inner: ValueScope) -> None:
            self._expressions.targets.bind(node.target, item, inner)
            self.run(node.body, inner)

        self._loop(round_of, scope, lambda rest: self.run(node.orelse, rest))

    def _while(self, node: ast.While, scope: ValueScope) -> None:
        def round_of(inner: ValueScope) -> None:
            self._value(node.test, inner)
            self._refine(node.test, inner, truth=True)
            self.run(node.body, inner)

        def after(rest: ValueScope) -> None:
            rest.dead = isinstance(node.test, ast.Constant) and bool(node.test.value)
            self._refine(node.test, rest, truth=False)
            self.run(node.orelse, rest)

        self._loop(round_of, scope, after)

    def _loop(
        self, round_of: Callable[[ValueScope], None], scope: ValueScope, after: Callable[[ValueScope], None]
    ) -> None:
        """Go round a loop; `after` runs where it ends without being left."""
        breaks: list[ValueScope] = []
        for _ in range(_PASSES if len(self._loops) < _TWICE else 1):
            inner = scope.fork()
            self._loops.append(_Loop(scope, breaks, [inner]))
            round_of(inner)
            scope.join([scope.fork(), *self._loops.pop().rounds])
        rest = scope.fork()
        after(rest)
        scope.join([rest, *breaks])

    def _break(self, _node: ast.Break, scope: ValueScope) -> None:
        if self._loops:
            self._loops[-1].breaks.append(scope.snapshot(self._loops[-1].before))
        scope.dead = True

    def _continue(self, _node: ast.Continue, scope: ValueScope) -> None:
        if self._loops:
            self._loops[-1].rounds.append(scope.snapshot(self._loops[-1].before))
        scope.dead = True

    def _try(self, node: ast.Try | ast.TryStar, scope: ValueScope) -> None:
        body = scope.fork()
        stages = self._stages(node.body, body, scope)
        if not body.dead:
            self.run(node.orelse, body)
        branches = [body]
        for handler in node.handlers:
            branch = scope.fork()
            branch.join([branch.fork(), *(stage.snapshot(scope) for stage in stages)])
            if handler.name:
                branch.set(handler.name, CLEAN)
            self.run(handler.body, branch)
            branches.append(branch)
        scope.join(branches)
        if scope.dead and node.finalbody:
            self.run(node.finalbody, scope.fork())
        self.run(node.finalbody, scope)

    def _stages(self, statements: Sequence[ast.stmt], body: ValueScope, scope: ValueScope) -> list[ValueScope]:
        """Run statements that may end after each of them; what is known then."""
        stages: list[ValueScope] = []
        for number, statement in enumerate(statements):
            self.run([statement], body)
            if number < _STAGES or number == len(statements) - 1:
                stages.append(body.snapshot(scope))
        return stages

    def _with(self, node: ast.With | ast.AsyncWith, scope: ValueScope) -> None:
        trusted = True
        for item in node.items:
            value = self._value(item.context_expr, scope)
            trusted = trusted and self._lets_through(item.context_expr, value, scope)
            if item.optional_vars is not None:
                entered = element(value) if value.form == YIELDED else value
                self._expressions.targets.bind(item.optional_vars, entered, scope)
        if trusted:
            self.run(node.body, scope)
            return
        body = scope.fork()
        after = scope.fork()
        after.join([after.fork(), *(_revived(stage.snapshot(after)) for stage in self._stages(node.body, body, scope))])
        scope.join([body, after])

    def _lets_through(self, node: ast.expr, value: Value, scope: ValueScope) -> bool:
        """Whether an error inside a context manager comes out of it: one that is not at hand, and known by its name."""
        target = node.func if isinstance(node, ast.Call) else node
        called = self._value(target, scope)
        path = called.path or value.path.removesuffix("()") or place(target)[1] or getattr(target, "attr", "")
        if called.function >= 0 or path.removesuffix("()") in self._flow.bases:
            return False
        words = words_of(path.removesuffix("()").rpartition(".")[2])
        return not _TRUSTED.isdisjoint(words) and (_SWALLOWS.isdisjoint(words) or "warnings" in words)

    def _match(self, node: ast.Match, scope: ValueScope) -> None:
        branches: list[ValueScope] = []
        closed = False
        subject = self._value(node.subject, scope)
        for case in node.cases:
            if never(case, subject):
                continue
            branch = scope.fork()
            self._flow.budget.spend(bind_names(case.pattern, subject, branch))
            if constants_of(case.pattern) is not None:
                self._guards.settle(node.subject, branch, self._value, (ALL, "size"))
            if case.guard is not None:
                self._value(case.guard, branch)
                self._refine(case.guard, branch, truth=True)
            self.run(case.body, branch)
            branches.append(branch)
            closed = always(case, subject)
            if closed:
                break
        scope.join(branches if closed else [*branches, scope.fork()])

    def _import(self, node: ast.Import | ast.ImportFrom, scope: ValueScope) -> None:
        for name, path in imported_names(node):
            scope.set(name, Value(path=path))

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: ValueScope) -> None:
        number = self._flow.numbers.get(node, -1)
        there = scope.get(node.name)
        scope.set(node.name, Value(path=there.path if there is not None else "", function=number))
        if number >= 0 and self._flow.functions[number].inside >= 0:
            self._nested(number, scope)

    def _class(self, node: ast.ClassDef, scope: ValueScope) -> None:
        scope.set(node.name, Value(path=node.name))
        inner = scope.fork()
        for statement in node.body:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.run([statement], inner)
        for key, value in list(inner.own.items()):
            if value.known and key in self._changed:
                continue
            if not set(".[").intersection(key) and not value.taints and (value.items is not None or value.known):
                self._flow.fields.setdefault((node.name, key), value)


def _id(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""


def _revived(stage: ValueScope) -> ValueScope:
    """A run that ended by an error goes on behind the context manager that swallows it."""
    stage.dead = False
    return stage


def _loosened(value: Value) -> Value:
    """A value that may be another one by the time it is read; how a text begins is kept."""
    lead = value.const if isinstance(value.const, str) else value.lead
    return replace(value, const=UNKNOWN, items=None, lead=lead)
