"""The two sides of a change to a plain folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reviewbot.adapters.tree.fit import Sides, sides_of
from reviewbot.adapters.tree.folder import list_files, read_file
from reviewbot.adapters.tree.search import FolderText
from reviewbot.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from reviewbot.contracts import ChangeSet
    from reviewbot.ports import Commit, Occurrence

MAX_LISTED = 200
"""Files of one folder that are named; nobody keeps more cards."""

_BINARY_PROBE = 8_000
"""Git's own rule, in characters instead of bytes: a NUL this near to the start makes a file binary."""


class TreeSnapshot:
    """A `Snapshot` and a `BaseSide`. Files that the change does not touch are read from the folder when asked for.

    Safe to use from several threads.
    """

    def __init__(self, folder: Path, sides: Sides) -> None:
        self._folder = folder
        self._sides = sides
        self._texts = FolderText(folder, sides.head)

    @classmethod
    def open(cls, folder: Path, change: ChangeSet) -> TreeSnapshot:
        """Hold a change against a folder that is at either side of it, file by file.

        Raises:
            InputError: this is no folder, or a file of it is at neither side.
        """
        if not os.access(folder, os.R_OK | os.X_OK) or not folder.is_dir():
            raise InputError(f"--repo {folder} is no folder that can be read")
        try:
            return cls(folder, sides_of(change, lambda path: read_file(folder, path)))
        except InputError as error:
            how = "check out the base or the head of the change there"
            raise InputError(f"the diff does not fit --repo {folder}: {error}; {how}") from None

    def head(self, path: str) -> str | None:
        """The whole new side of a file; None where there is none, or it is no regular text file of at most 2 MiB."""
        head = self._sides.head
        return _text(head[path] if path in head else read_file(self._folder, path).text)

    def base(self, path: str) -> str | None:
        """The whole old side of a file, by its old name; None as above."""
        base = self._sides.base
        return _text(base[path] if path in base else read_file(self._folder, path).text)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines of the new side with a word, in all text files of the folder; None where it is too large to be read."""
        return self._texts.search(word, limit)

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        """Nothing: a folder has no history."""
        del path, first, last, limit
        return ()

    def base_file(self, path: str) -> str | None:
        """The same, and a name that the folder spells differently is another file, also on a lenient file system.

        Otherwise a change that adds ".Reviewbot.toml" could hand in settings where case does not count.
        """
        base = self._sides.base
        return _text(base[path] if path in base else read_file(self._folder, path, as_spelled=True).text)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The paths of the regular files directly in a folder of the base side, sorted, at most `MAX_LISTED`."""
        base = self._sides.base
        found = {path for path in list_files(self._folder, folder) if path not in base}
        found |= {path for path, text in base.items() if text is not None and path.rpartition("/")[0] == folder}
        return tuple(sorted(found)[:MAX_LISTED])


def _text(text: str | None) -> str | None:
    return None if text is None or "\0" in text[:_BINARY_PROBE] else text
