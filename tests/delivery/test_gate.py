"""What a run ends with, by its review and its settings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config import Settings
from reviewbot.delivery import exit_code
from reviewbot.domain.contracts import Conflict, Finding, Gap, HumanItem, Review, Timings, Withheld
from reviewbot.domain.errors import ExitCode
from reviewbot.review.combine.visibility import Rules
from tests.make import MakeFinding

RULES = Rules({"security": 80, "style": 95}, max_findings=50)
PLACES = ("shown", "over the cap", "below", "minor", "conflict", "person")
GATED = ("shown", "over the cap", "minor", "conflict", "person")


def reviewed(finding: Finding | None = None, place: str = "shown", *, incomplete: bool = False) -> Review:
    """A review with one finding, in one place."""
    reasons = {"over the cap": "over_cap", "below": "below_threshold", "minor": "minor"}
    places: dict[str, Any] = {}
    if finding is not None and place in reasons:
        places = {"withheld": (Withheld(finding=finding, reason=reasons[place], message="x"),)}  # type: ignore[arg-type]
    elif finding is not None and place == "conflict":
        other = finding.model_copy(update={"severity": "info", "confidence": 10})
        places = {"conflicts": (Conflict(findings=(other, finding), reason="x"),)}
    elif finding is not None and place == "person":
        nobody = HumanItem(path="a.py", reason="a symbolic link")
        places = {"human": (nobody, HumanItem(path=finding.path, line=1, reason="x", finding=finding))}
    elif finding is not None:
        places = {"findings": (finding,)}
    times = Timings(wall_ms=1, critical_path_ms=1, sequential_ms=1)
    known = {"engine": "analyzers", "verdict": "issues", "headline": "x", "summary": "x", "timings": times}
    return Review(**{**known, "incomplete": incomplete, **places})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("severity", ["critical", "warning", "info"])
@pytest.mark.parametrize("fail_on", ["critical", "warning", "info", None])
def test_the_gate_closes_for_what_is_certain_and_grave_enough_wherever_it_is_told(
    place: str, severity: str, fail_on: Any, a_finding: MakeFinding
) -> None:
    review = reviewed(a_finding(severity=severity), place)

    order = ["critical", "warning", "info"]
    closes = place in GATED and fail_on is not None and order.index(severity) <= order.index(fail_on)
    assert exit_code(review, Settings(fail_on=fail_on), RULES) == (ExitCode.GATE if closes else ExitCode.REVIEWED)


@pytest.mark.parametrize("place", GATED)
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"confidence": 80}, 1),
        ({"confidence": 79}, 0),
        ({"type": "style", "confidence": 94}, 0),
        ({"type": "style", "confidence": 95}, 1),
        ({"type": "licence", "confidence": 100}, 0),
    ],
    ids=str,
)
def test_no_guess_closes_the_gate(place: str, fields: dict[str, Any], code: int, a_finding: MakeFinding) -> None:
    assert exit_code(reviewed(a_finding(**fields), place), Settings(fail_on="info"), RULES) == code


@pytest.mark.parametrize(
    ("sources", "code"), [(("model:x",), 0), (("ruff",), 1), (("model:x", "ruff"), 1), (("model:x", "model:y"), 0)]
)
def test_what_a_person_decides_closes_the_gate_only_where_a_program_stands_behind_it(
    sources: tuple[str, ...], code: int, a_finding: MakeFinding
) -> None:
    review = reviewed(a_finding(sources=sources, disputed="it is meant"), "person")

    assert exit_code(review, Settings(fail_on="info"), RULES) == code


@pytest.mark.parametrize("place", ["shown", "over the cap", "conflict"])
def test_what_a_model_is_certain_of_closes_the_gate(place: str, a_finding: MakeFinding) -> None:
    review = reviewed(a_finding(sources=("model:x",)), place)

    assert exit_code(review, Settings(fail_on="warning"), RULES) == ExitCode.GATE


@pytest.mark.parametrize(
    ("allow_partial", "fail_on", "code"),
    [(False, None, 4), (True, None, 0), (False, "critical", 4), (False, "warning", 1), (True, "warning", 1)],
)
def test_the_gate_speaks_before_incompleteness_and_only_that_may_be_allowed(
    *, allow_partial: bool, fail_on: Any, code: int, a_finding: MakeFinding
) -> None:
    settings = Settings(fail_on=fail_on, allow_partial=allow_partial)

    assert exit_code(reviewed(a_finding(), incomplete=True), settings, RULES) == code


@pytest.mark.parametrize(
    ("allow_partial", "fail_on", "code"),
    [(False, None, 6), (True, None, 0), (False, "warning", 1), (True, "warning", 1)],
)
def test_a_provider_that_could_not_be_used_has_an_exit_code_of_its_own(
    *, allow_partial: bool, fail_on: Any, code: int, a_finding: MakeFinding
) -> None:
    gap = Gap(path="a.py", worker="logic", reason="provider", message="the model API cannot be reached")
    answer = reviewed(a_finding(), incomplete=True).model_copy(update={"gaps": (gap,)})

    assert exit_code(answer, Settings(fail_on=fail_on, allow_partial=allow_partial), RULES) == code


@given(confidence=st.integers(0, 100), place=st.sampled_from(PLACES), more=st.sampled_from(PLACES))
def test_one_more_finding_never_opens_the_gate(confidence: int, place: str, more: str, a_finding: MakeFinding) -> None:
    settings = Settings(fail_on="warning")
    one, other = reviewed(a_finding(), place), reviewed(a_finding(confidence=confidence, line=9), more)
    fields = ("findings", "withheld", "conflicts", "human")
    both = one.model_copy(update={name: (*getattr(one, name), *getattr(other, name)) for name in fields})

    alone = {exit_code(each, settings, RULES) for each in (one, other)}
    assert exit_code(both, settings, RULES) == max(alone)
