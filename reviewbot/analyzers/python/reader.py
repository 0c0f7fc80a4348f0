"""The syntax trees of a changed file of Python, parsed once for all tools that walk them. Nothing of it is ever run.

With the whole new side at hand that file is parsed; without it, or where this Python cannot parse it, its hunks
are, each made to parse on its own.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, new_side
from reviewbot.analyzers.core.preexisting import old_side
from reviewbot.analyzers.core.single_flight import FileRuns, once_per_file
from reviewbot.analyzers.core.texts import Source, hunk_source, is_readable, whole_source
from reviewbot.analyzers.python.newer_syntax import older
from reviewbot.context.python_text import MAX_TOKENS, is_parsable, tokens, without_warnings
from reviewbot.domain.ports import ChangedFile
from reviewbot.threads import in_thread, stoppable

_MAX_HUNKS = 1_000
"""Of a file that are read on their own."""

_TOO_LARGE = "it is too large to be parsed as a whole"


class Piece(NamedTuple):
    """A text of Python that parses, and its tree. Rows of the tree are rows of the source."""

    source: Source
    tree: ast.Module


@dataclass(frozen=True)
class ParsedPython:
    """What could be parsed of one file."""

    pieces: tuple[Piece, ...]
    """The whole file, or the hunks that parse."""
    hunks: int
    """How many hunks were read on their own; 0 with the whole file."""
    unread: int
    """How many of those did not parse, or only without an added line."""
    fault: str = ""
    """Why the whole file, which is at hand, could not be parsed; empty where it could."""


class PythonReader:
    """Parses each file once however many tools ask. The trees are gone with the file."""

    def __init__(self) -> None:
        self._files: FileRuns[ParsedPython] = FileRuns()
        self._hunks: FileRuns[tuple[Source, ...]] = FileRuns()

    async def hunks(self, file: ChangedFile) -> tuple[Source, ...]:
        """The hunks of a file that add something, each made to parse on its own as far as that can be done."""
        # Making a hunk parse may take many attempts; in a thread they do not hold up the clock of the whole review.
        return await self._hunks.get(file, lambda: in_thread(lambda: _repaired(new_side(file))))

    async def read(self, file: ChangedFile) -> ParsedPython:
        """The trees of a file."""
        return await self._files.get(file, lambda: self._read(file))

    async def _read(self, file: ChangedFile) -> ParsedPython:
        tree, fault = await in_thread(lambda: new_tree(file))
        whole = whole_source(file)
        if whole is not None and tree is not None:
            return ParsedPython((Piece(whole, tree),), 0, 0)
        sources = await self.hunks(file)
        pieces = tuple(Piece(source, source.tree) for source in sources if source.tree is not None)
        unread = sum(source.cut or source.tree is None for source in sources)
        return ParsedPython(pieces, len(sources), unread, fault)


@once_per_file
def new_tree(file: ChangedFile) -> tuple[ast.Module | None, str]:
    """The tree of the new side of a file, or None; and why the whole file, which is at hand, could not be parsed."""
    whole = whole_source(file)
    if whole is not None:
        return parse(whole.text)
    return None, _TOO_LARGE if file.head is not None and not is_readable(file.head) else ""


def old_tree(file: ChangedFile) -> ast.Module | None:
    """The tree of the old side of a file; None where there is none, or it does not parse."""
    old = old_side(file)
    return None if old is None else new_tree(old)[0]


def parse(text: str) -> tuple[ast.Module | None, str]:
    """The tree of a text, or None and why there is none, in words that quote nothing of it."""
    if not is_parsable(text):
        return None, _TOO_LARGE
    try:
        try:
            return _tree(text), ""
        except SyntaxError:
            said = older(text)
            if said == text:
                raise
            return _tree(said), ""
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return None, f"it does not parse with Python {version}, at line {error.lineno or 1}"
    except (ValueError, RecursionError, MemoryError) as error:
        return None, f"it cannot be parsed ({type(error).__name__})"


def _tree(text: str) -> ast.Module:
    with without_warnings():
        return ast.parse(text)


def _repaired(hunks: tuple[tuple[ChangedLine, ...], ...]) -> tuple[Source, ...]:
    """The hunks as texts that parse; all together they are no larger than a file whose tree can be held."""
    found: list[Source] = []
    room = MAX_TOKENS
    for at, lines in enumerate(stoppable(hunks)):
        size = sum(tokens(line.text, room) for line in lines) if at < _MAX_HUNKS and room else room + 1
        if size > room:
            found.append(Source("", (None,), whole=False, cut=True))
            continue
        room -= size
        found.append(hunk_source(lines))
    return tuple(found)
