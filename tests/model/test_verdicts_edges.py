"""What just anchors an evidence and what just does not, and what a ruling writes into a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Finding, Ruling
from reviewbot.model.verdicts import PROOF_CHARS, Shown, is_anchored, refuted_by_search, ruled, unverified

MakeFinding = Callable[..., Finding]

CODE = " value = first(given)\n+    else:\n+    continue\n+    self.stop\n+    i += 1\n-    i -= 2\n+});\n+naïve = 7"
LONG_LINE = "total = " + " + ".join(f"part_{n}" for n in range(90))
EVIDENCE_CHARS = PROOF_CHARS * 2 // 3
QUOTED = "`first(given)`"


@pytest.fixture(name="shown", scope="session")
def _shown(a_payload: Any) -> Shown:
    return Shown.of(
        [a_payload(CODE), a_payload("+second = slice_of(it)", LONG_LINE)], ["def f():\n    y = 0\n    pass"]
    )


def ruling(evidence: str = QUOTED, **fields: Any) -> Ruling:
    known = {"candidate": "c1", "argument_against": "", "evidence": evidence, "confidence": 90, "severity": "info"}
    return Ruling.model_validate(known | fields)


@pytest.mark.parametrize(
    "evidence",
    [
        "`=first`",
        "`= f i r s t`",
        "`i += 1`",
        "i -= 2",
        "+    i += 1",
        "`y = 0` stands around it",
        "`second = slice_of(it)`",
        "```c++\nvalue = first(given)\n```",
        "```\nnever there\n\nvalue = first(given)\n```",
        "```\nvalue = first(given)\n    i -= 2\n```",
        "`never` and ` ` and `first(given)`",
        "`naïve = 7`",
    ],
    ids=[
        "six characters", "six with white space", "a short line", "a short line that goes", "a line with its mark",
        "a short line of what is around", "of the second slice", "a block in a language", "one line of a block",
        "lines of the side that goes", "the last of three", "letters of any language",
    ],
)  # fmt: skip
def test_a_quote_just_long_enough_anchors(evidence: str, shown: Shown) -> None:
    assert is_anchored(evidence, shown)


@pytest.mark.parametrize(
    "evidence",
    [
        "`=firs`",
        "`= f i r s`",
        "`else:`",
        "`continue`",
        "continue",
        "`+continue`",
        "```\n+    continue\n```",
        "`  self.stop  `",
        "`});`",
        "pass",
        "```\ni += 1 once\ni -= 2 once\n```",
        "value = second",
        "`VALUE = FIRST(GIVEN)`",
    ],
    ids=[
        "five characters", "five with white space", "a lone keyword of a line", "a lone word", "without backticks",
        "a lone word with a mark", "a lone word as a line of a block",
        "a lone name", "marks alone", "a word of what is around", "lines with more in them",
        "two halves", "other letters",
    ],
)  # fmt: skip
def test_a_quote_that_says_too_little_or_something_else_does_not(evidence: str, shown: Shown) -> None:
    assert not is_anchored(evidence, shown)


def test_lines_of_both_sides_that_never_stood_together_are_no_quote(a_payload: Any) -> None:
    shown = Shown.of([a_payload(" a = 1\n-b = 2\n+c = 3\n d = 4")], [])

    assert is_anchored("`a = 1 b = 2 d = 4`", shown)
    assert is_anchored("`a = 1 c = 3 d = 4`", shown)
    assert not is_anchored("`a = 1 d = 4`", shown)


def test_where_nothing_was_shown_nothing_is_anchored() -> None:
    assert not is_anchored("`first(given)`\n\n", Shown.of([], []))


@pytest.mark.parametrize(("before", "after"), [("critical", "info"), ("info", "critical")])
def test_a_ruling_says_how_grave_a_finding_is(before: str, after: str, shown: Shown, a_finding: MakeFinding) -> None:
    assert ruled(a_finding(severity=before), ruling(severity=after), shown).severity == after


@pytest.mark.parametrize(
    ("more", "cut"),
    [(0, False), (1, True)],
    ids=["all that is kept", "one character more"],
)
def test_an_evidence_is_cut_where_it_would_crowd_out_the_argument(
    more: int, shown: Shown, a_finding: MakeFinding, *, cut: bool
) -> None:
    evidence = QUOTED + "e" * (EVIDENCE_CHARS - len(QUOTED) + more)

    proof = ruled(a_finding(), ruling(evidence, argument_against="but"), shown).judgement

    assert proof == (evidence[: EVIDENCE_CHARS - 1] + "…" if cut else evidence) + " Against it: but"


@pytest.mark.parametrize(("length", "cut"), [(PROOF_CHARS, False), (PROOF_CHARS + 1, True)])
def test_a_proof_is_cut_at_its_limit_and_not_before(
    length: int, shown: Shown, a_finding: MakeFinding, *, cut: bool
) -> None:
    argument = "a" * (length - len(f"{QUOTED} Against it: "))

    proof = ruled(a_finding(), ruling(argument_against=argument), shown).judgement

    assert (len(proof), proof.endswith("…")) == (PROOF_CHARS, cut)


def test_an_evidence_that_quotes_nothing_is_told_after_the_doubt_in_it(shown: Shown, a_finding: MakeFinding) -> None:
    proof = ruled(a_finding(), ruling("  I am sure.  ", confidence=71), shown).judgement

    assert proof.startswith("(its evidence quotes nothing of the code that was shown, so it counts for 70 at most) I ")
    assert proof.endswith("I am sure.")


@pytest.mark.parametrize("confidence", [0, 69, 70])
def test_what_nobody_could_judge_and_was_not_surer_than_its_cap_stays_as_sure(
    confidence: int, a_finding: MakeFinding
) -> None:
    finding = a_finding(sources=("model:x",), confidence=confidence, severity="critical")

    judged = unverified(finding, "spent")

    assert judged.model_copy(update={"judgement": finding.judgement}) == finding


def test_reasons_of_any_length_are_kept_to_what_a_proof_holds(a_finding: MakeFinding) -> None:
    told = unverified(a_finding(), "w" * 5_000).judgement
    named = refuted_by_search(a_finding(), (f"name_{n}" for n in range(1_000))).judgement

    assert [(len(proof), proof[-1]) for proof in (told, named)] == [(PROOF_CHARS, "…")] * 2


def test_what_a_search_refutes_keeps_all_but_its_confidence_and_its_proof(a_finding: MakeFinding) -> None:
    finding = a_finding(confidence=95, claimed=95, severity="critical", disputed="no")

    judged = refuted_by_search(finding, ["ghost"])

    assert judged.judgement == "it speaks of ghost, which a search of the whole repository did not find"
    assert judged.model_copy(update={"confidence": 95, "judgement": finding.judgement}) == finding
