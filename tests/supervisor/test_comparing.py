"""Findings beside each other: repetitions become one, weights become comparable, and programs are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.contracts import SEVERITY_ORDER, Compared, Finding, Severity
from reviewbot.supervisor.comparing import MAX_COMPARED, Outcome, comparable, compared
from reviewbot.supervisor.verifier import by_a_model_alone
from reviewbot.supervisor.weighing import Rules, placed

MakeFinding = Callable[..., Finding]

RULES = Rules({"security": 80, "logic": 80}, max_findings=50)


def beside(finding: str, same_as: str | None = None, severity: Severity = "warning", reason: str = "so") -> Compared:
    return Compared(finding=finding, same_as=same_as, severity=severity, reason=reason)


@pytest.fixture
def by_model(a_finding: MakeFinding) -> MakeFinding:
    def make(**fields: Any) -> Finding:
        return a_finding(**{"sources": ("model:x",), "confidence": 90, "claimed": 80, **fields})

    return make


def outcome(findings: list[Finding], *answers: Compared) -> Outcome:
    return compared(findings, comparable(findings, RULES), answers)


def test_only_what_models_alone_found_and_would_be_shown_is_compared_the_gravest_first(
    by_model: MakeFinding, a_finding: MakeFinding
) -> None:
    grave, sure = by_model(line=5, severity="critical"), by_model(line=1)
    others = [a_finding(), by_model(line=9, sources=("model:x", "ruff")), by_model(confidence=79)]

    assert comparable([sure, *others, grave], RULES) == {"f1": grave, "f2": sure}


def test_one_finding_is_compared_with_nothing(by_model: MakeFinding, a_finding: MakeFinding) -> None:
    assert comparable([by_model(), a_finding(line=4)], RULES) == {}


def test_a_flood_is_compared_up_to_a_limit_and_the_rest_stays(by_model: MakeFinding) -> None:
    flood = [by_model(line=n) for n in range(1, MAX_COMPARED + 4)]

    assert len(comparable(flood, RULES)) == MAX_COMPARED
    assert set(outcome(flood).single) == set(flood)


def test_a_repetition_in_another_file_is_withheld_and_says_where_it_is_told(by_model: MakeFinding) -> None:
    cause = by_model(path="model.py", line=12, confidence=95, sources=("model:a",))
    again = by_model(path="caller.py", line=3, sources=("model:b",))

    single, repeated = outcome([again, cause], beside("f1"), beside("f2", same_as="f1", reason="one look-up"))

    assert single == (cause.model_copy(update={"sources": ("model:a", "model:b")}),)
    [told] = repeated
    assert (told.finding, told.reason) == (again, "repeated")
    assert told.message == "model.py:12 tells of the same defect: one look-up"


def test_a_repetition_in_the_same_file_leaves_its_line_and_what_the_speaker_does_not_say(by_model: MakeFinding) -> None:
    short, long = by_model(line=4, confidence=95), by_model(line=9, also=(7,), symptom="it hangs", message="other")

    single, _ = outcome([short, long], beside("f2", same_as="f1"))

    assert [(one.line, one.also, one.symptom, one.message) for one in single] == [
        (4, (7, 9), "it hangs", short.message)
    ]


def test_the_gravest_speaks_whichever_a_model_prefers(by_model: MakeFinding) -> None:
    grave, mild = by_model(line=1, severity="critical", confidence=85), by_model(line=2, confidence=99)

    single, repeated = outcome([grave, mild], beside("f1", same_as="f2", severity="critical"), beside("f2"))

    assert [(one.line, one.severity) for one in single] == [(1, "critical")]
    assert [told.finding for told in repeated] == [mild]


def test_repetitions_in_a_circle_are_one_defect(by_model: MakeFinding) -> None:
    three = [by_model(line=n) for n in (1, 2, 3)]

    single, repeated = outcome(three, beside("f1", "f2"), beside("f2", "f3"), beside("f3", "f1"))

    assert (len(single), len(repeated)) == (1, 2)


@pytest.mark.parametrize(
    ("alone", "said", "then"),
    [
        ("warning", "info", "info"),
        ("info", "warning", "warning"),
        ("critical", "warning", "warning"),
        ("critical", "info", "warning"),
        ("warning", "critical", "warning"),
        ("info", "critical", "warning"),
        ("critical", "critical", "critical"),
    ],
)
def test_a_weight_beside_others_counts_within_limits(
    by_model: MakeFinding, alone: Severity, said: Severity, then: Severity
) -> None:
    one, other = by_model(line=1, severity=alone), by_model(line=2, severity=alone)

    single, _ = outcome([one, other], beside("f1", severity=said))

    assert sorted((each.line, each.severity) for each in single) == sorted([(1, then), (2, alone)])


def test_what_is_of_little_weight_beside_the_others_comes_after_them(by_model: MakeFinding) -> None:
    single, _ = outcome(
        [by_model(line=1, confidence=99), by_model(line=2)], beside("f1", severity="info"), beside("f2")
    )

    assert [(finding.line, finding.severity) for finding in placed(single, (), RULES).shown] == [
        (2, "warning"),
        (1, "info"),
    ]


def test_an_answer_in_two_ways_or_about_nobody_counts_for_nothing(by_model: MakeFinding) -> None:
    two = [by_model(line=1), by_model(line=2)]
    answers = [beside("f1", severity="info"), beside("f1"), beside("f2", same_as="f7"), beside("f9", same_as="f1")]

    assert outcome(two, *answers) == Outcome(tuple(two), ())


HANDLES = st.sampled_from(["f1", "f2", "f3", "f4", "f5", "f6", "f9"])
ANSWERS = st.lists(
    st.builds(
        Compared,
        finding=HANDLES,
        same_as=st.none() | HANDLES,
        severity=st.sampled_from(sorted(SEVERITY_ORDER)),
        reason=st.just("so"),
    ),
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=ANSWERS, order=st.permutations(range(7)))
def test_whatever_is_answered_nothing_is_lost_and_programs_are_untouched(
    answers: list[Compared], order: list[int], by_model: MakeFinding, a_finding: MakeFinding
) -> None:
    severities: list[Severity] = ["critical", "warning", "info", "warning", "critical", "info"]
    mine = [by_model(line=n, path=f"{n % 2}.py", severity=each) for n, each in enumerate(severities, 1)]
    findings = [*mine, a_finding(line=30)]

    single, repeated = outcome(findings, *answers)
    shuffled = outcome([findings[at] for at in order], *answers)

    assert a_finding(line=30) in single
    told = {(each.finding.path, each.finding.line) for each in repeated}
    places = {(each.path, each.line) for each in single}
    assert places | told == {(each.path, each.line) for each in findings}
    assert not places & told
    assert any(each.severity != "info" for each in single if by_a_model_alone(each)), "a critical one stays above info"
    assert set(shuffled.single) == set(single)
