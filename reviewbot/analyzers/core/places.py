"""Hold back what rules say of files that are no code of the product: a defect there reaches none of its users.

In files that a project did not write, rules of quality are held back: they are mended where they come from. In tests,
examples and the tooling of developers rules of quality and of security are. What is as bad in any file is reported as
elsewhere: secrets, hidden text, what both sides of a change show, and what workflows, images and migrations do.
"""

from __future__ import annotations

from itertools import islice

from reviewbot.analyzers.core.changed_lines import new_side
from reviewbot.analyzers.core.preexisting import lower_confidence
from reviewbot.analyzers.core.rules import WRITTEN_CAP
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.diff.paths import place_of
from reviewbot.diff.vendored import HEAD_LINES, copy_sign
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile, ToolReport
from reviewbot.tables import words_in

_NO_CAP = 100
_ASIDE_CAP = 69
"""The most that is trusted what rules say outside of the product: below 80 also where a second program agrees."""


def hold_by_place(file: ChangedFile, said: ToolReport) -> ToolReport:
    """Lower what a tool says of a file that is no code of the product, so that it is not posted."""
    held = tuple(_held(each, _cap(file, said.run.tool, each.category)) for each in said.candidates)
    return said if held == said.candidates else ToolReport(held, said.run, said.gap)


def _cap(file: ChangedFile, tool: str, category: str) -> int:
    """The most that is trusted what a tool says of a file, in one category of its rules."""
    tools, categories = words_in("names/vendored", "quality_tools"), words_in("names/vendored", "quality_categories")
    quality = tool in tools or category in categories
    if quality and is_copied(file):
        return WRITTEN_CAP
    held = quality or tool in words_in("names/vendored", "security_tools")
    return _ASIDE_CAP if held and place_of(file.path) != "product" else _NO_CAP


@once_per_file
def is_copied(file: ChangedFile) -> bool:
    """Whether a file looks copied from elsewhere or written by a program."""
    return copy_sign(file.path, _first_lines(file)) is not None


def _first_lines(file: ChangedFile) -> list[str]:
    if file.head is not None:
        return file.head.split("\n", HEAD_LINES)[:HEAD_LINES]
    first = next(iter(new_side(file)), ())
    return [line.text for line in islice(first, HEAD_LINES)] if first and first[0].number == 1 else []


def _held(found: Candidate, cap: int) -> Candidate:
    if cap == _NO_CAP:
        return found
    lowered = lower_confidence(found)
    return lowered.model_copy(update={"confidence": min(cap, lowered.confidence)})
