"""A fresh model attacks what another one found: true claims rise, false ones sink."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from reviewbot.contracts import Finding, WorkerResult
from reviewbot.model.told import Section
from reviewbot.ports import WorkOrder

MakeFinding = Callable[..., Finding]
Ruled = Callable[..., WorkerResult]


def confidences(result: WorkerResult) -> list[int]:
    return [finding.confidence for finding in result.findings]


def test_proven_claims_are_lifted_over_80_and_false_ones_are_sunk(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    true = claim(2, message="an empty list divides by zero", confidence=62, claimed=62)
    false = claim(6, message="an empty list has no first value", confidence=95, claimed=95)
    moot = claim(8, message="the caller's list is changed", confidence=80, claimed=80)
    refuted = "`if not values:` returns None before it: values = [] never gets to line 6"
    judge = a_judge({
        "divides by zero": (96, a_judge.proven),
        "no first value": (8, refuted),
        "caller's list": (75, "`values.pop(at)` changes the argument; do callers reckon with that? not in sight"),
    })  # fmt: skip

    result = ruled(judge, true, false, moot)

    assert confidences(result) == [96, 8, 75]
    assert [finding.claimed for finding in result.findings] == [62, 95, 80]
    assert result.findings[1].judgement == f"{refuted} Against it: a caller may check"
    assert result.gaps == ()


def test_a_ruling_changes_confidence_severity_and_proof_and_nothing_else(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    finding = claim(2, severity="critical", trigger="an empty list", suggestion="guard it")

    (judged,) = ruled(a_judge(), finding).findings

    assert judged.model_copy(update={"confidence": 65, "severity": "critical", "judgement": ""}) == finding


def test_a_models_word_for_what_a_program_is_sure_of_needs_no_judge(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    program = claim(2, sources=("ruff",), rule="S602", confidence=88)
    word = claim(2, sources=("model:x",), rule="S602", confidence=88)
    judge = a_judge()

    result = ruled(judge, program, word)

    assert confidences(result) == [88, 70]
    assert judge.asked == []


def test_what_a_program_is_sure_of_in_another_file_spares_no_claim_its_judge(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    elsewhere = claim(2, path="src/other.py", sources=("ruff",), rule="S602", confidence=99)
    suspected = claim(2, sources=("ruff",), rule="S602", confidence=60)
    word = claim(2, sources=("model:x",), rule="S602", confidence=88)
    judge = a_judge()

    assert confidences(ruled(judge, elsewhere, suspected, word)) == [99, 60, 90]
    assert len(judge.asked) == 1


def test_the_judge_is_told_what_the_change_is_called_between_fences(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge()
    ruled(judge, claim(2), title="Make the mean of nothing zero" + 400 * "!")
    ruled(judge, claim(2), title="  ")

    titled, untitled = map(judge.said, judge.asked)
    first, second = (request.turns[0].parts[0] for request in judge.asked)
    assert first == second, "what stands in the cache is the same"
    assert re.search(r"^<<<title (\w+)\nMake the mean of nothing zero!{271}\n<<<end \1$", titled, re.MULTILINE)
    assert "<<<title" not in untitled


def test_who_judges_by_cost_or_by_written_rules_is_not_told_it(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, order: WorkOrder
) -> None:
    judge = a_judge()
    ruled(judge, claim(2), title="fine", task=order.task.model_copy(update={"type": "performance"}))

    assert "<<<title" not in judge.said(judge.asked[0])


def test_a_models_word_for_what_a_program_only_suspects_is_judged(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    program = claim(2, sources=("ruff",), rule="S602", confidence=45)
    word = claim(2, sources=("model:x",), rule="S602", confidence=45)
    judge = a_judge()

    ruled(judge, program, word)

    assert len(judge.asked) == 1


def test_what_programs_stand_behind_is_not_even_asked_about(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, trace: Any
) -> None:
    judge = a_judge({}, a_judge.rulings(("c1", 0)))
    program, both = claim(sources=("ruff",)), claim(4, sources=("model:x", "ruff"), disputed="it is meant")

    result = ruled(judge, program, both)

    assert result.findings == (program, both)
    assert judge.asked == []
    assert trace.events == []


def test_nothing_is_certain(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    assert confidences(ruled(a_judge({}, a_judge.rulings(("c1", 100))), claim())) == [99]


def test_a_proof_that_quotes_nothing_real_does_not_lift(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    bare = a_judge({"claim": (97, "I ran it and `return total / count` divides by zero")})

    (judged,) = ruled(bare, claim()).findings

    assert judged.confidence == 70
    assert "quotes nothing of the code" in judged.judgement


def test_a_proof_may_quote_the_code_around_the_slice(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    judge = a_judge({"claim": (88, "`def callers_pass_an_empty_list():` does so")})
    around = Section("Who calls it", "def callers_pass_an_empty_list():\n    mean([])")

    assert confidences(ruled(judge, claim(), evidence=lambda *_: (around,))) == [88]


def test_the_judge_sees_slice_evidence_and_claim_but_not_who_made_it_nor_how_sure_or_grave(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge()
    finding = claim(
        trigger="values is empty",
        contract="a mean of nothing is None",
        symptom="a traceback",
        severity="critical",
        confidence=63,
        claimed=63,
        sources=("model:finder-9000",),
    )

    ruled(judge, finding, evidence=lambda *_: (Section("What it calls", "def helper(): ..."),))

    (request,) = judge.asked
    text = a_judge.said(request)
    for shown in (
        a_judge.code,
        "def helper(): ...",
        "What it calls:",
        finding.message,
        finding.trigger,
        finding.contract,
    ):
        assert shown in text
    assert finding.symptom in text
    for hidden in ("finder-9000", "63", "critical", "confidence"):
        assert hidden not in a_judge.claims(request)["c1"]
    assert "finder-9000" not in text
    assert request.purpose == "verifier"
    assert request.subject == "logic:src/app.py#1/f1"
    assert request.schema is not None


def test_independent_candidates_of_one_file_share_requests_and_each_gets_its_own_ruling(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    findings = [claim(line) for line in (1, 2, 3, 4, 6, 8)]
    judge = a_judge({f"line {line}": (10 * line, a_judge.proven) for line in (1, 2, 3, 4, 6, 8)})

    result = ruled(judge, *findings)

    assert confidences(result) == [10, 20, 30, 40, 60, 80]
    assert [len(a_judge.claims(request)) for request in judge.asked] == [4, 2]
    assert judge.most == 2


def test_with_a_batch_of_one_each_candidate_stands_alone(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    judge = a_judge()

    ruled(judge, claim(1), claim(2), claim(6), batch=1)

    assert [list(a_judge.claims(request)) for request in judge.asked] == [["c1"]] * 3
    assert [request.subject[-2:] for request in judge.asked] == ["f1", "f2", "f3"]


def test_rulings_belong_to_their_handles_in_whatever_order_they_come(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, a_judge.rulings(("c3", 30), ("c1", 91), ("c2", 12)))

    assert confidences(ruled(judge, claim(1), claim(2), claim(6))) == [91, 12, 30]


def test_each_ruling_is_in_the_trace(a_judge: Any, ruled: Ruled, claim: MakeFinding, trace: Any) -> None:
    ruled(a_judge(), claim(sources=("ruff",)), claim(2, severity="critical"))

    (event,) = trace.of("ruling")
    assert event.pop("reason").startswith(a_judge.proven)
    assert event == {
        "task_id": "logic:src/app.py#1",
        "handle": "f2",
        "asked": "f2/c1",
        "path": "src/app.py",
        "line": 2,
        "tier": "opus",
        "claimed": 65,
        "confidence": 90,
    }


def test_a_finding_about_a_symbol_that_exists_nowhere_is_worth_nothing_and_costs_no_call(
    a_judge: Any, searched: Any, ruled: Ruled, claim: MakeFinding, trace: Any
) -> None:
    judge = a_judge()

    result = ruled(judge, claim(message="`purge_all` is never closed"), snapshot=searched("mean"))

    (judged,) = result.findings
    assert judged.confidence == 0
    assert "purge_all" in judged.judgement
    assert (judge.asked, result.gaps) == ([], ())
    (event,) = trace.of("ruling")
    assert (event["confidence"], event["asked"]) == (0, "")


def test_a_missing_name_beside_known_ones_is_told_to_the_judge(
    a_judge: Any, searched: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge()

    result = ruled(judge, claim(message="`mean` skips the lock that `purge_all` holds"), snapshot=searched())

    assert confidences(result) == [90]
    assert "found nowhere in the repository: purge_all" in a_judge.said(judge.asked[0])


def test_a_snapshot_that_fails_costs_the_evidence_and_not_the_ruling(
    a_judge: Any, searched: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    result = ruled(a_judge(), claim(message="`purge_all` is never closed"), snapshot=searched(broken=True))

    assert (confidences(result), result.gaps) == ([90], ())


def test_equal_claims_make_equal_requests_wherever_their_lines_stand(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, order: WorkOrder
) -> None:
    judge = a_judge()
    moved = order.task.payload.model_copy(update={"starts": ((501, 501),)})
    task = order.task.model_copy(update={"payload": moved})

    ruled(judge, claim(2))
    ruled(judge, claim(2).model_copy(update={"line": 502, "end_line": 502}), task=task)

    assert judge.asked[0] == judge.asked[1]
