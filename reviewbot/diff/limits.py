"""How much of a diff is read. What a limit leaves out is named in the coverage, never dropped in silence."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class DiffLimits:
    """Caps on one diff; sizes in bytes."""

    input_bytes: int = 128 * MIB
    """More is refused as a whole: reading holds about three times this in memory."""
    input_lines: int = 3_000_000
    """More is refused as a whole: each line is an object of some sixty bytes beside its text."""
    named_files: int = 50_000
    """More is refused as a whole: even to name them takes seconds, and no person reads the list."""
    files: int = 20_000
    """Further files are named only. GitHub lists 3,000; a rewrite of a large repository has 10,000."""
    text_bytes: int = 64 * MIB
    """Marked lines kept over all files; a million lines are about 36 MB."""
    file_bytes: int = 32 * MIB
    """Marked lines kept of one file."""
    file_hunks: int = 50_000
    """Hunks kept of one file; generated rewrites reach some thousands."""
    hunks: int = 100_000
    """Hunks kept over all files; each is a model of about one kilobyte."""
    header_bytes: int = 8_300
    """A header line: two names of 4,096 bytes and git's words. A longer one reaches no further rule."""
    line_bytes: int = 20_000
    """A content line is cut here and its file called minified: it is unreadable, and rules and prompts need a bound."""
