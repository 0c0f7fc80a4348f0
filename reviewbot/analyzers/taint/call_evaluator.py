"""Evaluate calls: their effect on their arguments, and what they return."""

from __future__ import annotations

import ast
from dataclasses import replace

from reviewbot.analyzers.taint import containers
from reviewbot.analyzers.taint.flow import Call, Flow, nothing
from reviewbot.analyzers.taint.operations import PATH
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.results import Results
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.sinks import Sinks, names_of
from reviewbot.analyzers.taint.summaries import Summaries
from reviewbot.analyzers.taint.values import CLEAN, Value, join_values

_CONFIGURED: dict[str, tuple[str, bool]] = {
    "jinja2.Environment": ("autoescape", False),
    "lxml.etree.XMLParser": ("resolve_entities", True),
}
"""Constructors of which one keyword matters, and what it is by default."""

_PATHS = frozenset({"pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"})
_PATH_METHODS = frozenset({"resolve", "absolute", "joinpath", "expanduser", "with_suffix", "with_name"})
_SETTINGS = frozenset({"configparser.ConfigParser", "configparser.RawConfigParser"})
_FEATURES = ("feature_external_ges", "feature_external_pes")


class CallEvaluator:
    """Evaluates calls: their effect on arguments, and the value that they return."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._knowledge = flow.knowledge
        self.sinks = Sinks(flow)
        self._summaries = Summaries(flow)
        self._results = Results(flow)

    def result(self, call: Call, scope: ValueScope) -> Value:
        """What a call returns; its arguments are checked against the sinks. Raises OutOfSteps."""
        names = names_of(call.path, call.name if call.receiver is not None else "")
        sinks = self._knowledge.sinks_called(names)
        for sink in sinks:
            self.sinks.check(call, sink)
        number = self._summaries.target(call)
        if number >= 0:
            returned = self._summaries.apply(call, number)
            return CLEAN if sinks else returned.mark(*self._summaries.escaped_kinds(call, number))
        self._change(call, scope)
        return _named(call, self._results.of(call, names, harmful=bool(sinks)))

    def keep_field(self, owner: str, name: str, value: Value) -> None:
        """Handle the assignment of an attribute of `self`: other methods of the class see what comes from outside."""
        taints = tuple(taint for taint in value.taints if taint.origin.reach in ("remote", "typed"))
        there = self._flow.fields.get((owner, name))
        if taints or (value.path and there is None):
            kept = Value(taints, path=value.path)
            self._flow.fields[owner, name] = kept if there is None else join_values([there, kept])

    def _change(self, call: Call, scope: ValueScope) -> None:
        """Fill or empty the container that a method belongs to."""
        if call.receiver is None or not isinstance(call.node.func, ast.Attribute):
            return
        name, key = place(call.node.func.value)
        if not name:
            return
        if call.name == "setFeature" and len(call.args) > 1:
            if call.args[0].path.endswith(_FEATURES) and call.args[1].const in (True, 1):
                scope.put(name, key, Value(path="xml.sax.make_parser(external)"))
            return
        tainted = any(value.taints for value in call.all_arguments)
        fills = call.name in containers.FILLS and (call.receiver.items is not None or tainted)
        if fills or (call.name in containers.EMPTIES and call.receiver.items is not None):
            scope.put(name, key, containers.after(call, call.receiver))


def _named(call: Call, value: Value) -> Value:
    """The result with the name of what made it."""
    if value.path or value.form or value.known or not call.path:
        return value
    path = f"{call.path}()"
    if call.path in _CONFIGURED:
        keyword, default = _CONFIGURED[call.path]
        given = call.keywords.get(keyword)
        path = path if given is None or given.const is default else f"{call.path}({keyword})"
    if call.path in _PATHS or (call.path.startswith(PATH) and call.name in _PATH_METHODS):
        path = PATH
    if call.path == "re.compile" and call.args:
        return Value(path=path, lead=str(call.args[0].const) if call.args[0].known else "")
    if call.path in _SETTINGS:
        return Value(path=path, items={}, form="dict")
    return replace(value, path=path) if value is not CLEAN else nothing(path)
