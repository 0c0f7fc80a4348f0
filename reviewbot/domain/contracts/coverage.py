"""Coverage as values: what a file needs, which parts of it were read, and the state in which it ends.

`reviewbot.coverage` has the definition of the states and is the only place that assigns them.
"""

from __future__ import annotations

from pydantic import Field

from reviewbot.domain.contracts.base import Contract, Count, CoverageState, Need


class Span(Contract):
    """A hunk, or a piece of one: its lines on the old and on the new side, as a hunk header counts them."""

    old_start: Count
    old_count: Count
    new_start: Count
    new_count: Count


class Reading(Contract):
    """Parts of one file that were read to the end.

    An engine states it for what stood complete and uncut before a reader that came to a valid answer: a model whose
    answer fits its schema, an analyzer or a scan that ended without an error. What was cut or failed is left out.
    """

    path: str
    spans: tuple[Span, ...]
    """Empty for a file of which no line changes, such as a renamed one, where a reader was given it."""
    models: tuple[str, ...] = ()
    analyzers: tuple[str, ...] = ()
    """Programs that understand the language of the file."""
    scans: tuple[str, ...] = ()
    """Programs that look at plain lines of any language, such as the search for secrets."""
    head: str = ""
    """The earlier head whose review has read it; empty: it was read now."""


class PlannedFile(Contract):
    """What one file of the change needs, as the plan has it."""

    path: str
    need: Need = "review"
    reason: str = ""
    """Why it needs less than a review, or gets less; else empty."""
    over_cap: bool = False
    """Whether the change has too many files, so that this one is scanned and gets no reader."""


class FileCoverage(Contract):
    """The coverage of one file, and which readers and scans saw some of it, each list in alphabetical order."""

    path: str
    state: CoverageState
    need: Need = "review"
    reason: str = ""
    """Why the state is not "reviewed"; failures of single readers are in the gaps of the review."""
    models: tuple[str, ...] = ()
    analyzers: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()
    added: Count = 0
    """Lines that the change adds to it."""
    removed: Count = 0
    earlier: str = ""
    """The earlier head whose review read what was not read now; empty where all was read now, or not at all."""


class CoverageCount(Contract):
    """How many files of a review are in each state. The states add up to `files`."""

    files: Count
    reviewed: Count = Field(default=0)
    earlier: Count = Field(default=0)
    partial: Count = Field(default=0)
    scanned: Count = Field(default=0)
    removed: Count = Field(default=0)
    not_reviewed: Count = Field(default=0)
