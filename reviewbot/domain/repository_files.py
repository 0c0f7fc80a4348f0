"""Files of a repository that are searched and kept by their hash, as protocols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable


class Match(Protocol):
    """Where an expression matches."""

    def start(self) -> int:
        """The first byte."""


class Expression(Protocol):
    """A compiled expression, which matches within lines."""

    def search(self, content: bytes, at: int = 0) -> Match | None:
        """The first match from a byte on."""


@runtime_checkable
class Searchable(Protocol):
    """What a snapshot may be besides: one that finds out fast which files of the head an expression matches in."""

    def matching(self, expression: Expression, paths: Collection[str], *, crlf: bool) -> Iterable[str]:
        """Those of these text files in which it matches, in their order; some in which it does not, too.

        `crlf`: whether a file with CR LF counts in any case.
        """


class FileAddition(Protocol):
    """What is being added to a `FileStore`."""

    left: set[str]
    """The hashes that are wanted and were not added so far."""

    def keep(self, content: bytes) -> bool:
        """Take the bytes of a file, if its hash is one of those wanted. Raises OSError."""


class FileStore(Protocol):
    """Files of one repository on this machine, by their git hash. Raises OSError where it cannot be used."""

    def missing(self, wanted: Iterable[str]) -> set[str]:
        """The hashes of files that are not kept."""

    def read(self, sha: str) -> bytes | None:
        """A file; None where it is not kept."""

    def scan(self, expression: Expression, wanted: Collection[str], *, crlf: bool) -> Iterator[str]:
        """Yield the hashes of those wanted text files in which an expression matches; some others, and twice, too.

        `crlf`: whether a file with CR LF counts in any case.
        """

    def check_space(self, size: int) -> None:
        """Raise OSError where so many bytes more cannot be kept."""

    def adding(self, wanted: Collection[str], seconds: float) -> AbstractContextManager[FileAddition]:
        """Add files, alone among all processes; what was added counts from the end of the block on."""
