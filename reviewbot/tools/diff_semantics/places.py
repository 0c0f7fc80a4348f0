"""The added line on which something is told that the change took away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.diff.rows import hunk_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reviewbot.contracts import Hunk
    from reviewbot.diff.rows import Row
    from reviewbot.tools.diff_semantics.sides import Rows, Told


class Places:
    """The rows of a changed file, hunk by hunk."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        self._hunks = [list(hunk_rows(hunk)) for hunk in hunks]

    def of(self, told: Told) -> Row | None:
        """An added row: at fault itself, else the nearest one to what is gone in its hunk, else one of the definition.

        None where no hunk shows anything of it.
        """
        at_fault = next((row for row in self._added() if _is_in(row.new, told.spot)), None)
        if at_fault is not None:
            return at_fault
        for hunk in self._hunks:
            gone = [at for at, row in enumerate(hunk) if row.kind == "-" and _is_in(row.old, told.gone)]
            added = [at for at, row in enumerate(hunk) if row.kind == "+" and row.text.strip()]
            inside = [at for at in added if _is_in(hunk[at].new, told.within)]
            if gone and added:
                return hunk[min(inside or added, key=lambda at: (min(abs(at - each) for each in gone), at))]
            if gone:
                return next((row for row in self._added() if _is_in(row.new, told.within)), None)
        return None

    def _added(self) -> Iterable[Row]:
        return (row for hunk in self._hunks for row in hunk if row.kind == "+" and row.text.strip())


def _is_in(number: int | None, rows: Rows) -> bool:
    return number is not None and rows[0] <= number <= rows[1]
