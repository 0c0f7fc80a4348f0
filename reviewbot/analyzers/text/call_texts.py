"""Find calls in plain text, in any language that writes `name(argument, argument)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_CALL = 1_000
"""Characters from the bracket on."""

_CALLEE = re.compile(
    r"(?<![\w$@])(?<![\w$@]\.)((?:[\w$@]++(?:\.|::|->|\?\.|\\))*+)([\w$]++[?!]?)(?=\()"  # each word is read once
)
_COMMAND = re.compile(r"(?<![\w$.:@])([a-z_]\w*[?!]?) (?=[\"'\[:])")
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "\"'`"


class TextCall(NamedTuple):
    """A call: what is called, with and without what it hangs on, its arguments, and where it stands."""

    name: str
    dotted: str
    arguments: tuple[str, ...]
    start: int
    end: int

    @property
    def first(self) -> str:
        """The first argument; empty where there is none."""
        return self.arguments[0] if self.arguments else ""


def find_calls(text: str, names: re.Pattern[str]) -> Iterator[TextCall]:
    """Yield the calls in a text whose last name fits; also, as Ruby writes them, with a literal and no bracket."""
    for match in _CALLEE.finditer(text):
        if names.fullmatch(match[2]):
            found = _arguments(text, match.end() + 1)
            if found is not None:
                yield TextCall(match[2], match[1] + match[2], found[0], match.start(), found[1])
    for match in _COMMAND.finditer(text):
        if names.fullmatch(match[1]):
            end = text.find("\n", match.end())
            rest = text[match.end() : end if end >= 0 else len(text)]
            found = _arguments(f"{rest})", 0)
            if found is not None:
                yield TextCall(match[1], match[1], found[0], match.start(), match.end() + len(rest))


def without_calls(text: str, found: Iterable[TextCall]) -> str:
    """A text with the first argument of some calls in the place of each call; of nested ones the outer alone."""
    end = len(text) + 1
    for call in sorted(found, key=lambda call: -call.start):
        if call.end <= end:
            text = text[: call.start] + call.first + text[call.end :]
            end = call.start
    return text


def _arguments(text: str, start: int) -> tuple[tuple[str, ...], int] | None:
    """The arguments from behind the bracket on, and where the call ends; None where it does not end here."""
    depth, quote, at, begun = 0, "", start, start
    found: list[str] = []
    while at < min(len(text), start + MAX_CALL):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING and depth:
            depth -= 1
        elif char == ")" or (char == "," and not depth):
            found.append(text[begun:at].strip())
            begun = at + 1
            if char == ")":
                return tuple(each for each in found if each), at + 1
        elif char in _CLOSING:
            return None
        at += 1
    return None
