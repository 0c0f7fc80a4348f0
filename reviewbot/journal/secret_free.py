"""A journal that stores no value with a secret in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from reviewbot.domain.ports import Journal
from reviewbot.redact.mask import Mask

_SHORT, _SHORT_TEXTS = 200, 5_000
"""Characters and number of the texts of which is remembered whether they hold a secret: names of fields, tools and
paths stand in each of a thousand values, and looking took half a second of a large review."""

_MAX_DEPTH = 40
"""No value of this program is nested half as deep; what a model nests deeper counts as holding a secret."""


class SecretFreeJournal:
    """A `Journal` for the progress and the answers of one review.

    An answer that quotes a secret would have to be kept as it is, for with a mask in it the same run would go another
    way. So it is not kept at all: where the run is resumed, a model is asked again.
    """

    def __init__(self, inner: Journal, mask: Mask) -> None:
        """`mask` changes every text that holds a secret."""
        self._inner = inner
        short = lru_cache(_SHORT_TEXTS)(mask)
        self._mask: Mask = lambda text: (short if len(text) <= _SHORT else mask)(text)

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return self._inner.get(key)

    def put(self, key: str, value: str) -> None:
        """Store, unless there is a secret in it."""
        if not holds_secret(value, self._mask):
            self._inner.put(key, value)


def holds_secret(value: str, mask: Mask) -> bool:
    """Whether a JSON text has a secret in one of its texts, or in a JSON text inside of one, as a model's answer is."""
    try:
        return any(mask(text) != text for text in _texts(value))
    except RecursionError:
        return True


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        yield value
        yield from _texts(_inside(value), depth + 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, depth + 1)


def _inside(text: str) -> object:
    """The object or the list that a text writes; None where it is another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
