"""Whether a finding on a piece of Python is older than the change that is under review."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reviewbot.tools.views import Found, View

FULL = 100
"""Of 100: as far as its rule is trusted."""

DOUBTED = 75
"""At most this where the flaw may well be older: what is critical then goes to a person, and nothing is posted."""

_Way = tuple[str, str, str]


class Past:
    """What one check says of the old side of a piece, which is looked at when a finding first asks for it.

    Args:
        view: the new side.
        found: all that the check found there.
        look: gives the old side and what the check finds there; None where that is not at hand.
    """

    def __init__(
        self, view: View, found: Sequence[Found], look: Callable[[], tuple[View, Sequence[Found]] | None]
    ) -> None:
        self._view = view
        self._found = found
        self._look = look

    def trust(self, found: Found) -> int:
        """How far a finding may be trusted at most, 0-100; 0 where the old side has it as well.

        Where its own rows are added it is new. Where only a step on the way to them is, the old side decides; without
        one the change must at least bring the value in.
        """
        added = self._view.added
        if not added.isdisjoint(range(found.row, (found.end_row or found.row) + 1)):
            return FULL
        if not self._view.whole or self._old is None:
            return FULL if found.flow and found.flow[0].row in added else DOUBTED
        way = _way(self._view, found)
        if self._old[way] >= self._new[way]:
            return 0
        # The flaw was there, and gets one more source; or its source was only written in another way.
        return DOUBTED if _at(self._old, way) >= _at(self._new, way) else FULL

    @cached_property
    def _new(self) -> Counter[_Way]:
        return Counter(_way(self._view, found) for found in self._found)

    @cached_property
    def _old(self) -> Counter[_Way] | None:
        looked = self._look()
        return None if looked is None else Counter(_way(looked[0], found) for found in looked[1])


def _way(view: View, found: Found) -> _Way:
    """A finding by what stays when lines move: its rule, its row, and the row that the value comes from."""
    first = found.flow[0].row if found.flow else found.row
    return found.rule, view.row(found.row).strip(), view.row(first).strip()


def _at(ways: Counter[_Way], way: _Way) -> int:
    """How many findings have the rule and the row of this one, wherever their values come from."""
    return sum(count for other, count in ways.items() if other[:2] == way[:2])
