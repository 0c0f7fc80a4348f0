"""Model the results of functions whose code is not in the file: their arguments in some form, or nothing of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from reviewbot.analyzers.taint import containers
from reviewbot.analyzers.taint.flow import Call, Flow, is_request, read_header, source
from reviewbot.analyzers.taint.guards import is_anchored
from reviewbot.analyzers.taint.knowledge import words_of
from reviewbot.analyzers.taint.operations import compose, container, format_value, pair, without
from reviewbot.analyzers.taint.places import render_expression
from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    CLEAN,
    HOSTED,
    NUMBER,
    OBJECT,
    PLACED,
    RESOLVED,
    UNSEEN,
    YIELDED,
    Value,
    element,
    is_container,
    merge_taints,
    mix,
    plain,
)
from reviewbot.tables import words_in

_CASTS = frozenset({"int", "float"})
_REQUEST_WORDS = words_in("names/taint", "request_words")
"""Words in the name of a function that is given a request and returns something of it."""

_GETS = frozenset({"get", "load"})
_COPIES = {"list": "list", "tuple": "tuple", "dict": "dict", "set": "set", "sorted": "list"}
_ALL_BUT_NAMES = re.compile(r"\[\^(?:\\[wd._-]|[A-Z]-[A-Z]|[a-z]-[a-z]|0-9|[\w.-])+\][+*]?")
"""A pattern of all characters but those that names are made of."""
_OF_SIGNS = ("xss", "sql", "command", "header", "log", "ldap", "xpath", "ssrf", "redirect")
_LINE_BREAKS = ("\n", "\r", "\r\n")
_WHOLE = frozenset({"joinpath", "with_name", "translate"})
"""Methods of texts and paths whose arguments are in their result too."""


class Results:
    """Finds what calls return of what they are given."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._knowledge = flow.knowledge
        self._by_name: dict[str, Callable[[Call, Value], Value]] = {
            "os.path.join": _put_behind,
            # A path below the root keeps no ".." and no slash in front: joined to a folder, it stays there.
            "os.path.relpath": lambda call, value: (
                value.mark("path") if "/" in (a.const for a in call.args[1:]) else value
            ),
            "str": _as_text,
            "repr": _as_text,
            "format": _as_text,
            "min": _limited,
            "re.sub": _cleaned,
            "collections.deque": _copy_container,
            "enumerate": lambda call, value: container(pair(CLEAN, element(call.args[0]))) if call.args else value,
            "zip": _zipped,
            "map": self._mapped,
            **dict.fromkeys(_COPIES, _copy_container),
        }

    def of(self, call: Call, names: list[str], *, harmful: bool) -> Value:
        """What a call returns; a harmful one nothing, unless it is known to hand on what it is given."""
        found = self._from_outside(call, names)
        if found is None:
            found = self._made_harmless(call, names)
        if found is not None:
            return found
        matched = _match_of(call)
        if matched is not None:
            return Value(about=matched, form="match") if matched.taints else CLEAN
        words = self._knowledge.words
        if harmful and call.path not in words["passes.functions"] and call.name not in words["passes.methods"]:
            return CLEAN
        known = self._by_path(call)
        return known if known is not None else self._by_what_it_is(call)

    def _from_outside(self, call: Call, names: list[str]) -> Value | None:
        words, receiver = self._knowledge.words, call.receiver
        if receiver is not None and is_request(receiver.path, self._knowledge):
            if call.name == "build_absolute_uri" and call.args:
                return call.args[0].became(BUILT)  # the host before it is checked by the settings
            if self._flow.in_request(receiver.path, call.name):
                return self._flow.read_request(call.node, call.name)
            if call.name != "get":
                return None
            stored = not call.args or self._flow.is_stored(call.args[0])
            return CLEAN if stored else source("remote", call.node, render_expression(call.node))
        if f".{call.name}" in words["handler.calls"] and receiver is not None:
            return source("remote", call.node, render_expression(call.node))
        for name in names:
            if (reach := self._flow.reach(name)) is not None:
                return source(reach, call.node, render_expression(call.node), f"{call.path}()" if call.path else "")
        return None

    def _made_harmless(self, call: Call, names: list[str]) -> Value | None:
        kinds: frozenset[str] = frozenset().union(*(self._knowledge.sanitizers.get(name, ()) for name in names))
        if not kinds:
            return None
        held = self._by_path(call)
        if held is None and call.receiver is not None and _is_followed(call.receiver):
            held = self._method(call, call.receiver)
        elif held is None:
            held = mix(call.all_arguments)
        if ALL in kinds:
            number = (NUMBER,) if call.path in _CASTS else ()
            return Value(mix([held.mark(ALL)], *number).taints)
        return held.mark(*kinds)

    def _by_path(self, call: Call) -> Value | None:
        """What a function returns that the table knows; None where it does not."""
        words = self._knowledge.words
        if call.path in words["passes.addresses"] and call.args:
            return Value(merge_taints(call.args), about=call.args[0], form="address")
        if call.path in words["passes.functions"]:
            value = mix(call.all_arguments)
            value = value.mark(RESOLVED) if call.path in words["passes.resolves"] else value
            handle = self._by_name.get(call.path)
            return value if handle is None else handle(call, value)
        return CLEAN if call.path in words["passes.drops"] else None

    def _mapped(self, call: Call, value: Value) -> Value:
        """What a function makes of each item, where it is one that makes values harmless."""
        if not call.args:
            return value
        made = call.node.args[0]
        if isinstance(made, ast.Lambda) and not _uses_its_parameters(made):
            return container(call.args[0])
        return value.mark(*self._knowledge.sanitizers.get(call.args[0].path, ()))

    def _by_what_it_is(self, call: Call) -> Value:
        """What a call returns as its receiver and the words of its name have it."""
        if not self._knowledge.words["checks.good"].isdisjoint(words_of(call.name)):
            asked = next((arg for arg in call.all_arguments if arg.taints), None)
            return CLEAN if asked is None else Value(about=asked, form="match")
        if call.receiver is not None and _is_followed(call.receiver):
            return self._method(call, call.receiver)
        if call.name == "replace" and len(call.args) > 1 and isinstance(call.args[0].const, str):
            return mix(call.args[1:2], BUILT)  # of a text from elsewhere
        if call.name == "joinpath" and call.receiver is not None:
            return mix(call.all_arguments, BUILT).mark(PLACED)
        if call.name == "join" and call.args:
            return _connected(CLEAN, call.args[0])
        return self._unseen(call)

    def _method(self, call: Call, receiver: Value) -> Value:
        """What a method returns whose receiver is a text, a container, or comes from outside."""
        if call.name in containers.LOOKS_UP:
            found = containers.look_up(call, receiver)
            key = call.args[0] if call.args else CLEAN
            kept = read_header(receiver, key, self._knowledge)
            return found if found is not None else mix([kept, *call.args[1:]])
        if call.name == "format":
            return (
                format_value(receiver, call.all_arguments)
                if receiver.known
                else mix([receiver, *call.all_arguments], BUILT)
            )
        if call.name == "join":
            return _connected(receiver, call.args[0] if call.args else CLEAN)
        if receiver.form == "address" and call.name in ("_replace", "geturl"):
            return _address(call, receiver)
        if call.name == "replace":
            return _replaced(call, receiver)
        if call.name in self._knowledge.words["passes.methods"]:
            parts = containers.parts_of(call.name, receiver)
            value = mix([receiver, *call.all_arguments]) if call.name in _WHOLE else parts or plain(receiver)
            if call.name == "splitlines" or (call.args and call.args[0].const in _LINE_BREAKS):
                value = value.mark("log", "header", "mail")
            return value.mark(RESOLVED) if f".{call.name}" in self._knowledge.words["passes.resolves"] else value
        return self._unseen(call, receiver)

    def _unseen(self, call: Call, receiver: Value = CLEAN) -> Value:
        """What code returns that is not at hand: what its name says, or else what it is given."""
        words = words_of(call.name)
        first = words[0] if words else ""
        known = self._knowledge.words
        if not first or first in known["passes.drops_words"] or call.name in known["passes.sends"]:
            return CLEAN
        if call.name[0].isupper() or words[-1] in known["passes.drops_last"]:
            return CLEAN
        if not receiver.taints and any(is_request(arg.path, self._knowledge) for arg in call.args):
            if not _REQUEST_WORDS.isdisjoint(words) and not self._answers(words):
                harmless = self._knowledge.harmless_by_name(call.name)
                return source("remote", call.node, f"{call.shown}()", "", UNSEEN).mark(*harmless)
            return CLEAN
        held = mix([receiver] if first in _GETS else [receiver, *call.all_arguments])
        taints = tuple(taint for taint in held.taints if taint.origin.reach in ("remote", "typed"))
        value = Value(taints).mark(*self._knowledge.harmless_by_name(call.name))
        return without(value, BUILT).became(UNSEEN).after(call.node.lineno, f"through `{call.shown}`")

    def _answers(self, words: list[str]) -> bool:
        """Whether a function that is given a request returns the answer to it: `handle_request`, not `read_request`."""
        return words[-1] in ("request", "req") and words[0] not in self._knowledge.words["passes.request_readers"]


def _is_followed(value: Value) -> bool:
    return bool(value.taints) or value.items is not None or value.known


def _match_of(call: Call) -> Value | None:
    """The text that a pattern is matched with, where a match speaks for all of it."""
    if call.name not in ("match", "fullmatch") or not call.args:
        return None
    own = call.receiver is not None and call.receiver.path != "re"
    pattern = call.receiver if own and call.receiver is not None else call.args[0]
    return call.args[-1 if len(call.args) == 1 else 1 - own] if is_anchored(pattern, call.name) else None


def _as_text(call: Call, value: Value) -> Value:
    lone = call.args[0] if len(call.args) == 1 else value
    const = lone.const if isinstance(lone.const, str) else value.const
    return without(Value(value.taints, const=const, lead=lone.lead, about=lone.about), OBJECT)


def _put_behind(call: Call, value: Value) -> Value:
    """A path made of several parts: all behind the first one, where that is fixed.

    Where the name of the file is written in the code as well, no file of another name can be reached.
    """
    if len(call.args) == 1:
        return value
    made = value.became(BUILT) if not call.args or call.args[0].taints else value.became(BUILT).mark(PLACED)
    named = bool(call.node.args) and isinstance(call.node.args[-1], ast.Constant | ast.JoinedStr)
    if named and not call.args[-1].taints and all(PLACED in taint.safe for taint in made.taints):
        return made.mark("path")
    return made


def _address(call: Call, receiver: Value) -> Value:
    """A parsed address with other parts, or as a text: what is put behind its host leaves the host as it is."""
    behind = [value for name, value in call.keywords.items() if name not in ("netloc", "scheme")]
    before = [value for name, value in call.keywords.items() if name in ("netloc", "scheme")]
    held = mix([receiver, *before, *(value.mark("redirect", "ssrf", HOSTED) for value in behind)])
    return held if call.name == "geturl" else replace(receiver, taints=held.taints)


def _cleaned(call: Call, _: Value) -> Value:
    """What `re.sub` leaves: where it takes out all but letters, digits and a few signs, none that do harm."""
    pattern = call.args[0].const if call.args else None
    value = mix(call.args[1:])
    return value.mark(*_OF_SIGNS) if isinstance(pattern, str) and _ALL_BUT_NAMES.fullmatch(pattern) else value


def _limited(call: Call, value: Value) -> Value:
    return value.mark("size") if any(not arg.taints for arg in call.args) else value


def _copy_container(call: Call, value: Value) -> Value:
    """A container made from another one, or from nothing."""
    form = _COPIES.get(call.path, "list")
    if len(call.args) == 1:
        given = call.args[0]
        if form != "dict" and given.form in ("dict", YIELDED) and is_container(given):
            return container(element(given), form)
        return replace(given, form=form, path="")
    if form == "dict" and not call.args:
        return Value(value.taints, items=dict(call.keywords), form=form)
    return Value(items={}, form=form) if not call.args else value


def _connected(between: Value, parts: Value) -> Value:
    """What a text makes of a list that it joins."""
    if parts.items is None or parts.form not in ("list", "tuple"):
        return mix([between, element(parts)], BUILT)
    held: list[Value] = []
    for part in parts.items.values():
        held += [between, part] if held else [part]
    return compose(held)


def _uses_its_parameters(node: ast.Lambda) -> bool:
    names = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node.body))


def _zipped(call: Call, value: Value) -> Value:
    """The items of several containers side by side."""
    if any(isinstance(arg, ast.Starred) for arg in call.node.args):
        return value
    each = [element(arg) for arg in call.args]
    return container(Value(merge_taints(each), items=dict(enumerate(each)), form="tuple"))


def _replaced(call: Call, receiver: Value) -> Value:
    old = call.args[0].const if call.args else None
    value = mix([receiver, *call.args[1:]])
    if old in _LINE_BREAKS:
        return value.mark("log", "header", "mail")
    if len(call.args) > 1 and call.args[1].taints:
        return value.became(BUILT)
    return value.mark("xss") if old == "<" else value
