"""Words that several modules write in the same form."""

from __future__ import annotations


def with_count(number: int, noun: str) -> str:
    """Write a number with its noun, as in "1 file" and "2,000 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
