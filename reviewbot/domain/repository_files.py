"""Files of a repository that are searched, as protocols."""

from __future__ import annotations

from collections.abc import Collection, Iterable
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
