"""Fold expressions of constants, so that branches which are never taken carry no taint."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from reviewbot.analyzers.taint.values import UNKNOWN

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


def item(container: object, key: object) -> object:
    """An item of a constant text."""
    if not isinstance(container, str) or not isinstance(key, int):
        return UNKNOWN
    return _tried(operator.getitem, container, key)


def truth(constant: object) -> bool | None:
    """Whether a constant counts as true; None where it is not known."""
    return None if constant is UNKNOWN else bool(constant)


def _tried(operation: Callable[[Any, Any], Any], left: object, right: object) -> object:
    try:
        return tracked_constant(operation(left, right))
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return UNKNOWN
