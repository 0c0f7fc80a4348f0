"""What counts say of a rule, and the table that holds them."""

from __future__ import annotations

import math
import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import SURE
from reviewbot.review.calibration import (
    HIGHEST,
    MAX_UNCOUNTED,
    MIN_COUNTS,
    Calibration,
    RuleBand,
    RuleRow,
    packaged_calibration,
    read_calibration,
    wilson,
)

COUNTS = st.integers(0, 10_000)
HEAD = "schema = 1\ndate = 2026-01-02\n"
ROW = """
[[row]]
tool = "ruff-security"
rule = "S608"
version = "0.17.6"
true = 9
false = 1
confidence = 79
"""


def row(true: int, false: int, confidence: int | None = None, tool: str = "t", rule: str = "r") -> RuleRow:
    return RuleRow(tool, rule, "1", true, false, wilson(true, false) if confidence is None else confidence)


@pytest.mark.parametrize(
    ("true", "false", "percent"), [(0, 0, 0), (0, 9, 0), (5, 0, 87), (9, 1, 79), (1, 1, 24), (47, 0, 98), (8, 8, 39)]
)
def test_the_bound_is_wilsons(true: int, false: int, percent: int) -> None:
    assert wilson(true, false) == percent


def test_nothing_is_certain_however_often_it_was_right() -> None:
    assert wilson(10**9, 0) == HIGHEST


@given(COUNTS, COUNTS)
def test_the_bound_is_a_confidence_below_the_share_of_right_reports(true: int, false: int) -> None:
    bound = wilson(true, false)

    assert 0 <= bound <= HIGHEST
    assert bound <= math.ceil(100 * true / max(true + false, 1))


@given(COUNTS, COUNTS)
def test_the_bound_rises_with_each_right_report_and_falls_with_each_wrong_one(true: int, false: int) -> None:
    assert wilson(true + 1, false) >= wilson(true, false) >= wilson(true, false + 1)


@given(st.integers(1, 500), st.integers(0, 500))
def test_the_same_share_is_believed_more_with_more_reports(true: int, false: int) -> None:
    assert wilson(10 * true, 10 * false) >= wilson(true, false)


@pytest.mark.parametrize(
    ("true", "false", "counted"), [(MIN_COUNTS, 0, True), (3, MIN_COUNTS - 3, True), (MIN_COUNTS - 1, 0, False)]
)
def test_few_reports_carry_nothing(true: int, false: int, counted: bool) -> None:  # noqa: FBT001 - a parameter
    assert row(true, false).counted == counted


def test_counts_take_the_place_of_the_estimate_of_their_own_rule() -> None:
    table = Calibration("", {("t", "r"): row(9, 1), ("t", "few"): row(4, 0, rule="few")})

    assert table.confidence("t", "r", 50) == wilson(9, 1)
    assert table.confidence("t", "few", 50) == 50
    assert table.confidence("t", "other", 50) == 50
    assert table.confidence("u", "r", 50) == 50
    assert Calibration().confidence("t", "r", 50) == 50


def test_what_two_tools_say_of_one_place_has_counts_of_its_own() -> None:
    both = row(40, 1, tool="ruff-security+taint", rule="S608+sql-external")
    few = row(1, 0, tool="ruff-security+taint", rule="S307+code-external")
    table = Calibration("", {(entry.tool, entry.rule): entry for entry in (both, few)})

    assert table.joint_confidence(["taint", "ruff-security"], ["sql-external", "S608"]) == both.confidence
    assert (
        table.joint_confidence(["taint", "ruff-security", "taint"], ["sql-external", "S608", "S608"]) == both.confidence
    )
    assert table.joint_confidence(["ruff-security", "taint"], ["S307", "code-external"]) is None
    assert table.joint_confidence(["ruff-security"], ["S608"]) is None


def test_a_table_is_read() -> None:
    table = read_calibration(HEAD + ROW)

    assert table.date == "2026-01-02"
    assert table.rows == {("ruff-security", "S608"): RuleRow("ruff-security", "S608", "0.17.6", 9, 1, 79)}


def test_an_estimate_is_moved_by_what_was_counted_of_rules_like_it() -> None:
    rows = {("t", "few"): row(4, 0, rule="few")}
    table = Calibration(
        "", rows, {band.low: band for band in (RuleBand(40, 2, 8), RuleBand(60, 30, 0), RuleBand(80, 30, 0))}
    )

    assert table.confidence("t", "few", 45) == 37
    assert table.confidence("t", "other", 65) == SURE - 1  # 86 without that bound
    assert table.confidence("t", "other", 84) == MAX_UNCOUNTED
    assert table.confidence("t", "other", 96) == 96
    assert table.confidence("t", "other", 50) == 50
    assert table.confidence("of another tool", "other", 84) == 84


def test_no_other_rule_makes_an_estimate_surer_than_counts_would() -> None:
    assert RuleBand(90, 1_000, 0).adjust(94) == 94
    assert RuleBand(90, 0, 10).adjust(94) == 51


def test_bands_are_read() -> None:
    table = read_calibration(f"{HEAD}band = [{{ low = 80, true = 3, false = 1 }}]\n")

    assert table.bands == {80: RuleBand(80, 3, 1)}


def test_a_table_may_be_empty() -> None:
    assert read_calibration(HEAD).rows == {}


def test_a_row_of_few_reports_may_say_any_confidence() -> None:
    few = ROW.replace("true = 9", "true = 3").replace("confidence = 79", "confidence = 50")

    assert read_calibration(HEAD + few).confidence("ruff-security", "S608", 66) == 66


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("schema = 1", "schema = 2") + ROW, "schema: .*1"),
        (ROW, "schema: .*required"),
        (HEAD + ROW + ROW, "S608 stands twice"),
        (HEAD + ROW.replace("79", "90"), "90 does not follow from 9 and 1"),
        (HEAD + ROW.replace("true = 9", "true = -9"), "row.0.true: .*greater"),
        (HEAD + ROW.replace("true = 9", "true = true"), "row.0.true: .*integer"),
        (HEAD + ROW.replace("true = 9", f"true = 1{'0' * 400}"), "row.0.true: .*less"),
        (HEAD + ROW.replace('"S608"', "7"), "row.0.rule: .*string"),
        (HEAD + ROW.replace("false = 1", ""), "row.0.false: .*required"),
        (HEAD + "row = [1]", "row.0: .*RuleRow"),
        (HEAD + "band = 1", "band: .*tuple"),
        (HEAD + "band = [{ low = 80, true = 1 }]", "band.0.false: .*required"),
        (HEAD + "band = [{ low = 80, true = 1, false = true }]", "band.0.false: .*integer"),
        (HEAD + "band = [{ low = 85, true = 1, false = 0 }]", "band.0.low: .*multiple of 10"),
        (HEAD + "band = [{ low = 80, true = 1, false = -1 }]", "band.0.false: .*greater"),
        (HEAD + "row = 1", "row: .*tuple"),
        (f"row = {'[' * 3_000}{']' * 3_000}", "nested too deeply"),
    ],
    ids=[
        "another schema",
        "no schema",
        "twice",
        "more than the counts carry",
        "below zero",
        "no number",
        "a huge number",
        "no name",
        "a field missing",
        "no row",
        "no list of bands",
        "a field of a band missing",
        "a count that is none",
        "another band",
        "a count below zero",
        "no list",
        "deeply nested",
    ],
)
def test_a_table_that_says_something_odd_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_calibration(text)


def test_the_packaged_table_can_be_read() -> None:
    table = packaged_calibration()

    assert date.fromisoformat(table.date).isoformat() == table.date
    for entry in table.rows.values():
        assert entry.true >= 0
        assert entry.false >= 0
        assert re.fullmatch(r"[a-z+-]{1,100}", entry.tool)
        assert len(entry.tool.split("+")) in {1, len(entry.rule.split("+"))}
