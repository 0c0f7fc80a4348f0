"""Former names of tiers and engines, which configuration and cards may still use. Nothing else takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")

FORMER_TIERS = {"haiku": "small", "sonnet": "medium", "opus": "large"}
"""The current name by the former one."""

FORMER_ENGINES = {"claude": "models"}
"""The same for what does the work of a review."""

FORMER_KEYS = {f"model_{former}": f"model_{tier}" for former, tier in FORMER_TIERS.items()}
"""The same for the settings that name the model of a tier."""


def current_tier(tier: object) -> object:
    """The current name of a tier; anything else as it is, for the caller to refuse."""
    return FORMER_TIERS.get(tier, tier) if isinstance(tier, str) else tier


def current_keys(table: Mapping[str, Value]) -> dict[str, Value]:
    """A table of settings under their current names. A value under a current name wins over one under its former."""
    former = {FORMER_KEYS[key]: value for key, value in table.items() if key in FORMER_KEYS}
    return former | {key: value for key, value in table.items() if key not in FORMER_KEYS}
