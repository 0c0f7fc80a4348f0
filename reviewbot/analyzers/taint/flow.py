"""State shared by all parts of one analysis: the code, what is known of libraries, and the hits so far."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewbot.analyzers.python.views import Budget, View
from reviewbot.analyzers.taint.hits import Hits
from reviewbot.analyzers.taint.knowledge import Knowledge
from reviewbot.analyzers.taint.places import shown
from reviewbot.analyzers.taint.values import CLEAN, OBJECT, UPLOAD, Function, Origin, Taint, Value

_NOTHING: frozenset[str] = frozenset()
_MEMBERS = {OBJECT: "request.bodies", UPLOAD: "request.uploads"}
"""What is known of the members of a request, by the list in the table that names them."""


class Call(NamedTuple):
    """A call whose parts have been evaluated."""

    node: ast.Call
    name: str
    """The last part of its name."""
    path: str
    """The dotted name of what is called, as far as it is known."""
    receiver: Value | None
    args: list[Value]
    keywords: dict[str, Value]
    """By name; "**" is what is handed on as a whole."""
    function: int
    """The number of the function of this file that is called; -1 for none."""
    shown: str

    @property
    def given(self) -> list[Value]:
        """All arguments."""
        return [*self.args, *self.keywords.values()]

    def argument(self, position: int, *names: str) -> Value | None:
        """One argument by its position or name."""
        if 0 <= position < len(self.args):
            return self.args[position]
        return next((self.keywords[name] for name in names if name in self.keywords), None)


@dataclass
class Here:
    """The function that is being followed."""

    function: Function | None = None
    page: bool = False
    """What it returns is shown as a page."""
    fixed_route: bool = False
    """Its route has no variable part, so that the path of a request is a constant."""
    returns: list[Value] = field(default_factory=list)


@dataclass
class Flow:
    """One analysis of one piece of code."""

    view: View
    budget: Budget
    knowledge: Knowledge
    hits: Hits
    functions: dict[int, Function] = field(default_factory=dict)
    numbers: dict[ast.AST, int] = field(default_factory=dict)
    """The number of each function by its node."""
    methods: dict[tuple[str, str], int] = field(default_factory=dict)
    """The number of each method by the names of its class and its own."""
    bases: dict[str, list[str]] = field(default_factory=dict)
    """The names of the bases of each class."""
    fields: dict[tuple[str, str], Value] = field(default_factory=dict)
    """What instances of a class hold, by class and attribute."""
    summaries: dict[int, Value] = field(default_factory=dict)
    """What a function returns, in terms of its parameters."""
    quoting: dict[int, bool] = field(default_factory=dict)
    """Whether the code of a function that is called like one that escapes writes quotes."""
    frameworks: frozenset[str] = _NOTHING
    """The packages that the file imports."""

    def reach(self, name: str) -> str | None:
        """The reach of a source by its name; None for what is none."""
        found = self.knowledge.sources.get(name)
        if found is None or (found.packages and self.view.whole and found.packages.isdisjoint(self.frameworks)):
            return None
        return found.reach

    def in_request(self, path: str, member: str) -> bool:
        """Whether something is the request of a framework, and a member of it is what the client sent."""
        words = self.knowledge.words
        if member not in words["request.members"] or not is_request(path, self.knowledge):
            return False
        framed = not self.view.whole or not words["request.packages"].isdisjoint(self.frameworks)
        return framed or member in words["request.strong"]

    def stored(self, key: Value) -> bool:
        """Whether an item of a request itself is what the program has put there, and not what the client sent."""
        return not key.known or not self.knowledge.words["request.stores"].isdisjoint(self.frameworks)

    def requested(self, node: ast.expr, member: str) -> Value:
        """What a member of a request holds."""
        words = self.knowledge.words
        how = [mark for mark, key in _MEMBERS.items() if member in words[key]]
        value = source("remote", node, shown(node), "", *how)
        if member in words["request.one_line"]:
            referred = ("redirect",) if member in words["request.referrers"] else ()
            return value.marked("header", "log", *referred)
        return value.marked("redirect") if member in words["request.route"] else value

    def method(self, owner: str, name: str) -> int:
        """The number of a method of a class or of its bases in this file; -1 for none."""
        seen: set[str] = set()
        todo = [owner]
        while todo:
            current = todo.pop(0)
            if (number := self.methods.get((current, name))) is not None:
                return number
            seen.add(current)
            todo += [base for base in self.bases.get(current, ()) if base not in seen]
        return -1

    def is_handler(self, owner: str) -> bool:
        """Whether a class is one whose instances hold what a client sent."""
        return any(
            base.rsplit(".", 1)[-1] in self.knowledge.words["handler.bases"] for base in self.bases.get(owner, ())
        )


def source(reach: str, node: ast.AST, text: str, path: str = "", *how: str) -> Value:
    """A value that comes from outside here."""
    origin = Origin(reach, getattr(node, "lineno", 1), text)
    return Value((Taint(origin, frozenset(), frozenset(how), ()),), path=path)


def parameter(function: Function, arg: ast.arg, path: str = "") -> Value:
    """A parameter whose value the caller chooses."""
    origin = Origin("parameter", arg.lineno, arg.arg, function.number)
    return Value((Taint(origin, frozenset(), frozenset(), ()),), path=path)


def is_request(path: str, knowledge: Knowledge) -> bool:
    """Whether a name means the request of a web framework."""
    return path in knowledge.words["request.objects"] or path in knowledge.words["request.names"]


def referred(value: Value, key: Value, knowledge: Knowledge) -> Value:
    """A header by its name; a referrer is marked safe for redirects, since an attacker cannot choose it as a target."""
    is_referrer = isinstance(key.const, str) and key.const.lower() in knowledge.words["request.referrers"]
    return value.marked("redirect") if is_referrer else value


def nothing(path: str = "") -> Value:
    """A value of which only its name is known."""
    return Value(path=path) if path else CLEAN
