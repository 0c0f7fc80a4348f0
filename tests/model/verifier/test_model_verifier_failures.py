"""Whatever goes wrong while findings are judged, none is lost, none rises, and the result says so."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.contracts import Finding, WorkerResult
from reviewbot.errors import (
    AccountError,
    BudgetError,
    DeadlineError,
    EngineError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.model.verifier import ModelVerifier
from reviewbot.ports import WorkOrder

HANGS_S = 5
"""Longer than the whole test, for a thread that nobody waits for."""

MakeFinding = Callable[..., Finding]
Ruled = Callable[..., WorkerResult]

PROVEN = "`return sum(values) / len(values)`: values = [], so len(values) is 0 and it raises"


def rulings(*each: tuple[str, int] | tuple[str, int, str]) -> str:
    made = [
        {
            "candidate": handle,
            "argument_against": "",
            "evidence": [*rest, PROVEN][0],
            "confidence": confidence,
            "severity": "warning",
        }
        for handle, confidence, *rest in each
    ]
    return json.dumps({"rulings": made})


def confidences(result: WorkerResult) -> list[int]:
    return [finding.confidence for finding in result.findings]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (TransientError("the provider is overloaded"), "no_answer"),
        (BudgetError("the review's budget is spent"), "budget"),
        (DeadlineError("no time is left"), "deadline"),
        (RefusedError("it would not"), "refused"),
        (EngineError("the key is not valid"), "bad_answer"),
        (AccountError("the key is not valid"), "provider"),
        (TooLongError("the request is too long"), "bad_answer"),
        (("", "refusal"), "refused"),
        (('{"rulings": [', "max_tokens"), "bad_answer"),
        (("", "context"), "bad_answer"),
        (("", "other"), "bad_answer"),
        (("", "tools"), "bad_answer"),
    ],
)
def test_a_call_that_fails_leaves_the_findings_unverified_and_says_so(
    a_judge: Any, failure: Exception | tuple[str, str], reason: str, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, failure)

    result = ruled(judge, claim(2, confidence=95, claimed=95), claim(6, confidence=40, claimed=40))

    assert confidences(result) == [70, 40]
    assert all(finding.judgement.startswith("not verified: ") for finding in result.findings)
    (gap,) = result.gaps
    assert (gap.path, gap.worker, gap.reason, gap.task_id) == ("src/app.py", "logic", reason, "logic:src/app.py#1")
    assert gap.tool == "verifier", "the worker has done its part"
    assert gap.message.startswith("2 findings could not be verified: ")
    assert len(judge.asked) == 1


UNFIT = [
    "I think that all of them are right.",
    '{"rulings": []}',
    '{"rulings": [], "rulings": []}',
    rulings(("c1", 101)),
    rulings(("c1", 90), ("c1", 10)),
    rulings(("c1", 90), ("c7", 10)),
    rulings(("c1", 90)).replace("90", "NaN"),
    rulings(("c1", 90)).replace("90", '"90"'),
]


@pytest.mark.parametrize("answer", UNFIT)
def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_the_error(
    a_judge: Any, answer: str, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, answer)

    result = ruled(judge, claim())

    assert (confidences(result), result.gaps) == ([90], ())
    first, second = judge.asked
    assert a_judge.said(second).startswith(a_judge.said(first))
    assert "could not be used" in a_judge.said(second)
    assert second.turns[0].parts[0] == first.turns[0].parts[0]


@pytest.mark.parametrize("answer", UNFIT)
def test_two_answers_that_do_not_fit_leave_a_gap(a_judge: Any, answer: str, ruled: Ruled, claim: MakeFinding) -> None:
    judge = a_judge({}, answer, answer)

    result = ruled(judge, claim(confidence=95))

    assert confidences(result) == [70]
    (gap,) = result.gaps
    assert gap.reason == "bad_answer"
    assert gap.message.startswith("1 finding could not be verified: the answer ")
    assert len(judge.asked) == 2


def test_a_candidate_that_is_left_out_twice_is_a_gap_and_the_others_are_ruled_on(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, rulings(("c1", 91)), rulings(("c1", 92), ("c3", 12)))

    result = ruled(judge, claim(1), claim(2, confidence=90), claim(6))

    assert confidences(result) == [92, 70, 12]
    (gap,) = result.gaps
    assert gap.message == "1 finding could not be verified: the answer leaves it out"


def test_a_budget_that_runs_out_between_requests_costs_only_what_is_left(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, rulings(("c1", 91)), BudgetError("spent"), BudgetError("spent"))

    result = ruled(judge, claim(1), claim(2), claim(6), batch=1)

    assert confidences(result) == [91, 65, 65]
    (gap,) = result.gaps
    assert (gap.reason, gap.message) == ("budget", "2 findings could not be verified: spent")


def test_gaps_of_the_worker_stay(a_judge: Any, ruled: Ruled, claim: MakeFinding, order: WorkOrder, trace: Any) -> None:
    earlier = ruled(a_judge({}, RefusedError("no")), claim()).gaps
    result = WorkerResult(task_id="t", findings=(claim(6),), gaps=earlier)

    verifier = ModelVerifier(a_judge({}, BudgetError("spent")), "Refute it.", trace, lambda *_: ())
    gaps = asyncio.run(verifier.verify(order, result)).gaps

    assert [gap.reason for gap in gaps] == ["refused", "budget"]


def test_nobody_waits_for_evidence_of_a_verification_that_was_stopped(
    a_judge: Any, claim: MakeFinding, order: WorkOrder, trace: Any
) -> None:
    gate, looked, ended = threading.Event(), list[int](), list[bool]()

    def evidence(_order: WorkOrder, finding: Finding) -> tuple[Any, ...]:
        looked.append(finding.line)
        ended.append(gate.wait(HANGS_S))
        return ()

    async def stopped() -> set[threading.Thread]:
        before = set(threading.enumerate())
        verifier = ModelVerifier(a_judge(), "Refute it.", trace, evidence)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                verifier.verify(order, WorkerResult(task_id="t", findings=(claim(2), claim(6)))), 0.05
            )
        return set(threading.enumerate()) - before

    left = asyncio.run(stopped())
    assert not ended, "the loop has ended, and the thread has not"
    gate.set()
    for thread in left:
        thread.join()
    assert looked == [2], "after the one that was under way nothing more is looked up"


class Quiet:
    """A trace that keeps nothing."""

    def record(self, event: str, **fields: object) -> None:
        pass


_RULING = st.fixed_dictionaries({
    "candidate": st.sampled_from(["c1", "c2", "c3", "h1", "c1\n", ""]),
    "argument_against": st.text(max_size=20),
    "evidence": st.sampled_from([PROVEN, "", "`x`", "nothing"]),
    "confidence": st.one_of(st.integers(-5, 1_000), st.floats(), st.text(max_size=3)),
    "severity": st.sampled_from(["critical", "warning", "info", "none"]),
})  # fmt: skip
_ANSWER = st.one_of(
    st.text(max_size=50),
    st.lists(_RULING, max_size=4).map(lambda each: json.dumps({"rulings": each})),
    st.lists(st.integers(-1, 101), min_size=2, max_size=2).map(
        lambda scores: rulings(("c1", scores[0]), ("c2", scores[1], "`nothing of it`"))
    ),
)
_STOP = st.sampled_from(["end", "end", "end", "refusal", "max_tokens", "other"])


@given(answers=st.lists(st.tuples(_ANSWER, _STOP), min_size=2, max_size=2))
def test_whatever_a_model_answers_no_cap_is_exceeded_and_no_program_is_touched(
    a_judge: Any, answers: list[tuple[str, Any]], claim: MakeFinding, order: WorkOrder
) -> None:
    program = claim(4, sources=("ruff",), confidence=88)
    findings = (claim(2, confidence=100), program, claim(6, confidence=100))
    judge = a_judge({}, *((text, stop) for text, stop in answers))
    verifier = ModelVerifier(judge, "Refute it.", Quiet(), lambda *_: ())

    result = asyncio.run(verifier.verify(order, WorkerResult(task_id="t", findings=findings)))

    first, second, third = result.findings
    assert second == program
    assert 0 <= first.confidence <= (99 if PROVEN in first.judgement else 70)
    assert 0 <= third.confidence <= (99 if PROVEN in third.judgement else 70)
    unsettled = sum(finding.judgement.startswith("not verified") for finding in result.findings)
    assert bool(result.gaps) == bool(unsettled)
