"""Make a hunk of Python parse on its own, with an exact map from its lines back to the hunk's.

About a third of all hunks parse as they are. The others begin inside something (a block, a call, a text in triple
quotes) or end inside something. What is open is closed, what was opened before the hunk is opened in front of it, and
as the last resort a few lines at the edges are left out. Nothing in between is touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from reviewbot.analyzers.python.assignments import IMPORTS, imports_of
from reviewbot.analyzers.python.lines import Scan, StatementStart, scan
from reviewbot.analyzers.python.newer_syntax import older
from reviewbot.context.python_text import is_parsable, tree_of
from reviewbot.threads import check_stopped

_EDGE_LINES = 6
"""How many lines may be left out at the two ends together."""

_PARSE_BUDGET = 20_000
"""Lines that may be parsed for one hunk over all attempts, so that a long hunk cannot hold up the review."""

_LINE_CHARS = 200
"""A longer line counts as several: to parse it takes as long."""

_MAX_ATTEMPTS = 500
"""For one hunk. Of 1,891 hunks of one large change a single one would have needed more."""

_WORTH_KEEPING = 2
"""Where nothing parses, the second attempt is the best: complete at both ends and nothing left out."""

_HEADS = ("_(", "def _(", "class _(", "if (", "for _ in (", "with (", "from _ import (")
"""What an unmatched `)` may have closed, most frequent first."""

_AROUND = ("", "{", "[", "_(", "def _(")
"""What the whole hunk may stand in without showing either end of it."""

_TAILS = ("", "_", ": _", "=_", " in _", " else _")
"""What an unfinished expression may lack."""

_OPERATOR = re.compile(r"\s{0,200}(?:(?:and|or|in|is|if|else|for|not in)\b|[.+/%|&^<>=!]|-\s)")
"""How a line begins that goes on with an expression of the line before."""

_PAIRS = {"(": ")", "[": "]", "{": "}", ")": "(", "]": "[", "}": "{"}


class Fragment(NamedTuple):
    """A text for an analyzer. `origin[i]` is the index of the hunk's line that stands on its i-th line, or None."""

    text: str
    origin: tuple[int | None, ...]
    tree: ast.Module | None
    """Of the text, with the imports of those well-known names that the hunk speaks of. None: it does not parse; of the
    best attempt only a parser that knows newer syntax can still read it."""

    @property
    def parses(self) -> bool:
        """Whether the text parses."""
        return self.tree is not None


class _Piece(NamedTuple):
    text: str
    origin: int | None


def repair(lines: Sequence[str]) -> Fragment:
    """The new side of one hunk, without markers, as a text that parses where that can be reached."""
    pieces = [_Piece(line, index) for index, line in enumerate(lines)]
    whole = "\n".join(lines)
    if not is_parsable(whole):
        return _fragment(pieces, None)
    budget = _PARSE_BUDGET
    newer: bool | None = None
    tried: list[list[_Piece]] = []
    for attempt in islice(_attempts(pieces), _MAX_ATTEMPTS):
        check_stopped()
        budget -= sum(1 + len(piece.text) // _LINE_CHARS for piece in attempt)
        if tried and attempt == tried[0]:  # where nothing is missing, the first completion is the hunk as it is
            tried = [*tried, attempt][:_WORTH_KEEPING]
            continue
        # The empty row stands for that of the imports: they get into the tree without being parsed each time.
        text = "".join(("\n", *(f"{piece.text}\n" for piece in attempt)))
        tree = tree_of(text)
        if tree is None:
            # To look for newer syntax in each of hundreds of attempts is dear; where the hunk has none, none has.
            newer = older(whole) != whole if newer is None else newer
            tree = tree_of(older(text)) if newer else None
        if tree is not None:
            tree.body[:0] = imports_of(text)
            return _fragment(attempt, tree)
        tried = [*tried, attempt][:_WORTH_KEEPING]
        if budget < 0:
            break
    return _fragment(tried[-1], None)


def _fragment(pieces: list[_Piece], tree: ast.Module | None) -> Fragment:
    every = [_Piece(IMPORTS, None), *pieces]
    return Fragment("".join(f"{piece.text}\n" for piece in every), tuple(piece.origin for piece in every), tree)


def _attempts(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """The hunk as it is, then opened and closed in every plausible way, then without a few lines at its edges."""
    yield pieces
    for dropped in range(min(_EDGE_LINES, len(pieces) - 1) + 1):
        for top in range(dropped + 1):
            yield from _completed(pieces[top : len(pieces) - dropped + top])


def _completed(body: list[_Piece]) -> Iterator[list[_Piece]]:
    texts = [piece.text for piece in body]
    quotes = ["", *(quote for quote in ('"""', "'''") if any(quote in text for text in texts))]
    for around in _AROUND:
        for quote in quotes:
            found = scan(texts, quote)
            heads = _HEADS if found.unmatched[-1:] == [")"] and not around else ("",)
            tails = _TAILS if found.open or found.continued or around else ("",)
            for head, tail in product(heads, tails):
                yield [*_in_front(found, texts[0], around, head, quote), *body, *_behind(found, around, tail)]


def _in_front(found: Scan, first: str, around: str, head: str, quote: str) -> list[_Piece]:
    """An opener for each level that the hunk falls back to, then what its first statement needs before it."""
    opened = "".join(_PAIRS[char] for char in reversed(found.unmatched))
    opened = head + opened[1:] if head else opened
    if (opened or around) and not quote and _OPERATOR.match(first):
        opened += "_"
    if around:
        return [_Piece(f"{around}{'_: ' if around == '{' and opened else ''}{opened}{quote}", None)]
    levels = _dedented_statements(found, begun=bool(quote or opened))
    if not levels:
        return []
    made = _openers(levels, found)
    margin = found.pad * levels[-1].indent
    if quote or opened:
        return [*made, _Piece(f"{margin}{opened}{quote}", None)]
    return [*made, *(_Piece(f"{margin}{half}: pass", None) for half in _FIRST_HALF.get(levels[-1].word, ()))]


_HANDLERS = frozenset({"except", "finally"})
_FIRST_HALF = {"else": ("if 1",), "elif": ("if 1",), "except": ("try",), "finally": ("try",)}
"""What must stand before a hunk whose first statement is the second half of something."""


def _dedented_statements(found: Scan, *, begun: bool) -> list[StatementStart]:
    """The statements that need an opener in front, outermost first, and at the end the first statement of all.

    Those are the ones that fall back to an indentation below all before them. Where the first statement begins before
    the hunk (`begun`), its indentation is taken from what follows.
    """
    if not found.statements:
        return []
    first, *others = found.statements
    if begun:
        first = StatementStart(_indent_of_begun(found, others), first.word)
    levels = [first]
    for statement in others:
        if statement.indent < levels[-1].indent:
            levels.append(statement)
    if levels[-1].indent > 0:
        levels.append(StatementStart(0, ""))
    return levels[::-1]


def _indent_of_begun(found: Scan, others: list[StatementStart]) -> int:
    if not others:
        return 0
    following = others[0].indent
    if not found.first_is_header:
        return following
    return max((statement.indent for statement in others if statement.indent < following), default=0)


def _openers(levels: list[StatementStart], found: Scan) -> list[_Piece]:
    made: list[_Piece] = []
    for position, (indent, word) in enumerate(levels[:-1]):
        margin = found.pad * indent
        if word == "case":
            outer = levels[position - 1].indent if position else -1
            made.append(_Piece(f"{found.pad * ((outer + indent + 1) // 2)}match 0:", None))
            made.append(_Piece(f"{margin}case 0:", None))
        elif word in _HANDLERS:
            made.append(_Piece(f"{margin}try:", None))
        else:
            made.append(_Piece(f"{margin}{'async def _()' if found.awaits and not position else 'if 1'}:", None))
    return made


def _behind(found: Scan, around: str, tail: str) -> list[_Piece]:
    """The end of an open text and of open brackets, a body for the last head, an end for each `try`."""
    closing = "".join(_PAIRS[char] for char in reversed(found.open))
    if around:
        ends = {"{": "}", "[": "]", "_(": ")", "def _(": "): pass"}
        return [_Piece(f"{found.quote}{tail}{closing}{ends[around]}", None)]
    heads = found.compound and bool(found.open)
    ending = f"{found.quote}{tail}{closing}{':' if heads else ''}"
    made = [_Piece(ending, None)] if ending else []
    indent = max((statement.indent for statement in found.statements[-1:]), default=0)
    if found.header or heads:
        made.append(_Piece(f"{found.pad * (indent + 1)}pass", None))
    elif found.decorated:
        made.append(_Piece(f"{found.pad * indent}def _(): pass", None))
    return [*made, *(_Piece(f"{found.pad * level}finally: pass", None) for level in found.open_tries)]
