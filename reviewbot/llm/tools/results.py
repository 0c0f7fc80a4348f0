"""Results of tool calls, and the limits of their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["head", "base"]


class Refused(Exception):  # noqa: N818 - no error: the model is shown what is expected
    """A call that is not answered; its text says why, in one line for the model."""


@dataclass(frozen=True)
class EvidenceEntry:
    """Consecutive lines of a file that a tool has shown, with masked secrets, without line ends."""

    path: str
    side: Side
    first: int
    """Of the lines, counted from 1."""
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ToolResult:
    """The answer to one call. `text` is data of the repository: the sender puts it between fences."""

    text: str
    failed: bool = False
    evidence: tuple[EvidenceEntry, ...] = ()


@dataclass(frozen=True)
class ToolLimits:
    """Bounds of one call."""

    read_lines: int = 300
    line_chars: int = 400
    """Of a line that is shown; the rest of a longer one is left out."""
    matches: int = 60
    """Lines that a search shows."""
    matches_per_file: int = 12
    matches_counted: int = 1_000
    """Lines of one file that are counted."""
    uses: int = 400
    """Lines after which uses of a name are not looked for any further."""
    search_bytes: int = 512 * 2**20
    """Of files that one search reads."""
    search_seconds: float = 20.0
    listed: int = 200
    """Entries of an outline."""
    commits: int = 10
    chars: int = 16_000
    """Of an answer: about 4,000 tokens."""
