"""The worker boundary: whatever an engine does becomes a result, an escalation or a failure that says why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from reviewbot.domain.contracts import (
    Candidate,
    Escalation,
    Failure,
    Gap,
    Metadata,
    Outcome,
    Payload,
    WorkerCard,
    WorkerResult,
)
from reviewbot.domain.errors import (
    AccountError,
    BudgetError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.domain.ports import Answer, Escalated, WorkOrder
from reviewbot.review.finding_limits import MAX_PER_TASK
from reviewbot.review.task import run_task
from reviewbot.review.verify.verifier import by_a_model_alone
from tests import leaping_loop
from tests.make import MakeCandidate, MakeOrder, MakePayload, MakeTask
from tests.reading_cases import read


class FakeEngine:
    """An engine that does one thing, and writes down its orders."""

    name = "fake"

    def __init__(self, answer: Answer | Escalated | BaseException | None = None) -> None:
        self.answer = Answer() if answer is None else answer
        self.orders: list[WorkOrder] = []

    def covers(self, card: WorkerCard, language: str) -> bool:
        return True

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        self.orders.append(order)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class HangingEngine(FakeEngine):
    """An engine that never answers."""

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        return await asyncio.Future()


def outcome_of(engine: FakeEngine, order: WorkOrder) -> Outcome:
    return leaping_loop.run(run_task(engine, order))


def result_of(candidates: Sequence[Candidate], order: WorkOrder) -> WorkerResult:
    outcome = outcome_of(FakeEngine(Answer(candidates=tuple(candidates))), order)
    assert isinstance(outcome, WorkerResult)
    return outcome


# --- what an engine may do


def test_the_engine_sees_its_order_and_nothing_else(an_order: MakeOrder) -> None:
    engine, order = FakeEngine(), an_order()

    outcome_of(engine, order)

    assert engine.orders == [order]


def test_an_engine_that_never_answers_is_cut_off_at_its_deadline(an_order: MakeOrder, a_task: MakeTask) -> None:
    outcome = outcome_of(HangingEngine(), an_order(a_task(timeout_ms=20)))

    assert outcome == Escalation(task_id="logic:src/app.py#1", reason="timeout", message="no answer within 0.02 s")


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        (EngineError("the answer is no JSON"), "bad_answer", "the answer is no JSON"),
        (TransientError("busy"), "no_answer", "busy"),
        (RuntimeError("the text may hold a secret"), "crashed", "RuntimeError in engine fake"),
        (RecursionError(), "crashed", "RecursionError in engine fake"),
        (TimeoutError("a socket's own"), "crashed", "TimeoutError in engine fake"),
    ],
)
def test_an_error_of_an_engine_becomes_a_failure(
    error: Exception, reason: str, message: str, an_order: MakeOrder
) -> None:
    outcome = outcome_of(FakeEngine(error), an_order())

    assert isinstance(outcome, Failure)
    assert (outcome.task_id, outcome.reason, outcome.message) == ("logic:src/app.py#1", reason, message)


def test_a_cancelled_run_is_not_taken_for_a_failed_worker(an_order: MakeOrder) -> None:
    async def cancelled() -> None:
        running = asyncio.create_task(run_task(HangingEngine(), an_order()))
        await asyncio.sleep(0)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_an_escalation_is_passed_on_under_the_name_of_its_task(an_order: MakeOrder) -> None:
    outcome = outcome_of(FakeEngine(Escalated("ambiguous_input", "two readings")), an_order())

    assert outcome == Escalation(task_id="logic:src/app.py#1", reason="ambiguous_input", message="two readings")


def test_what_an_escalation_brings_is_anchored_like_any_answer(an_order: MakeOrder, a_candidate: MakeCandidate) -> None:
    planted = a_candidate(path="/etc/passwd", line=9999)

    outcome = outcome_of(FakeEngine(Escalated("out_of_scope", "enough", partial=Answer((planted,)))), an_order())

    assert isinstance(outcome, Escalation)
    assert outcome.partial_result is not None
    assert outcome.partial_result.findings == ()
    assert [dropped.candidate for dropped in outcome.partial_result.dropped] == [planted]


def test_a_model_cannot_pass_for_a_program_by_the_name_it_gives(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    order = an_order(a_task(payload=a_payload("+x = 1")))
    claimed = a_candidate(source="ruff-security", quote="x = 1", path=order.task.payload.file_path)

    outcome = outcome_of(FakeEngine(Answer((claimed,), origin="model")), order)

    assert isinstance(outcome, WorkerResult)
    assert [finding.sources for finding in outcome.findings] == [("model:ruff-security",)]


# --- from candidates to findings


def test_a_candidate_becomes_a_finding_at_the_line_of_its_quote(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    order = an_order(a_task(payload=a_payload(" import os\n+x = 1\n+y = 2", "+z = 3")))
    candidate = a_candidate(
        quote="z = 3",
        trigger="always",
        suggestion="z = 4",
        replacement="z = 5",
        rule="R1",
        cwe=78,
        severity="critical",
        confidence=77,
    )

    [finding] = result_of([candidate], order).findings

    assert (finding.path, finding.line, finding.end_line) == ("src/app.py", 101, 101)
    assert finding.evidence == "z = 3"
    assert (finding.type, finding.sources) == ("logic", ("ruff",))
    copied = ("severity", "message", "trigger", "suggestion", "replacement", "confidence", "category", "rule", "cwe")
    assert [getattr(finding, name) for name in copied] == [getattr(candidate, name) for name in copied]


def test_a_program_that_counted_lines_is_believed_on_added_lines(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    order = an_order(a_task(payload=a_payload(" import os\n+x = 1\n+y = 2")))

    [finding] = result_of([a_candidate(quote="", line=2, end_line=3)], order).findings

    assert (finding.line, finding.end_line, finding.evidence) == (2, 3, "x = 1\ny = 2")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"quote": "nowhere = 1"},
            "the quoted code is not in this part of the change, or stands there more than once",
        ),
        ({"quote": "   "}, "the quoted code is not in this part of the change, or stands there more than once"),
        ({"path": "src/other.py"}, "it is about 'src/other.py', which is not in this task"),
        ({"path": "../../etc/passwd"}, "it is about '../../etc/passwd', which is not in this task"),
        ({"line": 999}, "not on an added line"),
        ({"line": 1}, "not on an added line"),
    ],
)
def test_a_candidate_without_a_place_is_dropped_and_the_reason_kept(
    *,
    fields: dict[str, object],
    reason: str,
    an_order: MakeOrder,
    a_task: MakeTask,
    a_payload: MakePayload,
    a_candidate: MakeCandidate,
) -> None:
    order = an_order(a_task(payload=a_payload(" import os\n+x = 1")))
    bad, good = a_candidate(**fields), a_candidate()

    result = result_of([bad, good], order)

    assert [(entry.candidate, entry.reason) for entry in result.dropped] == [(bad, reason)]
    assert [finding.evidence for finding in result.findings] == ["x = 1"]
    assert result.gaps == ()


def _two_slices(a_payload: MakePayload) -> tuple[Payload, Payload]:
    """Two slices of one file; the second one lies further down."""
    first = a_payload("+x = 1")
    return first, a_payload("+w = 0\n+y = 2").model_copy(update={"starts": ((500, 500),)})


def test_a_quote_is_found_in_the_slice_of_its_file_where_it_stands(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    first, second = _two_slices(a_payload)
    order = an_order(a_task(payload=first, more=(a_payload("+y = 2", path="src/other.py"), second)))

    [finding] = result_of([a_candidate(quote="y = 2")], order).findings

    assert (finding.path, finding.line) == ("src/app.py", 501), "the same line of another file is no place for it"


def test_a_quote_that_stands_in_two_slices_of_its_file_is_dropped(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    first, second = _two_slices(a_payload)
    again = a_payload("+x = 1\n+z = 3").model_copy(update={"starts": ((700, 700),)})
    order = an_order(a_task(payload=first, more=(second, again)))

    result = result_of([a_candidate(quote="x = 1")], order)

    assert result.findings == ()
    assert [entry.reason for entry in result.dropped] == [
        "the quoted code is not in this part of the change, or stands there more than once"
    ]


@pytest.mark.parametrize("name", ["b/src/app.py", "app.py"])
def test_a_finding_is_filed_under_the_real_name_of_its_file(
    name: str, an_order: MakeOrder, a_candidate: MakeCandidate
) -> None:
    [finding] = result_of([a_candidate(path=name)], an_order()).findings

    assert finding.path == "src/app.py"


def test_a_quote_is_not_looked_for_in_a_file_that_was_not_named(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    order = an_order(a_task(payload=a_payload("+x = 1"), more=(a_payload("+y = 2", path="src/other.py"),)))

    result = result_of([a_candidate(path="src/other.py", quote="x = 1")], order)

    assert result.findings == ()


@pytest.mark.parametrize(
    ("error", "reason"),
    [(BudgetError("spent"), "budget"), (DeadlineError("too late"), "deadline"), (RefusedError("no"), "refused")],
)
def test_why_nobody_will_answer_is_kept_in_the_failure(error: EngineError, reason: str, an_order: MakeOrder) -> None:
    outcome = outcome_of(FakeEngine(error), an_order())

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.message) == (reason, str(error))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AccountError("the credentials (401)"), "provider"),
        (ProviderError("it cannot be reached"), "provider"),
        (TooLongError("too long (413)"), "bad_answer"),
    ],
    ids=repr,
)
def test_what_the_same_request_would_meet_again_is_final_with_a_gap_for_each_file(
    error: EngineError, reason: str, an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload
) -> None:
    task = a_task(payload=a_payload(path="a.py"), more=(a_payload(path="b.py"),))
    outcome = outcome_of(FakeEngine(error), an_order(task))

    assert isinstance(outcome, WorkerResult), "a failure would be tried again"
    assert outcome.metadata.readers == ()
    assert [(gap.path, gap.worker, gap.reason, gap.message, gap.tool) for gap in outcome.gaps] == [
        (path, "logic", reason, str(error), None) for path in ("a.py", "b.py")
    ]


def test_what_programs_found_stands_beside_what_a_model_found(an_order: MakeOrder, a_candidate: MakeCandidate) -> None:
    said, counted = a_candidate(source="large"), a_candidate(line=1, quote="")

    outcome = outcome_of(FakeEngine(Answer((said,), origin="model", programs=(counted,))), an_order())

    assert isinstance(outcome, WorkerResult)
    assert [(f.sources, f.claimed, by_a_model_alone(f)) for f in outcome.findings] == [
        (("model:large",), 90, True),
        (("ruff",), None, False),
    ]


def test_an_answer_at_the_limit_is_no_flood(an_order: MakeOrder, a_candidate: MakeCandidate) -> None:
    result = result_of([a_candidate()] * MAX_PER_TASK, an_order())

    assert len(result.findings) == MAX_PER_TASK
    assert (result.dropped, result.gaps) == ((), ())


def test_of_a_flood_the_worst_and_surest_stay_and_a_gap_says_so(
    an_order: MakeOrder, a_candidate: MakeCandidate
) -> None:
    flood = [a_candidate(severity="info", confidence=10)] * 9_999 + [a_candidate(severity="info", confidence=99)]
    flood += [a_candidate(severity="critical", confidence=50), a_candidate(severity="warning", confidence=60)]

    result = result_of(flood, an_order())

    worst = [(finding.severity, finding.confidence) for finding in result.findings[:4]]
    assert worst == [("critical", 50), ("warning", 60), ("info", 99), ("info", 10)]
    assert len(result.findings) == MAX_PER_TASK
    assert result.dropped == ()
    [gap] = result.gaps
    assert (gap.reason, gap.worker, gap.path, gap.task_id) == ("flooded", "logic", "src/app.py", "logic:src/app.py#1")
    assert gap.message == "more than 400 findings in one task; 9602 were dropped"


def test_the_order_of_an_answer_is_kept(
    an_order: MakeOrder, a_task: MakeTask, a_payload: MakePayload, a_candidate: MakeCandidate
) -> None:
    order = an_order(a_task(payload=a_payload("+x = 1\n+y = 2")))

    result = result_of([a_candidate(quote="y = 2", severity="info"), a_candidate(quote="x = 1")], order)

    assert [finding.evidence for finding in result.findings] == ["y = 2", "x = 1"]


# --- gaps and metadata


def test_a_gap_gets_the_names_of_its_worker_task_and_file(an_order: MakeOrder) -> None:
    gap = Gap(path="./src/app.py", worker="?", reason="missing_program", message="no ruff", tool="ruff-logic")

    outcome = outcome_of(FakeEngine(Answer(gaps=(gap,))), an_order())

    assert isinstance(outcome, WorkerResult)
    [named] = outcome.gaps
    assert (named.path, named.worker, named.task_id) == ("src/app.py", "logic", "logic:src/app.py#1")
    assert (named.tool, named.reason, named.message) == ("ruff-logic", "missing_program", "no ruff")


def test_how_an_answer_came_about_is_kept(an_order: MakeOrder) -> None:
    metadata = Metadata(duration_ms=12, model_used="medium", readings=(read(models=("model:medium",)),))

    outcome = outcome_of(FakeEngine(Answer(metadata=metadata)), an_order())

    assert isinstance(outcome, WorkerResult)
    assert outcome.metadata == metadata
    assert outcome.task_id == "logic:src/app.py#1"
