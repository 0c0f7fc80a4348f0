"""The two sides of a change to a plain folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from reviewbot.context.kept_contents import KeptContents
from reviewbot.diff.parser.file_names import label, to_bytes
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.domain.repository_files import MAX_LISTED, is_binary
from reviewbot.sources.folder.files import list_files, read_file
from reviewbot.sources.folder.search import FolderText
from reviewbot.sources.folder.side_detection import FileSides, sides_of


class TreeSnapshot:
    """A `Snapshot` and a `BaseSide`. Files that the change does not touch are read from the folder when asked for.

    Safe to use from several threads.
    """

    def __init__(
        self,
        folder: Path,
        sides: FileSides,
        tracked: Collection[str] | None = None,
        history: Callable[[str, int], tuple[Commit, ...]] | None = None,
    ) -> None:
        self._folder = folder
        self._history = history
        self._sides = sides
        self._tracked = tracked
        self._texts = FolderText(folder, sides.head, tracked, there=sides.there)
        self._kept = KeptContents(self._content)

    @classmethod
    def open(
        cls,
        folder: Path,
        change: ChangeSet,
        tracked: Collection[str] | None = None,
        history_of: Callable[[Mapping[str, str | None]], Callable[[str, int], tuple[Commit, ...]]] | None = None,
    ) -> TreeSnapshot:
        """Hold a change against a folder that is at either side of it, file by file.

        Args:
            folder: the operator's word; it may itself be a link.
            change: what was read of the diff.
            tracked: the labels of the files of the folder that belong to the repository, where that is known. No
                other file of the folder is read, but those of the change and `base_file`.
            history_of: makes the function that answers `history`, from the old sides that are known (None: the file
                was not there).

        Raises:
            InputError: this is no folder, or a file of it is at neither side.
        """
        if not os.access(folder, os.R_OK | os.X_OK) or not folder.is_dir():
            raise InputError(f"--repo {folder} is no folder that can be read")
        try:
            sides = sides_of(change, lambda path: read_file(folder, path))
        except InputError as error:
            how = "check out the base or the head of the change there"
            raise InputError(f"the diff does not fit --repo {folder}: {error}; {how}") from None
        return cls(folder, sides, tracked, history_of(_known(change, sides)) if history_of else None)

    def head(self, path: str) -> str | None:
        """The whole new side of a file; None where there is none, or it is no regular text file of at most 2 MiB."""
        return self._texts.text(path)

    def base(self, path: str) -> str | None:
        """The whole old side of a file, by its old name; None as above.

        Where the change does not name the file, the folder counts, and only for what git could track there: on a file
        system that ignores case, ".Ruff.toml" of the change would else be taken for the ".ruff.toml" of the base, and
        files of a submodule for those of the repository.
        """
        if self._tracked is not None and path not in self._tracked and path not in self._sides.base:
            return None
        text, is_alias = self._old_side(path)
        return None if is_alias else text

    def files(self) -> tuple[str, ...] | None:
        """The files of the new side, sorted by name; None where they are too many."""
        return self._texts.files

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text files of the new side among these, in this order."""
        return self._kept.of(paths)

    def _content(self, path: str) -> bytes | None:
        text = self._texts.text(path)
        return None if text is None else text.encode("utf-8", "replace")

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines of the new side with a word, in all text files of the folder; None where it is too large to be read."""
        return self._texts.search(word, limit)

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file, up to the old side; none where the folder has no history."""
        return self._history(path, limit) if self._history else ()

    def base_file(self, path: str) -> str | None:
        """As `base`. Raises InputError where the change spells the name in another way, so that its base is lost."""
        text, is_alias = self._old_side(path)
        if is_alias:
            how = "so the folder cannot show what it was before; use --git RANGE"
            raise InputError(f"the change names {path} by another spelling, {how}")
        return text

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The paths of the regular files directly in a folder of the base side, sorted, at most `MAX_LISTED`."""
        base = self._sides.base
        found = {path for path in list_files(self._folder, folder) if path not in base and not self._is_below(path)}
        found |= {path for path, text in base.items() if text is not None and path.rpartition("/")[0] == folder}
        return tuple(sorted(found)[:MAX_LISTED])

    def _old_side(self, path: str) -> tuple[str | None, bool]:
        """The text of the old side, and whether it is that of a file which the change names by another spelling."""
        base = self._sides.base
        if path in base:
            return _text(base[path]), False
        if self._is_below(path):
            return None, False
        found = read_file(self._folder, path, as_tracked=True)
        return _text(found.text), found.identity is not None and found.identity in self._identities

    def _is_below(self, path: str) -> bool:
        """Whether the change names a folder above a path: a submodule, a link, a copied folder, a file in its place.

        Of what lies below such a name, the old side has only what the change itself shows as removed.
        """
        parts = to_bytes(path).split(b"/")
        above = (label(b"/".join(parts[:depth])) for depth in range(1, len(parts)))
        return any(name in self._sides.base for name in above)

    @cached_property
    def _identities(self) -> frozenset[tuple[int, int]]:
        """Device and inode of each file of the folder that the change names."""
        found = (read_file(self._folder, path).identity for path in self._sides.base)
        return frozenset(each for each in found if each is not None)


def _known(change: ChangeSet, sides: FileSides) -> dict[str, str | None]:
    """The old sides that are known for certain; None for a file that the change adds."""
    added: dict[str, str | None] = {file.path: None for file in change.files if file.status == "added"}
    return added | {path: text for path, text in sides.base.items() if text is not None}


def _text(text: str | None) -> str | None:
    return None if text is None or is_binary(text) else text
