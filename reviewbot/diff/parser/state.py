"""The state of the scanner: the lines, the next one, and the section (`Section`) that is collected of one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from reviewbot.diff.limits import DiffLimits
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.errors import DiffError

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


class ParserState:
    """Mutable on purpose and never seen outside one scan. Line numbers count from 0 here."""

    def __init__(self, lines: Sequence[bytes], limits: DiffLimits, *, open_end: bool, mailed: bool = False) -> None:
        self.lines = lines
        self.limits = limits
        self.open_end = open_end
        """The last line had no LF, so that it may be cut."""
        self.mailed = mailed
        """The lines are patches of mails, one behind the other."""
        self.sections: list[Section] = []
        self.section: Section | None = None
        self.at = 0
        """The next line; the one in hand is the one above it."""
        self.hunk_end = -1
        """The line below the last hunk."""
        self.old_end = self.new_end = 0
        """The first line of each side of the file behind the last hunk."""
        self.closed = False
        """The last hunk said where the file ends."""
        self.commits = 0
        self.kept_hunks = 0
        self.kept_bytes = 0

    def open(self, style: Style, title: bytes = b"") -> Section:
        """Begin a section at the line in hand."""
        if len(self.sections) >= self.limits.named_files:
            raise DiffError(f"The diff has more than {self.limits.named_files} files: review it in parts.")
        section = Section(style, max(self.at, 1), title)
        if len(self.sections) >= self.limits.files:
            section.over = f"the diff has more than {self.limits.files} files"
        self.sections.append(section)
        self.section = section
        self.old_end = self.new_end = 0
        self.closed = False
        return section

    def peek(self, ahead: int = 0) -> bytes:
        """The next line, or one behind it; nothing behind the end."""
        at = self.at + ahead
        return self.lines[at] if at < len(self.lines) else b""

    def header(self) -> Section | None:
        """The section, where its header is still being read."""
        section = self.section
        if section is None or section.trouble or section.hunks or section.cut or section.new is not None:
            return None
        return section if section.style in {"git", "plain", "orphan"} else None

    def git_header(self) -> Section | None:
        """The section to which a header line of git belongs; None where it is malformed already."""
        section = self.header()
        if section is not None and section.style != "plain":
            return section
        if self.section is not None and self.section.trouble:
            return None
        return self.open("orphan")

    def stray(self, text: str) -> bool:
        """Blame the section in hand, or an unnamed new one, for the line in hand. True: the line is dealt with."""
        section = self.section or self.open("orphan")
        section.blame(self.at - 1, text)
        return True
