"""Mask secrets in texts and in JSON values: unknown ones by their form, known ones by their value, however quoted.

A line from the middle of a private key, a token without its prefix, or one with backticks, blanks or line ends in it
has no form any more. So letters and digits alone are compared: pieces of the known values, one after the other, are
looked up in the text, and what is found is followed to both sides. Linear in the text.
"""

from __future__ import annotations

import base64
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from reviewbot.redact.patterns import NAMED, find_secrets

MASK = "****"
"""Of one length whatever it hides, so that it does not give away the length of a secret."""

_PIECE = 8
"""Letters and digits of a piece of a value that is looked up."""

_MIN_PART_CHARS = 12
"""Letters and digits of a value that are masked where they stand together; a shorter part of it gives little away."""

_MAX_PIECES = 100_000
"""Of all values of a change, about 20 MB. Whatever is beyond is masked by its form alone."""

_MAX_PLACES = 8
"""Places of one piece in the values that are followed."""

_MAX_DISGUISED = 400
"""Characters of a value that is also looked for reversed and encoded."""

_LETTER = re.compile(r"[A-Za-z0-9]")
_OTHERS = re.compile(r"[^A-Za-z0-9]+")

_Span = tuple[int, int]

Mask = Callable[[str], str]
"""A text in, the same text with its secrets masked out."""

NAME_FIELDS = frozenset(
    {"path", "paths", "file_path", "old_path", "task_id", "task_ids", "root", "depends_on", "worker", "type"}
)
"""Fields of a review or trace that name something and hold no text of the change."""

_NAMING = frozenset({"rule", "category", "source", "sources"})
"""Fields that a model may fill as well, and in which a mask would be no word of their kind."""
_MASKED_NAME = "masked"

_CHOSEN = frozenset({"arguments", "candidate"})
"""Fields with what a model gave to a tool, or claimed of a place that was not found. A name in them is the model's."""

_MIN_SECRET_CHARS = 16
"""Characters. The name of a field is masked from there on: a model may choose those of a tool's arguments."""

_MAX_DEPTH = 40
"""No value of this program is nested half as deep; the arguments of a tool call, which a model writes, may be."""
_TOO_DEEP = "(nested too deeply)"


class _Place(NamedTuple):
    """Where a piece stands in a known value. A whole value is masked only where all of it is quoted."""

    value: str
    at: int
    whole: bool


class SecretMask:
    """Masks secrets in texts: each by its form, and known ones by their value. Without known ones it is `redact`."""

    def __init__(self, texts: Iterable[str] = (), values: Iterable[str] = ()) -> None:
        """`texts` are searched for secrets, stand-ins from documentation left out; `values` are secrets."""
        self._pieces: dict[str, list[_Place]] = defaultdict(list)
        self._count = 0
        for value in values:
            self._learn(value, whole=False)
        for text in texts:
            for secret in find_secrets(text):
                if not secret.placeholder:
                    self._learn(text[secret.start + secret.shown : secret.end], whole=secret.kind == NAMED)

    def __call__(self, text: str, *, keep_lines: bool = False) -> str:
        """The text with the value of every secret masked; a provider's prefix stays. Doing it twice changes nothing.

        With `keep_lines` a secret of several lines stays that many lines, so that line numbers hold.
        """
        spans = [(secret.start + secret.shown, secret.end) for secret in find_secrets(text)]
        spans += self._known(text)
        parts: list[str] = []
        done = 0
        for start, end in _joined(spans):
            parts += [text[done:start], MASK, "\n" * text.count("\n", start, end) if keep_lines else ""]
            done = end
        return "".join([*parts, text[done:]])

    def _learn(self, value: str, *, whole: bool) -> None:
        forms = [value, *(_disguises(value) if len(value) <= _MAX_DISGUISED else ())]
        for letters in dict.fromkeys(_OTHERS.sub("", form) for form in forms):
            self._count += len(letters) // _PIECE
            if len(letters) < (_PIECE if whole else _MIN_PART_CHARS) or self._count > _MAX_PIECES:
                continue
            for at in range(0, len(letters) - _PIECE + 1, _PIECE):
                places = self._pieces[letters[at : at + _PIECE]]
                if len(places) < _MAX_PLACES:
                    places.append(_Place(letters, at, whole))

    def _known(self, text: str) -> Iterator[_Span]:
        """Where known values, or parts of them, stand in a text; later spans may lie inside of earlier ones."""
        if not self._pieces or len(text) < _MIN_PART_CHARS:
            return
        letters = _OTHERS.sub("", text)
        offsets: list[int] = []
        at = done = 0
        while at <= len(letters) - _PIECE:
            places = self._pieces.get(letters[at : at + _PIECE])
            if places is None:
                at += 1
                continue
            offsets = offsets or [found.start() for found in _LETTER.finditer(text)]
            found = max((_followed(letters, at, done, place) for place in places), key=_length)
            if _length(found):
                done = found[1]
                yield offsets[found[0]], offsets[done - 1] + 1
            at = max(at + 1, done)


def redact(text: str, *, keep_lines: bool = False) -> str:
    """The text with the value of every secret masked that is known by its form; see `SecretMask`."""
    return _BY_FORM(text, keep_lines=keep_lines)


_BY_FORM = SecretMask()


def _followed(letters: str, at: int, done: int, place: _Place) -> _Span:
    """How far a text goes on like a value, to both sides of a piece but not before `done`; empty: too little of it."""
    value, start, end = place.value, at, at + _PIECE
    first, last = place.at, place.at + _PIECE
    if place.whole:
        begin = at - first
        return (begin, begin + len(value)) if begin >= done and letters.startswith(value, begin) else (at, at)
    while start > done and first and letters[start - 1] == value[first - 1]:
        start, first = start - 1, first - 1
    while end < len(letters) and last < len(value) and letters[end] == value[last]:
        end, last = end + 1, last + 1
    return (start, end) if end - start >= _MIN_PART_CHARS else (at, at)


def _length(span: _Span) -> int:
    return span[1] - span[0]


def _joined(spans: Iterable[_Span]) -> Iterator[_Span]:
    """The spans in their order, those that overlap as one, without empty ones."""
    start = end = 0
    for first, last in sorted(span for span in spans if span[0] < span[1]):
        if first < end:
            end = max(end, last)
            continue
        if end:
            yield start, end
        start, end = first, last
    if end:
        yield start, end


def _disguises(value: str) -> Iterator[str]:
    """The value as a model may be made to write it: reversed, in hexadecimal digits, in base64 at each offset."""
    data = value.encode("utf-8", "surrogatepass")
    yield value[::-1]
    yield data.hex()
    for offset in range(3):
        # What stands before and after decides about the first and the last characters.
        yield base64.b64encode(b"\0" * offset + data).decode()[4 if offset else 0 : -4]


def mask_json(value: Any, mask: Mask, key: str = "", *, chosen: bool = False, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """A copy of a JSON value with its texts masked.

    Names are left alone, because they must go on fitting the change, unless they are `chosen` by a model.
    """
    if depth > _MAX_DEPTH:
        return _TOO_DEEP
    if isinstance(value, dict):
        return {
            (name if len(name) < _MIN_SECRET_CHARS else mask(name)): mask_json(
                inner, mask, name, chosen=chosen or name in _CHOSEN, depth=depth + 1
            )
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [mask_json(inner, mask, key, chosen=chosen, depth=depth + 1) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, str) or (key in NAME_FIELDS and not chosen):
        return value
    masked = mask(value)
    if masked == value:
        return value
    # Code with a mask in it is no replacement of anything.
    return None if key == "replacement" else _MASKED_NAME if key in _NAMING else masked
