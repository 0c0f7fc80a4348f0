"""Collect the values that reach sinks, and turn those that count into findings with a rule and a message."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewbot.analyzers.python.views import Found, Step
from reviewbot.analyzers.taint.knowledge import Knowledge, Sink, words_of
from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    HOSTED,
    LEVEL,
    MEMBER,
    NAMED,
    NUMBER,
    OBJECT,
    PLACED,
    UNSEEN,
    UPLOAD,
    Taint,
    Value,
)

_MOST_HITS = 40
"""Hits kept for one function's parameters; further ones are dropped."""

_WHERE_FROM = {
    "remote": "A value from outside",
    "typed": "What somebody types",
    "local": "An argument or a variable of the environment",
}


class Hit(NamedTuple):
    """A value that arrived where it does harm."""

    kind: str
    row: int
    end_row: int
    sink: str
    taint: Taint
    reaches: frozenset[str] = frozenset()
    code: ast.AST | None = None


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
            if rule is not None and (rule.object > (OBJECT in taint.how) or (rule.seen and UNSEEN in taint.how)):
                continue
            reaches = rule.reaches if rule is not None else frozenset()
            end = taint.after(node.lineno, f"into `{sink}`")
            self.add(Hit(kind, node.lineno, node.end_lineno or node.lineno, sink, end, reaches, node))

    def add(self, hit: Hit) -> None:
        """Keep what arrived, once for each place and origin."""
        taint = hit.taint
        unseen = UNSEEN in taint.how
        if not _harmful(hit.kind, taint) or (unseen and not self._knowledge.kinds[hit.kind].unseen):
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
        if len(own) < _MOST_HITS:
            own.setdefault((hit.kind, hit.row, taint.origin.text), hit)

    def of(self, function: int) -> list[Hit]:
        """What arrives from the parameters of a function."""
        return list(self._of.get(function, {}).values())

    def called(self, function: int, parameter: str, value: Value) -> None:
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
        first = Step(origin.row, f"`{origin.text}` {begins}")
        message = f"{source} reaches {what}, at `{hit.sink}`."
        if _is_named(hit) and suffix == "parameter":
            message = f"{source} is the name of a table or a column in a SQL statement, at `{hit.sink}`."
            return Found("sql-identifier-parameter", hit.row, hit.end_row, message, (first, *hit.taint.steps), hit.code)
        return Found(f"{hit.kind}-{suffix}", hit.row, hit.end_row, message, (first, *hit.taint.steps), hit.code)


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
