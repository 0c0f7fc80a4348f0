"""What is known of a value: where parts of it come from, what has been done to them, and its constant if it has one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from reviewbot.analyzers.python.views import FlowStep

ALL = "*"
"""In `Taint.safe`: harmless wherever it goes."""

RESOLVED = "~resolved"
"""In `Taint.safe`: a path in its final form, so that a check of its beginning means something."""

HOSTED = "~hosted"
"""In `Taint.safe`: it stands behind the host of an address, or behind the beginning of a local one."""

LEVEL = "~level"
"""In `Taint.safe`: it has no part that leads up, so that it stays in the folder that it is put behind."""

ASKED = "~asked"
"""In `Taint.safe`: a function that is called `is_...` said yes to it."""

PLACED = "~placed"
"""In `Taint.safe`: it stands behind a folder that is fixed."""

NAMED = "~named"
"""In `Taint.safe`: it stands where a statement has the name of a table or a column, which cannot be bound."""

UNSEEN = "unseen"
"""In `Taint.how`: it went through code that is not at hand."""

BUILT = "built"
"""In `Taint.how`: it was put together with other text."""

OBJECT = "object"
"""In `Taint.how`: it is no text but what a body or a document says, and may hold containers."""

UPLOAD = "upload"
"""In `Taint.how`: it is a file that was sent, and not the name of one."""

NUMBER = "number"
"""In `Taint.how`: it has been made a number."""

MEMBER = "member"
"""In `Taint.how`: it is an attribute of the value that came in, which its owner may have set."""

_MAX_TAINTS = 6
_MAX_STEPS = 8
_MAX_CHOICES = 4


class Unknown:
    """The constant of a value that has none."""


UNKNOWN = Unknown()

YIELDED = "yielded"
"""In `Value.form`: a generator gives it, one at a time."""

SEQUENCES = ("list", "tuple", "set")
"""Forms of containers that iterate over their items."""

REACHES = ("remote", "typed", "local", "parameter")
"""Of a source, the strongest first."""


class Origin(NamedTuple):
    """Where a value comes from."""

    reach: str
    row: int
    text: str
    owner: int = -1
    """Of a parameter: the number of its function."""


class Taint(NamedTuple):
    """A part of a value that comes from outside."""

    origin: Origin
    safe: frozenset[str]
    """The kinds of sink where it does no harm any more."""
    how: frozenset[str]
    """What happened to it."""
    steps: tuple[FlowStep, ...]

    def after(self, row: int, what: str) -> Taint:
        """The same a step further."""
        step = FlowStep(row, what)
        if len(self.steps) >= _MAX_STEPS or (self.steps and self.steps[-1] == step):
            return self
        return self._replace(steps=(*self.steps, step))


@dataclass(frozen=True, eq=False)
class Value:
    """A value; compared by identity, which is how copies of a name are recognised."""

    taints: tuple[Taint, ...] = ()
    const: Any = UNKNOWN
    path: str = ""
    """The dotted name of what it is, or of what made it: "os.environ", "sqlite3.connect()"."""
    items: Mapping[Any, Value] | None = None
    """The items of a container that are known by their constant keys."""
    form: str = ""
    """What a container is: "list", "tuple", "set", "dict"."""
    about: Value | None = None
    """The value that a check of this one speaks for: an address that it was parsed from, a text that was matched."""
    function: int = -1
    """The number of the function that it is; -1 for none."""
    choices: tuple[object, ...] = ()
    """Constants of which it has one."""
    lead: str = ""
    """How a text begins that was put together, as far as that is constant."""
    each: Value | None = None
    """What iterating over a container gives, of a dict its keys; None where that is not tracked separately."""

    @property
    def known(self) -> bool:
        """Whether it is a constant."""
        return self.const is not UNKNOWN

    @property
    def is_tainted(self) -> bool:
        """Whether the value, or a key of it, holds something that comes from outside."""
        return bool(self.taints) or (self.each is not None and bool(self.each.taints))

    def mark(self, *kinds: str) -> Value:
        """The same value, harmless for these kinds."""
        if not kinds or not self.is_tainted:
            return self
        taints = tuple(taint._replace(safe=taint.safe | set(kinds)) for taint in self.taints)
        items = None if self.items is None else {key: item.mark(*kinds) for key, item in self.items.items()}
        each = None if self.each is None else self.each.mark(*kinds)
        return replace(self, taints=taints, items=items, each=each)

    def became(self, *how: str) -> Value:
        """The same value, with what happened to it."""
        if not self.taints:
            return self
        return replace(self, taints=tuple(taint._replace(how=taint.how | set(how)) for taint in self.taints))

    def after(self, row: int, what: str) -> Value:
        """The same value a step further; its items stay as they are."""
        if not self.taints:
            return self
        return replace(self, taints=tuple(taint.after(row, what) for taint in self.taints))


CLEAN = Value()


class Function(NamedTuple):
    """A function of the file."""

    number: int
    node: ast.FunctionDef | ast.AsyncFunctionDef
    owner: str
    """The name of its class; empty outside of one."""
    inside: int = -1
    """The number of the outermost function that it stands in; -1 for a function of the module or of a class."""

    @property
    def parameters(self) -> list[ast.arg]:
        """Its parameters by position, then those by name, then the two that take the rest."""
        arguments = self.node.args
        rest = (arguments.vararg, arguments.kwarg)
        return [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *(arg for arg in rest if arg is not None),
        ]


def plain(value: Value) -> Value:
    """What a value holds, without the rest of what is known of it."""
    return Value(value.taints) if value.taints else CLEAN


def mix(values: Iterable[Value], *how: str) -> Value:
    """A value that holds all of these."""
    held = [value for value in values if value.taints]
    if not held:
        return CLEAN
    return Value(merge_taints(held)).became(*how)


def merge_taints(values: Iterable[Value]) -> tuple[Taint, ...]:
    """The taints of some values: one for each origin, harmless only where all of them are."""
    found: dict[Origin, Taint] = {}
    for value in values:
        for taint in value.taints:
            there = found.get(taint.origin)
            if there is None:
                found[taint.origin] = taint
            elif there is not taint:
                found[taint.origin] = there._replace(safe=safer(there.safe, taint.safe), how=there.how | taint.how)
    if len(found) <= _MAX_TAINTS:
        return tuple(found.values())
    return tuple(sorted(found.values(), key=lambda taint: REACHES.index(taint.origin.reach))[:_MAX_TAINTS])


def safer(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """The kinds for which both are harmless."""
    if ALL in one:
        return other
    return one if ALL in other else one & other


def join_values(values: list[Value]) -> Value:
    """What is known of a name that has one of these values."""
    first = values[0]
    if all(value is first for value in values):
        return first
    same = {"const": first.const, "path": first.path, "form": first.form, "function": first.function}
    for value in values[1:]:
        if type(value.const) is not type(same["const"]) or value.const != same["const"]:
            same["const"] = UNKNOWN
        for name, empty in (("path", ""), ("form", ""), ("function", -1)):
            if getattr(value, name) != same[name]:
                same[name] = empty
    about = first.about if all(value.about is first.about for value in values) else None
    lead = next((value.lead for value in values if value.lead), "")
    choices = () if same["const"] is not UNKNOWN else _choices(values)
    items = _joined_items(values)
    each = None if items is not None else _joined_each(values)
    return Value(merge_taints(values), items=items, about=about, choices=choices, lead=lead, each=each, **same)


def _choices(values: list[Value]) -> tuple[object, ...]:
    found: list[object] = []
    for value in values:
        options = (value.const,) if value.known else value.choices
        if not options or len(found) + len(options) > _MAX_CHOICES:
            return ()
        found += options
    return tuple(found)


def element(value: Value) -> Value:
    """What iterating over a value gives: an item of a list, a key of a dict."""
    if value.each is not None:
        return value.each
    if value.form == "dict" and value.items is not None:
        return CLEAN  # constant keys
    if value.items and value.form in SEQUENCES:
        return join_values(list(value.items.values()))
    path = f"{value.path}[]" if value.path else ""
    return Value(value.taints, path=path) if value.taints or path else CLEAN


def is_container(value: Value) -> bool:
    """Whether it is known what iterating over a value gives."""
    return value.each is not None or (value.items is not None and value.form in (*SEQUENCES, "dict"))


def _joined_each(values: list[Value]) -> Value | None:
    """What iterating gives where all values are containers; None, over which nothing iterates, is passed over."""
    values = [value for value in values if value.const is not None]
    if not values or not all(map(is_container, values)):
        return None
    given = [element(value) for value in values if value.items != {}]
    return join_values(given) if given else CLEAN


def _joined_items(values: list[Value]) -> Mapping[Any, Value] | None:
    """The items by key where all values have the same keys; None, which has no items, is passed over."""
    values = [value for value in values if value.const is not None] or values
    keys = [None if value.items is None else list(value.items) for value in values]
    if keys[0] is None or any(other != keys[0] for other in keys):
        return None
    return {key: join_values([value.items[key] for value in values if value.items is not None]) for key in keys[0]}
