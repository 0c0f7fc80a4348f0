"""Calibrate the confidence of each rule: counts of reports that were right and wrong, and what follows from them.

The table is data (`reviewbot/data/calibration.toml`) and is recomputed by `reviewbot calibrate` from labelled cases.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from reviewbot.domain.contracts.base import SURE, Contract, first_fault
from reviewbot.tables import packaged_text

MIN_COUNTS = 8
"""Reports. With fewer of them the rule's own estimate stands: the bound would tell their number and not their worth."""

Z = 0.8416
"""One-sided 80%: four times of five the true share of right reports lies above the bound."""

HIGHEST = 99
"""Nothing but a person is certain."""

MAX_COUNTS = 10**9
"""Upper bound of reports of one kind, above any real count: the sum is one of floating numbers."""

BAND = 10
"""Estimates are pooled by tens: 80 to 89 is one band."""

_WEIGHTS = ((70, 12), (0, 20))
"""From this estimate on, so many reports weigh as much as the estimate itself. High ones were given for what stands on
the line, low ones for what may be right anywhere: those move less."""

MAX_UNCOUNTED = 90
"""What an estimate is raised to at most by the reports of other rules; one below `SURE` stays below it, since places in
foreign code have put most of those there."""

_PERCENT = 100

Counted = Annotated[int, Field(strict=True, ge=0, le=MAX_COUNTS)]
Percent = Annotated[int, Field(strict=True, ge=0, le=_PERCENT)]


@dataclass(frozen=True)
class RuleRow:
    """What was counted for one rule of one tool; two names joined by "+" where both spoke of one place."""

    tool: str
    rule: str
    version: str
    """Of the tool that was counted."""
    true: Counted
    false: Counted
    confidence: Percent

    @property
    def counted(self) -> bool:
        """Whether the counts carry the confidence."""
        return self.true + self.false >= MIN_COUNTS


@dataclass(frozen=True)
class RuleBand:
    """Reports of all rules whose estimates lie in one band."""

    low: Annotated[Percent, Field(lt=_PERCENT, multiple_of=BAND)]
    """The lowest estimate of the band."""
    true: Counted
    false: Counted

    def adjust(self, estimate: int) -> int:
        """An estimate of the band, moved towards the share that was right."""
        weight = next(weight for low, weight in _WEIGHTS if self.low >= low)
        share = (weight * estimate + _PERCENT * self.true) / (weight + self.true + self.false)
        return min(round(share), max(MAX_UNCOUNTED, estimate) if estimate >= SURE else SURE - 1)


class _Table(Contract, strict=False):
    """What the file holds."""

    version: Annotated[Literal[1], Field(alias="schema")]
    date: Annotated[str, BeforeValidator(str)]
    row: tuple[RuleRow, ...] = ()
    band: tuple[RuleBand, ...] = ()


@dataclass(frozen=True)
class Calibration:
    """All rows by tool and rule, the bands by their lowest estimate, and when they were counted."""

    date: str = ""
    rows: Mapping[tuple[str, str], RuleRow] = field(default_factory=dict)
    bands: Mapping[int, RuleBand] = field(default_factory=dict)

    @cached_property
    def _tools(self) -> frozenset[str]:
        return frozenset(tool for tool, _ in self.rows)

    def confidence(self, tool: str, rule: str, estimate: int) -> int:
        """How probable it is that a report is right, 0-100.

        By the counts of the rule; where they are too few its estimate, moved by what was counted of rules with an
        estimate like it. Of a tool that was not counted at all the estimate stands.
        """
        row = self.rows.get((tool, rule))
        if row is not None and row.counted:
            return row.confidence
        band = self.bands.get(estimate // BAND * BAND)
        return estimate if band is None or tool not in self._tools else band.adjust(estimate)

    def joint_confidence(self, sources: Iterable[str], rules: Iterable[str]) -> int | None:
        """The confidence of a report that several tools make of one place; None where nothing was counted of that."""
        row = self.rows.get(("+".join(sorted(set(sources))), "+".join(sorted(set(rules)))))
        return row.confidence if row is not None and row.counted else None


def wilson(true: int, false: int) -> int:
    """The lower end of Wilson's interval for the share of right reports, in percent; 0 without any report."""
    return max(0, min(HIGHEST, math.floor(_PERCENT * wilson_interval(true, false, Z)[0]))) if true + false else 0


def wilson_interval(true: float, false: float, z: float) -> tuple[float, float]:
    """Wilson's interval for the share of `true` in both, at least one report, as two shares; `z`: of the normal law."""
    n, square = true + false, z * z
    middle = true / n + square / (2 * n)
    spread = z * math.sqrt(true * false / n**3 + square / (4 * n * n))
    return (middle - spread) / (1 + square / n), (middle + spread) / (1 + square / n)


@cache
def packaged_calibration() -> Calibration:
    """The table that comes with the package. Read once: it is a value and never changes."""
    return read_calibration(packaged_text("calibration.toml"))


def read_calibration(text: str) -> Calibration:
    """Read a table from TOML.

    Raises ValueError for a rule that stands there twice, a confidence without its counts, or another form.
    """
    try:
        table = _Table.model_validate(tomllib.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValidationError as error:
        raise ValueError(": ".join(first_fault(error))) from None
    rows: dict[tuple[str, str], RuleRow] = {}
    for row in table.row:
        if (row.tool, row.rule) in rows:
            raise ValueError(f"{row.tool} {row.rule} stands twice in the calibration table")
        if row.counted and row.confidence != wilson(row.true, row.false):
            raise ValueError(f"{row.tool} {row.rule}: {row.confidence} does not follow from {row.true} and {row.false}")
        rows[row.tool, row.rule] = row
    return Calibration(table.date, rows, {band.low: band for band in table.band})
