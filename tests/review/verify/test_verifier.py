"""What a finding is worth, given who stands behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.domain.contracts import WorkerResult
from reviewbot.review.verify.verifier import (
    agreed_confidence,
    by_a_model_alone,
    by_programs_alone,
    cap_finding,
    verify_result,
    vote_of,
)
from tests.make import MakeFinding


@pytest.mark.parametrize(
    ("sources", "confidence", "expected"),
    [
        (("model:medium",), 95, 70),
        (("model:medium",), 70, 70),
        (("model:medium",), 40, 40),
        (("model:large", "model:medium"), 99, 70),
        (("ruff",), 95, 95),
        (("model:medium", "ruff"), 95, 95),
        (("remodel:ruff",), 95, 95),
    ],
)
def test_what_a_model_alone_says_is_capped(
    sources: tuple[str, ...], confidence: int, expected: int, a_finding: MakeFinding
) -> None:
    assert cap_finding(a_finding(sources=sources, confidence=confidence)).confidence == expected


def test_a_cap_changes_the_confidence_and_nothing_else(a_finding: MakeFinding) -> None:
    finding = a_finding(sources=("model:medium",), confidence=95, severity="critical")

    assert cap_finding(finding) == finding.model_copy(update={"confidence": 70})


def test_a_whole_result_is_capped_finding_by_finding(
    a_finding: MakeFinding, a_result: Callable[..., WorkerResult]
) -> None:
    result = a_result(findings=(a_finding(sources=("model:x",), confidence=90), a_finding(confidence=91)))

    weighed = verify_result(result)

    assert [finding.confidence for finding in weighed.findings] == [70, 91]
    assert weighed.metadata == result.metadata


@pytest.mark.parametrize(
    ("sources", "makers"),
    [
        (("model:x",), {"models"}),
        (("model:x", "model:y"), {"models"}),
        (("ruff",), {"programs"}),
        (("model:x", "ruff"), set()),
    ],
)
def test_models_and_programs_are_told_apart(sources: tuple[str, ...], makers: set[str], a_finding: MakeFinding) -> None:
    finding = a_finding(sources=sources)

    alone = {"models": by_a_model_alone(finding), "programs": by_programs_alone(finding)}
    assert {name for name, is_alone in alone.items() if is_alone} == makers


def test_a_dispute_lowers_nothing_that_a_program_found(a_finding: MakeFinding) -> None:
    finding = a_finding(confidence=95, disputed="it is meant")

    assert cap_finding(finding) == finding


@pytest.mark.parametrize(("confidence", "together"), [(90, 85), (50, 85), (49, 75), (5, 75)])
def test_a_model_that_was_refuted_lends_a_program_no_weight(
    confidence: int, together: int, a_finding: MakeFinding
) -> None:
    program, model = a_finding(confidence=75), a_finding(sources=("model:x",), confidence=min(confidence, 75))

    assert agreed_confidence([vote_of(program), vote_of(model)], lambda _sources, _rules: None) == together
