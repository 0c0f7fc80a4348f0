"""Globs over paths of a change: what a pattern may be, and whether it matches, in bounded time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

MAX_LENGTH = 256
"""Characters. A longer pattern is a mistake or an attack."""

_RUN_OF_STARS = re.compile(r"\*{2,}")


def glob_fault(pattern: str) -> str | None:
    """What is wrong with a pattern, in words that follow its quotation; None where it may be used."""
    if not pattern:
        return "is empty"
    if len(pattern) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    if any(not character.isprintable() for character in pattern):
        return "holds a character that cannot be printed"
    return None


def matches_glob(pattern: str, path: str) -> bool:
    """Whether a path has the pattern's form. "*" crosses folders; "**/" also stands for no folder at all.

    Case counts, on every system. A pattern that `glob_fault` refuses matches nothing.
    """
    return _compile((pattern,)).match(path) is not None


def matches_any(patterns: tuple[str, ...], path: str) -> bool:
    """Whether a path has the form of one of these patterns, as fast for many of them as for one."""
    return _compile(patterns).match(path) is not None


@lru_cache(maxsize=1_024)
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns that may be used. `translate` makes none that tries a text again and again."""
    forms = dict.fromkeys(form for pattern in patterns if glob_fault(pattern) is None for form in _forms(pattern))
    # "**" and "*" mean the same here, and one star is all that the matcher has to try.
    return re.compile("|".join(translate(_RUN_OF_STARS.sub("*", form)) for form in forms) or r"(?!)")


def _forms(pattern: str) -> tuple[str, ...]:
    """The pattern, and what it is where "**/" stands for no folder."""
    inner = pattern.removeprefix("**/")
    return pattern, inner, pattern.replace("/**/", "/"), inner.replace("/**/", "/")


def applies(patterns: Iterable[str], path: str, kind: str) -> bool:
    """Whether a card with these `applies_to` is for a file. "@code", "@config", "@prose" match files of that kind."""
    return any(p == f"@{kind}" or (not p.startswith("@") and matches_glob(p, path)) for p in patterns)
