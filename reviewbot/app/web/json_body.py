"""Parse a body as JSON that can be read in one way only, within bounds."""

from __future__ import annotations

import re

from reviewbot.strict_json import strictly

MAX_DEPTH = 64
"""Levels. GitHub's payloads have at most a dozen."""

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


class JsonError(ValueError):
    """The bytes are no JSON object that can be read in one way only."""


def read_object(body: bytes) -> dict[str, object]:
    """The object that is all of `body`.

    Raises JsonError for other encodings than UTF-8, a byte order mark, a key that stands twice, numbers that are none,
    too many levels, and anything at the top but an object.
    """
    try:
        text = body.decode("utf-8")
        # Few brackets cannot be nested deeply; only where there are many is it looked at where they stand.
        if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _too_deep(text):
            raise JsonError("too many levels")
        value = strictly(text)
    except ValueError:
        raise JsonError("no JSON that can be read") from None
    if not isinstance(value, dict):
        raise JsonError("no object")
    return value


def _too_deep(text: str) -> bool:
    depth = 0
    for found in _TOKENS.finditer(text):
        mark = found.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark in "]}":
            depth -= 1
    return False
