"""Dependencies as a map from each name to those that it waits for: cycles, topological order and longest chain."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

Waits = Mapping[str, Collection[str]]
"""By name: whom it waits for; every name that is waited for is a key."""


def circle(waits: Waits) -> tuple[str, ...] | None:
    """Some names that wait for each other in a circle, the first one repeated at the end; None where there is none."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return tuple(found)
    return None


def in_order(waits: Waits) -> list[str]:
    """All names, each after those that it waits for, else as they come. Only for `waits` without a circle."""
    found: dict[str, None] = {}
    todo = list(waits)[::-1]
    while todo:
        name = todo[-1]
        missing = [each for each in waits[name] if each not in found]
        todo += missing[::-1]
        if not missing:
            found[todo.pop()] = None
    return list(found)


def longest(waits: Waits) -> int:
    """The names in the longest chain; 0 where there is no name. Only for `waits` without a circle."""
    length: dict[str, int] = {}
    for name in in_order(waits):
        length[name] = 1 + max((length[each] for each in waits[name]), default=0)
    return max(length.values(), default=0)
