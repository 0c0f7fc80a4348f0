"""Find patterns with exponential backtracking: a short text can keep the matcher busy for years.

That is so where a repetition stands in a repetition and one text can be shared out between the two in many ways, and
where something must match behind them. The pattern is parsed and looked at; it is never matched.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import argument, at
from reviewbot.context.python_text import without_warnings

_METHODS = ("compile", "match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split")
_CALLS = tuple(f"re.{method}" for method in _METHODS)

_MAX_CHARS = 2_000
"""Characters of a pattern that is looked at."""

_MANY = 1_000
"""Repetitions from here on count as unbounded."""

_OTHER = 128
"""Stands for all characters outside of ASCII."""

_ALL = frozenset(range(_OTHER + 1))
_DIGITS = frozenset(map(ord, "0123456789"))
_SPACES = frozenset(map(ord, " \t\n\r\f\v"))
_LETTERS = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
_KINDS = {
    "CATEGORY_DIGIT": _DIGITS,
    "CATEGORY_NOT_DIGIT": _ALL - _DIGITS,
    "CATEGORY_SPACE": _SPACES,
    "CATEGORY_NOT_SPACE": _ALL - _SPACES,
    "CATEGORY_WORD": _DIGITS | _LETTERS | {_OTHER},
    "CATEGORY_NOT_WORD": _ALL - _DIGITS - _LETTERS,
}

_Item = tuple[Any, Any]
"""What Python's parser of patterns makes of a part of one: an operation and its operands."""


def slow_patterns(code: CodeIndex) -> Iterator[Found]:
    """Look at patterns that are written in the source."""
    for call in code.calls_to(*_CALLS):
        pattern = argument(call, 0, "pattern")
        text = code.text(pattern)
        if pattern is not None and is_exponential(text, anchored=code.name(call.func) == "re.fullmatch"):
            yield at("slow-pattern", code.value(pattern) or call)


def is_exponential(pattern: str, *, anchored: bool = False) -> bool:
    """Whether some texts take a time that doubles with every further character; `anchored`: all of it must match."""
    if len(pattern) > _MAX_CHARS or not any(char in pattern for char in "*+{"):
        return False
    try:
        with without_warnings():
            parsed = _parser().parse(pattern)
    except (re.error, OverflowError, ValueError):
        return False
    return _any_slow(list(parsed), followed=anchored)


@cache
def _parser() -> Any:  # noqa: ANN401 - a module of the standard library that has no types
    return importlib.import_module("re._parser")


def _any_slow(items: Sequence[_Item], *, followed: bool) -> bool:
    """Whether a repetition of a sequence is slow; `followed`: something has to match behind the sequence."""
    for index, item in enumerate(items):
        behind = followed or any(not _can_be_empty(rest) for rest in items[index + 1 :])
        body = _repeated(item)
        if body is not None and behind and _is_ambiguous(body):
            return True
        inner_followed = behind or body is not None
        if any(_any_slow(inner, followed=inner_followed if body is None else behind) for inner in _inside(item)):
            return True
    return False


def _operation(item: _Item) -> str:
    return str(item[0])


def _repeated(item: _Item) -> list[_Item] | None:
    """The body of a repetition without end, or None."""
    if _operation(item) in {"MAX_REPEAT", "MIN_REPEAT"} and int(item[1][1]) >= _MANY:
        return _unwrapped(list(item[1][2]))
    return None


def _unwrapped(items: list[_Item]) -> list[_Item]:
    """A sequence without the groups around all of it."""
    while len(items) == 1 and _operation(items[0]) == "SUBPATTERN":
        items = list(items[0][1][3])
    return items


def _inside(item: _Item) -> list[list[_Item]]:
    """The sequences that a part of a pattern holds."""
    match _operation(item):
        case "MAX_REPEAT" | "MIN_REPEAT":
            return [list(item[1][2])]
        case "SUBPATTERN":
            return [list(item[1][3])]
        case "BRANCH":
            return [list(branch) for branch in item[1][1]]
        case _:
            return []


def _can_be_empty(item: _Item) -> bool:
    """Whether a part of a pattern may match nothing at all. The ends of a text have to be there."""
    match _operation(item):
        case "MAX_REPEAT" | "MIN_REPEAT":
            return int(item[1][0]) == 0 or all(_can_be_empty(each) for each in item[1][2])
        case "SUBPATTERN":
            return all(_can_be_empty(each) for each in item[1][3])
        case "BRANCH":
            return any(all(_can_be_empty(each) for each in branch) for branch in item[1][1])
        case _:
            return False


def _is_ambiguous(body: Sequence[_Item]) -> bool:
    """Whether one text can be shared out between the turns of a repetition in several ways."""
    if len(body) == 1 and _operation(body[0]) == "BRANCH":
        return _overlap(body[0])
    flat = [part for item in body for part in _flat(item)]
    for index, item in enumerate(flat):
        inner = _repeated(item)
        if inner is None or all(_can_be_empty(each) for each in inner):
            continue
        others = [*flat[:index], *flat[index + 1 :]]
        must = [other for other in others if not _can_be_empty(other)]
        own = _characters(inner[0]) if len(inner) == 1 else None
        if not must or (own and all((_characters(other) or frozenset()) & own for other in must)):
            return True
    return False


def _flat(item: _Item) -> list[_Item]:
    """A part of a sequence without the groups around it."""
    return [part for inner in item[1][3] for part in _flat(inner)] if _operation(item) == "SUBPATTERN" else [item]


def _overlap(branch: _Item) -> bool:
    """Whether two alternatives of one character each share some."""
    sets = [_characters(alternative[0]) if len(alternative) == 1 else None for alternative in branch[1][1]]
    known = [each for each in sets if each]
    return any(one & other for index, one in enumerate(known) for other in known[index + 1 :])


def _characters(item: _Item) -> frozenset[int] | None:
    """The characters of a part that matches exactly one, or that repeats such a part; None for any other part."""
    match _operation(item):
        case "LITERAL":
            return frozenset({min(int(item[1]), _OTHER)})
        case "NOT_LITERAL":
            return _ALL - {int(item[1])}
        case "ANY":
            return _ALL - {ord("\n")}
        case "IN":
            return _members(item[1])
        case "MAX_REPEAT" | "MIN_REPEAT":
            body = _unwrapped(list(item[1][2]))
            return _characters(body[0]) if len(body) == 1 else None
        case _:
            return None


def _members(listed: Sequence[_Item]) -> frozenset[int]:
    found: set[int] = set()
    for operation, value in listed:
        match str(operation):
            case "LITERAL":
                found.add(min(int(value), _OTHER))
            case "RANGE":
                found.update(range(min(int(value[0]), _OTHER), min(int(value[1]), _OTHER) + 1))
            case "CATEGORY":
                found |= _KINDS.get(str(value), frozenset())
            case _:
                continue
    return _ALL - found if str(listed[0][0]) == "NEGATE" else frozenset(found)
