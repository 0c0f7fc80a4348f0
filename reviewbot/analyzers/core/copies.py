"""Hold back what rules of quality say of files that a project did not write: they are mended where they come from.

Holes in them are reported as in any other file, and so are secrets, hidden text, and what both sides of a change show.
"""

from __future__ import annotations

from itertools import islice

from reviewbot.analyzers.core.changed_lines import new_side
from reviewbot.analyzers.core.preexisting import lower_confidence
from reviewbot.analyzers.core.rules import WRITTEN_CAP
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.diff.vendored import HEAD_LINES, copy_sign
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile, ToolReport
from reviewbot.tables import words_in


def hold_copies(file: ChangedFile, said: ToolReport) -> ToolReport:
    """Lower what a tool of quality says of a copied or generated file, so that it is not posted."""
    if not said.candidates or said.run.tool not in words_in("names/vendored", "quality_tools") or not is_copied(file):
        return said
    return ToolReport(tuple(map(_held, said.candidates)), said.run, said.gap)


@once_per_file
def is_copied(file: ChangedFile) -> bool:
    """Whether a file looks copied from elsewhere or written by a program."""
    return copy_sign(file.path, _first_lines(file)) is not None


def _first_lines(file: ChangedFile) -> list[str]:
    if file.head is not None:
        return file.head.split("\n", HEAD_LINES)[:HEAD_LINES]
    first = next(iter(new_side(file)), ())
    return [line.text for line in islice(first, HEAD_LINES)] if first and first[0].number == 1 else []


def _held(found: Candidate) -> Candidate:
    lowered = lower_confidence(found)
    return lowered.model_copy(update={"confidence": min(WRITTEN_CAP, lowered.confidence)})
