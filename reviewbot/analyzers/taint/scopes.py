"""Values of the names of a scope, in layers: a branch writes into its own layer, which is joined or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewbot.analyzers.python.views import Budget
from reviewbot.analyzers.taint.values import Value, join_values

_FORGOTTEN = Value()
"""Stands where nothing is known of a key any more."""


class ValueScope:
    """One layer. Keys are names, and their attributes and items as they are written: "self.x", "a['b']"."""

    def __init__(self, budget: Budget, parent: ValueScope | None = None, *, edge: bool = False) -> None:
        self._budget = budget
        self.edge = edge
        """It is the first of a function."""
        self.parent = parent
        self.own: dict[str, Value] = {}
        """What this layer knows; a layer below is asked for the rest."""
        self.inner: dict[str, dict[str, None]] = {}
        """Keys by the name that they begin with, in their order."""
        self.checked: set[str] = set()
        """Attributes and items that a check tested and of which nothing was known before."""
        self.dead = False
        """No run of the program goes on from here."""

    def fork(self) -> ValueScope:
        """A layer on top of this one."""
        return ValueScope(self._budget, self)

    def function(self) -> ValueScope:
        """A layer on top of this one for a function: copies of a name are looked for inside of it alone."""
        return ValueScope(self._budget, self, edge=True)

    def _layers(self) -> Iterator[ValueScope]:
        scope: ValueScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def get(self, key: str) -> Value | None:
        """The value of a key; None where nothing is known of it."""
        for layer in self._layers():
            if (value := layer.own.get(key)) is not None:
                return None if value is _FORGOTTEN else value
        return None

    def set(self, name: str, value: Value) -> None:
        """Give a name a value, and forget what was known of its attributes and items."""
        self._budget.spend()
        inner = [key for layer in self._layers() for key in layer.inner.get(name, ())]
        self.own.update(dict.fromkeys(inner, _FORGOTTEN))
        self.own[name] = value

    def put(self, name: str, key: str, value: Value) -> None:
        """Give an attribute or item of a name a value."""
        self._budget.spend()
        self.own[key] = value
        if key != name:
            self.inner.setdefault(name, {})[key] = None

    def check(self, name: str, key: str, value: Value) -> None:
        """Give the name that a check tested a value, which holds only as long as the check does."""
        if key != name and self.get(key) is None:
            self.checked.add(key)
        self.put(name, key, value)

    def spread(self, old: Value, new: Value) -> None:
        """Replace one value by another under all names that have it."""
        for key, value in list(self.entries()):
            if value is old:
                self.own[key] = new

    def entries(self) -> Iterator[tuple[str, Value]]:
        """All keys of the function, or of the module outside of one, and their values."""
        seen: set[str] = set()
        for layer in self._layers():
            self._budget.spend(len(layer.own))
            for key, value in layer.own.items():
                if key not in seen:
                    seen.add(key)
                    yield key, value
            if layer.edge:
                break

    def join(self, branches: Sequence[ValueScope]) -> None:
        """Take over what is known after one of some branches, each a layer on this one; all dead makes this dead."""
        alive = [branch for branch in branches if not branch.dead]
        if not alive:
            self.dead = True
            return
        keys = dict.fromkeys(key for branch in alive for key in branch.own)
        self._budget.spend(len(keys) * len(alive) + 1)
        for key in keys:
            values = [value for branch in alive if (value := branch.get(key)) is not None]
            lapsed = len(values) < len(alive) and any(key in branch.checked for branch in alive)
            self.own[key] = join_values(values) if values and not lapsed else _FORGOTTEN
        for branch in alive:
            self._take_inner(branch, self)

    def snapshot(self, base: ValueScope) -> ValueScope:
        """A layer on `base` with everything that the layers between it and this one know."""
        layers: list[ValueScope] = []
        for layer in self._layers():
            if layer is base:
                break
            layers.append(layer)
        copy = base.fork()
        for layer in reversed(layers):
            self._budget.spend(len(layer.own))
            copy.own.update(layer.own)
            copy.checked |= layer.checked
            self._take_inner(layer, copy)
        return copy

    def _take_inner(self, layer: ValueScope, into: ValueScope) -> None:
        for name, inner in layer.inner.items():
            self._budget.spend(len(inner))
            into.inner.setdefault(name, {}).update(inner)
