"""The two sides of a change, as git stores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from reviewbot.context.kept_contents import KeptContents
from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.sources.git.repository import GitRepository


class GitSnapshot:
    """A `Snapshot` and a `BaseSide`: files of two commits. Safe to use from several threads.

    Args:
        repository: stays open as long as this is used.
        base_sha: None where nothing came before.
        head_sha: None for the index, as it stood at the last `staged_diff`.
    """

    def __init__(self, repository: GitRepository, base_sha: str | None, head_sha: str | None) -> None:
        self._repository = repository
        self._base_sha = base_sha
        self._head_sha = head_sha
        self._kept = KeptContents(lambda path: repository.content(head_sha, path))

    @property
    def identity(self) -> str | None:
        """The two commits; None for the index, which has no name."""
        return None if self._head_sha is None else f"{self._base_sha}..{self._head_sha}"

    def head(self, path: str) -> str | None:
        """The whole new side of a file; None where there is none, or it is no regular text file of at most 2 MiB."""
        return self._repository.blob(self._head_sha, path)

    def base(self, path: str) -> str | None:
        """The whole old side of a file, by its old name; None as above."""
        return None if self._base_sha is None else self._repository.blob(self._base_sha, path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines of the new side with a word, in all its text files; None where not all of them could be read."""
        return self._repository.search(self._head_sha, word, limit)

    def files(self) -> tuple[str, ...] | None:
        """The regular files of the new side, sorted by name."""
        return self._files

    @cached_property
    def _files(self) -> tuple[str, ...] | None:
        return self._repository.files(self._head_sha)

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text files of the new side among these, in this order."""
        return self._kept.of(paths)

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file, up to the base, newest first."""
        return () if self._base_sha is None else self._repository.history(self._base_sha, path, limit)

    def base_file(self, path: str) -> str | None:
        """As `base`: in git every file of the base side is at hand."""
        return self.base(path)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The regular files directly in a folder of the base side."""
        return () if self._base_sha is None else self._repository.files_in(self._base_sha, folder)
