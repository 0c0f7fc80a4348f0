"""A pattern is reported at 80 or more where people who read foreign code said that it is right."""

from __future__ import annotations

from collections import defaultdict

import pytest

from benchmarks.judged_patterns import PROVEN, TABLE, Judged, confidences, read_judged, stands, sure_rules

BY_RULE: dict[str, list[Judged]] = defaultdict(list)
for _row in read_judged(TABLE.read_text("utf-8")):
    BY_RULE[_row.rule].append(_row)


@pytest.mark.parametrize("rule", sure_rules())
def test_a_pattern_at_80_was_right_at_two_judged_places_and_at_nine_of_ten_where_it_still_speaks(rule: str) -> None:
    assert stands(BY_RULE[rule])


def test_a_pattern_that_needs_no_judged_place_has_none_and_says_why() -> None:
    assert all(reason and rule in confidences() and rule not in BY_RULE for rule, reason in PROVEN.items())


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


def test_each_judged_place_has_a_line_and_a_verdict() -> None:
    rows = [row for rows in BY_RULE.values() for row in rows]

    assert {row.verdict for row in rows} == {"right", "wrong"}
    assert {row.now for row in rows} <= {"", "quiet"}
    assert [row for row in rows if not row.place.rpartition(":")[2].partition("-")[0].isdigit()] == []
