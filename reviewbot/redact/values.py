"""JSON values without the secrets in their texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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

_SHORTEST_SECRET = 16
"""Characters. The name of a field is masked from there on: a model may choose those of a tool's arguments."""

_DEEPEST = 40
"""No value of ours is nested half as deep. A tool's arguments are what a model made of them, and may be."""
_TOO_DEEP = "(nested too deeply)"


def mask_json(value: Any, mask: Mask, key: str = "", *, chosen: bool = False, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """The same JSON value with its texts masked.

    Names are left alone, because they must go on fitting the change, unless they are `chosen` by a model.
    """
    if depth > _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, dict):
        return {
            (name if len(name) < _SHORTEST_SECRET else mask(name)): mask_json(
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
