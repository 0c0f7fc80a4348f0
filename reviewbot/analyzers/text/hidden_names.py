"""Names of files that look other than they are: turned around, with invisible characters, or like another name.

A stricter reading than that of lines: no name needs a direction control or a line end. Letters of any one
script, joiners where a script or an emoji needs them, and blanks of any width inside a name are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.analyzers.text.hidden_characters import (
    CONTROLS,
    EMBEDDINGS,
    SEPARATORS,
    SUSPECT,
    TAGS,
    in_latin,
    is_look_alike,
    is_out_of_place,
    tagged_text,
)

HIDDEN, CONFUSABLE = "hidden-in-name", "confusable-name"
"""The rules, as the table of `hidden-text` has them."""

_LINE_ENDS = frozenset("\t\n\f\v")
_WORD = re.compile(r"[^\W\d_]{1,200}")
_EDGE = re.compile(r"(?:^|/)(?P<before>[^\S \t\r\n\f\v/]+)|(?P<after>[^\S \t\r\n\f\v/]+)(?=/|$)")
"""A blank that is no space, where a part of the name begins or ends."""

_SIGNS_ALIKE = frozenset("\u2024\u2044\u2215\u29f8\uff0e\uff0f")
"""They look like a full stop or a slash, and separate nothing."""


class Hit(NamedTuple):
    """What one rule has found on a line or in a name."""

    rule: str
    characters: str
    """In their order."""
    hidden: str = ""
    """What they say where they are a text of their own."""


def name_hits(name: str) -> Iterator[Hit]:
    """At most one hit of each rule."""
    if name.isascii() and name.isprintable():
        return
    tags = [match[0] for match in TAGS.finditer(name) if not match["flag"]]
    hidden = "".join(char for at, char in enumerate(name) if _hides(name, at, char))
    hidden += "".join(match["before"] or match["after"] for match in _EDGE.finditer(name)) + "".join(tags)
    if hidden:
        yield Hit(HIDDEN, hidden, " ".join(map(tagged_text, tags)))
    if alike := "".join(_look_alikes(name)):
        yield Hit(CONFUSABLE, alike)


def look(name: str) -> str:
    """The name as it is seen: two names that people take for one have the same look."""
    shown = SUSPECT.sub("", unicodedata.normalize("NFKC", name))
    return in_latin(unicodedata.normalize("NFC", shown)).casefold()


def _hides(name: str, at: int, char: str) -> bool:
    if char in EMBEDDINGS or char in CONTROLS or char in SEPARATORS or char in _LINE_ENDS:
        return True
    return SUSPECT.match(char) is not None and is_out_of_place(name, at)


def _look_alikes(name: str) -> Iterator[str]:
    words = _WORD.findall(name)
    if not any(is_look_alike(word) == "other" for word in words):
        yield from (char for word in words if is_look_alike(word) == "mixed" for char in word if is_look_alike(char))
    # Titles in Chinese and Japanese have full-width signs.
    if not any(unicodedata.east_asian_width(char) == "W" for char in name):
        yield from (char for char in name if char in _SIGNS_ALIKE)
