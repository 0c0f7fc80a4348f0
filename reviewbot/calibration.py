"""How far each rule has earned to be believed: counts of reports that were right and wrong, and what follows from them.

The table is data (`reviewbot/data/calibration.toml`) and is recomputed by `reviewbot calibrate` from labelled cases.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEAST_COUNTS = 8
"""Reports. With fewer of them the rule's own estimate stands: the bound would tell their number and not their worth."""

Z = 0.8416
"""One-sided 80%: four times of five the true share of right reports lies above the bound."""

HIGHEST = 99
"""Nothing but a person is certain."""

MOST_COUNTS = 10**9
"""Reports of one kind. Nobody counts so many, and the bound is a sum of floating numbers."""

_SCHEMA = 1
_PERCENT = 100


@dataclass(frozen=True)
class Row:
    """What was counted for one rule of one tool; two names joined by "+" where both spoke of one place."""

    tool: str
    rule: str
    version: str
    """Of the tool that was counted."""
    true: int
    false: int
    confidence: int

    @property
    def counted(self) -> bool:
        """Whether the counts carry the confidence."""
        return self.true + self.false >= LEAST_COUNTS


@dataclass(frozen=True)
class Calibration:
    """All rows by tool and rule, and when they were counted."""

    date: str = ""
    rows: Mapping[tuple[str, str], Row] = field(default_factory=dict)

    def confidence(self, tool: str, rule: str, estimate: int) -> int:
        """How probable it is that a report is right, 0-100: by its counts, or the estimate where there are too few."""
        row = self.rows.get((tool, rule))
        return row.confidence if row is not None and row.counted else estimate

    def together(self, sources: Iterable[str], rules: Iterable[str]) -> int | None:
        """The confidence of a report that several tools make of one place; None where nothing was counted of that."""
        row = self.rows.get(("+".join(sorted(set(sources))), "+".join(sorted(set(rules)))))
        return row.confidence if row is not None and row.counted else None


def wilson(true: int, false: int, z: float = Z) -> int:
    """The lower end of Wilson's interval for the share of right reports, in percent; 0 without any report."""
    n = true + false
    if not n:
        return 0
    share, square = true / n, z * z
    middle = share + square / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0, min(HIGHEST, math.floor(_PERCENT * (middle - spread) / (1 + square / n))))


@cache
def packaged_calibration() -> Calibration:
    """The table that comes with the package. Read once: it is a value and never changes."""
    return read_calibration((files("reviewbot") / "data" / "calibration.toml").read_text("utf-8"))


def read_calibration(text: str) -> Calibration:
    """A table from TOML.

    Raises ValueError for a rule that stands there twice, a confidence without its counts, or another form.
    """
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if table.get("schema") != _SCHEMA:
        raise ValueError(f"the calibration table has schema {table.get('schema')!r}, not {_SCHEMA}")
    rows: dict[tuple[str, str], Row] = {}
    if not isinstance(entries := table.get("row", []), list) or "date" not in table:
        raise ValueError("it needs a date and a list of rows")
    for entry in entries:
        row = _row(entry)
        if (row.tool, row.rule) in rows:
            raise ValueError(f"{row.tool} {row.rule} stands twice in the calibration table")
        rows[row.tool, row.rule] = row
    return Calibration(str(table["date"]), rows)


def _row(entry: object) -> Row:
    if not isinstance(entry, dict) or entry.keys() != {each.name for each in fields(Row)}:
        raise ValueError("each row needs tool, rule, version, true, false and confidence, and nothing else")
    row = Row(**entry)
    names = all(isinstance(each, str) for each in (row.tool, row.rule, row.version))
    limits = ((row.true, MOST_COUNTS), (row.false, MOST_COUNTS), (row.confidence, _PERCENT))
    # `type` and not isinstance, for true is a number to Python.
    if not names or not all(type(number) is int and 0 <= number <= most for number, most in limits):
        raise ValueError("a row has names that are no texts, or numbers that no count gives")
    if row.counted and row.confidence != wilson(row.true, row.false):
        raise ValueError(f"{row.tool} {row.rule}: {row.confidence} does not follow from {row.true} and {row.false}")
    return row
