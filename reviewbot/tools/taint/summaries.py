"""Calls of functions of the same file: what they return and what they do, in terms of what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.tools.taint.values import CLEAN, Taint, Value, merged, mixed

if TYPE_CHECKING:
    from reviewbot.tools.taint.flow import Call, Flow
    from reviewbot.tools.taint.values import Function

_MOST_STEPS = 10


class Summaries:
    """Puts the arguments of a call into what is known of a function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def target(self, call: Call) -> int:
        """The number of the function that a call runs; -1 where it is none of this file."""
        if call.function >= 0:
            return call.function
        if call.receiver is not None:
            owner = call.receiver.path.removesuffix("()")
            return self._flow.method(owner, call.name) if owner in self._flow.bases else -1
        return self._flow.method(call.path, "__init__") if call.path in self._flow.bases else -1

    def applied(self, call: Call, number: int) -> Value:
        """What the call returns; what its arguments reach inside is told."""
        function = self._flow.functions[number]
        given = self._given(call, function)
        for name, value in given.items():
            self._flow.hits.called(number, name, value)
        for hit in self._flow.hits.of(number):
            self._flow.budget.spend()
            value = given.get(hit.taint.origin.text, CLEAN)
            for taint in value.taints:
                self._flow.hits.add(hit._replace(taint=_through(taint, hit.taint, call, function)))
        if function.node.name == "__init__":
            return Value(path=f"{function.owner}()")
        returned = self._flow.summaries.get(number)
        if returned is None:
            return mixed(call.given)
        return self._returned(returned, given, call, function)

    def _returned(self, returned: Value, given: dict[str, Value], call: Call, function: Function) -> Value:
        if not returned.taints:
            return returned
        found: list[Value] = []
        for taint in returned.taints:
            if taint.origin.owner != function.number:
                found.append(Value((taint,)))
                continue
            arg = given.get(taint.origin.text, CLEAN)
            found.append(Value(tuple(_through(inner, taint, call, function) for inner in arg.taints)))
        return Value(merged(found), path=returned.path, lead=returned.lead, form=returned.form)

    def _given(self, call: Call, function: Function) -> dict[str, Value]:
        """The arguments by the names of the parameters."""
        arguments = function.node.args
        names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        bound = bool(function.owner) and names[:1] in (["self"], ["cls"])
        given = dict(zip(names[1:] if bound else names, call.args, strict=False))
        given.update({name: value for name, value in call.keywords.items() if name != "**"})
        surplus = call.args[len(names) - bound :]
        if arguments.vararg is not None and surplus:
            given[arguments.vararg.arg] = mixed(surplus)
        if arguments.kwarg is not None:
            known = {arg.arg for arg in function.parameters}
            given[arguments.kwarg.arg] = mixed(value for name, value in call.keywords.items() if name not in known)
        return given


def _through(outer: Taint, inner: Taint, call: Call, function: Function) -> Taint:
    """A value that comes into a function by a call and goes on inside it."""
    entered = outer.after(call.node.lineno, f"into `{function.node.name}`")
    safe = outer.safe | inner.safe
    steps = (*entered.steps, *inner.steps)
    return Taint(
        outer.origin, safe, outer.how | inner.how, steps if len(steps) <= _MOST_STEPS else steps[-_MOST_STEPS:]
    )
