"""Secrets in text by their form: where they stand. Pure and linear in the text.

Two kinds are known. A provider's token has a prefix that the provider chose so that it can be recognised. A named
value is a string of high entropy that is assigned to something called password, token or the like: a hint, no more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.tables import packaged_table

NAMED = "named value"
"""The kind of a secret that is recognised by the name that it is assigned to."""

PRIVATE_KEY = "private key"
ACCESS_KEY_ID = "AWS access key id"
"""The kind of a PEM block. Its header is no secret; what follows it is."""

_NAMED_CONFIDENCE = 60
_BARE_HEADER_CONFIDENCE = 60
"""Programs that read keys name the header too."""

_MIN_ENTROPY_BITS = 3.3
"""Per character. English words stay below it at this length, random letters and digits above."""

_FEW_DISTINCT = 4
"""A token of at most so many different characters was typed by hand."""


class Secret(NamedTuple):
    """One secret in a text. `start` to `end` is all of it, the first `shown` characters may be shown."""

    kind: str
    start: int
    end: int
    shown: int
    confidence: int
    """How sure it is that this kind of thing is a secret, 0-100, placeholders not counted."""
    placeholder: bool
    """It looks like a stand-in from documentation rather than a real value."""


class _Provider(NamedTuple):
    kind: str
    prefix: str
    body: str
    confidence: int


_BETWEEN = r"(?:[\s\"',`>|#*/;-]|\\[nrt]){0,80}"
"""What may stand between the lines of a key: blanks, quotes, marks of comments and of removed lines, written escapes.
(The "+" of an added line is in the class of base64.)"""

_CUT_SHORT = re.compile(_BETWEEN + r"(?:\.{3}|\u2026)")
"""What follows a key of which only some lines are shown."""

_PROVIDERS = tuple(
    _Provider(row["kind"], row["prefix"], row["body"].replace("{between}", _BETWEEN), row["confidence"])
    for row in packaged_table("secrets")["provider"]
)
KINDS = (*(provider.kind for provider in _PROVIDERS), NAMED)
"""Every kind of secret."""

_PREFIX = re.compile("|".join(f"(?:{provider.prefix})" for provider in _PROVIDERS))
"""Looked for first: the search for it can skip, and is seven times as fast as that for the whole."""

_PROVIDER = re.compile("|".join(f"(?P<p{i}>{p.prefix})(?:{p.body})" for i, p in enumerate(_PROVIDERS)))
_ASSIGNED = re.compile(
    r"(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z0-9_-]{0,30}"
    r"[\"']?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}[\"'`](?P<value>[^\s\"'`]{16,200})[\"'`]",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
"""Characters that are not shown, without those that end a line."""

_STAND_IN = re.compile(
    r"example|placeholder|dummy|sample|change_?me|redacted|your|x{4}|0{4}|\*{3}|\.{3}|12345678|abcdefgh", re.IGNORECASE
)
_REFERENCE = re.compile(r"[${<]|://|^[./~]|^[a-z_]+(?:[.:/-][a-z_]+)*$", re.IGNORECASE)
"""A value that points at something: a template, an address, a path, words joined by dots or dashes."""


def find_secrets(text: str) -> Iterator[Secret]:
    """All secrets of a text in the order of their place, without overlaps; `text` may have any number of lines.

    Characters that are not shown are passed over: a token that holds one is found all the same.
    """
    plain, at = _without_hidden(text)
    end = 0
    found = (*_provider_tokens(plain), *_named_values(plain))
    for secret in sorted(found, key=lambda secret: (secret.start, secret.kind == NAMED)):
        if secret.start >= end:
            end = secret.end
            yield secret if at is None else _moved(secret, at)


def _without_hidden(text: str) -> tuple[str, list[int] | None]:
    """The text without characters that are not shown, and for each of the others its offset; None: it is the same."""
    if text.isascii() or _HIDDEN.search(text) is None:
        return text, None
    at = [offset for offset, char in enumerate(text) if not _HIDDEN.match(char)]
    return _HIDDEN.sub("", text), [*at, len(text)]


def _moved(secret: Secret, at: list[int]) -> Secret:
    """The same secret in the text with its hidden characters."""
    last = at[secret.end - 1] + 1
    shown = (at[secret.start + secret.shown] if secret.start + secret.shown < secret.end else last) - at[secret.start]
    return secret._replace(start=at[secret.start], end=last, shown=shown)


def _provider_tokens(text: str) -> Iterator[Secret]:
    begin = 0
    while (prefix := _PREFIX.search(text, begin)) is not None:
        match = _PROVIDER.match(text, prefix.start())
        if match is None:
            begin = prefix.start() + 1
            continue
        begin = match.end()
        group = match.lastgroup or "p0"
        provider = _PROVIDERS[int(group[1:])]
        body = text[match.end(group) : match.end()]
        shown = match.end(group) - match.start()
        confidence = provider.confidence if body else _BARE_HEADER_CONFIDENCE
        cut = provider.kind == PRIVATE_KEY and _CUT_SHORT.match(text, match.end()) is not None
        placeholder = bool(body) and (cut or _is_stand_in(body))
        yield Secret(provider.kind, match.start(), match.end(), shown, confidence, placeholder)


def _named_values(text: str) -> Iterator[Secret]:
    for match in _ASSIGNED.finditer(text):
        value = match["value"]
        if _looks_random(value) and not _is_stand_in(value):
            yield Secret(NAMED, match.start("value"), match.end("value"), 0, _NAMED_CONFIDENCE, placeholder=False)


def _is_stand_in(body: str) -> bool:
    return bool(_STAND_IN.search(body)) or len(set(body)) <= _FEW_DISTINCT


def _looks_random(value: str) -> bool:
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and not _REFERENCE.search(value) and _entropy(value) >= _MIN_ENTROPY_BITS


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
