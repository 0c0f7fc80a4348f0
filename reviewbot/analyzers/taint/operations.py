"""Evaluate operations on values: sums of texts and lists, filled patterns, items of containers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from reviewbot.analyzers.taint import constants
from reviewbot.analyzers.taint.texts import composed
from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    CLEAN,
    NUMBER,
    PLACED,
    SEQUENCES,
    UNKNOWN,
    Value,
    element,
    is_container,
    joined,
    merged,
    mixed,
)

PATH = "pathlib.Path()"
"""What a path object is called, however it was made."""

_NUMERIC = (ast.Sub, ast.FloorDiv, ast.Pow)
"""Operations that make a number of whatever is not a number, or fail, where the other side is one."""


def combined(operation: ast.operator, left: Value, right: Value) -> Value:
    """What an operation makes of two values."""
    if left.known and right.known:
        const = constants.arithmetic(operation, left.const, right.const)
        return Value(const=const, lead=const if isinstance(const, str) else "")
    if isinstance(operation, ast.Add):
        if left.form or right.form:
            return _concatenated(left, right)
        return composed([left, right])
    if isinstance(operation, ast.Mult) and (repeated := next(filter(_is_sequence, (left, right)), None)) is not None:
        return _repeated(repeated)
    if isinstance(operation, ast.Div) and PATH in (left.path, right.path):
        placed = right if left.taints else right.marked(PLACED)
        return Value(merged([left, placed]), path=PATH).became(BUILT)
    if isinstance(operation, ast.Mod) and isinstance(left.const, str):
        return formatted(left, [right])
    if isinstance(operation, _NUMERIC) and any(isinstance(side.const, (int, float)) for side in (left, right)):
        left, right = (side.marked(ALL).became(NUMBER) for side in (left, right))
    return mixed([left, right], *((BUILT,) if isinstance(operation, ast.Mod) else ()))


def formatted(pattern: Value, given: Sequence[Value]) -> Value:
    """A constant pattern that is filled with values."""
    values: list[Value] = []
    for value in given:
        values += value.items.values() if value.items is not None and value.form == "tuple" else [value]
    text = str(pattern.const)
    cut = min((index for mark in "%{" if (index := text.find(mark)) >= 0), default=len(text))
    lead, rest = Value(const=text[:cut]), Value(const=text[cut:] if len(text) - cut > len("%s") else "")
    several = sum(bool(value.taints) for value in values) > 1
    if several or len(values) != 1:  # which of them stands right behind the beginning is not known
        return composed([lead, CLEAN, mixed(values), rest])
    return composed([lead, mixed(values), rest])


def container(each: Value, form: str = "list") -> Value:
    """A container of which only is known what iterating over it gives."""
    return Value(each.taints, form=form, each=each)


def pair(first: Value, second: Value) -> Value:
    """A tuple of two."""
    return Value(merged([first, second]), items={0: first, 1: second}, form="tuple")


def _repeated(sequence: Value) -> Value:
    """A text or a list that is repeated: how often it is does not stand in it."""
    return container(element(sequence), sequence.form) if sequence.form else CLEAN


def _is_sequence(value: Value) -> bool:
    return isinstance(value.const, (str, bytes)) or (value.form in SEQUENCES and is_container(value))


def _concatenated(left: Value, right: Value) -> Value:
    if left.items is None or right.items is None or "dict" in (left.form, right.form):
        each = joined([element(left), element(right)]) if is_container(left) and is_container(right) else None
        return Value(merged([left, right]), form=left.form or right.form, each=each)
    return Value(
        merged([left, right]), items=dict(enumerate([*left.items.values(), *right.items.values()])), form=left.form
    )


def position(base: Value, index: object) -> object:
    """The key of an item: counted from the start where it was counted from the end."""
    if isinstance(index, int) and index < 0 and base.items is not None and base.form in ("list", "tuple"):
        return len(base.items) + index
    return index if index is not UNKNOWN else None
