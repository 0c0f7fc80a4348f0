"""Verify the host's signature of a body. Bytes alone are compared: a header may hold anything."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from hashlib import sha256

_SIGNATURE = re.compile(rb"sha256=([0-9a-f]{64})")


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
