"""JSON from outside, one value at a time: what has another type than it should have is taken as absent."""

from __future__ import annotations

from typing import Any

_LARGEST = 2**31 - 1
"""No file has more lines, no list more entries."""


def a_dict(value: object) -> dict[str, Any]:
    """The value where it is an object; empty else."""
    return value if isinstance(value, dict) else {}


def a_list(value: object) -> list[Any]:
    """The value where it is an array; empty else."""
    return value if isinstance(value, list) else []


def a_text(value: object) -> str:
    """The value where it is a text, without halves of characters, which no other part of us takes; empty else."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def a_number(value: object) -> int | None:
    """The value where it is a whole number of 0 or more; None else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        return None
    return value


def an_entry(values: list[Any], index: object) -> dict[str, Any]:
    """The object at an index; empty where there is none."""
    at = a_number(index)
    return a_dict(values[at]) if at is not None and at < len(values) else {}
