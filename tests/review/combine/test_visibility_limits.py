"""Weighing at its limits: the cap, the order of conflicts, thresholds shared by cards, near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.review.combine.visibility import Rules, merge_and_sort, sort_findings
from tests.make import MakeCard, MakeFinding

RULES = Rules({"security": 80, "logic": 80}, max_findings=50)


@pytest.fixture
def quarrel(a_finding: MakeFinding) -> Callable[..., list[Finding]]:
    """Two workers' programs that suggest different code for one line; the second may be told apart by its fields."""

    def make(line: int, **second: Any) -> list[Finding]:
        one = a_finding(type="logic", line=line, suggestion="a()", message="the first side of it")
        return [one, a_finding(**{"line": line, "suggestion": "b()", "message": "the second side", **second})]

    return make


def test_conflicts_over_the_cap_are_withheld_with_all_sides_and_still_count(
    quarrel: Callable[..., list[Finding]],
) -> None:
    pairs = [quarrel(line) for line in (1, 2, 3)]

    weighed = merge_and_sort([side for pair in pairs for side in pair], Rules(RULES.thresholds, max_findings=2))

    assert [conflict.findings[0].line for conflict in weighed.conflicts] == [1, 2]
    assert [(entry.finding, entry.reason, entry.message) for entry in weighed.withheld] == [
        (side, "over_cap", "the review shows at most 2 findings") for side in pairs[2]
    ]
    assert weighed.issues == 4


def test_what_a_conflict_has_second_does_not_decide_its_place(quarrel: Callable[..., list[Finding]]) -> None:
    second, first = quarrel(2), quarrel(1)
    graver = [side.model_copy(update={"severity": "critical"}) for side in quarrel(3)]
    findings = [*first, second[0], second[1].model_copy(update={"severity": "critical"}), *graver]

    conflicts = merge_and_sort(findings, RULES).conflicts

    assert [conflict.findings[0].line for conflict in conflicts] == [3, 1, 2]


def test_the_caps_of_findings_and_of_conflicts_are_counted_apart(
    quarrel: Callable[..., list[Finding]], a_finding: MakeFinding
) -> None:
    weighed = merge_and_sort(
        [*quarrel(1), *quarrel(2), a_finding(line=5), a_finding(line=6)], Rules(RULES.thresholds, 2)
    )

    assert (len(weighed.shown), len(weighed.conflicts), weighed.withheld) == (2, 2, [])


@pytest.mark.parametrize("thresholds", [(80, 60), (60, 80)])
def test_workers_of_one_type_share_the_lowest_threshold(thresholds: tuple[int, ...], a_card: MakeCard) -> None:
    cards = [a_card(f"w{n}", task_type="logic", threshold=each) for n, each in enumerate(thresholds)]

    assert Rules.of(cards, 50).thresholds == {"logic": 60}


@pytest.mark.parametrize(
    ("kept", "told"), [("x" * 240, "x" * 240), ("x" * 241, "x" * 240 + "..."), ("x" * 239 + "  y", "x" * 239 + "...")]
)
def test_a_verifiers_words_are_cut_only_where_they_are_too_long(kept: str, told: str, a_finding: MakeFinding) -> None:
    [entry] = merge_and_sort([a_finding(sources=("model:x",), confidence=60, judgement=kept)], RULES).withheld

    assert entry.message == f"confidence 60 is below 80: {told}"


def test_a_type_without_a_threshold_goes_to_nobody_but_for_what_may_be_critical(a_finding: MakeFinding) -> None:
    critical, warning = a_finding(type="licence", severity="critical"), a_finding(type="licence", line=9)

    weighed = merge_and_sort([critical, warning], RULES)

    assert [item.finding for item in weighed.human] == [critical]
    assert [entry.finding for entry in weighed.withheld] == [warning]


@pytest.mark.parametrize(
    "later",
    [
        {"severity": "info"},
        {"confidence": 89},
        {"path": "src/b.py"},
        {"line": 2},
        {"rule": "S607"},
        {"message": "v"},
    ],
    ids=str,
)
def test_a_review_is_in_order_of_weight_then_of_place_then_of_words(
    later: dict[str, Any], a_finding: MakeFinding
) -> None:
    known = {"confidence": 90, "path": "src/a.py", "rule": "S605", "message": "u"}
    first, second = a_finding(**known), a_finding(**known | later)

    assert sort_findings([second, first], [], RULES).shown == [first, second]


@pytest.mark.parametrize(
    ("fields", "prose_alone", "reason"),
    [
        ({"cause": "documentation", "severity": "info", "worth": 64}, False, "true and minor: documentation"),
        ({"cause": "documentation", "severity": "info", "worth": 64}, True, None),
        ({"cause": "documentation", "severity": "warning", "worth": 64}, False, None),
        ({"cause": "wrong-value", "severity": "info", "worth": 64}, False, None),
        ({"cause": "wrong-value", "severity": "info", "worth": 40}, False, "true and minor: worth 40"),
        ({"cause": "documentation", "severity": "info", "worth": None}, False, None),
        ({"cause": "documentation", "severity": "critical", "worth": 10}, False, None),
    ],
)
def test_a_slip_in_documentation_is_minor_beside_code(
    a_finding: MakeFinding, fields: dict[str, Any], *, prose_alone: bool, reason: str | None
) -> None:
    finding = a_finding(type="logic", confidence=95, **fields)

    weighed = merge_and_sort([finding], Rules(RULES.thresholds, 50, prose_alone=prose_alone))

    assert [entry.message for entry in weighed.withheld] == ([reason] if reason else [])
    assert len(weighed.shown) == (reason is None)
