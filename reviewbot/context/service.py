"""What a reviewer may ask about the surroundings of a change, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reviewbot.context import comments, conventions, enclosing, imports, symbols, texts
from reviewbot.diff.language import language_of

if TYPE_CHECKING:
    from reviewbot.ports import Snapshot

Side = Literal["base", "head"]


class Context:
    """Questions about one snapshot. Every answer is a value that says what it leaves out; nothing is kept or run.

    What an answer holds at most: a file 40,000 characters; a definition 12,000, and of a longer one 60 lines around
    those asked for; a symbol 6 definitions, 15 calls, 8 imports and 6 other lines out of the first 400; 60 imports;
    20 comments of 1,500 characters; 5 commits; conventions 8,000 characters a file and 24,000 together. A file over a
    million characters is not parsed. It may be asked from any thread, and waits for nothing but the snapshot.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def file(self, path: str, side: Side = "head") -> texts.Text | None:
        """A file of one side; None where the snapshot does not have it. The base goes by the old name."""
        return texts.capped(path, self._text(path, side))

    def enclosing(
        self, path: str, first: int, last: int, side: Side = "head", heading: str = ""
    ) -> enclosing.Enclosing | None:
        """The definition that holds some lines of one side; None without the file or a definition."""
        text = self._text(path, side)
        return None if text is None else enclosing.enclosing(text, language_of(path), first, last, heading)

    def symbol(self, name: str, near: str = "") -> symbols.Symbol:
        """Where a name is defined and used on the new side, seen from a path."""
        return symbols.symbol(self._snapshot, name, near)

    def imports(self, path: str, side: Side = "head") -> imports.Imports | None:
        """What a file of one side imports; None where the snapshot does not have it."""
        text = self._text(path, side)
        return None if text is None else imports.imports(text, language_of(path))

    def comments(self, path: str, first: int, last: int, side: Side = "head") -> comments.Comments | None:
        """What is written at some lines of one side and about the definition that holds them; None without the file."""
        text = self._text(path, side)
        return None if text is None else comments.comments(text, language_of(path), first, last)

    def history(self, path: str, first: int, last: int) -> texts.History:
        """The commits behind some lines of the old side; none without a history."""
        return texts.history(self._snapshot, path, first, last)

    def conventions(self, path: str) -> conventions.Conventions:
        """The repository's own rules for a path, from the base side."""
        return conventions.conventions(self._snapshot, path)

    def _text(self, path: str, side: Side) -> str | None:
        return self._snapshot.base(path) if side == "base" else self._snapshot.head(path)
