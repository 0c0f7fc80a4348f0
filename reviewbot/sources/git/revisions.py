"""Parse the notation of a range of commits. The names of revisions in it are resolved by git."""

from __future__ import annotations

from typing import NamedTuple

from reviewbot.domain.errors import InputError

HEAD = "HEAD"


class Range(NamedTuple):
    """The two ends. `base` is None for a single revision; then its first parent is meant."""

    base: str | None
    head: str
    from_merge_base: bool = False


def parse_range(text: str) -> Range:
    """Take `A..B`, `A...B` or `A` apart. Raises InputError for a text that no revision can be."""
    dots = next((dots for dots in ("...", "..") if dots in text), None)
    if dots is None:
        return Range(None, _checked(text, text))
    base, _, head = text.partition(dots)
    return Range(_checked(base or HEAD, text), _checked(head or HEAD, text), from_merge_base=dots == "...")


def _checked(name: str, text: str) -> str:
    if not name.strip() or name.startswith(("-", ".")) or not name.isprintable():
        raise InputError(f"{ascii(text)[:100]} is no range of commits; write A..B, A...B or one commit")
    return name
