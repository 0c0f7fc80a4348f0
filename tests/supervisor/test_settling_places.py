"""Settling, where it counts who exactly speaks: handles over clusters, the surest program, advice, and severity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reviewbot.contracts import Finding, Settlement
from reviewbot.supervisor.clusters import clusters_of
from reviewbot.supervisor.merging import merged
from reviewbot.supervisor.settling import Settling, handles_of, settle
from reviewbot.supervisor.weighing import Rules

MakeFinding = Callable[..., Finding]

RULES = Rules({"security": 80, "logic": 80, "style": 90}, max_findings=50)


def settlement(**fields: Any) -> Settlement:
    known = {"cluster": "c1", "same_cause": True, "keep": (), "severity": "warning", "reason": "r", "resolved": True}
    return Settlement.model_validate(known | fields)


def settled(findings: Iterable[Finding], *answers: Settlement, rules: Rules = RULES) -> Settling:
    return settle(clusters_of(merged(findings), rules, 20), answers, rules)


def effects(result: Settling) -> list[str]:
    return [decision.effect for decision in result.decisions]


@pytest.fixture(name="model")
def _model(a_finding: MakeFinding) -> MakeFinding:
    """A model's finding of one category, on lines of its own unless told otherwise: nothing is joined by rules."""

    def make(line: int = 1, **fields: Any) -> Finding:
        known = {"type": "logic", "sources": ("model:x",), "message": f"at {line} it breaks", "category": "bug"}
        return a_finding(line=line, **{**known, **fields})

    return make


@pytest.fixture(name="four")
def _four(model: MakeFinding) -> list[Finding]:
    """Two pairs of neighbours, far from each other; what is further up weighs less."""
    return [
        model(1),
        model(2, type="security"),
        model(51, severity="critical", suggestion="a()"),
        model(52, type="security", suggestion="b()"),
    ]


# --- handles


def test_members_are_numbered_on_from_one_cluster_to_the_next(four: list[Finding]) -> None:
    named = handles_of(clusters_of(merged(four), RULES, 20).clusters)

    lines = {
        handle: {name: defect.finding.line for name, defect in members.items()} for handle, members in named.items()
    }
    assert lines == {"c1": {"f1": 51, "f2": 52}, "c2": {"f3": 1, "f4": 2}}
    assert [list(members) for members in named.values()] == [["f1", "f2"], ["f3", "f4"]]


def test_each_cluster_has_its_own_answer_and_its_place_in_the_account(four: list[Finding]) -> None:
    result = settled(four, settlement(cluster="c2", reason="one edit"), settlement(same_cause=False, reason="two"))

    assert [(each.handle, each.effect, each.reason) for each in result.decisions] == [
        ("c1", "unchanged", "two"),
        ("c2", "joined", "one edit"),
    ]
    assert [finding.line for finding in result.single] == [51, 52, 1]


def test_what_is_kept_of_another_cluster_gives_this_one_no_advice(four: list[Finding]) -> None:
    result = settled(four, settlement(keep=("f3", "f4")))

    assert [(finding.line, finding.suggestion) for finding in result.single][:1] == [(51, "a()")]


def test_what_rules_have_settled_stands_before_what_is_decided(four: list[Finding], a_finding: MakeFinding) -> None:
    alone = a_finding(path="src/other.py")

    assert settled([*four, alone], settlement()).single[0] == alone


# --- who speaks


@pytest.mark.parametrize("lines", [(1, 3), (3, 1)], ids=["the surer one above", "the surer one below"])
def test_of_two_programs_that_readers_see_the_surer_one_speaks(
    lines: tuple[int, int], a_finding: MakeFinding, model: MakeFinding
) -> None:
    sure = a_finding(line=lines[0], confidence=95, message="the sure one", category="bug")
    other = a_finding(line=lines[1], confidence=82, severity="critical", category="leak", sources=("taint",))

    result = settled([other, sure, model(2, message="a model", confidence=85)], settlement())

    assert effects(result) == ["joined"]
    assert {finding.sources: finding.message for finding in result.single}["model:x", "ruff"] == "the sure one"
    assert other in result.single


def test_of_two_programs_that_are_as_sure_the_graver_one_speaks(a_finding: MakeFinding, model: MakeFinding) -> None:
    milder = a_finding(confidence=85, category="leak", sources=("taint",), type="logic")
    graver = a_finding(line=3, confidence=85, severity="critical", category="bug")

    result = settled([milder, graver, model(2, confidence=81)], settlement(severity="critical"))

    assert sorted(finding.sources for finding in result.single) == [("model:x", "ruff"), ("taint",)]


def test_what_adds_nothing_to_the_speaker_is_joined_all_the_same(model: MakeFinding) -> None:
    speaker = model(1, confidence=95)
    again = model(2, type="security", confidence=85)

    result = settled([speaker, again], settlement())

    assert (list(result.single), effects(result)) == ([speaker], ["joined"])


def test_what_is_shown_does_not_go_into_a_finding_of_a_stricter_worker_that_it_adds_nothing_to(
    model: MakeFinding,
) -> None:
    shown, stricter = model(1, confidence=82), model(2, type="style", confidence=85)
    rules = Rules({"logic": 80, "style": 90}, max_findings=50)

    result = settled([shown, stricter], settlement(), rules=rules)

    assert (set(result.single), effects(result)) == ({shown, stricter}, ["unchanged"])


def test_a_program_that_nobody_is_told_of_gives_the_joined_finding_no_advice(
    a_finding: MakeFinding, model: MakeFinding
) -> None:
    weak = a_finding(confidence=55, category="bug", suggestion="weak()")
    findings = [weak, model(2, suggestion="a()", confidence=95), model(3, type="security", suggestion="b()")]

    result = settled(findings, settlement(keep=("f1",)))

    assert [(f.sources, f.suggestion) for f in result.single] == [(("model:x",), "a()"), (("ruff",), "weak()")]


# --- whose advice stands


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ((), "a()"),
        (("f1",), "a()"),
        (("f2",), "b()"),
        (("f3",), "a()"),
        (("f3", "f2"), "b()"),
        (("f2", "f1"), "a()"),
    ],
    ids=["nobody's", "the speaker's", "the other's", "one that has none", "the graver of two", "both"],
)
def test_the_advice_of_the_gravest_that_is_kept_stands_where_it_has_any(
    keep: tuple[str, ...], expected: str, model: MakeFinding
) -> None:
    findings = [
        model(1, severity="critical", suggestion="a()"),
        model(2, type="security", suggestion="b()", confidence=95),
        model(3, type="style", confidence=91),
    ]

    [one] = settled(findings, settlement(keep=keep, severity="critical")).single

    assert (one.line, one.suggestion) == (1, expected)


@pytest.mark.parametrize(("end_line", "expected"), [(4, "b()"), (5, None)], ids=["the same lines", "one line more"])
def test_what_replaces_more_lines_than_the_speakers_is_not_taken(
    end_line: int, expected: str | None, model: MakeFinding
) -> None:
    speaker = model(3, end_line=4, suggestion="a()", replacement="a()", confidence=95)
    giver = model(3, end_line=end_line, type="security", suggestion="b()", replacement="b()")

    [one] = settled([speaker, giver], settlement(keep=("f2",))).single

    assert (one.suggestion, one.replacement) == ("b()", expected)


def test_advice_that_differs_in_its_layout_alone_needs_nobody_to_choose(model: MakeFinding) -> None:
    quarrel = [
        model(1, severity="critical", suggestion="run(\n    name)"),
        model(1, type="security", severity="info", suggestion="run( name)"),
    ]

    result = settled(quarrel, settlement(severity="critical"))

    assert (effects(result), result.conflicts) == (["joined"], ())


def test_a_program_without_advice_is_given_none_in_a_quarrel(a_finding: MakeFinding, model: MakeFinding) -> None:
    program = a_finding(severity="critical", category="bug")
    quarrel = [program, model(1, severity="info", suggestion="b()", replacement="b()", trigger="a ; in the name")]

    [one] = settled(quarrel, settlement(keep=("f2",), severity="critical")).single

    assert (one.sources, one.suggestion, one.replacement) == (("model:x", "ruff"), "", None)
    assert one.trigger == "a ; in the name", "what is no advice is taken"


# --- conflicts


def test_different_defects_part_models_and_leave_programs_side_by_side(
    a_finding: MakeFinding, model: MakeFinding
) -> None:
    programs = [
        a_finding(category="bug", suggestion="a()"),
        a_finding(type="style", category="bug", suggestion="b()", sources=("lint",)),
    ]
    models = [model(2, suggestion="c()"), model(2, type="security", suggestion="d()", sources=("model:y",))]

    result = settled([*programs, *models], settlement(same_cause=False))

    assert effects(result) == ["apart"]
    assert sorted(finding.suggestion for finding in result.single) == ["c()", "d()"]
    assert [[f.suggestion for f in conflict.findings] for conflict in result.conflicts] == [["a()", "b()"]]


def test_a_conflict_names_each_type_once_and_keeps_the_order_of_lines(model: MakeFinding) -> None:
    findings = [model(3, sources=("model:y",)), model(1, type="security"), model(2, type="logic", sources=("model:z",))]

    [conflict] = settled(findings, settlement(resolved=False, reason="who knows")).conflicts

    assert conflict.reason == "logic and security disagree on one defect, and it could not be settled: who knows"
    assert [finding.line for finding in conflict.findings] == [1, 2, 3]


# --- severity


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (("info", "info"), "info", "info"),
        (("info", "info"), "critical", "info"),
        (("warning", "info"), "info", "warning"),
        (("warning", "info"), "critical", "warning"),
        (("critical", "warning"), "info", "critical"),
        (("critical", "warning"), "warning", "warning"),
    ],
)
def test_a_joined_finding_is_as_grave_as_one_of_them_said_and_no_less_than_a_warning_where_they_differ(
    given: tuple[str, str], wanted: str, expected: str, model: MakeFinding
) -> None:
    findings = [model(1, severity=given[0]), model(2, type="security", severity=given[1])]

    [one] = settled(findings, settlement(severity=wanted)).single

    assert one.severity == expected


def test_a_quarrel_over_severity_is_settled_whatever_is_said_of_its_cause(model: MakeFinding) -> None:
    findings = [model(1, severity="critical"), model(1, type="security")]

    result = settled(findings, settlement(same_cause=False))

    assert [(finding.severity, effects(result)) for finding in result.single] == [("warning", ["severity"])]


def test_a_quarrel_over_severity_that_is_not_settled_changed_nothing(model: MakeFinding) -> None:
    findings = [model(1, severity="critical"), model(1, type="security")]

    assert effects(settled(findings, settlement(resolved=False))) == ["unchanged"]
