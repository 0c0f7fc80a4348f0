"""Check what reaches the sinks: calls, assignments and returns that do harm."""

from __future__ import annotations

import ast

from reviewbot.analyzers.taint.flow import Call, Flow
from reviewbot.analyzers.taint.index import NO_MARKUP
from reviewbot.analyzers.taint.knowledge import Sink
from reviewbot.analyzers.taint.operations import is_statement
from reviewbot.analyzers.taint.places import render_expression
from reviewbot.analyzers.taint.values import BUILT, HOSTED, NUMBER, Value, mix

_RECEIVER, _EVERY = -1, -2
"""In `Sink.args`: the receiver of the call, and all arguments."""

_SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "csh", "ash"} | {"cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"}
)
_SHELL_FLAGS = frozenset({"-c", "/c", "/C", "-lc", "-Command", "-command", "-ic"})
_LOADERS = ("yaml.Loader", "yaml.CLoader", "yaml.UnsafeLoader", "yaml.CUnsafeLoader")
_MOVES = ("location", "refresh")
"""Headers that send the reader to another address."""

_EXTERNAL = "(external)"
"""Suffix of the name of a parser that has been configured to resolve external entities."""


class Sinks:
    """Passes to the hits what arrives."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def check(self, call: Call, sink: Sink) -> None:
        """Check a call that may do harm with its arguments."""
        if sink.kind == "argv":
            self._argv(call)
        elif sink.kind == "yaml":
            self._yaml(call, sink)
        elif sink.kind in ("lxml", "sax"):
            self._xml(call, sink)
        elif not self._excused(call, sink):
            for value in self._sink_arguments(call, sink):
                self._arrive(call, sink, value)

    def check_assignment(self, target: ast.Subscript, base: Value, index: Value, value: Value) -> None:
        """Check the assignment of an item to an object that sends or keeps it."""
        names = [f"{name}[]" for name in names_of(base.path, "")]
        if isinstance(target.value, ast.Attribute):
            names.append(f".{target.value.attr}[]")
        for sink in self._flow.knowledge.sinks_called(names):
            moves = sink.kind == "header" and isinstance(index.const, str) and index.const.lower() in _MOVES
            given = index if 0 in sink.args else value
            self._flow.hits.arrive(
                "redirect" if moves else sink.kind, target, render_expression(target.value), given, sink
            )

    def check_return(self, node: ast.expr, value: Value) -> None:
        """Check a function's return value that is shown as a page.

        What a call returns, or a name holds, may be a response with its headers; it counts as text once it was put
        together with other text.
        """
        if value.form == "tuple" and value.items:
            kept = list(value.items.values())
            if any(_is_no_page(part) for part in kept[1:]):
                return
            value = kept[0]
        if not value.form and not value.path:
            texts = tuple(
                taint for taint in value.taints if BUILT in taint.how or not isinstance(node, ast.Name | ast.Call)
            )
            self._flow.hits.arrive("xss", node, "return", Value(texts))

    def _arrive(self, call: Call, sink: Sink, value: Value) -> None:
        if (sink.text and value.form in ("dict", "list", "set")) or (sink.receiver and not _is_upload(call)):
            return
        if sink.number:
            numbered = tuple(taint for taint in value.taints if NUMBER in taint.how)
            value = Value(numbered)
        elif sink.kind == "sql" and value.lead and not is_statement(value.lead):
            return
        elif sink.kind == "sql" and not value.lead:
            value = Value(tuple(taint for taint in value.taints if taint.origin.reach != "parameter"))
        if sink.kind == "ssrf":
            value = self._half_hosted(call, sink, value)
        moves = sink.kind == "header" and str(call.args[0].const).lower() in _MOVES
        self._flow.hits.arrive("redirect" if moves else sink.kind, call.node, call.shown, value, sink)

    def _half_hosted(self, call: Call, sink: Sink, value: Value) -> Value:
        """What stands behind a host that is fixed can still leave the path that it was meant for."""
        behind = tuple(taint for taint in value.taints if HOSTED in taint.safe)
        self._flow.hits.arrive("ssrf-path", call.node, call.shown, Value(behind), sink)
        return Value(tuple(taint for taint in value.taints if HOSTED not in taint.safe))

    def _sink_arguments(self, call: Call, sink: Sink) -> list[Value]:
        found: list[Value] = []
        for position in sink.args:
            if position == _RECEIVER and call.receiver is not None:
                found.append(call.receiver)
            elif position == _EVERY:
                found += call.all_arguments
            elif 0 <= position < len(call.args):
                found.append(call.args[position])
        return found + [value for name, value in call.keywords.items() if name in sink.keywords]

    def _excused(self, call: Call, sink: Sink) -> bool:
        """Whether a keyword makes the call harmless. A content type does, a later one too, where it is no page's."""
        if sink.kind == "xss" and call.node in self._flow.typed:
            return True
        for name in sink.unless & call.keywords.keys():
            value = call.keywords[name]
            if sink.kind != "xss" or not value.known or _is_no_page(value):
                return True
        return False

    def _argv(self, call: Call) -> None:
        given = call.argument(0, "args")
        if given is None:
            return
        shell = call.keywords.get("shell")
        if shell is not None and shell.const is not False:
            self._command(call, given)
        elif given.items is not None:
            self._program(call, list(given.items.values()))
        elif not given.form:
            self._command(call, Value(tuple(t for t in given.taints if t.origin.reach != "parameter")))

    def _program(self, call: Call, parts: list[Value]) -> None:
        if not parts:
            return
        shells = [str(name).rsplit("/", 1)[-1].rsplit("\\", 1)[-1] in _SHELLS for name in _options(parts[0])]
        if any(shells) and any(flag in _SHELL_FLAGS for part in parts[1:] for flag in _options(part)):
            self._command(call, mix(parts[2:]))
        else:
            self._command(call, Value(tuple(t for t in parts[0].taints if t.origin.reach == "remote")))

    def _command(self, call: Call, value: Value) -> None:
        self._flow.hits.arrive("command", call.node, call.shown, value)

    def _yaml(self, call: Call, sink: Sink) -> None:
        loader = call.argument(1, "Loader")
        if loader is None or loader.path.endswith(_LOADERS):
            for value in self._sink_arguments(call, sink):
                self._flow.hits.arrive("deserialization", call.node, call.shown, value, sink)

    def _xml(self, call: Call, sink: Sink) -> None:
        parser = call.argument(1, "parser")
        if sink.kind == "lxml":
            harmful = parser is None or parser.path in ("lxml.etree.XMLParser()", "lxml.etree.XMLParser(load_dtd)")
        else:
            reader = parser if parser is not None else call.receiver
            harmful = reader is not None and reader.path.endswith(_EXTERNAL)
        if harmful:
            for value in self._sink_arguments(call, sink):
                self._flow.hits.arrive("xxe", call.node, call.shown, value, sink)


def names_of(path: str, name: str) -> list[str]:
    """The names under which the table may know what is called, the longest first."""
    parts = path.split(".")
    found = [path] if path else []
    if len(parts) > 1:
        found.append("." + ".".join(parts[-2:]))
    if name:
        found.append(f".{name}")
    return found


def _options(value: Value) -> tuple[object, ...]:
    return (value.const,) if value.known else value.choices


def _is_no_page(value: Value) -> bool:
    parts = [value, *(value.items.values() if value.items is not None else ())]
    return any(isinstance(part.const, str) and any(word in part.const for word in NO_MARKUP) for part in parts)


def _is_upload(call: Call) -> bool:
    return call.receiver is not None and any(taint.origin.reach == "remote" for taint in call.receiver.taints)
