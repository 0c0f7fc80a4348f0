"""Kinds of settings: one class per type, each with the words that say what is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

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

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class EntryError(ValueError):
    """One entry of a table is wrong. Its text names the entry, and `path` leads to it."""

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(message)
        self.path = path


class SettingType:
    """A type of setting. `check` and `parse` raise ValueError where the value is not `expected`."""

    @property
    def expected(self) -> str:
        """What the setting must be, in words that follow "must be"."""
        raise NotImplementedError

    @property
    def schema(self) -> Schema:
        """The JSON Schema of what `check` takes, for editors."""
        raise NotImplementedError

    def check(self, value: object) -> Value:
        """A typed value, from TOML or from code."""
        raise NotImplementedError

    def parse(self, text: str) -> Value:
        """The same from an environment variable or a flag."""
        return self.check(text)

    def write(self, value: Any) -> Written:  # noqa: ANN401 - each kind takes the values that its `check` returns
        """The value as a file writes it: TOML has no null."""
        return NOTHING if value is None else value

    def lines(self, value: Any) -> list[tuple[str, Written, str]]:  # noqa: ANN401 - as above
        """A value whose entries have sources of their own: the end of each one's key, the entry, and its source."""
        del value
        return []


@dataclass(frozen=True)
class Choice(SettingType):
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


@dataclass(frozen=True)
class Number(SettingType):
    """A whole number within bounds, or `word`, if any, for `meant`. A bool is no number."""

    low: int
    high: int
    word: str = ""
    meant: int | None = None

    @property
    def expected(self) -> str:
        """The bounds."""
        return f"a whole number from {self.low} to {self.high}" + (f", or {self.word}" if self.word else "")

    @property
    def schema(self) -> Schema:
        """The bounds."""
        number: Schema = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [number, {"const": self.word}]} if self.word else number

    def check(self, value: object) -> Value:
        """The number, or what the word means."""
        if self.word and value == self.word:
            return self.meant
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """ASCII digits only: no sign, no underscore, no blank, no digit of another script."""
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(self.high))
        return self.check(int(text) if digits else text)


@dataclass(frozen=True)
class Dollars(SettingType):
    """An amount of money, or "none" for no limit. Cents count; a fraction of one does not."""

    high: int

    @property
    def expected(self) -> str:
        """The bounds."""
        return f"an amount in dollars from 0 to {self.high}, such as 2.50, or {NOTHING}"

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
class ShortText(SettingType):
    """A short text of one form, or "none"."""

    pattern: str
    form: str

    @property
    def expected(self) -> str:
        """The form, in words."""
        return self.form

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


@dataclass(frozen=True)
class Switch(SettingType):
    """True or false."""

    @property
    def expected(self) -> str:
        """The two values."""
        return "true or false"

    @property
    def schema(self) -> Schema:
        """A bool."""
        return {"type": "boolean"}

    def check(self, value: object) -> Value:
        """The bool; a number is refused."""
        if isinstance(value, bool):
            return value
        raise ValueError(value)

    def parse(self, text: str) -> Value:
        """The usual words, in either case."""
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise ValueError(text)


class _Texts(SettingType):
    """A list of texts; in one text they are separated by commas."""

    item: ClassVar[Schema]

    @property
    def schema(self) -> Schema:
        """A list of texts."""
        return {"type": "array", "maxItems": MAX_ITEMS, "items": {"type": "string", **self.item}}

    def check(self, value: object) -> Value:
        """The texts in their order."""
        if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
            raise ValueError(value)
        if not all(isinstance(item, str) and self.is_valid(item) for item in value):
            raise ValueError(value)
        return tuple(value)

    def is_valid(self, item: str) -> bool:
        """Whether a text may stand in the list."""
        raise NotImplementedError

    def parse(self, text: str) -> Value:
        """As `check`, of the parts."""
        return self.check([part.strip() for part in text.split(",") if part.strip()])

    def write(self, value: Any) -> Written:  # noqa: ANN401 - as in `SettingType`
        """The list."""
        return list(value)


class Globs(_Texts):
    """A list of globs."""

    item: ClassVar[Schema] = {"minLength": 1, "maxLength": MAX_LENGTH, "pattern": _PRINTABLE}
    expected = f"a list of at most {MAX_ITEMS} globs of at most {MAX_LENGTH} printable characters each"

    def is_valid(self, item: str) -> bool:
        """Whether it is a glob."""
        return glob_fault(item) is None


class Names(_Texts):
    """A list of worker names."""

    item: ClassVar[Schema] = {"pattern": f"^{NAME.pattern}$"}
    expected = 'a list of worker names, each like "security" (one worker has a table: [worker.security])'

    def is_valid(self, item: str) -> bool:
        """Whether it is a name."""
        return NAME.fullmatch(item) is not None
