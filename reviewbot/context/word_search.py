"""Lines of a text that hold a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.domain.ports import Occurrence

MAX_WORD = 200
MAX_LINE = 2_000
"""Characters of a line that are handed on."""


def is_word(word: str) -> bool:
    """Whether it is one that is searched for."""
    return word.isidentifier() and len(word) <= MAX_WORD


def whole_word(word: str) -> re.Pattern[str]:
    """An expression for the word, where it is no part of a longer one."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def lines_with(path: str, text: str, whole: re.Pattern[str]) -> Iterator[Occurrence]:
    """Yield the lines of a text that match, each once."""
    line, counted, next_line = 1, 0, 0
    for match in whole.finditer(text):
        if match.start() < next_line:
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        begin = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        next_line = len(text) if end < 0 else end + 1
        yield Occurrence(path, line, text[begin : begin + MAX_LINE if end < 0 else min(end, begin + MAX_LINE)])
