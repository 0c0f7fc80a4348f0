"""The syntax trees of a slice of Python, parsed once for all tools that walk them. Nothing of the slice is ever run.

With the whole new side at hand that file is parsed; without it, or where this Python cannot parse it, the slice's hunks
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
from reviewbot.tools.memo import SharedRuns
from reviewbot.tools.newer_syntax import older
from reviewbot.tools.slices import new_side
from reviewbot.tools.sources import Source, hunk_source, whole_source

if TYPE_CHECKING:
    from reviewbot.contracts import Payload
    from reviewbot.ports import Snapshot
    from reviewbot.tools.slices import Line

_SLICES_HELD = 32
"""More than are under review at a time."""

_FILES_HELD = 4
"""A long new file is cut into several slices. Trees are large: ten to a hundred times their text."""

_LARGEST_TREE = 1_000_000
"""Characters. The tree of a larger file would take hundreds of megabytes; its hunks are read instead."""


class Piece(NamedTuple):
    """A text of Python that parses, and its tree. Rows of the tree are rows of the source."""

    source: Source
    tree: ast.Module


@dataclass(frozen=True)
class PythonSlice:
    """What could be parsed of one slice."""

    pieces: tuple[Piece, ...]
    """The whole file, or the hunks that parse."""
    hunks: int
    """How many hunks were read on their own; 0 with the whole file."""
    unread: int
    """How many of those did not parse, or only without an added line."""
    fault: str = ""
    """Why the whole file, which is at hand, could not be parsed; empty where it could."""


class PythonReader:
    """Parses each slice once however many tools ask, and each file once however many slices it has."""

    def __init__(self) -> None:
        self._slices: SharedRuns[PythonSlice] = SharedRuns(_SLICES_HELD)
        self._hunks: SharedRuns[tuple[Source, ...]] = SharedRuns(_SLICES_HELD)
        self._files: SharedRuns[tuple[ast.Module | None, str]] = SharedRuns(_FILES_HELD)

    async def hunks(self, payload: Payload) -> tuple[Source, ...]:
        """The hunks of a slice that add something, each made to parse on its own as far as that can be done."""
        # Making a hunk parse may take many attempts; in a thread they do not hold up the clock of the whole review.
        key = digest(payload.code, repr(payload.starts))
        return await self._hunks.get(key, lambda: in_thread(lambda: _repaired(new_side(payload))))

    async def read(self, payload: Payload, snapshot: Snapshot) -> PythonSlice:
        """The trees of a slice."""
        head = snapshot.head(payload.file_path)
        key = digest(payload.code, repr(payload.starts), "-" if head is None else f"+{head}")
        return await self._slices.get(key, lambda: self._read(payload, head))

    async def _read(self, payload: Payload, head: str | None) -> PythonSlice:
        whole = whole_source(head, new_side(payload))
        fault = ""
        if whole is not None and len(whole.text) <= _LARGEST_TREE:
            tree, fault = await self._files.get(digest(whole.text), lambda: in_thread(lambda: parse(whole.text)))
            if tree is not None:
                return PythonSlice((Piece(whole, tree),), 0, 0)
        sources = await self.hunks(payload)
        pieces = tuple(Piece(source, source.tree) for source in sources if source.tree is not None)
        unread = sum(source.cut or source.tree is None for source in sources)
        return PythonSlice(pieces, len(sources), unread, fault)


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
