"""Check that an instruction of a proposed plan says something that the worker's prompt does not imply.

An instruction to look away is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import basename, splitext

from reviewbot.tables import pattern_in, words_in

MIN_WORDS = 6
"""Of an instruction; below that it names no place and no kind of defect, or not both."""

MIN_TELLING_WORDS = 3
"""Words of an instruction that are not among the empty ones."""

MIN_STEM_CHARS = 5
"""Characters of a file's name without its ending that may stand for it; shorter ones are words of any sentence."""

MAX_FOCUS = 600
"""Characters of an instruction that a worker is shown; what needs more is two tasks."""

EMPTY_WORDS = words_in("names/plans", "empty_words")
"""Words that fit every change alike."""

SYMBOL = re.compile(
    r"`[^`]+`|\b\w+\(|\b[a-z0-9]+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[a-z_]{3,}\.[a-z_]{3,}"
)
"""A name of the code."""

_WORD = re.compile(r"[^\W\d_][\w'+-]*")


def looks_away(text: str) -> bool:
    """Whether a text says what to leave out or what to answer, and not where to look."""
    # A plan says where to look and never where not to: that would drop a task without dropping it.
    return pattern_in("names/plans", "look_away").search(text) is not None


def vagueness(text: str, files: Iterable[str]) -> str | None:
    """Why an instruction about these files is too vague, to follow "its instruction"; None where it is not."""
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < MIN_WORDS:
        return f"has fewer than {MIN_WORDS} words"
    if looks_away(text):
        return "tells the worker to look away; say where to look"
    names = [name.lower() for path in files for name in _names_of(path)]
    bare = text.lower()
    for name in names:
        bare = bare.replace(name, " ")
    if len(set(_WORD.findall(bare)) - EMPTY_WORDS) < MIN_TELLING_WORDS:
        return "fits every change alike; say what to look for, and where"
    # Kinds of defects, and what they hang on.
    kind = pattern_in("names/plans", "defect_kind")
    if any(name in text.lower() for name in names) or SYMBOL.search(text) or kind.search(text):
        return None
    return "names no file, no symbol and no kind of defect"


def _names_of(path: str) -> Iterator[str]:
    """What a file is called, the longest name first."""
    name = basename(path)
    stem = splitext(name)[0]
    yield from filter(None, (path, name))
    if len(stem) >= MIN_STEM_CHARS:
        yield stem


def one_line(text: str) -> str:
    """Words of a model as one line that a worker may be shown: no control characters, and not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:MAX_FOCUS]
