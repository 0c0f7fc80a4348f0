"""Track untrusted values from source to sink through one Python file.

Each function is analysed once, callees before callers; a summary has its parameters, what it returns, and which values
reach which sinks. Branches are followed on both sides and joined, loops twice. Nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reviewbot.analyzers.python.views import Budget, Found, View
from reviewbot.analyzers.taint.annotations import Annotations
from reviewbot.analyzers.taint.call_evaluator import CallEvaluator
from reviewbot.analyzers.taint.expressions import Expressions
from reviewbot.analyzers.taint.flow import Flow, Here, Hits, is_request, parameter, source
from reviewbot.analyzers.taint.guards import Guards
from reviewbot.analyzers.taint.index import in_order, index, route, typed_responses, worth_following
from reviewbot.analyzers.taint.knowledge import Knowledge, packaged_knowledge
from reviewbot.analyzers.taint.operations import PATH
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.statements import StatementInterpreter
from reviewbot.analyzers.taint.values import CLEAN, OBJECT, Function, Value, join_values
from reviewbot.diff.paths import is_test

_PART = re.compile(
    r"<(?:([a-zA-Z_]\w{0,30})(?:\([^)>]{0,100}\))?:)?([a-zA-Z_]\w{0,60})>|\{([a-zA-Z_]\w{0,60})(?::(\w{1,30}))?\}"
)
"""A variable part of a route: `<int:number>`, `<name>`, `{name}`, `{name:path}`."""

_TYPED = re.compile(r"mimetype|content.type|media_type", re.IGNORECASE)

_MAX_TIMES = 3
"""That one function is followed: one that is defined inside a loop is met in each round."""

_MAX_ITEMS = 20
"""Items of a returned container that are tracked one by one; a longer container is taken as a whole."""

_WITH_SLASHES = frozenset({"path", "re"})
_TEXTS = frozenset({"string", "str", "any", ""})


class Functions:
    """Follows functions, each once; those inside others where they are defined."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._annotations = Annotations(flow)
        self._times: Counter[int] = Counter()

    def module(self, tree: ast.Module, scope: ValueScope) -> None:
        """Follow the statements of the module. Raises OutOfSteps."""
        self._parts(Here()).run(tree.body, scope)

    def follow(self, number: int, outer: ValueScope) -> None:
        """Follow one function, and keep what it returns. Raises OutOfSteps."""
        if self._times[number] >= _MAX_TIMES:
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
            value = self._parameter(function, arg, pattern, scope)
            if arg.arg not in scope.own:
                scope.set(arg.arg, value)
            scope.own[arg.arg] = value
        self._parts(here).run(function.node.body, scope)
        self._flow.summaries[number] = _returned(here.returns)

    def _parts(self, here: Here) -> StatementInterpreter:
        calls, guards = CallEvaluator(self._flow), Guards(self._flow)
        expressions = Expressions(self._flow, here, calls, guards)
        return StatementInterpreter(self._flow, here, (expressions, calls, guards), self.follow)

    def _parameter(self, function: Function, arg: ast.arg, pattern: str | None, scope: ValueScope) -> Value:
        first = function.parameters[0]
        if function.owner and arg is first and arg.arg in ("self", "cls"):
            return Value(path=f"{function.owner}()")
        declared, words = self._annotations.of(function, arg, scope), self._flow.knowledge.words
        annotation = declared.path
        unsaid = not annotation and arg.arg in words["request.names"] and not self._is_of_client(function.owner)
        if unsaid or is_request(annotation, self._flow.knowledge):
            return Value(path="request")
        rest = arg in (function.node.args.vararg, function.node.args.kwarg)
        if rest or declared.harmless:
            return CLEAN
        if declared.fields:
            scope.set(arg.arg, CLEAN)
        for field in declared.fields:
            scope.put(arg.arg, f"{arg.arg}.{field}", CLEAN)
        if pattern is not None:
            return self._of_route(arg, pattern)
        if arg is first and ",".join(other.arg for other in function.parameters[:2]) in words["handler.events"]:
            return source("remote", arg, arg.arg, "", OBJECT)
        return parameter(function, arg, PATH if annotation in ("pathlib.Path", "Path") else "")

    def _is_of_client(self, owner: str) -> bool:
        """Whether a class is one of a package that sends requests."""
        bases = self._flow.bases.get(owner, ())
        return any(base.partition(".")[0] in self._flow.knowledge.words["request.clients"] for base in bases)

    def _of_route(self, arg: ast.arg, pattern: str) -> Value:
        """A parameter that a framework fills from the address, or from the query where it does that by itself."""
        for match in _PART.finditer(pattern):
            converter, name, braced, kind = match.groups(default="")
            if (name or braced) != arg.arg:
                continue
            kept = converter or kind
            if kept not in _TEXTS and kept not in _WITH_SLASHES:
                return CLEAN
            value = source("remote", arg, arg.arg)
            return value if kept in _WITH_SLASHES else value.mark("path")
        by_itself = not self._flow.knowledge.words["routes.asks"].isdisjoint(self._flow.frameworks)
        return source("remote", arg, arg.arg) if by_itself else CLEAN


def _returned(values: Sequence[Value]) -> Value:
    if not values:
        return CLEAN
    value = join_values(list(values))
    return value if value.items is None or len(value.items) <= _MAX_ITEMS else replace(value, items=None)


_WORD = re.compile(r"\w{1,80}")


def check(view: View, budget: Budget) -> Iterator[Found]:
    """Find the flows in one piece of code, by row. Raises OutOfSteps."""
    knowledge = packaged_knowledge()
    spoken = _words_of(view)
    words = _sink_words(knowledge, view, spoken)
    if not words and not _may_have_pages(knowledge, view, spoken):
        return iter(())
    found = index(view.tree, budget)
    wanted = worth_following(found, knowledge, words)
    if not wanted:
        return iter(())
    flow = Flow(view, budget, knowledge, Hits(knowledge))
    flow.functions = found.functions
    flow.numbers = {function.node: number for number, function in found.functions.items()}
    for number, function in found.functions.items():
        if function.owner:
            flow.methods.setdefault((function.owner, function.node.name), number)
    flow.frameworks = frozenset(found.packages)
    flow.typed = typed_responses(view.tree, budget) if _TYPED.search(view.text) else flow.typed
    functions = Functions(flow)
    scope = ValueScope(budget)
    functions.module(view.tree, scope)
    scope.dead = False
    flow.bases = {name: [_dotted(base, scope) for base in bases] for name, bases in found.bases.items()}
    for number in in_order(found, wanted):
        functions.follow(number, scope)
    functions.module(view.tree, ValueScope(budget))
    return flow.hits.findings()


def _dotted(written: str, scope: ValueScope) -> str:
    name, dot, rest = written.partition(".")
    there = scope.get(name)
    return f"{there.path}{dot}{rest}" if there is not None and there.path else written


def _may_have_pages(knowledge: Knowledge, view: View, spoken: frozenset[str]) -> bool:
    """Whether a function may be one that a framework shows the result of: a decorator says so."""
    routed = "@" in view.text and not spoken.isdisjoint(knowledge.words["routes.decorators"])
    return routed and any(name in view.text for name in knowledge.words["routes.pages"])


def _words_of(view: View) -> frozenset[str]:
    """The words of the text. The first row of a hunk is not its own: nothing comes in or does harm there."""
    return frozenset(_WORD.findall(view.text if view.whole else view.text.partition("\n")[2]))


def _sink_words(knowledge: Knowledge, view: View, spoken: frozenset[str]) -> frozenset[str]:
    """The last parts of the names of the sinks that may be meant: of packages that are named, and methods."""
    # Flows from parameters are not reported in test code: there a value has to come from outside.
    open_kinds = frozenset[str]() if is_test(view.path) else knowledge.open_kinds
    sourced = not spoken.isdisjoint(knowledge.source_words)
    packages = spoken if view.whole else spoken | _packages_in_front(view)
    return frozenset(
        last
        for last in spoken & knowledge.last_words.keys()
        for first, kinds in knowledge.last_words[last]
        if (not first or first in packages) and (sourced or not kinds.isdisjoint(open_kinds))
    )


def _packages_in_front(view: View) -> frozenset[str]:
    """The packages of the imports in the first row of a hunk: a name from one of them may stand without it."""
    found: set[str] = set()
    for node in view.tree.body:
        if node.lineno > 1:
            break
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return frozenset(found)
