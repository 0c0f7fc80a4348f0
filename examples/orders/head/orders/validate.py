"""Checks of what customers type."""

from __future__ import annotations

import re

SKU = re.compile(r"^[A-Z]{2}-\d{4}$")
MONTH = re.compile("^20\d\d-(0[1-9]|1[0-2])$")


def is_sku(text: str) -> bool:
    """Whether a text is the number of an article."""
    return SKU.match(text) is not None


def is_month(text: str) -> bool:
    """Whether a text names a month, as in 2026-03."""
    return MONTH.match(text) is not None
