"""Apply function summaries to calls in the same file: what they return and do, in terms of their arguments."""

from __future__ import annotations

import ast
from typing import NamedTuple

from reviewbot.analyzers.taint.flow import Call, Flow
from reviewbot.analyzers.taint.knowledge import words_of
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.values import ALL, CLEAN, Function, Taint, Value, merge_taints, mix

_MAX_STEPS = 10

_STEPS = 8
"""Of the budget for one value that goes on inside a function."""

_STOPS = frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit", "abort", "pytest.fail", "pytest.exit"})
"""Functions after which nothing runs: they raise, or end the program."""

_STOPS_BY_NAME = frozenset({"abort", "fail", "die", "exit", "quit", "raise_error", "raise_exception", "error_exit"})
"""Names of functions of the file that may do so; their code says whether they do."""

_METHODS_THAT_STOP = frozenset({("self", "fail"), ("parser", "error"), ("parser", "exit")})
_PARSER = "argparse.ArgumentParser()"
_QUOTES = frozenset("'\"`[\\&")
"""One of them stands in the code of whatever escapes or quotes a text."""

_NO_CHECKS = frozenset({"len", "isinstance", "type", "print", "bool", "str", "repr", "format"})
_COUNTED = frozenset({"len", "abs", "round"})
_NUMBERS = frozenset({"int", "float", "uuid.UUID", "UUID", "ipaddress.ip_address"})


class Called(NamedTuple):
    """What a call runs that stands alone."""

    name: str
    path: str
    receiver: str | None
    """As it is written; None for a call of a name."""
    function: int
    """Its number where it is in the file; -1 for one that is not."""


class Summaries:
    """Puts the arguments of a call into what is known of a function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def target(self, call: Call) -> int:
        """The number of the function that a call runs; -1 where this file does not define it."""
        if call.function >= 0:
            return call.function
        if call.receiver is not None:
            owner = call.receiver.path.removesuffix("()")
            return self._flow.method(owner, call.name) if owner in self._flow.bases else -1
        return self._flow.method(call.path, "__init__") if call.path in self._flow.bases else -1

    def apply(self, call: Call, number: int) -> Value:
        """What the call returns; also records the sinks that its arguments reach inside the function."""
        function = self._flow.functions[number]
        given = self._bind_arguments(call, function)
        for name, value in given.items():
            self._flow.hits.record_call(number, name, value)
        for hit in self._flow.hits.of(number):
            self._flow.budget.spend()
            value = given.get(hit.taint.origin.text, CLEAN)
            for taint in value.taints:
                self._flow.budget.spend(_STEPS)
                self._flow.hits.add(hit._replace(taint=_through(taint, hit.taint, call, function), entered=True))
        if function.node.name == "__init__":
            return Value(path=f"{function.owner}()")
        returned = self._flow.summaries.get(number)
        return mix(call.all_arguments) if returned is None else self._returned(returned, given, call, function)

    def escaped_kinds(self, call: Call, number: int) -> frozenset[str]:
        """The kinds that a function ends which says by its name that it escapes, and whose code writes quotes."""
        kinds = self._flow.knowledge.harmless_by_name(self._flow.functions[number].node.name) - {ALL}
        if not kinds or not any(value.taints for value in call.all_arguments):
            return frozenset()
        if number not in self._flow.quoting:
            self._flow.quoting[number] = _writes_quotes(self._flow.functions[number].node, self._flow)
        return kinds if self._flow.quoting[number] else frozenset()

    def _returned(self, returned: Value, given: dict[str, Value], call: Call, function: Function) -> Value:
        """What is returned, item by item where items are tracked, with the arguments in place of parameters."""
        if not returned.is_tainted:
            return returned
        each = None if returned.each is None else self._returned(returned.each, given, call, function)
        items = None
        if returned.items is not None:
            self._flow.budget.spend(len(returned.items))
            items = {key: self._returned(item, given, call, function) for key, item in returned.items.items()}
        found: list[Value] = []
        for taint in returned.taints:
            self._flow.budget.spend()
            if taint.origin.owner != function.number:
                found.append(Value((taint,)))
                continue
            arg = given.get(taint.origin.text, CLEAN)
            found.append(Value(tuple(_through(inner, taint, call, function) for inner in arg.taints)))
        return Value(
            merge_taints(found), path=returned.path, items=items, lead=returned.lead, form=returned.form, each=each
        )

    def _bind_arguments(self, call: Call, function: Function) -> dict[str, Value]:
        """The arguments by the names of the parameters."""
        arguments = function.node.args
        names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        bound = bool(function.owner) and names[:1] in (["self"], ["cls"])
        given = dict(zip(names[1:] if bound else names, call.args, strict=False))
        given.update({name: value for name, value in call.keywords.items() if name != "**"})
        surplus = call.args[len(names) - bound :]
        if arguments.vararg is not None and surplus:
            given[arguments.vararg.arg] = mix(surplus)
        if arguments.kwarg is not None:
            known = {arg.arg for arg in function.parameters}
            given[arguments.kwarg.arg] = mix(value for name, value in call.keywords.items() if name not in known)
        return given


def _writes_quotes(node: ast.FunctionDef | ast.AsyncFunctionDef, flow: Flow) -> bool:
    """Whether a text in the code of a function, which is not its documentation, has a character to quote with."""
    statements = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    for inner in (inner for statement in statements for inner in ast.walk(statement)):
        flow.budget.spend()
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and not _QUOTES.isdisjoint(inner.value):
            return True
    return False


def _through(outer: Taint, inner: Taint, call: Call, function: Function) -> Taint:
    """A value that comes into a function by a call and goes on inside it."""
    entered = outer.after(call.node.lineno, f"into `{function.node.name}`")
    safe = outer.safe | inner.safe
    steps = (*entered.steps, *inner.steps)
    return Taint(outer.origin, safe, outer.how | inner.how, steps if len(steps) <= _MAX_STEPS else steps[-_MAX_STEPS:])


def stops(called: Called, flow: Flow) -> bool:
    """Whether nothing runs after a call: known functions, and those of the file whose code always raises."""
    if called.function >= 0:
        node = flow.functions[called.function].node
        return called.name in _STOPS_BY_NAME and _always_raises(node, flow)
    if called.path in flow.bases:
        return False
    if called.path in _STOPS or (called.receiver is None and called.path.endswith(".abort")):
        return True
    known = called.path.startswith(f"{_PARSER}.") and called.name in ("error", "exit")
    return known or called.path == "flask.abort" or (called.receiver or "", called.name) in _METHODS_THAT_STOP


def _always_raises(node: ast.FunctionDef | ast.AsyncFunctionDef, flow: Flow) -> bool:
    bound = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    for inner in ast.walk(node):
        flow.budget.spend()
        if isinstance(inner, (ast.Return, ast.Yield, ast.YieldFrom, ast.Try, ast.TryStar, ast.With, ast.AsyncWith)):
            return False
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            bound.add(inner.id)
    last = node.body[-1]
    if isinstance(last, ast.Raise):
        return not node.decorator_list
    call = last.value if isinstance(last, ast.Expr) else None
    name, path = place(call.func) if isinstance(call, ast.Call) else ("", "")
    flow.budget.spend(len(flow.functions))
    defined = any(function.node.name == path for function in flow.functions.values())
    return path in _STOPS and name not in bound and not defined and not node.decorator_list


def raises(called: Called, number: int, flow: Flow) -> bool:
    """Whether a call that stands alone is there to raise on an argument that is not allowed: a check, or a cast."""
    words = words_of(called.name)[:1]
    if words and words[0] in flow.knowledge.words["checks.raising"]:
        if called.function >= 0:
            return _rejects(flow.functions[called.function], number, flow)
        last = words_of(called.path.rpartition(".")[2])[:1]
        return called.receiver is not None or (last == words and called.path not in flow.bases)
    return ALL in flow.knowledge.sanitizers.get(called.path, ()) and called.path not in _COUNTED


def _rejects(function: Function, number: int, flow: Flow) -> bool:
    """Whether the code of a function can raise because of what a parameter is."""
    arguments = function.node.args
    names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    names = names[1:] if function.owner and names[:1] in (["self"], ["cls"]) else names
    held = set(names[number : number + 1]) or {arguments.vararg.arg if arguments.vararg is not None else ""}
    nodes = list(ast.walk(function.node))
    ends = any(isinstance(node, ast.Raise) or _is_stop(node) for node in nodes)
    for node in nodes:
        flow.budget.spend()
        if isinstance(node, (ast.Assign, ast.For, ast.comprehension, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if _names_in(node.value if isinstance(node, (ast.Assign, ast.NamedExpr)) else node.iter, flow) & held:
                held.update(*(_names_in(target, flow) for target in targets))
        elif isinstance(node, ast.Assert) or (ends and isinstance(node, ast.If) and _ends(node)):
            if _asks(node.test, held, flow):
                return True
        elif isinstance(node, ast.Call) and _is_check(node, held, flow):
            return True
    return False


def _ends(node: ast.If) -> bool:
    """Whether one side of a condition raises, ends the program, or leaves what does so to the rest."""
    inner = (*node.body, *node.orelse)
    return any(isinstance(one, (ast.Raise, ast.Return, ast.Continue)) or _is_stop(one) for one in inner)


def _is_stop(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and place(call.func)[1].rpartition(".")[2] in _STOPS_BY_NAME


def _asks(test: ast.expr, held: set[str], flow: Flow) -> bool:
    """Whether a condition compares one of some names with something, or asks a function about it."""
    for node in ast.walk(test):
        flow.budget.spend()
        if isinstance(node, ast.Compare):
            if not isinstance(node.ops[0], (ast.Is, ast.IsNot)) and _names_in(node, flow) & held:
                return True
        elif isinstance(node, ast.Call) and place(node.func)[1] not in _NO_CHECKS and _names_in(node, flow) & held:
            return True
    return False


def _is_check(call: ast.Call, held: set[str], flow: Flow) -> bool:
    """Whether a call inside a check is one itself, of code that is not in the file, or a cast."""
    path = place(call.func)[1]
    last = path.rpartition(".")[2]
    asked = words_of(last)[:1]
    known = asked and asked[0] in flow.knowledge.words["checks.raising"]
    if not (known or path in _NUMBERS or last == "relative_to") or not _names_in(call, flow) & held:
        return False
    flow.budget.spend(len(flow.functions))
    return all(function.node.name != last for function in flow.functions.values())


def _names_in(node: ast.expr, flow: Flow) -> set[str]:
    found: set[str] = set()
    for inner in ast.walk(node):
        flow.budget.spend()
        if isinstance(inner, ast.Name):
            found.add(inner.id)
    return found
