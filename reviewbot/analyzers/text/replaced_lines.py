"""Removed lines of a file beside the added lines in their place, and what a check says of a pair of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from reviewbot.analyzers.text.call_texts import find_calls
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile

MAX_LINE = 600
"""Characters; a longer line is generated."""

MAX_COMPARED = 1_000
"""Pairs of lines of one file that are compared letter by letter."""

MIN_ALIKE = 0.7
"""How much an added line must be like the removed one without its protection, 0 to 1."""

NAME_OF_CODE = re.compile(r"[A-Za-z_]\w*")
"""A name in code."""


class Block(NamedTuple):
    """Removed lines and the added ones in their place."""

    removed: tuple[Row, ...]
    added: tuple[Row, ...]


class Loss(NamedTuple):
    """What a line has lost: the rule, the removed and the added row, and what to say."""

    rule: str
    removed: Row
    added: Row
    what: str = ""
    """What the message names."""


class ReplacedLines:
    """The blocks of a file, and what all of its lines say."""

    def __init__(self, file: ChangedFile) -> None:
        self.language, self.path = file.language, file.path
        self._head = file.head or ""
        self._compared = 0
        self._in_calls: dict[re.Pattern[str], frozenset[str]] = {}
        hunks = [list(hunk_rows(hunk)) for hunk in file.hunks]
        self.rows = [row for rows in hunks for row in rows]
        self.blocks = [block for rows in hunks for block in _find_blocks(rows)]

    @cached_property
    def added(self) -> str:
        """All added lines."""
        return "\n".join(row.text for block in self.blocks for row in block.added)

    @cached_property
    def removed_rows(self) -> list[Row]:
        """All removed lines."""
        return [row for block in self.blocks for row in block.removed]

    @cached_property
    def removed(self) -> str:
        """The text of all removed lines."""
        return "\n".join(row.text for row in self.removed_rows)

    def names_in_calls(self, called: re.Pattern[str]) -> frozenset[str]:
        """The names in the arguments of calls of `called` on added lines."""
        if called not in self._in_calls:
            arguments = "\n".join("\n".join(call.arguments) for call in find_calls(self.added, called))
            self._in_calls[called] = frozenset(NAME_OF_CODE.findall(arguments))
        return self._in_calls[called]

    def is_alike(self, one: str, other: str) -> bool:
        """Whether two lines without their white space are alike; after `MAX_COMPARED` calls, whether the same."""
        if one == other or self._compared >= MAX_COMPARED:
            return one == other
        self._compared += 1
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        return matcher.quick_ratio() >= MIN_ALIKE and matcher.ratio() >= MIN_ALIKE

    @property
    def head(self) -> str:
        """The new side, as far as it is at hand."""
        return self._head or self.added


def _find_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    for context, run in groupby(rows, lambda row: row.kind == " "):
        if not context:
            changed = list(run)
            short = [row for row in changed if len(row.text) <= MAX_LINE]
            yield Block(*(tuple(row for row in short if row.kind == kind) for kind in "-+"))


def plain(text: str) -> str:
    """A line without white space, with one kind of quotes."""
    return "".join(text.split()).replace('"', "'").rstrip(";,")
