"""Statements of Python code, however many rows a formatter gives them."""

from __future__ import annotations

import bisect
import io
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewbot.context.python_text import parse_python

_BLANK = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})


class Statement(NamedTuple):
    """A simple statement, or what stands above the block of a compound one, on rows `first` to `last`."""

    first: int
    last: int
    code: str
    """As it stands in the file, without its comments."""


class Statements:
    """The statements of one file, in order."""

    def __init__(self, text: str | None) -> None:
        """`text` is the whole file; one that does not parse has no statements."""
        self._all = () if parse_python(text) is None or text is None else tuple(_statements(text))
        self._ends = [each.last for each in self._all]

    def over(self, first: int, last: int) -> tuple[Statement, ...]:
        """Those that have one of these rows."""
        start = bisect.bisect_left(self._ends, first)
        end = start
        while end < len(self._all) and self._all[end].first <= last:
            end += 1
        return self._all[start:end]


def _statements(text: str) -> Iterator[Statement]:
    rows = text.split("\n")
    pieces: list[str] = []
    begin: tuple[int, int] | None = None
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
            if token.type == tokenize.COMMENT and begin is not None:
                pieces.append(_between(rows, begin, token.start))
                begin = token.end
            elif token.type == tokenize.NEWLINE and begin is not None:
                yield Statement(first, token.start[0], "".join(pieces) + _between(rows, begin, token.start))
                begin = None
            elif begin is None and token.type not in _BLANK and token.type != tokenize.COMMENT:
                begin, first, pieces = token.start, token.start[0], []
    except (tokenize.TokenError, SyntaxError):
        return


def _between(rows: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one place to another, each a row from 1 and a column from 0."""
    (first, left), (last, right) = start, end
    if first == last:
        return rows[first - 1][left:right]
    return "\n".join([rows[first - 1][left:], *rows[first : last - 1], rows[last - 1][:right]])
