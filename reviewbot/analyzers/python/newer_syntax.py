"""Rewrite syntax of Python 3.12 to 3.14 in that of Python 3.11, row by row, so that an older Python can parse it.

Not everything can be said so; what cannot stays as it is, and the text does not parse. Values inside of literals may
change by a character; names, calls and the flow of values do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_UNBRACKETED = re.compile(
    r"^([ \t]{0,200}except\*?[ \t]{1,9})([\w.]{1,100}(?:[ \t]{0,9},[ \t]{0,9}[\w.]{1,100}){1,20})([ \t]{0,9}:)",
    re.MULTILINE,
)
"""Several exceptions without brackets: 3.14."""

_TYPE_NAME = re.compile(
    r"^([ \t]{0,200})type[ \t]{1,9}([^\W\d]\w{0,100})(?:\[[^\[\]\n]{1,300}\])?([ \t]{0,9}=(?!=))", re.MULTILINE
)
_TYPE_PARAMETERS = re.compile(
    r"^([ \t]{0,200}(?:async[ \t]{1,9})?(?:def|class)[ \t]{1,9}\w{1,100})\[[^\n()]{1,300}\](?=[ \t]{0,9}[(:])",
    re.MULTILINE,
)
"""Type aliases, and type parameters of functions and classes: 3.12. One bracket inside another is rare, but known."""

_FORMATTED = re.compile(r"[fFtT][bBrRuU]?['\"]")
"""How a formatted text may begin. Where none does, no quotes stand inside of others."""

_MARKS = re.compile(r"['\"#]")
_STOPS = re.compile(r"[\\'\"\n{]")
"""What means something in code outside of any braces, and in a text. All between is passed over at once."""

_PREFIX = re.compile(r"(?<![\w])(?:[rRbBuUfFtT]{1,2})$")
_OTHER = {"'": '"', '"': "'"}
_OPENING, _CLOSING = "([{", ")]}"

_MAX_DEPTH = 16
"""Texts and braces that stand in each other. Python 3.11 has four kinds of quotes, so that no five texts can be said in
each other there, and each end of one looks at all that is in it: thousands in each other would take minutes."""


def older(text: str) -> str:
    """The text with the same rows in the syntax of Python 3.11, as far as that can be done."""
    text = _UNBRACKETED.sub(r"\1(\2)\3", text)
    text = _TYPE_PARAMETERS.sub(r"\1", _TYPE_NAME.sub(r"\1\2\3", text))
    return _Quotes(text).replaced() if _FORMATTED.search(text) else text


class _Literal(NamedTuple):
    """A text in quotes that has been begun. `at` is where its quotes stand."""

    quotes: str
    formatted: bool
    at: int


@dataclass
class _Field:
    """A pair of braces in a formatted text; `depth` counts the brackets that are open in it."""

    depth: int = 0
    format: bool = False
    """It has come to the format behind the colon, where braces are fields again and quotes are text."""


class _Quotes:
    """Quotes inside of formatted texts: since 3.12 they may be those of the text itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._made = list(text)
        self._open: list[_Literal | _Field] = []

    def replaced(self) -> str:
        """The text, with other quotes for those that stand inside of the same ones; as it is where that is too deep."""
        place = 0
        while place < len(self._text):
            if len(self._open) > _MAX_DEPTH:
                return self._text
            inside = self._open[-1] if self._open else None
            if isinstance(inside, _Literal):
                place = self._in_literal(inside, place)
            elif inside is not None and inside.format:
                place = self._in_format(place)
            else:
                place = self._in_code(inside, place)
        return "".join(self._made)

    def _in_literal(self, literal: _Literal, place: int) -> int:
        stop = _STOPS.search(self._text, place)
        if stop is None:
            return len(self._text)
        char, place = stop.group(), stop.start()
        if char == "\\":
            return place + 2
        if self._text.startswith(literal.quotes, place):
            self._close(literal, place)
            return place + len(literal.quotes)
        if char == "\n" and len(literal.quotes) == 1:
            self._open.clear()  # it never ended: this is no Python, or a hunk that begins in the middle of something
        elif char == "{" and literal.formatted:
            if self._text.startswith("{{", place):
                return place + 2
            self._open.append(_Field())
        return place + 1

    def _in_format(self, place: int) -> int:
        char = self._text[place]
        if char == "{":
            self._open.append(_Field())
        elif char == "}":
            self._open.pop()
        elif char == "\n":
            self._open.clear()
        return place + 1

    def _in_code(self, field: _Field | None, place: int) -> int:
        if field is None:
            return self._outside(place)
        char = self._text[place]
        if char in "'\"":
            return self._begin(place)
        if char in _OPENING:
            field.depth += 1
        elif char in _CLOSING and field.depth:
            field.depth -= 1
        elif char == "}":
            self._open.pop()
        elif char == ":" and not field.depth:
            field.format = True
        return place + 1

    def _outside(self, place: int) -> int:
        """Go on to the next text that begins."""
        mark = _MARKS.search(self._text, place)
        if mark is None:
            return len(self._text)
        if mark.group() != "#":
            return self._begin(mark.start())
        end = self._text.find("\n", mark.start())
        return len(self._text) if end < 0 else end + 1

    def _begin(self, place: int) -> int:
        quote = self._text[place]
        quotes = quote * 3 if self._text.startswith(quote * 3, place) else quote
        before = _PREFIX.search(self._text[max(0, place - 3) : place])
        prefix = before.group().lower() if before else ""
        if "t" in prefix:
            # A template is no text yet: what is in its fields has gone nowhere. It is read as a plain text.
            self._made[place - len(prefix) : place] = ["" if char == "t" else char for char in prefix]
        self._open.append(_Literal(quotes, "f" in prefix or "t" in prefix, place))
        return place + len(quotes)

    def _close(self, literal: _Literal, end: int) -> None:
        """End a text. Inside of a formatted one with the same quotes it gets others, if it does not hold them."""
        self._open.pop()
        around = {entry.quotes for entry in self._open if isinstance(entry, _Literal)}
        inner = slice(literal.at + len(literal.quotes), end)
        if not around:
            return
        self._made[inner] = [_unescaped(char) for char in self._made[inner]]
        other = _OTHER[literal.quotes[0]]
        if literal.quotes in around and other not in around and other not in self._made[inner]:
            for start in (literal.at, end):
                self._made[start : start + len(literal.quotes)] = other * len(literal.quotes)


def _unescaped(char: str) -> str:
    """Replace a backslash, which may not stand between braces before 3.12; the character that it made is not needed."""
    return "_" if char == "\\" else char
