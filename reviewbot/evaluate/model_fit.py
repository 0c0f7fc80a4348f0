"""Fit what models state to what is true: isotonic regression with shrinkage, measured with one change left out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.review.model_calibration import Band, Key, MeasuredMap, ModelTables, Points, key_of, place_on
from reviewbot.wording import with_count

PRIOR = 1
"""Claims that are as right as they are stated, added to each stated number: a single claim moves it half of the way, so
that none below 60 comes over the cut at 80 by one claim."""
BANDS = 10
"""Of the reliability table and of the calibration error, as scorers count them."""
MIN_CLAIMS = 150
"""With fewer a map is not kept. Simulated models that are off by .11 to .30 (too sure, too cautious, as right whatever
they state, ...) are off by .06 at most on average after a fit of 150 claims, and by .035 after one of 500."""
MIN_CHANGES = 5
"""Claims of one change are often right or wrong together."""

HEAD = """\
# What the numbers that models state have turned out to be worth, by model, role and prompt. Made by
# `reviewbot calibrate --models`, never edited. A run whose model or prompts stand in no table takes the numbers as the
# model states them, and its report says so.

schema_version = 1
"""
NONE = "No model has been measured yet: reviews take the numbers as models state them, and say so.\n"


class LabelledClaim(NamedTuple):
    """A stated number, and whether the claim was right."""

    change: str
    stated: int
    right: bool
    weight: float = 1.0
    """As how many claims it counts in a fit."""


def fit_table(claims: Iterable[LabelledClaim]) -> Points:
    """The share of right claims for each stated number, drawn towards that number and pooled until all of them rise.

    Pool adjacent violators is isotonic regression.
    """
    by_number: dict[int, list[LabelledClaim]] = defaultdict(list)
    for claim in claims:
        by_number[claim.stated].append(claim)
    pools: list[_Pool] = []
    for stated, group in sorted(by_number.items()):
        right, all_of_them = (sum(each.weight for each in group if each.right or every) for every in (False, True))
        pool = _Pool((stated,), 100 * right + PRIOR * stated, all_of_them + PRIOR)
        while pools and pools[-1].share >= pool.share:
            pool = pools.pop().joined(pool)
        pools.append(pool)
    return tuple((stated, round(pool.share)) for pool in pools for stated in pool.stated)


class _Pool(NamedTuple):
    stated: tuple[int, ...]
    right: float
    weight: float

    @property
    def share(self) -> float:
        return self.right / self.weight

    def joined(self, other: _Pool) -> _Pool:
        return _Pool(self.stated + other.stated, self.right + other.right, self.weight + other.weight)


def cross_fit(claims: Sequence[LabelledClaim]) -> list[int]:
    """The fitted number of each claim, from the claims of all other changes."""
    maps = {
        change: fit_table(claim for claim in claims if claim.change != change)
        for change in {each.change for each in claims}
    }
    return [place_on(maps[claim.change], claim.stated) for claim in claims]


def calibration_error(numbers: Sequence[int], right: Sequence[bool]) -> float:
    """Expected calibration error: the mean gap between number and share of right ones, over ten bands by their size."""
    gaps = (abs(sum(numbers[n] / 100 - right[n] for n in band)) for band in _bands(numbers).values())
    return sum(gaps) / len(numbers) if numbers else 0.0


def measure(key: Key, claims: Sequence[LabelledClaim], date: str) -> MeasuredMap:
    """The map of these claims (at least one), with its errors and its reliability table.

    Where the fit is no better than the stated numbers on changes that were left out, the map has no points.
    """
    role, quantity, model, prompt = key
    stated, right = [claim.stated for claim in claims], [claim.right for claim in claims]
    fitted = cross_fit(claims)
    before, after = calibration_error(stated, right), calibration_error(fitted, right)
    helps = after < before
    if not helps:
        fitted, after = stated, before
    return MeasuredMap(
        role=role,
        quantity=quantity,
        model=model,
        prompt=prompt,
        points=fit_table(claims) if helps else (),
        date=date,
        changes=len({claim.change for claim in claims}),
        claims=len(claims),
        error_stated=round(before, 3),
        error_fitted=round(after, 3),
        bands=tuple(
            Band(
                low=low,
                claims=len(band),
                right=sum(right[n] for n in band),
                stated=round(sum(stated[n] for n in band) / len(band), 1),
                fitted=round(sum(fitted[n] for n in band) / len(band), 1),
            )
            for low, band in sorted(_bands(stated).items())
        ),
    )


def has_enough(table: MeasuredMap) -> bool:
    """Whether a map rests on so many claims that it may be kept."""
    return table.claims >= MIN_CLAIMS and table.changes >= MIN_CHANGES


def replace_tables(tables: ModelTables, new: Iterable[MeasuredMap]) -> ModelTables:
    """The tables with the new ones in the place of those of the same key, in order of their keys."""
    by_key = {key_of(table): table for table in (*tables.table, *new)}
    return ModelTables(table=tuple(by_key[key] for key in sorted(by_key)))


def render_tables(tables: ModelTables) -> str:
    """As TOML."""
    return HEAD + "".join(f"\n[[table]]\n{_toml(table.model_dump(mode='json'))}" for table in tables.table)


def _toml(fields: Mapping[str, object]) -> str:
    # JSON's texts, numbers and lists of them are TOML's as well; only a list of objects is not.
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in fields.items() if name != "bands"]
    bands = fields["bands"]
    assert isinstance(bands, list)  # noqa: S101 - the dump of a tuple
    rows = ("  { " + ", ".join(f"{name} = {value}" for name, value in band.items()) + " },\n" for band in bands)
    return "".join(lines) + "bands = [\n" + "".join(rows) + "]\n"


def render_reliability(tables: Iterable[MeasuredMap]) -> str:
    """The reliability tables as Markdown."""
    return "\n".join(_reliability(table) for table in tables) or NONE


def _reliability(table: MeasuredMap) -> str:
    right = "true" if table.quantity == "confidence" else "labelled"
    fitted = "" if table.points else " The fit is no better, so that the numbers stay as stated."
    size = f"{with_count(table.claims, 'claim')} of {with_count(table.changes, 'change')}"
    lines = [
        (
            f"{table.quantity.capitalize()} of {table.model} as {table.role}, prompt `{table.prompt}`, {table.date}: "
            f"{size}. Calibration error (ECE) {_share(table.error_stated)} as stated, {_share(table.error_fitted)} "
            f"fitted with one change left out.{fitted}"
        ),
        "",
        f"| stated | claims | mean stated | {right} | mean fitted |",
        "| --- | --- | --- | --- | --- |",
        *(_row(band) for band in table.bands),
    ]
    return "\n".join(lines) + "\n"


def _row(band: Band) -> str:
    last = 100 if band.low == 100 - 100 // BANDS else band.low + 100 // BANDS - 1
    shares = (band.stated / 100, band.right / band.claims, band.fitted / 100)
    return f"| {band.low}-{last} | {band.claims} | {' | '.join(map(_share, shares))} |"


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def _bands(numbers: Sequence[int]) -> dict[int, list[int]]:
    """The positions of the numbers by the low end of their band; 100 is in the last one."""
    found: dict[int, list[int]] = defaultdict(list)
    for at, number in enumerate(numbers):
        width = 100 // BANDS
        found[min(number // width, BANDS - 1) * width].append(at)
    return found
