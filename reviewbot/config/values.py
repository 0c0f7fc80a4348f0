"""Kinds of settings: one small kind per type, each with the words that say what is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol, cast

from reviewbot.config.globs import MAX_LENGTH, glob_fault
from reviewbot.config.rules import RuleSetting, rules_as_written

Value = str | int | float | bool | tuple[str, ...] | tuple[RuleSetting, ...] | None
Written = str | int | float | bool | list[str] | dict[str, object]
"""A setting as a file writes it."""
Schema = dict[str, object]

NOTHING = "none"
"""The word that unsets an optional setting, since TOML has no null and a flag must be able to undo a file."""

OFF = "off"
"""The word for a number of nothing."""

RULES = "rules"
"""The setting whose sources are merged, rule by rule."""

_MAX_ITEMS = 100
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_PRINTABLE = r"^[^\u0000-\u001f\u007f]+$"
"""What an editor can check of a glob; the rest of what cannot be printed is refused when the file is read."""

_AMOUNT = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,2})?")

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class Kind(Protocol):
    """A type of setting. Both functions raise ValueError where the value is not `expected`."""

    @property
    def expected(self) -> str:
        """What the setting must be, in words that follow "must be"."""

    @property
    def schema(self) -> Schema:
        """The JSON Schema of what `check` takes, for editors."""

    def check(self, value: object) -> Value:
        """A typed value, from TOML or from code."""

    def parse(self, text: str) -> Value:
        """The same from an environment variable or a flag."""


@dataclass(frozen=True)
class Choice:
    """One of a few words, or "none" where `optional`."""

    words: tuple[str, ...]
    optional: bool = True

    @property
    def _all(self) -> tuple[str, ...]:
        return (*self.words, NOTHING) if self.optional else self.words

    @property
    def expected(self) -> str:
        """The words."""
        return "one of " + ", ".join(self._all)

    @property
    def schema(self) -> Schema:
        """The words."""
        return {"enum": list(self._all)}

    def check(self, value: object) -> Value:
        """The word, or None."""
        if self.optional and value == NOTHING:
            return None
        if isinstance(value, str) and value in self.words:
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """As `check`."""
        return self.check(text)


@dataclass(frozen=True)
class Number:
    """A whole number within bounds, or "none" where `optional`. A bool is no number."""

    low: int
    high: int
    optional: bool = False

    @property
    def expected(self) -> str:
        """The bounds."""
        return f"a whole number from {self.low} to {self.high}" + (f", or {NOTHING}" if self.optional else "")

    @property
    def schema(self) -> Schema:
        """The bounds."""
        number: Schema = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [number, {"const": NOTHING}]} if self.optional else number

    def check(self, value: object) -> Value:
        """The number, or None."""
        if self.optional and value == NOTHING:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """ASCII digits only: no sign, no underscore, no blank, no digit of another script."""
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(self.high))
        return self.check(int(text) if digits else text)


@dataclass(frozen=True)
class Few:
    """A whole number from 0 up, or "off" for 0."""

    high: int

    @property
    def expected(self) -> str:
        """The bounds."""
        return f"a whole number from 0 to {self.high}, or {OFF}"

    @property
    def schema(self) -> Schema:
        """The bounds."""
        return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": self.high}, {"const": OFF}]}

    def check(self, value: object) -> Value:
        """The number."""
        return 0 if value == OFF else Number(0, self.high).check(value)

    def parse(self, text: str) -> Value:
        """ASCII digits, or the word."""
        return 0 if text == OFF else Number(0, self.high).parse(text)


@dataclass(frozen=True)
class Dollars:
    """An amount of money, or "none" for no limit. Cents count; a fraction of one does not."""

    high: int
    expected: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected", f"an amount in dollars from 0 to {self.high}, such as 2.50, or {NOTHING}")

    @property
    def schema(self) -> Schema:
        """The bounds."""
        return {"anyOf": [{"type": "number", "minimum": 0, "maximum": self.high}, {"const": NOTHING}]}

    def check(self, value: object) -> Value:
        """The amount, or None."""
        if value == NOTHING:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= self.high:
            return round(float(value), 2)
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """Digits with at most one point."""
        return self.check(float(text) if _AMOUNT.fullmatch(text) else text)


@dataclass(frozen=True)
class Line:
    """A short text of one form, or "none"."""

    pattern: str
    expected: str

    @property
    def schema(self) -> Schema:
        """The form."""
        return {"anyOf": [{"type": "string", "pattern": f"^{self.pattern}$"}, {"const": NOTHING}]}

    def check(self, value: object) -> Value:
        """The text, or None."""
        if value == NOTHING:
            return None
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """As `check`."""
        return self.check(text)


@dataclass(frozen=True)
class Switch:
    """True or false."""

    expected: str = "true or false"

    @property
    def schema(self) -> Schema:
        """A bool."""
        return {"type": "boolean"}

    def check(self, value: object) -> Value:
        """The bool; a number is none."""
        if isinstance(value, bool):
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """The usual words, in either case."""
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise ValueError(text)


@dataclass(frozen=True)
class Globs:
    """A list of globs; in a text they are separated by commas."""

    expected: str = f"a list of at most {_MAX_ITEMS} globs of at most {MAX_LENGTH} printable characters each"

    @property
    def schema(self) -> Schema:
        """A list of texts."""
        item: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "pattern": _PRINTABLE}
        return {"type": "array", "maxItems": _MAX_ITEMS, "items": item}

    def check(self, value: object) -> Value:
        """The globs in their order."""
        items = _texts(value)
        if any(glob_fault(item) for item in items):
            raise ValueError(value)
        return items

    def parse(self, text: str) -> Value:
        """As `check`, of the parts."""
        return self.check(_parts(text))


@dataclass(frozen=True)
class Names:
    """A list of worker names; in a text they are separated by commas."""

    expected: str = 'a list of worker names, each like "security"'

    @property
    def schema(self) -> Schema:
        """A list of texts."""
        item: Schema = {"type": "string", "pattern": f"^{_NAME.pattern}$"}
        return {"type": "array", "maxItems": _MAX_ITEMS, "items": item}

    def check(self, value: object) -> Value:
        """The names in their order."""
        items = _texts(value)
        if not all(_NAME.fullmatch(item) for item in items):
            raise ValueError(value)
        return items

    def parse(self, text: str) -> Value:
        """As `check`, of the parts."""
        return self.check(_parts(text))


def as_written(key: str, value: Value) -> Written:
    """The value of a setting as a file writes it: TOML has no null, and its lists are JSON's."""
    if value is None:
        return NOTHING
    if key == RULES:
        return rules_as_written(cast("tuple[RuleSetting, ...]", value))
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > _MAX_ITEMS:
        raise ValueError(value)
    if not all(isinstance(item, str) for item in value):
        raise ValueError(value)
    return tuple(value)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
