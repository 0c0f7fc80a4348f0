"""Search words in all text files of a folder that may be hostile. Each file is read once, at the first search."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from reviewbot.context.word_search import is_word, lines_with, whole_word
from reviewbot.diff.parser.file_names import exact, label
from reviewbot.domain.ports import Occurrence
from reviewbot.domain.repository_files import is_binary
from reviewbot.sources.folder.files import open_folder, read_file

SKIPPED = frozenset({".git", ".hg", ".svn", ".nox", ".tox", ".venv", "venv", "node_modules", "__pycache__"})
"""Folders that hold no files of the repository's own; nor do those that are called like ".pytest_cache"."""


class Caps(NamedTuple):
    """What may be read of one folder; beyond any of these nothing is known of it."""

    files: int = 20_000
    folders: int = 10_000
    depth: int = 40
    text_bytes: int = 64 * 2**20
    """Of all files together, all held in memory."""


class TooMuch(Exception):  # noqa: N818 - no error: the folder is then not searched
    """A folder holds more than may be read of it."""


class FolderText:
    """The text files of a folder as they stand after a change; safe to use from several threads."""

    def __init__(
        self,
        root: Path,
        changed: Mapping[str, str | None],
        tracked: Collection[str] | None = None,
        caps: Caps | None = None,
        there: Collection[str] = (),
    ) -> None:
        """Look at nothing yet.

        Args:
            root: the folder.
            changed: the new side of the files that the change touches, by label; None for those that it deletes.
            tracked: the files that belong to the repository; None where that is not known, and all of them count.
            caps: how much is read.
            there: of the files that the change touches, those that have a new side that is no text.
        """
        self._root = root
        self._changed = changed
        self._tracked = tracked
        self._caps = caps or Caps()
        self._there = there
        self._lock = Lock()
        self._texts: dict[str, str] | None = None
        self._read = False

    @cached_property
    def files(self) -> tuple[str, ...] | None:
        """The labels of all files, sorted by name; None where they are too many or the folder cannot be listed."""
        try:
            there = _list_files(self._root, self._caps) if self._tracked is None else self._tracked
        except (TooMuch, OSError):
            return None
        found = {path for path in there if path not in self._changed}
        found |= {path for path, text in self._changed.items() if text is not None or path in self._there}
        return tuple(sorted(found, key=exact))

    def text(self, path: str) -> str | None:
        """A text file after the change; None where there is none of the repository's own."""
        if path in self._changed:
            found = self._changed[path]
        elif self._tracked is not None and path not in self._tracked:
            return None
        else:
            found = read_file(self._root, path).text
        return None if found is None or is_binary(found) else found

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines that hold a word, by path and line; None where the folder is too large to be read."""
        if not is_word(word) or limit < 1:
            return ()
        with self._lock:
            if not self._read:
                self._texts, self._read = self._all_texts(), True
        if self._texts is None:
            return None
        whole = whole_word(word)
        texts = ((path, text) for path, text in self._texts.items() if word in text)
        return tuple(islice(chain.from_iterable(lines_with(path, text, whole) for path, text in texts), limit))

    def _all_texts(self) -> dict[str, str] | None:
        if self.files is None or len(self.files) > self._caps.files:
            return None
        texts, left = dict[str, str](), self._caps.text_bytes
        for path in self.files:
            text = self.text(path)
            if text is not None:
                left -= len(text.encode("utf-8", "replace"))
                texts[path] = text
            if left < 0:
                return None
        return texts


def _list_files(root: Path, caps: Caps) -> list[str]:
    """The labels of the regular files below a folder. No link is followed. Raises TooMuch and OSError."""
    waiting: list[tuple[str, ...]] = [()]
    folders, found = 0, list[str]()
    while waiting:
        parts = waiting.pop()
        with open_folder(root, parts, as_tracked=False) as folder:
            inner, names = _list_folder(folder)
        folders += 1 + len(inner)
        found += (label(os.fsencode("/".join((*parts, name)))) for name in names)
        if len(found) > caps.files or folders > caps.folders or len(parts) > caps.depth:
            raise TooMuch
        waiting += ((*parts, name) for name in inner)
    return found


def _list_folder(folder: int) -> tuple[list[str], list[str]]:
    """The folders and the regular files directly in a folder, without those that are not the repository's own."""
    with os.scandir(folder) as entries:
        found = [
            (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)) for entry in entries
        ]
    inner = [name for name, is_folder, _ in found if is_folder and not _is_skipped(name.lower())]
    return inner, [name for name, _, is_file in found if is_file]


def _is_skipped(name: str) -> bool:
    return name in SKIPPED or (name.startswith(".") and name.endswith("_cache"))
