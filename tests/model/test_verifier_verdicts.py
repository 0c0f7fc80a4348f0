"""What a ruling must quote, and how far it then lifts or sinks a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.contracts import Finding, Ruling
from reviewbot.model.verdicts import PROOF_CHARS, Shown, is_anchored, refuted_by_search, ruled, unverified

CODE = "-    total = len(values)\n+    total = sum(values)\n     if n > 0:\n+        return total / n\n+    x = y"
AROUND = "def caller():\n    return mean([],\n                0)"


@pytest.fixture(name="shown", scope="session")
def _shown(a_payload: Any) -> Shown:
    return Shown.of([a_payload(CODE)], [AROUND])


def a_ruling(confidence: int = 90, evidence: str = "`return total / n`", argument: str = "n may be checked") -> Ruling:
    return Ruling(
        candidate="c1", argument_against=argument, evidence=evidence, confidence=confidence, severity="warning"
    )


@pytest.mark.parametrize(
    "evidence",
    [
        "`return total / n` with n = 0 raises",
        "`return  total/n` with n = 0 raises",
        "It says:\n```python\nif n > 0:\n    return total / n\n```\nand so on",
        "```\ntotal = sum(values)\nif n > 0:\n```",
        "```\n-    total = len(values)\n+    total = sum(values)\n```",
        "```\ntotal = len(values)\nif n > 0:\n```",
        "```\n+    total = sum(values)\n+    never_there()\n```",
        "the line\n    return total / n\nis reached with n = 0",
        "`x = y` is the wrong one",
        "`nowhere to be found` and `mean([], 0)`",
    ],
)
def test_a_quote_of_what_was_shown_anchors_an_evidence(evidence: str, shown: Shown) -> None:
    assert is_anchored(evidence, shown)


@pytest.mark.parametrize(
    "evidence",
    [
        "",
        "``",
        "The value may be zero, and then it raises.",
        "`return total / count`",
        "`return`",
        "`total`",
        "`if`",
        "`x =`",
        "`( / )`",
        "`else:`",
        "`self.total`",
        "```\n\n```",
    ],
)
def test_words_and_invented_code_do_not(evidence: str, shown: Shown) -> None:
    assert not is_anchored(evidence, shown)


@pytest.mark.parametrize(
    ("confidence", "evidence", "expected"),
    [
        (96, "`return total / n`", 96),
        (100, "`return total / n`", 99),
        (5, "`return total / n`", 5),
        (96, "I am sure", 70),
        (71, "I am sure", 70),
        (70, "I am sure", 70),
        (5, "I am sure", 5),
    ],
)
def test_a_ruling_sets_the_confidence_up_to_what_its_evidence_carries(
    confidence: int, evidence: str, expected: int, shown: Shown, a_finding: Callable[..., Finding]
) -> None:
    finding = a_finding(sources=("model:x",), confidence=50, claimed=50)

    judged = ruled(finding, a_ruling(confidence, evidence), shown)

    assert judged.confidence == expected
    assert judged.claimed == 50
    assert judged.judgement.startswith("(its evidence quotes nothing") == (confidence > 70 and "`" not in evidence)


def test_a_proof_holds_the_evidence_and_what_speaks_against_it(shown: Shown, a_finding: Callable[..., Finding]) -> None:
    assert ruled(a_finding(), a_ruling(), shown).judgement == "`return total / n` Against it: n may be checked"
    assert ruled(a_finding(), a_ruling(argument=" "), shown).judgement == "`return total / n`"


def test_a_long_proof_keeps_the_start_of_both_parts(shown: Shown, a_finding: Callable[..., Finding]) -> None:
    proof = ruled(a_finding(), a_ruling(evidence="e" * 2_000, argument="a" * 2_000), shown).judgement

    assert len(proof) == PROOF_CHARS
    assert "Against it: aaa" in proof
    assert proof.endswith("…")


def test_what_nobody_could_judge_keeps_its_cap_and_says_why(a_finding: Callable[..., Finding]) -> None:
    finding = a_finding(sources=("model:x",), confidence=95)

    assert unverified(finding, "no time is left").confidence == 70
    assert unverified(finding, "no time is left").judgement == "not verified: no time is left"


def test_what_does_not_exist_is_worth_nothing(a_finding: Callable[..., Finding]) -> None:
    judged = refuted_by_search(a_finding(confidence=95), ["ghost", "spook"])

    assert judged.confidence == 0
    assert judged.judgement.startswith("it speaks of ghost, spook, which")


@given(evidence=st.text(max_size=200), confidence=st.integers(0, 100))
def test_no_evidence_whatever_lifts_over_its_cap(
    evidence: str, confidence: int, shown: Shown, a_finding: Callable[..., Finding]
) -> None:
    judged = ruled(a_finding(), a_ruling(confidence, evidence), shown)

    assert judged.confidence <= min(confidence, 99 if is_anchored(evidence, shown) else 70)
    assert len(judged.judgement) <= PROOF_CHARS
