"""Checks of what customers type."""

from __future__ import annotations

import re

SKU = re.compile(r"^[A-Z]{2}-\d{4}$")


def is_sku(text: str) -> bool:
    """Whether a text is the number of an article."""
    return SKU.match(text) is not None
