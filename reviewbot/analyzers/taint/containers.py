"""Model the methods that fill and empty containers, item by item where the keys are constant."""

from __future__ import annotations

from typing import Any

from reviewbot.analyzers.taint.flow import Call
from reviewbot.analyzers.taint.operations import container, pair, position
from reviewbot.analyzers.taint.values import CLEAN, Value, element, is_container, join_values, merge_taints, mix, plain
from reviewbot.tables import words_in

_MAX_ITEMS = 200
"""A container with more known items is taken as a whole."""

FILLS = words_in("names/taint", "fills")
"""Methods that put what they are given into their receiver."""

EMPTIES = frozenset({"pop", "clear", "popleft", "remove", "reverse", "sort"})
LOOKS_UP = frozenset({"get", "pop", "getlist", "setdefault", "__getitem__"})


def after(call: Call, receiver: Value) -> Value:
    """What a container holds after one of its methods has run."""
    items = None if receiver.items is None else _changed(dict(receiver.items), call, receiver.form)
    if items is None or len(items) > _MAX_ITEMS:
        each = _filled(call, receiver) if is_container(receiver) else None
        return Value(merge_taints([receiver, *call.all_arguments]), path=receiver.path, form=receiver.form, each=each)
    return Value(merge_taints(items.values()), path=receiver.path, items=items, form=receiver.form)


def _filled(call: Call, receiver: Value) -> Value | None:
    """What iterating over a container gives after one of its methods has put something in."""
    if call.name in EMPTIES:
        return element(receiver)
    if call.name in ("append", "add", "appendleft", "insert") and receiver.form != "dict" and call.args:
        return join_values([element(receiver), call.args[-1]])
    if call.name in ("extend", "update") and call.args and not call.keywords and is_container(call.args[0]):
        return join_values([element(receiver), element(call.args[0])])
    if call.name in ("setdefault", "__setitem__") and receiver.form == "dict" and call.args:
        return join_values([element(receiver), plain(call.args[0])])
    return None


def parts_of(name: str, receiver: Value) -> Value | None:
    """What `keys`, `values` or `items` of a dict gives; None where its keys and values are not tracked separately."""
    if receiver.form != "dict" or not is_container(receiver):
        return None
    keys = element(receiver)
    values = join_values(list(receiver.items.values())) if receiver.items else plain(receiver)
    each = {"keys": keys, "values": values, "items": pair(keys, values)}.get(name)
    return None if each is None else container(each)


def look_up(call: Call, receiver: Value) -> Value | None:
    """What a look-up in a container returns; None where its items are not known one by one."""
    if receiver.items is None:
        return None
    keys = [arg.const for arg in call.args if arg.known]
    if len(keys) == len(call.args) > 1 and tuple(keys) in receiver.items:
        return receiver.items[tuple(keys)]
    if not call.args:
        last = list(receiver.items.values())[-1:]
        return last[0] if last else CLEAN
    default = call.args[1] if len(call.args) > 1 else CLEAN
    if not call.args[0].known:
        return mix([element(receiver) if receiver.form == "list" else plain(receiver), default])
    found = receiver.items.get(position(receiver, keys[0]))
    return found if found is not None else default


def _changed(items: dict[Any, Value], call: Call, form: str) -> dict[Any, Value] | None:
    if form in ("list", "set"):
        held = _changed_list(list(items.values()), call)
        return None if held is None else dict(enumerate(held))
    if call.name in ("set", "setdefault", "__setitem__") and len(call.args) > 1:
        keys = [arg.const for arg in call.args[:-1]]
        if not all(arg.known for arg in call.args[:-1]):
            return None
        items[tuple(keys) if len(keys) > 1 else keys[0]] = call.args[-1]
        return items
    if call.name == "update":
        return _updated(items, call)
    if call.name == "pop" and call.args and call.args[0].known:
        items.pop(call.args[0].const, None)
        return items
    return {} if call.name == "clear" else None


def _updated(items: dict[Any, Value], call: Call) -> dict[Any, Value] | None:
    for arg in call.args:
        if arg.items is None:
            return None
        items.update(arg.items)
    if "**" in call.keywords:
        return None
    items.update(call.keywords)
    return items


def _changed_list(held: list[Value], call: Call) -> list[Value] | None:
    """The items of a list after one of its methods; None where they are not known any more."""
    if call.name in ("pop", "popleft"):
        return _without_one(held, call)
    if call.name in ("clear", "reverse"):
        return held[::-1] if call.name == "reverse" else []
    if not call.args:
        return None
    first = call.args[0]
    if call.name in ("append", "add", "appendleft"):
        return [first, *held] if call.name == "appendleft" else [*held, first]
    if call.name == "extend" and first.items is not None:
        return [*held, *first.items.values()]
    if call.name == "insert" and isinstance(first.const, int) and len(call.args) > 1:
        return [*held[: first.const], call.args[1], *held[first.const :]]
    return None


def _without_one(held: list[Value], call: Call) -> list[Value] | None:
    first = call.args[0].const if call.args else -1
    at = 0 if call.name == "popleft" else first
    if not isinstance(at, int) or not -len(held) <= at < len(held):
        return None
    return [value for number, value in enumerate(held) if number != at % len(held)]
