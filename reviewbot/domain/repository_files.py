"""Which files of a repository are text, and the searched ones as protocols."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol, runtime_checkable

MAX_FILE_BYTES = 2 * 2**20
"""Of a file that is read as a text. Files written by hand are not longer."""

MAX_LISTED = 200
"""Files listed of one folder of the base side; a repository keeps fewer cards than that."""

_PROBE = 8_000


def is_binary(content: bytes | str) -> bool:
    """Whether a file is binary by git's own rule: it has a NUL near its start (in a text: in its first characters)."""
    start = content[:_PROBE]
    return "\0" in start if isinstance(start, str) else b"\0" in start


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
