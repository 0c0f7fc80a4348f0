"""Fitting the numbers that models state: what the map always is, and how far off it leaves a model of known truth."""

from __future__ import annotations

import random
from collections.abc import Callable
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evaluate.model_fit import (
    MIN_CHANGES,
    MIN_CLAIMS,
    LabelledClaim,
    calibration_error,
    cross_fit,
    fit_table,
    has_enough,
    measure,
    render_reliability,
    render_tables,
    replace_tables,
)
from reviewbot.review.model_calibration import Key, ModelTables, place_on, read_model_tables

KEY: Key = ("reader", "confidence", "model-x", "0123456789abcdef")

CLAIMS = st.lists(
    st.builds(LabelledClaim, st.sampled_from("abcd"), st.integers(0, 100), st.booleans(), st.just(1.0)),
    min_size=1,
    max_size=60,
)
STATED = {
    **dict.fromkeys((20, 30, 40, 50, 55, 60, 62, 65, 98, 99), 2),
    **dict.fromkeys((70, 72, 75, 78, 80, 82, 93, 94, 96, 97), 6),
    **dict.fromkeys((85, 88, 90, 92, 95), 10),
}
"""Numbers as models state them, mostly high, and how often."""
MODELS: dict[str, Callable[[int], float]] = {
    "calibrated": lambda stated: stated / 100,
    "15 too sure": lambda stated: max(0, stated - 15) / 100,
    "30 too sure": lambda stated: max(0, stated - 30) / 100,
    "15 too cautious": lambda stated: min(100, stated + 15) / 100,
    "as right whatever it states": lambda _: 0.7,
    "sharp at 70": lambda stated: 0.95 if stated > 70 else 0.1,
    "nearly always right": lambda stated: 0.97 if stated > 60 else 0.5,
}
"""How often a simulated model is right where it states a number."""


def simulated(truth: Callable[[int], float], count: int, seed: int) -> list[LabelledClaim]:
    """Claims of a model whose true rates are known, ten of each change."""
    chance = random.Random(seed)
    numbers = chance.choices(list(STATED), list(STATED.values()), k=count)
    return [
        LabelledClaim(f"own/{n // 10}", stated, chance.random() < truth(stated)) for n, stated in enumerate(numbers)
    ]


def left_error(claims: list[LabelledClaim], truth: Callable[[int], float]) -> float:
    """The calibration error that the fit of these claims leaves, against the true rates and not against a sample."""
    points = fit_table(claims)
    gaps: dict[int, float] = {}
    for stated, weight in STATED.items():
        number = place_on(points, stated)
        gaps[number // 10] = gaps.get(number // 10, 0.0) + weight * (number / 100 - truth(stated))
    return sum(map(abs, gaps.values())) / sum(STATED.values())


@given(CLAIMS, st.integers(0, 99))
def test_a_fit_rises_and_stays_within_its_bounds(claims: list[LabelledClaim], stated: int) -> None:
    points = fit_table(claims)

    assert 0 <= place_on(points, stated) <= place_on(points, stated + 1) <= 99
    assert [stated for stated, _ in points] == sorted({stated for stated, _ in points})


@given(st.dictionaries(st.integers(0, 100), st.integers(1, 5), min_size=1, max_size=20), st.integers(0, 99))
def test_claims_that_are_as_right_as_stated_move_nothing(hundreds: dict[int, int], stated: int) -> None:
    claims = [LabelledClaim("a", number, n < number) for number, many in hundreds.items() for n in [*range(100)] * many]

    assert place_on(fit_table(claims), stated) == stated


@given(st.integers(1, 100), st.integers(1, 40))
def test_few_counts_move_a_number_less_than_many(stated: int, count: int) -> None:
    def fitted(n: int) -> int:
        return place_on(fit_table([LabelledClaim("a", stated, right=False)] * n), stated)

    assert fitted(1) == min(99, round(stated / 2)), "one claim, and one that is added as stated"
    assert 0 <= fitted(count + 1) <= fitted(count) < stated


def test_numbers_that_contradict_each_other_are_pooled() -> None:
    wrong, right = [LabelledClaim("a", 90, right=False)] * 20, [LabelledClaim("a", 80, right=True)] * 20
    points = dict(fit_table(wrong + right))

    assert points[80] == points[90] == round((20 * 100 + 80 + 90) / 42)


@pytest.mark.parametrize("name", MODELS)
def test_five_hundred_verdicts_leave_an_error_of_five_hundredths_at_most(name: str) -> None:
    errors = [left_error(simulated(MODELS[name], 500, seed), MODELS[name]) for seed in range(20)]

    assert mean(errors) <= 0.05
    assert sorted(errors)[15] <= 0.05, "and in three single trials of four"


@pytest.mark.parametrize("name", MODELS)
def test_the_fewest_claims_of_a_table_leave_six_hundredths_on_average(name: str) -> None:
    errors = [left_error(simulated(MODELS[name], MIN_CLAIMS, seed), MODELS[name]) for seed in range(60)]

    assert mean(errors) <= 0.06


def test_no_claim_is_fitted_with_the_claims_of_its_own_change() -> None:
    claims = [LabelledClaim("a", 90, right=False)] * 50 + [LabelledClaim("b", 90, right=True)] * 50

    fitted = cross_fit(claims)

    assert set(fitted[:50]) == {99}
    assert set(fitted[50:]) == {2}
    assert cross_fit(claims[:50]) == [90] * 50, "of one change alone nothing is known of it"


def test_the_calibration_error_weighs_the_gap_of_each_band_by_its_size() -> None:
    assert calibration_error([], []) == 0
    assert calibration_error([80, 80, 80, 80], [True, True, True, False]) == pytest.approx(0.05)
    assert calibration_error([100, 90, 10, 10], [False, False, False, True]) == pytest.approx(0.95 / 2 + 0.4 / 2)


def test_a_measurement_has_both_errors_and_the_bands() -> None:
    table = measure(KEY, simulated(MODELS["30 too sure"], 500, seed=1), "2026-01-02")

    assert (table.claims, table.changes, table.date) == (500, 50, "2026-01-02")
    assert table.error_stated > 0.25
    assert table.error_fitted <= 0.05
    assert sum(band.claims for band in table.bands) == 500
    assert all(band.low <= band.stated <= band.low + 10 and band.fitted < band.stated for band in table.bands[1:])


def test_a_fit_that_does_not_help_on_changes_left_out_leaves_the_numbers_as_stated() -> None:
    one_change = [LabelledClaim("a", 90, right=False)] * 50

    table = measure(KEY, one_change, "2026-01-02")

    assert (table.points, table.error_stated, table.error_fitted) == ((), 0.9, 0.9)
    assert place_on(table.points, 90) == 90
    assert "the numbers stay as stated" in render_reliability([table])


def test_a_table_needs_claims_enough_of_changes_enough() -> None:
    claims = simulated(MODELS["15 too sure"], MIN_CLAIMS, seed=1)

    assert has_enough(measure(KEY, claims, "2026-01-02"))
    assert not has_enough(measure(KEY, claims[:-1], "2026-01-02"))
    few = [claim._replace(change=str(n % (MIN_CHANGES - 1))) for n, claim in enumerate(claims)]
    assert not has_enough(measure(KEY, few, "2026-01-02"))


def test_tables_are_read_as_they_were_written_and_a_new_one_replaces_that_of_its_key() -> None:
    first, later = (measure(KEY, simulated(MODELS["15 too sure"], 200, seed), "2026-01-02") for seed in (1, 2))
    other = first.model_copy(update={"role": "judge", "points": ()})
    tables = replace_tables(ModelTables(), [first, other])

    assert read_model_tables(render_tables(tables)) == tables
    assert [table.role for table in tables.table] == ["judge", "reader"]
    assert replace_tables(tables, [later]).table == (other, later)


def test_a_reliability_table_shows_what_was_stated_what_was_true_and_what_was_fitted() -> None:
    claims = [LabelledClaim(str(n // 10), 90, right=n % 2 == 0) for n in range(200)]

    text = render_reliability([measure(KEY, claims, "2026-01-02")])

    assert text.startswith(
        "Confidence of model-x as reader, prompt `0123456789abcdef`, 2026-01-02: 200 claims of 20 changes. Calibration "
        "error (ECE) .40 as stated, "
    )
    assert "\n| stated | claims | mean stated | true | mean fitted |\n" in text
    assert "\n| 90-100 | 200 | .90 | .50 | .50 |\n" in text
    assert (
        render_reliability([])
        == "No model has been measured yet: reviews take the numbers as models state them, and say so.\n"
    )
