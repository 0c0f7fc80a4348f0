"""Globs over paths of a change: what a pattern may be, and whether it matches, in bounded time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

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
    if glob_fault(pattern) is not None:
        return False
    # "**" and "*" mean the same here, and one star is all that the matcher has to try.
    forms = {pattern, pattern.replace("/**/", "/"), pattern.removeprefix("**/")}
    forms.add(pattern.removeprefix("**/").replace("/**/", "/"))
    return any(fnmatchcase(path, _RUN_OF_STARS.sub("*", form)) for form in forms)


def applies(patterns: Iterable[str], path: str, kind: str) -> bool:
    """Whether a card with these `applies_to` is for a file. "@code", "@config", "@prose" match files of that kind."""
    return any(p == f"@{kind}" or (not p.startswith("@") and matches_glob(p, path)) for p in patterns)
