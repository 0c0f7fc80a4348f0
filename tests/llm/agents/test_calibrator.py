"""What was measured of a model takes the place of the numbers that it states, before the review decides by them."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.domain.contracts import Finding, Proof
from reviewbot.domain.contracts.answers import JudgeRuling, ProposedPlan, ReviewAnswer
from reviewbot.llm.agents.calibrator import Calibrator, prompt_hash
from reviewbot.review.model_calibration import NumberMap, NumberMaps, Points, Quantity, Role
from tests.make import MakeFinding

HASH = "0123456789abcdef"
PROOF = Proof(path="src/other.py", line=7, end_line=7, quote="assert n > 0")


def number_map(role: Role, quantity: Quantity, points: Points, model: str = "x") -> NumberMap:
    return NumberMap(role=role, quantity=quantity, model=model, prompt=HASH, points=points)


MAPS = NumberMaps(
    prompts={"reader": HASH, "judge": HASH},
    maps=(
        number_map("reader", "confidence", ((80, 60), (95, 90))),
        number_map("reader", "worth", ()),
        number_map("judge", "confidence", ((50, 70), (90, 95))),
        number_map("judge", "worth", ((50, 30), (90, 60))),
    ),
)


@pytest.fixture
def claimed(a_finding: MakeFinding) -> MakeFinding:
    """A reader's claim with its proof."""

    def make(**fields: Any) -> Finding:
        known = {"type": "logic", "sources": ("model:x",), "confidence": 95, "claimed": 95, "worth": 70}
        return a_finding(**{**known, "proof": (PROOF,), **fields})

    return make


def ruling(confidence: int, worth: int) -> JudgeRuling:
    return JudgeRuling(
        claim="c1", argument_against="", reason="r", confidence=confidence, severity="warning", worth=worth,
        contradicts=(),
    )  # fmt: skip


def test_a_claim_gets_the_number_that_was_measured_and_keeps_the_stated_one(claimed: MakeFinding, trace: Any) -> None:
    found = Calibrator(trace, MAPS).finding(claimed())

    assert (found.confidence, found.claimed, found.worth) == (90, 95, 70)
    assert trace.of("calibrated") == [
        {
            "role": "reader",
            "model": "x",
            "path": found.path,
            "line": found.line,
            "stated": {"confidence": 95, "worth": 70},
            "fitted": {"confidence": 90, "worth": 70},
        }
    ]


def test_a_claim_without_proof_stays_at_its_cap_whatever_was_measured(claimed: MakeFinding, trace: Any) -> None:
    calibrator = Calibrator(trace, MAPS)

    assert calibrator.finding(claimed(proof=(), confidence=70)).confidence == 70
    assert calibrator.finding(claimed(proof=(), confidence=70, claimed=80)).confidence == 60


def test_a_ruling_gets_the_numbers_that_were_measured_of_the_judge(claimed: MakeFinding, trace: Any) -> None:
    fitted = Calibrator(trace, MAPS).ruling(ruling(90, 70), "x", claimed())

    assert (fitted.confidence, fitted.worth) == (95, 45)


def test_what_no_reader_claimed_is_left_alone(a_finding: MakeFinding, claimed: MakeFinding, trace: Any) -> None:
    program, confirmed = a_finding(confidence=80), claimed(worth=None)
    calibrator = Calibrator(trace, MAPS)

    assert [calibrator.finding(each) for each in (program, confirmed)] == [program, confirmed]
    assert (calibrator.notes(), trace.events) == ((), [])


def test_a_model_that_was_measured_needs_no_word(claimed: MakeFinding, trace: Any) -> None:
    calibrator = Calibrator(trace, MAPS)
    calibrator.finding(claimed())
    calibrator.ruling(ruling(90, 70), "x", claimed())

    assert calibrator.notes() == ()


def test_the_numbers_of_an_unknown_model_stand_and_one_line_says_so(claimed: MakeFinding, trace: Any) -> None:
    calibrator = Calibrator(trace, MAPS)
    stated = claimed(sources=("model:y",))

    assert calibrator.finding(stated) == stated
    assert calibrator.finding(stated) == stated
    assert calibrator.ruling(ruling(60, 40), "z", stated) == ruling(60, 40)
    assert trace.events == []
    [note] = calibrator.notes()
    assert note.startswith("Confidence and worth of claims stand as y and z stated them; ")


def test_numbers_of_readers_with_other_prompts_than_the_measured_ones_stand(claimed: MakeFinding, trace: Any) -> None:
    calibrator = Calibrator(trace, MAPS, measured=False)

    assert calibrator.finding(claimed()) == claimed()
    assert calibrator.ruling(ruling(90, 70), "x", claimed()) == ruling(90, 70)
    assert calibrator.notes()


def test_one_line_names_only_what_was_not_measured(claimed: MakeFinding, trace: Any) -> None:
    maps = MAPS.model_copy(update={"maps": tuple(each for each in MAPS.maps if each.quantity == "confidence")})
    calibrator = Calibrator(trace, maps)
    calibrator.finding(claimed())

    [note] = calibrator.notes()
    assert note.startswith("Worth of claims stand")


def test_another_text_or_another_schema_is_another_prompt() -> None:
    hashes = {prompt_hash(text, shape) for text in ("Judge it.", "Judge.") for shape in (ReviewAnswer, ProposedPlan)}

    assert len(hashes) == 4
    assert prompt_hash(" Judge it.\n", ProposedPlan) == prompt_hash("Judge it.", ProposedPlan)
