"""Check the body of a delivery: its signature over the raw bytes, and that it is JSON with one reading only."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from hashlib import sha256

from reviewbot.strict_json import strictly

_SIGNATURE = re.compile(rb"sha256=([0-9a-f]{64})")


class JsonError(ValueError):
    """The bytes are no JSON object that can be read in one way only."""


def is_signed(body: bytes, header: str | None, secrets: Iterable[bytes]) -> bool:
    """Whether `X-Hub-Signature-256` fits the raw body, by one of the secrets (two while one is exchanged).

    All secrets are tried, so that the time says nothing about which one it was.
    https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    """
    # A WSGI server hands over headers as Latin-1; what is not even that fits no signature.
    given = _SIGNATURE.fullmatch((header or "").encode("latin-1", "replace"))
    digest = given.group(1) if given else b""
    fits = False
    for secret in secrets:
        fits |= hmac.compare_digest(hmac.new(secret, body, sha256).hexdigest().encode(), digest)
    return fits


def read_object(body: bytes) -> dict[str, object]:
    """The object that is all of `body`.

    Raises JsonError for other encodings than UTF-8, a byte order mark, a key that stands twice, NaN and Infinity,
    more levels than can be read, and anything at the top but an object.
    """
    try:
        value = strictly(body.decode("utf-8"))
    except ValueError:
        raise JsonError("no JSON that can be read") from None
    if not isinstance(value, dict):
        raise JsonError("no object")
    return value
