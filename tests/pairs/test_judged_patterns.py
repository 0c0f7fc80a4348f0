"""A rule is reported at 80 or more where readers of foreign code, or the labels of a suite, said that it is right."""

from __future__ import annotations

from collections import defaultdict

import pytest

from benchmarks.judged_patterns import (
    PROVEN,
    SUITE,
    TABLE,
    Judged,
    confidences,
    in_suites,
    read_judged,
    stands,
    sure_rules,
)
from reviewbot.domain.contracts import SURE

BY_RULE: dict[str, list[Judged]] = defaultdict(list)
for _row in read_judged(TABLE.read_text("utf-8")):
    BY_RULE[_row.rule.rpartition(":")[2]].append(_row)


@pytest.mark.parametrize("rule", sure_rules())
def test_a_rule_at_80_was_right_at_two_judged_places_and_at_nine_of_ten_where_it_still_speaks(rule: str) -> None:
    assert stands(BY_RULE[rule], in_suites().get(rule, (0, 0)))


def test_a_rule_that_needs_no_judged_place_would_not_stand_by_them_and_says_why() -> None:
    assert all(reason and confidences().get(rule, 0) >= SURE for rule, reason in PROVEN.items())
    assert not any(stands(BY_RULE[rule], in_suites().get(rule, (0, 0))) for rule in PROVEN)


def _rows(*verdicts: str) -> list[Judged]:
    return [Judged("r", "a/b", "c", f"f.go:{n}", *verdict.split("/")) for n, verdict in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("rows", "allowed"),
    [
        (_rows("right/"), False),
        (_rows("right/", "right/"), True),
        (_rows("right/", "right/", "wrong/"), False),
        (_rows("right/", "right/", "wrong/quiet"), True),
        (_rows(*["right/"] * 9, "wrong/"), True),
        ([], False),
    ],
)
def test_one_place_is_too_few_and_a_place_where_the_rule_is_quiet_now_does_not_count(
    rows: list[Judged], *, allowed: bool
) -> None:
    assert stands(rows) is allowed


@pytest.mark.parametrize(
    ("suites", "allowed"), [((1, 0), True), ((9, 1), True), ((8, 1), False), ((0, 1), False), ((0, 0), False)]
)
def test_one_place_of_a_suite_is_enough_where_nine_of_ten_are_right(suites: tuple[int, int], *, allowed: bool) -> None:
    assert stands([], suites) is allowed
    assert stands([Judged("r", f"{SUITE}own", "-", "a/b.py:3", "right", "")], (0, 0)) is True


def test_each_judged_place_has_a_line_and_a_verdict() -> None:
    rows = [row for rows in BY_RULE.values() for row in rows]

    assert {row.verdict for row in rows} == {"right", "wrong"}
    assert {row.now for row in rows} <= {"", "quiet"}
    assert [row for row in rows if not row.place.rpartition(":")[2].partition("-")[0].isdigit()] == []
