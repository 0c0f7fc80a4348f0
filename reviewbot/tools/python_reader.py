"""The syntax trees of a changed file of Python, parsed once for all tools that walk them. Nothing of it is ever run.

With the whole new side at hand that file is parsed; without it, or where this Python cannot parse it, its hunks
are, each made to parse on its own.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.context.quiet import without_warnings
from reviewbot.threads import in_thread
from reviewbot.tools.changed_lines import new_side
from reviewbot.tools.memo import FileRuns
from reviewbot.tools.newer_syntax import older
from reviewbot.tools.sources import Source, hunk_source, whole_source

if TYPE_CHECKING:
    from reviewbot.ports import ChangedFile
    from reviewbot.tools.changed_lines import Line

_LARGEST_TREE = 1_000_000
"""Characters. The tree of a larger file would take hundreds of megabytes; its hunks are read instead."""


class Piece(NamedTuple):
    """A text of Python that parses, and its tree. Rows of the tree are rows of the source."""

    source: Source
    tree: ast.Module


@dataclass(frozen=True)
class ParsedFile:
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
        self._files: FileRuns[ParsedFile] = FileRuns()
        self._hunks: FileRuns[tuple[Source, ...]] = FileRuns()

    async def hunks(self, file: ChangedFile) -> tuple[Source, ...]:
        """The hunks of a file that add something, each made to parse on its own as far as that can be done."""
        # Making a hunk parse may take many attempts; in a thread they do not hold up the clock of the whole review.
        return await self._hunks.get(file, lambda: in_thread(lambda: _repaired(new_side(file))))

    async def read(self, file: ChangedFile) -> ParsedFile:
        """The trees of a file."""
        return await self._files.get(file, lambda: self._read(file))

    async def _read(self, file: ChangedFile) -> ParsedFile:
        whole = await in_thread(lambda: whole_source(file))
        fault = ""
        if whole is not None and len(whole.text) <= _LARGEST_TREE:
            tree, fault = await in_thread(lambda: parse(whole.text))
            if tree is not None:
                return ParsedFile((Piece(whole, tree),), 0, 0)
        sources = await self.hunks(file)
        pieces = tuple(Piece(source, source.tree) for source in sources if source.tree is not None)
        unread = sum(source.cut or source.tree is None for source in sources)
        return ParsedFile(pieces, len(sources), unread, fault)


def parse(text: str) -> tuple[ast.Module | None, str]:
    """The tree of a text, or None and why there is none, in words that quote nothing of it."""
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


def digest(*parts: str) -> str:
    """A digest of some texts; what differs in any of them differs in it."""
    measured = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(measured.encode("utf-8", "replace")).hexdigest()


def _repaired(hunks: tuple[tuple[Line, ...], ...]) -> tuple[Source, ...]:
    return tuple(hunk_source(lines) for lines in hunks)
