"""Weighing: each finding in one place, by its threshold, ranked, capped and counted."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import (
    Finding,
)
from reviewbot.review.combine.visibility import Rules, SortedFindings, merge_and_sort
from tests.make import MakeCard, MakeFinding

RULES = Rules({"security": 80, "logic": 80, "style": 90}, max_findings=50)


def places(weighed: SortedFindings) -> list[Finding]:
    """Every finding of every place."""
    human = [item.finding for item in weighed.human if item.finding is not None]
    contradicting = [finding for conflict in weighed.conflicts for finding in conflict.findings]
    return [*weighed.shown, *(entry.finding for entry in weighed.withheld), *human, *contradicting]


# --- thresholds and places


def test_a_finding_at_its_threshold_is_shown(a_finding: MakeFinding) -> None:
    weighed = merge_and_sort([a_finding(confidence=80)], RULES)

    assert [finding.confidence for finding in weighed.shown] == [80]


def test_a_finding_below_its_threshold_is_withheld_with_the_reason(a_finding: MakeFinding) -> None:
    [entry] = merge_and_sort([a_finding(confidence=79)], RULES).withheld

    assert (entry.reason, entry.message) == ("below_threshold", "confidence 79 is below 80")


def test_each_type_has_a_threshold_of_its_own(a_finding: MakeFinding) -> None:
    weighed = merge_and_sort(
        [a_finding(type=name, confidence=85, path=f"{name}.py") for name in ("logic", "style")], RULES
    )

    assert [finding.type for finding in weighed.shown] == ["logic"]
    assert [entry.finding.type for entry in weighed.withheld] == ["style"]


def test_a_type_that_nobody_judges_is_withheld_however_sure(a_finding: MakeFinding) -> None:
    [entry] = merge_and_sort([a_finding(type="licence", confidence=100)], RULES).withheld

    assert entry.message == "no worker of this run is there for licence"


@pytest.mark.parametrize(
    ("severity", "confidence", "place"),
    [
        ("critical", 80, "shown"),
        ("critical", 79, "human"),
        ("critical", 50, "human"),
        ("critical", 49, "withheld"),
        ("warning", 79, "withheld"),
        ("info", 50, "withheld"),
    ],
)
def test_where_a_finding_goes(severity: str, confidence: int, place: str, a_finding: MakeFinding) -> None:
    weighed = merge_and_sort([a_finding(severity=severity, confidence=confidence)], RULES)

    counts = {"shown": len(weighed.shown), "human": len(weighed.human), "withheld": len(weighed.withheld)}
    assert {name for name, count in counts.items() if count} == {place}


def test_a_person_is_told_how_sure_a_critical_finding_is(a_finding: MakeFinding) -> None:
    [item] = merge_and_sort([a_finding(severity="critical", confidence=60, line=7)], RULES).human

    assert (item.path, item.line, item.reason) == (
        "src/app.py",
        7,
        "critical if true, and below the threshold: confidence 60 is below 80",
    )


# --- disputes


def test_a_critical_finding_of_a_program_that_a_model_refutes_goes_to_a_person_with_both_sides(
    a_finding: MakeFinding,
) -> None:
    refuted = a_finding(severity="critical", confidence=95, disputed="the name comes from a fixed list")

    weighed = merge_and_sort([refuted], RULES)

    assert weighed.shown == []
    [item] = weighed.human
    assert item.finding == refuted
    assert item.reason == (
        "critical if true: ruff found it, 95 of 100 certain; "
        "a model that looked holds that it is wrong: the name comes from a fixed list"
    )


def test_a_disputed_finding_that_is_not_critical_is_shown_with_the_dispute(a_finding: MakeFinding) -> None:
    refuted = a_finding(disputed="the name comes from a fixed list")

    assert merge_and_sort([refuted], RULES).shown == [refuted]


def test_a_disputed_finding_that_another_model_made_as_well_is_shown(a_finding: MakeFinding) -> None:
    by_program = a_finding(severity="critical", disputed="the name comes from a fixed list")
    by_model = a_finding(severity="critical", type="logic", sources=("model:x",))

    [shown] = merge_and_sort([by_program, by_model], RULES).shown

    assert (shown.sources, shown.disputed) == (("model:x", "ruff"), "the name comes from a fixed list")


def test_an_unlikely_critical_finding_does_not_reach_a_person_because_it_is_disputed(a_finding: MakeFinding) -> None:
    [entry] = merge_and_sort([a_finding(severity="critical", confidence=49, disputed="it is a test")], RULES).withheld

    assert entry.message == "confidence 49 is below 80"


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        ("", "confidence 62 is below 80"),
        ("The caller\nis  not in sight.", "confidence 62 is below 80: The caller is not in sight."),
        ("long " * 100, "confidence 62 is below 80: " + ("long " * 48).rstrip() + "..."),
    ],
)
def test_why_a_models_finding_is_withheld_is_told_in_its_verifiers_words(
    proof: str, message: str, a_finding: MakeFinding
) -> None:
    [entry] = merge_and_sort([a_finding(confidence=62, sources=("model:x",), judgement=proof)], RULES).withheld

    assert entry.message == message


def test_why_a_programs_finding_is_withheld_is_its_count_alone(a_finding: MakeFinding) -> None:
    [entry] = merge_and_sort([a_finding(confidence=62, judgement="counted in 40 places")], RULES).withheld

    assert entry.message == "confidence 62 is below 80"


def test_the_thresholds_are_those_of_the_cards_and_the_lowest_of_a_shared_type(a_card: MakeCard) -> None:
    cards = [a_card("one", task_type="logic", threshold=85), a_card("two", task_type="logic", threshold=75), a_card()]

    rules = Rules.of(cards, 10)

    assert (rules.thresholds, rules.max_findings) == ({"logic": 75}, 10)


# --- ranking and the cap


def test_findings_stand_by_severity_then_confidence_then_place(a_finding: MakeFinding) -> None:
    wanted = [
        a_finding(severity="critical", confidence=80, path="z.py"),
        a_finding(severity="warning", confidence=95, path="y.py"),
        a_finding(severity="warning", confidence=90, path="a.py", line=9),
        a_finding(severity="warning", confidence=90, path="b.py", line=1),
        a_finding(severity="warning", confidence=90, path="b.py", line=2),
        a_finding(severity="info", confidence=99, path="a.py", line=1),
    ]

    assert merge_and_sort(reversed(wanted), RULES).shown == wanted


def test_what_is_over_the_cap_is_withheld_and_counted(a_finding: MakeFinding) -> None:
    findings = [a_finding(line=n, severity="critical" if n == 9 else "warning") for n in range(1, 10)]

    weighed = merge_and_sort(findings, Rules(RULES.thresholds, max_findings=3))

    assert [finding.line for finding in weighed.shown] == [9, 1, 2]
    assert [entry.reason for entry in weighed.withheld] == ["over_cap"] * 6
    assert {entry.message for entry in weighed.withheld} == {"the review shows at most 3 findings"}
    assert weighed.issues == 9


# --- conflicts


def test_a_conflict_is_shown_if_one_side_reaches_its_threshold(a_finding: MakeFinding) -> None:
    weak, sure = a_finding(type="logic", suggestion="a()", confidence=60), a_finding(suggestion="b()")

    weighed = merge_and_sort([weak, sure], RULES)

    assert [conflict.findings for conflict in weighed.conflicts] == [(weak, sure)]
    assert (weighed.shown, weighed.withheld, weighed.human) == ([], [], [])


def test_the_sides_of_a_weak_conflict_go_where_each_would_go_alone(a_finding: MakeFinding) -> None:
    critical = a_finding(type="logic", suggestion="a()", confidence=60, severity="critical")
    warning = a_finding(suggestion="b()", confidence=60)

    weighed = merge_and_sort([critical, warning], RULES)

    assert weighed.conflicts == []
    assert [item.finding for item in weighed.human] == [critical]
    assert [entry.finding for entry in weighed.withheld] == [warning]


def test_conflicts_stand_in_the_order_of_their_first_findings(a_finding: MakeFinding) -> None:
    findings = [
        a_finding(type=name, suggestion=f"{name}()", line=line, severity=severity)
        for line, severity in ((1, "info"), (2, "critical"), (3, "warning"))
        for name in ("logic", "security")
    ]

    conflicts = merge_and_sort(findings, RULES).conflicts

    assert [conflict.findings[0].line for conflict in conflicts] == [2, 3, 1]


DRAWN = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(("security", "logic", "style", "licence")),
            "severity": st.sampled_from(("critical", "warning", "info")),
            "path": st.sampled_from(("a.py", "b.py")),
            "line": st.integers(1, 5),
            "message": st.sampled_from(("user input reaches a shell", "a shell gets user input", "never closed")),
            "confidence": st.integers(0, 100),
            "category": st.sampled_from(("injection", "leak", "naming")),
            "suggestion": st.sampled_from(("", "a()", "b()")),
        }
    ),
    max_size=30,
)


@given(drawn=DRAWN, cap=st.integers(1, 5))
def test_every_finding_is_in_exactly_one_place(
    drawn: list[dict[str, object]], cap: int, a_finding: MakeFinding
) -> None:
    findings = [a_finding(**fields, sources=(f"ruff-{n}",)) for n, fields in enumerate(drawn)]

    weighed = merge_and_sort(findings, Rules(RULES.thresholds, cap))

    assert Counter(s for f in places(weighed) for s in f.sources) == Counter(s for f in findings for s in f.sources)
    assert len(weighed.shown) <= cap


@given(drawn=DRAWN, cap=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_order_of_the_findings_does_not_show(
    drawn: list[dict[str, object]], cap: int, seed: int, a_finding: MakeFinding
) -> None:
    findings = [a_finding(**fields) for fields in drawn]
    shuffled = random.Random(seed).sample(findings, len(findings))
    rules = Rules(RULES.thresholds, cap)

    assert merge_and_sort(findings, rules) == merge_and_sort(shuffled, rules)


@given(drawn=DRAWN)
def test_nothing_critical_and_likely_goes_away_in_silence(
    drawn: list[dict[str, object]], a_finding: MakeFinding
) -> None:
    weighed = merge_and_sort([a_finding(**fields) for fields in drawn], RULES)

    lost = [entry.finding for entry in weighed.withheld if entry.reason == "below_threshold"]
    assert not [finding for finding in lost if finding.severity == "critical" and finding.confidence >= 50]


@pytest.mark.slow
def test_ten_thousand_findings_and_as_many_conflicts_are_weighed(a_finding: MakeFinding) -> None:
    pairs = [
        a_finding(type=name, line=line, suggestion=f"{name}()")
        for line in range(1, 5_001)
        for name in ("logic", "security")
    ]

    weighed = merge_and_sort(pairs, RULES)

    hidden = [entry for entry in weighed.withheld if entry.reason == "over_cap"]
    assert len(weighed.conflicts) + len(hidden) // 2 == 5_000
    assert len(weighed.conflicts) == RULES.max_findings


def test_what_a_model_is_sure_of_is_shown_whatever_its_weight_and_the_weighty_comes_first(a_finding: Any) -> None:
    model = {"sources": ("model:x",), "confidence": 95, "type": "logic"}
    light, told = a_finding(**model, severity="info", line=1), a_finding(**model, line=20)

    assert merge_and_sort([light, told], Rules({"logic": 80}, max_findings=10)).shown == [told, light]
