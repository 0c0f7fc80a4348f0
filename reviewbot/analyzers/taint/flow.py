"""State shared by all parts of one analysis: the code, what is known of libraries, and the hits so far.

`Hits` collects the values that reach sinks, and turns those that count into findings with a rule and a message.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewbot.analyzers.python.views import Budget, FlowStep, Found, View
from reviewbot.analyzers.taint.knowledge import Knowledge, Sink, words_of
from reviewbot.analyzers.taint.places import render_expression
from reviewbot.analyzers.taint.values import (
    ALL,
    ASKED,
    BUILT,
    CLEAN,
    HOSTED,
    LEVEL,
    MEMBER,
    NAMED,
    NUMBER,
    OBJECT,
    PLACED,
    UNSEEN,
    UPLOAD,
    Function,
    Origin,
    Taint,
    Value,
)

_MAX_HITS = 40
"""Hits kept for one function's parameters; further ones are dropped."""

_WHERE_FROM = {
    "remote": "A value from outside",
    "typed": "Typed input",
    "local": "An argument or a variable of the environment",
}


_FAR = 75
"""How far a flow is trusted at most of which `_is_far` holds."""


class Hit(NamedTuple):
    """A value that arrived where it does harm."""

    kind: str
    row: int
    end_row: int
    sink: str
    taint: Taint
    reaches: frozenset[str] = frozenset()
    code: ast.AST | None = None
    seen: bool = False
    """It counts only where all code on the way is at hand."""
    entered: bool = False
    """The value went into another function of the file, where the harm is done."""


class Hits:
    """All values that reached sinks: from outside, and from the parameters of functions, which their callers choose."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._code_words = knowledge.words["parameters.code"]
        self._outside: dict[tuple[str, int], Hit] = {}
        self._of: dict[int, dict[tuple[str, int, str], Hit]] = {}
        self._calls: dict[tuple[int, str], bool] = {}
        """Whether any call in this file gives a parameter something that is not constant."""

    def arrive(self, kind: str, node: ast.expr | ast.stmt, sink: str, value: Value, rule: Sink | None = None) -> None:
        """Record that a value arrives at a sink."""
        for taint in value.taints:
            if kind == "path" and UPLOAD in taint.how:
                continue
            if rule is not None and rule.object > (OBJECT in taint.how):
                continue
            reaches, seen = (rule.reaches, rule.seen) if rule is not None else (frozenset[str](), False)
            end = taint.after(node.lineno, f"into `{sink}`")
            self.add(Hit(kind, node.lineno, node.end_lineno or node.lineno, sink, end, reaches, node, seen))

    def add(self, hit: Hit) -> None:
        """Keep what arrived, once for each place and origin."""
        taint = hit.taint
        unseen = UNSEEN in taint.how
        if not _harmful(hit.kind, taint) or (unseen and (hit.seen or not self._knowledge.kinds[hit.kind].unseen)):
            return
        if unseen and taint.origin.reach != "remote":
            return
        if taint.origin.reach != "parameter":
            reach = taint.origin.reach
            if reach in self._knowledge.kinds[hit.kind].suffixes and (not hit.reaches or reach in hit.reaches):
                key = (hit.kind, hit.row)
                there = self._outside.get(key)
                if there is None or (there.taint.origin.reach != "remote" and reach == "remote"):
                    self._outside[key] = hit
            return
        own = self._of.setdefault(taint.origin.owner, {})
        if len(own) < _MAX_HITS:
            own.setdefault((hit.kind, hit.row, taint.origin.text), hit)

    def of(self, function: int) -> list[Hit]:
        """What arrives from the parameters of a function."""
        return list(self._of.get(function, {}).values())

    def record_call(self, function: int, parameter: str, value: Value) -> None:
        """Record that a call in this file gives a parameter a value."""
        key = (function, parameter)
        self._calls[key] = self._calls.get(key, False) or _open(value)

    def findings(self) -> Iterator[Found]:
        """All findings by row: values from outside, and parameters unless calls here give them only safe values."""
        found: dict[tuple[str, int], Found] = {}
        for hit in self._outside.values():
            suffix = self._knowledge.kinds[hit.kind].suffixes[hit.taint.origin.reach]
            found[hit.kind, hit.row] = self._found(hit, suffix)
        for owner in sorted(self._of):
            for hit in sorted(self._reportable_hits(owner), key=_is_named):
                found.setdefault((hit.kind, hit.row), self._found(hit, "parameter"))
        return iter(sorted(found.values(), key=lambda one: (one.row, one.rule)))

    def _reportable_hits(self, owner: int) -> Iterable[Hit]:
        for hit in self._of[owner].values():
            kind = self._knowledge.kinds[hit.kind]
            how = hit.taint.how
            weak = UNSEEN in how or MEMBER in how or (kind.built and BUILT not in how)
            constant = not self._calls.get((owner, hit.taint.origin.text), True)
            meant = hit.kind == "code" and not self._code_words.isdisjoint(words_of(hit.taint.origin.text))
            if "parameter" in kind.suffixes and not (weak or constant or meant or hit.reaches):
                yield hit

    def _found(self, hit: Hit, suffix: str) -> Found:
        origin = hit.taint.origin
        source = _WHERE_FROM.get(origin.reach, f"The parameter `{origin.text}`")
        what = self._knowledge.kinds[hit.kind].what
        begins = "is chosen by the caller" if origin.reach == "parameter" else "comes from outside"
        first = FlowStep(origin.row, f"`{origin.text}` {begins}")
        message = f"{source} reaches {what}, at `{hit.sink}`."
        if _is_named(hit) and suffix == "parameter":
            message = f"{source} is the name of a table or a column in a SQL statement, at `{hit.sink}`."
            return Found("sql-identifier-parameter", hit.row, hit.end_row, message, (first, *hit.taint.steps), hit.code)
        most = _FAR if suffix == "external" and _is_far(hit) else 100
        steps = (first, *hit.taint.steps)
        return Found(f"{hit.kind}-{suffix}", hit.row, hit.end_row, message, steps, hit.code, most)


def _is_far(hit: Hit) -> bool:
    """Whether a check in between may have been missed, or the program is there to do what the client asks for.

    The value is handed to another function, is a variable of the route, or a whole statement of SQL: of nine such flows
    that were judged in foreign code one was right, of the others nearly all. Or a function of the kind `is_md5` looked
    at it.
    """
    whole = hit.kind == "sql" and BUILT not in hit.taint.how
    # No form of another site can send JSON, and what asks with it shows no page.
    unshown = hit.kind == "xss" and "json" in hit.taint.origin.text
    return hit.entered or whole or unshown or ASKED in hit.taint.safe or hit.taint.origin.text.isidentifier()


def _is_named(hit: Hit) -> bool:
    """Whether a value can only be the name of a table or a column."""
    return hit.kind == "sql" and NAMED in hit.taint.safe


def _harmful(kind: str, taint: Taint) -> bool:
    if kind == "size":
        return NUMBER in taint.how and kind not in taint.safe
    if kind == "path" and LEVEL in taint.safe and not taint.safe.isdisjoint((PLACED, HOSTED)):
        return False
    return ALL not in taint.safe and kind not in taint.safe


def _open(value: Value) -> bool:
    """Whether a value can be anything: it is no constant, and has not been made harmless."""
    return any(ALL not in taint.safe for taint in value.taints) or not (value.taints or value.known)


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
    def all_arguments(self) -> list[Value]:
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
    typed: frozenset[ast.AST] = frozenset()
    """The calls whose result is given a content type afterwards that is no page's."""
    frameworks: frozenset[str] = _NOTHING
    """The packages that the file imports."""

    def reach(self, name: str) -> str | None:
        """The reach of a source by its name; None for a name that is not a source."""
        found = self.knowledge.sources.get(name)
        if found is None or (found.packages and self.view.whole and found.packages.isdisjoint(self.frameworks)):
            return None
        # With a socket of that kind a program of this host is at the other end.
        return None if found.packages and "AF_UNIX" in self.view.text else found.reach

    def in_request(self, path: str, member: str) -> bool:
        """Whether something is the request of a framework, and a member of it is what the client sent."""
        words = self.knowledge.words
        if member not in words["request.members"] or not is_request(path, self.knowledge):
            return False
        framed = not self.view.whole or not words["request.packages"].isdisjoint(self.frameworks)
        return framed or member in words["request.strong"]

    def is_stored(self, key: Value) -> bool:
        """Whether an item of a request itself is what the program has put there, and not what the client sent."""
        return not key.known or not self.knowledge.words["request.stores"].isdisjoint(self.frameworks)

    def read_request(self, node: ast.expr, member: str) -> Value:
        """What a member of a request holds."""
        words = self.knowledge.words
        how = [mark for mark, key in _MEMBERS.items() if member in words[key]]
        value = source("remote", node, render_expression(node), "", *how)
        if member in words["request.one_line"]:
            safe = ("redirect",) if member in words["request.referrers"] else ()
            return value.mark("header", "log", *safe)
        return value.mark("redirect") if member in words["request.route"] else value

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


def read_header(value: Value, key: Value, knowledge: Knowledge) -> Value:
    """A header by its name; a referrer is marked safe for redirects, since an attacker cannot choose it as a target."""
    is_referrer = isinstance(key.const, str) and key.const.lower() in knowledge.words["request.referrers"]
    return value.mark("redirect") if is_referrer else value


def nothing(path: str = "") -> Value:
    """A value of which only its name is known."""
    return Value(path=path) if path else CLEAN
