"""Evaluate operations on values: sums of texts and lists, filled patterns, items of containers.

Expressions of constants are folded, so that a branch that is never taken carries no taint. Of a text that is put
together, its beginning can decide what the rest is (`fixes_host`).
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    CLEAN,
    HOSTED,
    NAMED,
    NUMBER,
    OBJECT,
    PLACED,
    SEQUENCES,
    UNKNOWN,
    Value,
    element,
    is_container,
    join_values,
    merge_taints,
    mix,
)

_MAX_NUMBER = 2**64
_MAX_CHARS = 1_000
"""Characters. Longer texts and larger numbers are not followed: they decide no branch, and cost time."""

_PLAIN = (str, bytes, int, float, bool, type(None))

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}

_MAX_FRONT = 9
"""Parts in front of a part that are looked at for what it is."""

_LEAD = 200
"""Characters of a beginning that are kept."""

_OPEN_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]{0,20}:)?(?://[^/]{0,200})?$", re.IGNORECASE)
"""A beginning after which the host of an address can still be chosen."""

_SQL = re.compile(
    r"^[\s(]{0,50}(?:select|insert|update|delete|replace|merge|with|create|drop|alter|truncate|grant|call|exec|execute|"
    r"explain|pragma|set|show|use|from|where|copy|declare|begin|attach|vacuum|describe)\b",
    re.IGNORECASE,
)

_NAME = re.compile(
    r"(?:\b(?:from|into|table|update|join|(?:order|group)\s{1,9}by)\s{1,9}|\binto\s{1,9}[\w.\"`\[\]]{1,99}\s{0,9}\()"
    r"(?:[\w\"`\[\]]{1,99}\.)?[\"`\[]?$",
    re.IGNORECASE,
)
"""What stands in front of the name of a table or a column in a statement."""

_TAIL = 250
"""Characters in front of a part that are looked at for what it is."""


def tracked_constant(constant: object) -> object:
    """A constant if it is one that is followed."""
    if not isinstance(constant, _PLAIN):
        return UNKNOWN
    if isinstance(constant, (str, bytes)):
        return constant if len(constant) <= _MAX_CHARS else UNKNOWN
    if isinstance(constant, (int, float)) and not -_MAX_NUMBER < constant < _MAX_NUMBER:
        return UNKNOWN
    return constant


def arithmetic(operation: ast.operator, left: object, right: object) -> object:
    """The result of an operation on two constants; of texts only the sum, since the others can grow without limit."""
    numbers = all(isinstance(side, (int, float)) for side in (left, right))
    texts = isinstance(operation, ast.Add) and all(isinstance(side, str) for side in (left, right))
    if not (numbers or texts) or type(operation) not in _ARITHMETIC:
        return UNKNOWN
    return _tried(_ARITHMETIC[type(operation)], left, right)


def compare(operation: ast.cmpop, left: object, right: object) -> object:
    """The result of a comparison of two constants."""
    if isinstance(operation, (ast.Is, ast.IsNot)) and left is not None and right is not None:
        return UNKNOWN
    return _tried(_COMPARISONS[type(operation)], left, right)


def item_of(container: object, key: object) -> object:
    """An item of a constant text."""
    if not isinstance(container, str) or not isinstance(key, int):
        return UNKNOWN
    return _tried(operator.getitem, container, key)


def truth_of(constant: object) -> bool | None:
    """Whether a constant counts as true; None where it is not known."""
    return None if constant is UNKNOWN else bool(constant)


def _tried(operation: Callable[[Any, Any], Any], left: object, right: object) -> object:
    try:
        return tracked_constant(operation(left, right))
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return UNKNOWN


def compose(parts: Sequence[Value]) -> Value:
    """A text made of some parts, one after the other."""
    if all(part.known for part in parts):
        return _constant(parts)
    lead, rest = _lead(parts)
    if not any(part.taints for part in parts):
        return Value(lead=lead[:_LEAD]) if lead else CLEAN
    fixed = bool(lead) and not _OPEN_HOST.match(lead)
    values: list[Value] = []
    for index, part in enumerate(parts):
        hosted = fixed or (index > 0 and index >= rest and _closed(parts[:index]))
        value = part.mark("redirect", "ssrf", HOSTED) if hosted else part
        values.append(value.mark(NAMED) if value.taints and _is_name(parts[:index]) else value)
    mixed = Value(merge_taints(values), lead=lead[:_LEAD])
    others = any(not part.taints and (not part.known or part.const not in ("", b"")) for part in parts)
    several = sum(bool(part.taints) for part in parts) > 1
    return without(mixed, OBJECT).became(BUILT) if others or several else without(mixed, OBJECT)


def without(value: Value, how: str) -> Value:
    """The same value, of which one thing is no longer so."""
    if not any(how in taint.how for taint in value.taints):
        return value
    return replace(value, taints=tuple(taint._replace(how=taint.how - {how}) for taint in value.taints))


def is_statement(lead: str) -> bool:
    """Whether a text with this beginning is a statement for a database."""
    return bool(_SQL.match(lead))


def fixes_host(lead: str) -> bool:
    """Whether an address with this beginning goes to a host that is chosen already."""
    return bool(lead) and not _OPEN_HOST.match(lead)


def _constant(parts: Sequence[Value]) -> Value:
    text = tracked_constant("".join(str(part.const) for part in parts))
    return Value(const=text, lead=text[:_LEAD] if isinstance(text, str) else "")


def _lead(parts: Sequence[Value]) -> tuple[str, int]:
    """The constant beginning of the parts, and the first part that does not belong to it."""
    lead = ""
    for index, part in enumerate(parts):
        if part.known:
            lead += str(part.const)
        else:
            return lead + part.lead, index
    return lead, len(parts)


def _is_name(before: Sequence[Value]) -> bool:
    """Whether a part stands where a statement has a name; parts that are not constant count as a word."""
    texts = [str(part.const) if part.known else part.lead if not at else "" for at, part in enumerate(before)]
    front = "".join(text or "x" for text in texts[-_MAX_FRONT:])[-_TAIL:]
    return before[-1:] != [] and before[-1].known and bool(_NAME.search(front))


def _closed(before: Sequence[Value]) -> bool:
    """Whether what stands before a part has chosen the host: a base address from elsewhere, and more than a scheme."""
    first = before[0]
    if any(part.taints for part in before):
        return all(HOSTED in taint.safe for part in before for taint in part.taints)
    if first.known:
        return len(before) > 1 and any(part.known and "/" in str(part.const) for part in before[1:])
    return True


PATH = "pathlib.Path()"
"""What a path object is called, however it was made."""

_NUMERIC = (ast.Sub, ast.FloorDiv, ast.Pow)
"""Operations that make a number of whatever is not a number, or fail, where the other side is one."""


def combine(operation: ast.operator, left: Value, right: Value) -> Value:
    """What an operation makes of two values."""
    if left.known and right.known:
        const = arithmetic(operation, left.const, right.const)
        return Value(const=const, lead=const if isinstance(const, str) else "")
    if isinstance(operation, ast.Add):
        return _concatenated(left, right) if left.form or right.form else compose([left, right])
    if isinstance(operation, ast.Mult) and (repeated := next(filter(_is_sequence, (left, right)), None)) is not None:
        return _repeated(repeated)
    if isinstance(operation, ast.Div) and PATH in (left.path, right.path):
        placed = right if left.taints else right.mark(PLACED)
        made = Value(merge_taints([left, placed]), path=PATH).became(BUILT)
        # As with `os.path.join`: no file of another name can be reached.
        named = right.known and all(PLACED in taint.safe for taint in left.taints)
        return made.mark("path") if named else made
    if isinstance(operation, ast.Mod) and isinstance(left.const, str):
        return format_value(left, [right])
    if isinstance(operation, _NUMERIC) and any(isinstance(side.const, (int, float)) for side in (left, right)):
        left, right = (side.mark(ALL).became(NUMBER) for side in (left, right))
    return mix([left, right], *((BUILT,) if isinstance(operation, ast.Mod) else ()))


def format_value(pattern: Value, given: Sequence[Value]) -> Value:
    """A constant pattern that is filled with values."""
    values: list[Value] = []
    for value in given:
        values += value.items.values() if value.items is not None and value.form == "tuple" else [value]
    text = str(pattern.const)
    cut = min((index for mark in "%{" if (index := text.find(mark)) >= 0), default=len(text))
    lead, rest = Value(const=text[:cut]), Value(const=text[cut:] if len(text) - cut > len("%s") else "")
    several = sum(bool(value.taints) for value in values) > 1
    if several or len(values) != 1:  # which of them stands right behind the beginning is not known
        return compose([lead, CLEAN, mix(values), rest])
    return compose([lead, mix(values), rest])


def container(each: Value, form: str = "list") -> Value:
    """A container of which only is known what iterating over it gives."""
    return Value(each.taints, form=form, each=each)


def pair(first: Value, second: Value) -> Value:
    """A tuple of two."""
    return Value(merge_taints([first, second]), items={0: first, 1: second}, form="tuple")


def _repeated(sequence: Value) -> Value:
    """A text or a list that is repeated: how often it is does not stand in it."""
    return container(element(sequence), sequence.form) if sequence.form else CLEAN


def _is_sequence(value: Value) -> bool:
    return isinstance(value.const, (str, bytes)) or (value.form in SEQUENCES and is_container(value))


def _concatenated(left: Value, right: Value) -> Value:
    if left.items is None or right.items is None or "dict" in (left.form, right.form):
        each = join_values([element(left), element(right)]) if is_container(left) and is_container(right) else None
        return Value(merge_taints([left, right]), form=left.form or right.form, each=each)
    return Value(
        merge_taints([left, right]),
        items=dict(enumerate([*left.items.values(), *right.items.values()])),
        form=left.form,
    )


def position(base: Value, index: object) -> object:
    """The key of an item: counted from the start where it was counted from the end."""
    if isinstance(index, int) and index < 0 and base.items is not None and base.form in ("list", "tuple"):
        return len(base.items) + index
    return index if index is not UNKNOWN else None
