"""The data that the scanner collects of one file before its state is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reviewbot.domain.contracts import Hunk

Style = Literal["git", "plain", "orphan", "combined", "submodule", "unmerged", "only", "fragment"]
"""How the section began. "orphan": with lines that belong below a header line which is not there."""


@dataclass(slots=True)
class Section:
    """One file of a diff while it is read. Names are bytes as they stand in their lines."""

    style: Style
    line: int
    """1-based number of its first line in the diff."""
    title: bytes = b""
    """What stands behind "diff --git ", "Index: " and the like."""
    svn: bool = False
    """The title is the file's name as Subversion and CVS write it behind "Index: "."""
    old: bytes | None = None
    """Behind "--- "."""
    new: bytes | None = None
    """Behind "+++ "."""
    moved_from: bytes | None = None
    moved_to: bytes | None = None
    copied: bool = False
    added_mode: str | None = None
    deleted_mode: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    index: tuple[bytes, bytes] | None = None
    """Both object ids of the "index" line."""
    index_mode: str | None = None
    binary: bytes | None = None
    """The line that calls it binary."""
    hunks: list[Hunk] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    size: int = 0
    """Bytes of its marked lines."""
    minified: bool = False
    unseen: str = ""
    """Something of this file that the diff shows in no form that can be read, in words."""
    trouble: str = ""
    """The first thing that makes it malformed, with its line, in words."""
    cut: str = ""
    """Where the end of the input cut it off, in words."""
    over: str = ""
    """The limit that it passed, in words."""
    word_diff: bool = False
    """Its text looks like the output of --word-diff."""
    last: bool = False
    """Nothing follows it."""

    def blame(self, line: int, text: str) -> None:
        """Note what makes the section malformed, unless something did already; `line` counts from 0."""
        if not self.trouble:
            self.trouble = f"line {line + 1} of the diff: {text}"
