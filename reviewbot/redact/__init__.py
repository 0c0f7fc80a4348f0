"""Secrets in text: where they stand, and texts without them. Pure."""

from __future__ import annotations

from reviewbot.redact.mask import MASK, Mask, SecretMask, mask_json, redact
from reviewbot.redact.patterns import KINDS, NAMED, PRIVATE_KEY, Secret, find_secrets

__all__ = [
    "KINDS",
    "MASK",
    "NAMED",
    "PRIVATE_KEY",
    "Mask",
    "Secret",
    "SecretMask",
    "find_secrets",
    "mask_json",
    "redact",
]
