"""Phrases that try to steer a review: orders to forget instructions, orders what to report, claims of an approval.

Pure functions of text. A list of phrases proves nothing about a text that has none of them: it shows people an attempt,
and is no defence. Sources: https://genai.owasp.org/llmrisk/llm01-prompt-injection/ and published attempts on review
bots. Every repetition is bounded, so that the search is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from reviewbot.analyzers.text.hidden_characters import SUSPECT, TAGS, in_latin, is_look_alike, tagged_text
from reviewbot.tables import made_once, packaged_table

Kind = Literal["override", "steer", "token"]
"""An order to forget instructions; an order what a review should say; markup that only templates of chats have."""


class Phrase(NamedTuple):
    """One phrase in a normalised text, by its offsets. `mentioned`: it is quoted or described, rather than said."""

    kind: Kind
    start: int
    end: int
    mentioned: bool


_PIECES: Mapping[str, str | list[str]] = packaged_table("steering_phrases")


def _text_of(name: str) -> str:
    """A piece of `data/steering_phrases.toml`, with the pieces that it names put in."""
    return re.sub(r"\{([a-z_]+)\}", lambda found: _text_of(found[1]), "".join(_PIECES[name]))


@made_once
def _pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled when it is first asked for: together they take longer than most files, few of which have a hint."""
    return re.compile(_text_of(name), flags)


_NEAR = 160
"""Characters on both sides of an order in which its addressee is looked for."""

_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"


def has_hint(text: str) -> bool:
    """Whether a text may hold a phrase; cheap. A text with other letters may hold it in disguise."""
    # Looked for in lower case: a pattern that ignores case is ten times slower.
    if not text.isascii():
        return True
    lowered = text.lower()
    short = "ai" in lowered or "bot" in lowered
    return _pattern("hint").search(lowered) is not None or (
        short and _pattern("short_hint").search(lowered) is not None
    )


def normalise(line: str) -> str:
    """The line as it reads, in lower case: without comment marks, hidden characters, look-alike letters, emphasis."""
    if not line.isascii():
        line = TAGS.sub(lambda found: f" {tagged_text(found[0])} ", line)
        line = unicodedata.normalize("NFKC", SUSPECT.sub("", line)).replace("\u2019", "'")
        line = _pattern("word").sub(lambda found: _undisguised(found[0]), line)
    return _pattern("blanks").sub(" ", _pattern("leading", re.IGNORECASE).sub("", line, count=1)).strip().lower()


def phrases(text: str) -> Iterator[Phrase]:
    """All phrases of a normalised text, in no order."""
    if _pattern("may_override").search(text):
        for found in _pattern("override").finditer(text):
            yield Phrase("override", found.start(), found.end(), _is_mentioned(text, found.start(), found.end()))
    for found in _pattern("other_languages").finditer(text):
        yield Phrase("override", found.start(), found.end(), _is_mentioned(text, found.start(), found.end()))
    for order, address in (("to_any_reader", "address"), ("to_machine", "machine")):
        for found in _pattern(order).finditer(text):
            if _pattern(address).search(text[max(0, found.start() - _NEAR) : found.end() + _NEAR]):
                yield Phrase("steer", found.start(), found.end(), mentioned=False)
    yield from (Phrase("steer", *found.span(), mentioned=False) for found in _pattern("claim").finditer(text))
    yield from (Phrase("token", *found.span(), mentioned=False) for found in _pattern("token").finditer(text))


def _undisguised(word: str) -> str:
    """A word of Latin letters among which others only look like them, in Latin letters alone."""
    return in_latin(word) if is_look_alike(word) == "mixed" else word


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Whether an order stands in quotes of its own, or in a sentence about such orders."""
    before, after = text[max(0, start - 40) : start], text[end : end + 2]
    if before[-1:] and before[-1:] in _QUOTES and any(char in _QUOTES for char in after):
        return True
    return bool(_pattern("reported_speech").search(before)) and not _pattern("obliged").search(before)
