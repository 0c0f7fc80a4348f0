"""Which finding gets which ruling, gap and line of the trace, and which findings are judged at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Finding, WorkerResult
from reviewbot.errors import EngineError, InputError, TransientError
from reviewbot.model.told import Section
from reviewbot.model.verifier import MAX_BATCH
from reviewbot.ports import ModelReply, ModelRequest, WorkOrder

MakeFinding = Callable[..., Finding]
Ruled = Callable[..., WorkerResult]

LINES = (1, 2, 3, 4, 6, 8)
TOLD_CHARS = 300
"""Of an error, in a gap."""
TRACED_CHARS = 200
"""Of a proof, in the trace."""


@pytest.mark.parametrize(
    ("program", "word", "asked"),
    [
        ({"confidence": 80}, {}, 0),
        ({"confidence": 79}, {}, 1),
        ({"rule": "S605"}, {}, 1),
        ({"line": 3}, {}, 1),
        ({"rule": ""}, {"rule": ""}, 1),
        ({"sources": ("model:y",)}, {}, 2),
        ({"sources": ("model:y", "ruff")}, {}, 0),
        ({"end_line": 4}, {}, 0),
    ],
    ids=[
        "just sure", "not quite sure", "another rule", "another line", "no rule at all", "another model",
        "a program that a model joined", "more lines",
    ],
)  # fmt: skip
def test_a_models_word_is_judged_unless_a_program_is_sure_of_the_same_rule_at_the_same_line(
    program: dict[str, Any], word: dict[str, Any], asked: int, a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge()

    ruled(judge, claim(**{"rule": "S602", "confidence": 88, "sources": ("ruff",), **program}),
          claim(**{"rule": "S602", **word}))  # fmt: skip

    assert sum(len(a_judge.claims(request)) for request in judge.asked) == asked


def test_a_ruling_says_how_grave_the_finding_is(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    result = ruled(a_judge(), claim(2, severity="critical"), claim(6, severity="info"))

    assert [finding.severity for finding in result.findings] == ["warning", "warning"]


def test_each_finding_keeps_its_place_among_those_that_nobody_is_asked_about(
    a_judge: Any, searched: Any, ruled: Ruled, claim: MakeFinding, trace: Any
) -> None:
    looked: list[int] = []

    def evidence(_order: WorkOrder, finding: Finding) -> tuple[Section, ...]:
        looked.append(finding.line)
        return ()

    result = ruled(
        a_judge({}, a_judge.rulings(("c1", 91), ("c2", 12))),
        claim(1, message="`purge_all` is never closed"),
        claim(2),
        claim(4, sources=("ruff",), confidence=77),
        claim(6),
        snapshot=searched(),
        evidence=evidence,
    )

    assert [(finding.line, finding.confidence) for finding in result.findings] == [(1, 0), (2, 91), (4, 77), (6, 12)]
    assert looked == [2, 6], "for what does not exist there is no code to look up"
    assert [(each["handle"], each["asked"]) for each in trace.of("ruling")] == [
        ("f1", ""),
        ("f2", "f2/c1"),
        ("f4", "f2/c2"),
    ]


class LastFirst:
    """A judge whose first question is answered when all others have been."""

    def __init__(self, judge: Any) -> None:
        self.judge = judge
        self.others = asyncio.Event()
        self.count = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.count += 1
        first = self.count == 1
        if first:
            await asyncio.wait_for(self.others.wait(), 5)
        reply: ModelReply = await self.judge.ask(request)
        if not first:
            self.others.set()
        return reply


def test_the_trace_and_the_rulings_are_in_order_however_the_answers_come(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, trace: Any
) -> None:
    judge = LastFirst(a_judge({f"line {line}": (10 * line, a_judge.proven) for line in LINES}))

    result = ruled(judge, *(claim(line) for line in LINES))

    assert [finding.confidence for finding in result.findings] == [10 * line for line in LINES]
    assert [(each["handle"], each["asked"], each["line"]) for each in trace.of("ruling")] == [
        (f"f{n}", f"f1/c{n}" if n <= MAX_BATCH else f"f5/c{n - MAX_BATCH}", line) for n, line in enumerate(LINES, 1)
    ]


@pytest.mark.parametrize(("batch", "sizes"), [(2, [2, 2, 2]), (6, [6]), (7, [6])])
def test_a_request_holds_as_many_candidates_as_it_may(
    batch: int, sizes: list[int], a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge()

    ruled(judge, *(claim(line) for line in LINES), batch=batch)

    assert [len(a_judge.claims(request)) for request in judge.asked] == sizes


def test_a_proof_may_quote_any_slice_of_the_task(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, order: WorkOrder, a_payload: Any
) -> None:
    more = a_payload("+def other(n):\n+    return 1 // n", path="src/other.py")
    task = order.task.model_copy(update={"more": (more,)})
    judge = a_judge({"claim": (93, "`return 1 // n` is called with the same")})

    assert ruled(judge, claim(), task=task).findings[0].confidence == 93


def test_evidence_that_cannot_be_had_costs_no_ruling(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    def evidence(_order: WorkOrder, finding: Finding) -> tuple[Section, ...]:
        if finding.line == 2:
            raise InputError("git took longer than 30 s")
        return (Section("Around it", "its_own_code()"),)

    judge = a_judge()
    result = ruled(judge, claim(2), claim(6), evidence=evidence)

    assert ([finding.confidence for finding in result.findings], result.gaps) == ([90, 90], ())
    assert "its_own_code()" in a_judge.said(judge.asked[0])


def test_each_file_and_each_cause_has_a_gap_of_its_own(a_judge: Any, ruled: Ruled, claim: MakeFinding) -> None:
    judge = a_judge({}, TransientError("busy"), EngineError("busy"), TransientError("busy"), TransientError("busy"))

    other = claim(2, path="src/other.py")
    gaps = ruled(judge, claim(1), claim(2), other, claim(3), batch=1).gaps

    assert [(gap.path, gap.reason, gap.message.partition(" could")[0]) for gap in gaps] == [
        ("src/app.py", "no_answer", "2 findings"),
        ("src/app.py", "bad_answer", "1 finding"),
        ("src/other.py", "no_answer", "1 finding"),
    ]


def test_of_a_long_error_no_more_is_told_on_than_anybody_reads(
    a_judge: Any, ruled: Ruled, claim: MakeFinding, trace: Any
) -> None:
    result = ruled(a_judge({}, EngineError("e" * 5_000)), claim())

    assert result.findings[0].judgement == "not verified: " + "e" * TOLD_CHARS
    assert result.gaps[0].message == "1 finding could not be verified: " + "e" * TOLD_CHARS
    (event,) = trace.of("ruling")
    assert event["reason"] == result.findings[0].judgement[:TRACED_CHARS]


def test_a_second_answer_may_be_about_some_of_the_candidates_and_about_no_others(
    a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, a_judge.rulings(("c1", 91)), a_judge.rulings(("c1", 92), ("c3", 12)))

    result = ruled(judge, claim(2), claim(6))

    assert [finding.confidence for finding in result.findings] == [65, 65]
    assert {gap.message for gap in result.gaps} == {
        "2 findings could not be verified: the answer rules on c3, which was not asked about"
    }


@pytest.mark.parametrize(
    ("rulings", "told"),
    [
        ([("c1", 90)], "the answer leaves out c2, c3"),
        ([("c1", 90), ("c1", 90), ("c9", 1)], "the answer rules twice on one candidate"),
        ([("c1", 1), ("c2", 1), ("c3", 1), ("c9", 1), ("c8", 1)], "the answer rules on c8, which was not asked about"),
    ],
)
def test_the_model_is_told_what_was_wrong_with_its_rulings(
    rulings: list[tuple[str, int]], told: str, a_judge: Any, ruled: Ruled, claim: MakeFinding
) -> None:
    judge = a_judge({}, a_judge.rulings(*rulings))

    result = ruled(judge, claim(1), claim(2), claim(6))

    assert told in a_judge.said(judge.asked[1])
    assert [finding.confidence for finding in result.findings] == [90, 90, 90]


def test_a_task_without_findings_is_as_it_was(a_judge: Any, ruled: Ruled, order: WorkOrder) -> None:
    judge = a_judge()

    result = ruled(judge)

    assert json.loads(result.model_dump_json()) == json.loads(
        WorkerResult(task_id=order.task.task_id).model_dump_json()
    )
    assert judge.asked == []
