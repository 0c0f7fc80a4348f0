"""Kinds of settings: one class per type, each with the words that say what is expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reviewbot.config.globs import MAX_LENGTH, glob_fault

Value = str | int | float | bool | tuple[Any, ...] | None
Written = str | int | float | bool | list[Any] | dict[str, Any]
"""A setting as a file writes it."""
Schema = dict[str, object]

NOTHING = "none"
"""The word that unsets an optional setting, since TOML has no null and a flag must be able to undo a file."""

OFF = "off"
"""The word for a number of nothing."""

MAX_ITEMS = 100
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""What a worker may be called."""
_PRINTABLE = r"^[^\u0000-\u001f\u007f]+$"
"""What an editor can check of a glob; the rest of what cannot be printed is refused when the file is read."""

_AMOUNT = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,2})?")

_SWITCHED = {**dict.fromkeys(("1", "true", "yes", "on"), True), **dict.fromkeys(("0", "false", "no", "off"), False)}


class EntryError(ValueError):
    """One entry of a table is wrong. Its text names the entry, and `path` leads to it."""

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, eq=False)
class SettingType:
    """A type of setting. `check` and `parse` raise ValueError where the value is not `expected`."""

    expected: str
    """What the setting must be, in words that follow "must be"."""
    schema: Schema
    """The JSON Schema of what `check` takes, for editors."""
    takes: Callable[[Any], bool]
    """Whether a value is one of these."""
    special: Mapping[str, Value] = field(default_factory=dict)
    """Words that stand for another value."""
    keep: Callable[[Any], Value] = lambda value: value
    """What is kept of a value."""
    read: Callable[[str], object] = str
    """The value that an environment variable or a flag writes as this text."""

    def check(self, value: object) -> Value:
        """A typed value, from TOML or from code."""
        if isinstance(value, str) and value in self.special:
            return self.special[value]
        if not self.takes(value):
            raise ValueError(value)
        return self.keep(value)

    def parse(self, text: str) -> Value:
        """The same from an environment variable or a flag."""
        return self.check(self.read(text))

    def write(self, value: Any) -> Written:  # noqa: ANN401 - each kind takes the values that its `check` returns
        """The value as a file writes it: TOML has no null."""
        if value is None:
            return NOTHING
        return list(value) if isinstance(value, tuple) else value

    def lines(self, value: Any) -> list[tuple[str, Written, str]]:  # noqa: ANN401 - as above
        """A value whose entries have sources of their own: the end of each one's key, the entry, and its source."""
        del value
        return []


class Choice(SettingType):
    """One of a few words, or "none" where `optional`."""

    def __init__(self, words: tuple[str, ...], *, optional: bool = True) -> None:
        self.words = words
        special: dict[str, Value] = {NOTHING: None} if optional else {}
        every = [*words, *special]
        super().__init__(f"one of {', '.join(every)}", {"enum": every}, words.__contains__, special)


class Number(SettingType):
    """A whole number within bounds, or `word`, if any, for `meant`. A bool is no number.

    In a text it has ASCII digits only: no sign, no underscore, no blank, no digit of another script.
    """

    def __init__(self, low: int, high: int, word: str = "", meant: int | None = None) -> None:
        number: Schema = {"type": "integer", "minimum": low, "maximum": high}
        super().__init__(
            f"a whole number from {low} to {high}" + (f", or {word}" if word else ""),
            {"anyOf": [number, {"const": word}]} if word else number,
            lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
            {word: meant} if word else {},
            read=lambda text: int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(high)) else text,
        )


class Dollars(SettingType):
    """An amount of money, or "none" for no limit. Cents count; a fraction of one does not."""

    def __init__(self, high: int) -> None:
        super().__init__(
            f"an amount in dollars from 0 to {high}, such as 2.50, or {NOTHING}",
            {"anyOf": [{"type": "number", "minimum": 0, "maximum": high}, {"const": NOTHING}]},
            lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= high,
            {NOTHING: None},
            keep=lambda value: round(float(value), 2),
            read=lambda text: float(text) if _AMOUNT.fullmatch(text) else text,
        )


class ShortText(SettingType):
    """A short text of one form, or "none"."""

    def __init__(self, pattern: str, form: str) -> None:
        super().__init__(
            form,
            {"anyOf": [{"type": "string", "pattern": f"^{pattern}$"}, {"const": NOTHING}]},
            lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None,
            {NOTHING: None},
        )


class Switch(SettingType):
    """True or false; a number is refused. In a text it is one of the usual words, in either case."""

    def __init__(self) -> None:
        super().__init__(
            "true or false",
            {"type": "boolean"},
            lambda value: isinstance(value, bool),
            read=lambda text: _SWITCHED.get(text.lower(), text),
        )


class _Texts(SettingType):
    """A list of texts; in one text they are separated by commas."""

    def __init__(self, expected: str, item: Schema, is_valid: Callable[[str], bool]) -> None:
        super().__init__(
            expected,
            {"type": "array", "maxItems": MAX_ITEMS, "items": {"type": "string", **item}},
            lambda value: (
                isinstance(value, list | tuple)
                and len(value) <= MAX_ITEMS
                and all(isinstance(each, str) and is_valid(each) for each in value)
            ),
            keep=tuple,
            read=lambda text: [part.strip() for part in text.split(",") if part.strip()],
        )


class Globs(_Texts):
    """A list of globs."""

    def __init__(self) -> None:
        super().__init__(
            f"a list of at most {MAX_ITEMS} globs of at most {MAX_LENGTH} printable characters each",
            {"minLength": 1, "maxLength": MAX_LENGTH, "pattern": _PRINTABLE},
            lambda text: glob_fault(text) is None,
        )


class NameList(_Texts):
    """A list of worker names."""

    def __init__(self) -> None:
        super().__init__(
            'a list of worker names, each like "security" (one worker has a table: [worker.security])',
            {"pattern": f"^{NAME.pattern}$"},
            lambda text: NAME.fullmatch(text) is not None,
        )
