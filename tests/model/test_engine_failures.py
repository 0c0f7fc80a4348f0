"""Whatever becomes of the model, what programs found is in the review, and what was not read is a named gap."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Candidate, Escalation, Failure, Plan, ReviewTask, Usage
from reviewbot.errors import (
    AccountError,
    BudgetError,
    CutOffError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.model.engine import _less_margin
from reviewbot.model.loop import LoopError
from reviewbot.ports import Settled
from reviewbot.supervisor.dispatcher import Dispatcher
from reviewbot.worker import run_task

Make = Callable[..., Any]

HANGS_S = 5
"""Longer than the whole test, for a thread that nobody waits for."""


@pytest.fixture
def hit(a_candidate: Make) -> Candidate:
    found: Candidate = a_candidate(line=1, rule="S307")
    return found


@pytest.fixture
def programs(fake_programs: Make, hit: Candidate) -> Any:
    return fake_programs({"src/app.py": [hit]})


def work(engine: Any, order: Any) -> Any:
    return asyncio.run(engine.work(order))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BudgetError("no dollars left"), "budget"),
        (DeadlineError("no time left"), "deadline"),
        (LoopError("on and on"), "bad_answer"),
        (AccountError("the credentials (401)"), "provider"),
        (ProviderError("it cannot be reached"), "provider"),
        (TransientError("busy for the fourth time"), "no_answer"),
    ],
)
def test_what_no_retry_can_help_ends_at_once_with_what_programs_found(
    error: Exception, reason: str, an_engine: Make, fake_model: Make, programs: Any, an_order: Make, hit: Candidate
) -> None:
    answer = work(an_engine(fake_model(error), programs), an_order())

    assert answer.programs == (hit,)
    assert [(gap.path, gap.reason, gap.message) for gap in answer.gaps] == [("src/app.py", reason, str(error))]
    assert answer.metadata.readers == ("ruff",)


@pytest.mark.parametrize("failures", [0, 1])
@pytest.mark.parametrize("error", [EngineError("odd"), CutOffError("cut"), RuntimeError("bug")], ids=repr)
def test_what_a_retry_may_help_is_raised_while_there_is_one(
    error: Exception, failures: int, an_engine: Make, fake_model: Make, programs: Any, an_order: Make, a_task: Make
) -> None:
    with pytest.raises(type(error), match=str(error)):
        work(an_engine(fake_model(error), programs), an_order(a_task(failures=failures)))


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        (EngineError("odd"), "bad_answer", "given up after 3 failures: odd"),
        (TransientError("busy"), "no_answer", "given up after 3 failures: busy"),
        (ProviderError("it is down"), "provider", "it is down"),
        (TooLongError("long"), "bad_answer", "given up after 3 failures: long"),
        (CutOffError("cut"), "bad_answer", "given up after 3 failures: cut"),
        (RuntimeError("/root/x"), "crashed", "given up after 3 failures: RuntimeError while a model was asked"),
        (TimeoutError("inner"), "crashed", "given up after 3 failures: TimeoutError while a model was asked"),
    ],
    ids=repr,
)
def test_the_last_attempt_brings_what_programs_found(
    error: Exception, reason: str, message: str, an_engine: Make, fake_model: Make, programs: Any,
    an_order: Make, a_task: Make, hit: Candidate,
) -> None:  # fmt: skip
    answer = work(an_engine(fake_model(error), programs), an_order(a_task(failures=2)))

    assert answer.programs == (hit,)
    assert [(gap.reason, gap.message) for gap in answer.gaps] == [(reason, message)]


def test_a_refusal_is_raised_once_so_that_a_stronger_model_is_asked(
    an_engine: Make, fake_model: Make, a_reply: Make, programs: Any, an_order: Make
) -> None:
    with pytest.raises(RefusedError):
        work(an_engine(fake_model(a_reply(stop="refusal")), programs), an_order())


@pytest.mark.parametrize("fields", [{"failures": 1}, {"higher_tiers": ()}], ids=repr)
def test_a_refusal_after_which_nobody_stronger_is_asked_is_a_gap(
    fields: dict[str, Any], an_engine: Make, fake_model: Make, a_reply: Make, programs: Any, an_order: Make,
    a_task: Make, hit: Candidate,
) -> None:  # fmt: skip
    answer = work(an_engine(fake_model(a_reply(stop="refusal")), programs), an_order(a_task(**fields)))

    assert answer.programs == (hit,)
    assert [gap.reason for gap in answer.gaps] == ["refused"]


def test_each_file_that_the_model_has_not_read_is_a_gap(
    an_engine: Make, fake_model: Make, an_order: Make, a_task: Make, a_payload: Make
) -> None:
    task = a_task(payload=a_payload(path="a.py"), more=(a_payload(path="b.py"), a_payload("+y = 2", path="a.py")))
    answer = work(an_engine(fake_model(BudgetError("none"))), an_order(task))

    assert [gap.path for gap in answer.gaps] == ["a.py", "b.py"]


def test_what_was_spent_in_vain_is_counted(
    an_engine: Make, fake_model: Make, a_reply: Make, an_order: Make, a_task: Make
) -> None:
    answer = work(an_engine(fake_model(a_reply("prose"))), an_order(a_task(failures=2)))

    assert answer.metadata.usage == Usage(calls=1, input_tokens=10, output_tokens=20)
    assert answer.metadata.model_used == "opus-x"


def test_a_task_out_of_time_escalates_with_what_programs_found_before_the_worker_stops_it(
    an_engine: Make, fake_model: Make, programs: Any, an_order: Make, a_task: Make
) -> None:
    outcome = asyncio.run(run_task(an_engine(fake_model(None), programs), an_order(a_task(timeout_ms=600))))

    assert isinstance(outcome, Escalation)
    assert (outcome.reason, outcome.message) == ("timeout", "no answer within 0.6 s")
    assert outcome.partial_result is not None
    assert [finding.rule for finding in outcome.partial_result.findings] == ["S307"]


@pytest.mark.parametrize(("seconds", "allowed"), [(0.2, 0.1), (1, 0.5), (4, 3.5), (100, 95), (math.inf, math.inf)])
def test_a_part_of_the_time_is_kept_back(seconds: float, allowed: float) -> None:
    assert _less_margin(seconds) == allowed


def test_programs_that_took_all_of_the_time_still_bring_what_they_found(
    an_engine: Make, fake_model: Make, programs: Any, an_order: Make, clock: Any, hit: Candidate
) -> None:
    class Late(type(programs)):  # type: ignore[misc] # the fake comes as a fixture
        async def work(self, order: Any) -> Any:
            clock.now += 59
            return await super().work(order)

    model = fake_model(None)
    escalated = work(an_engine(model, Late(programs.found)), an_order())

    assert escalated.partial.programs == (hit,)


def test_the_reviews_deadline_is_met_with_what_programs_found(
    an_engine: Make, fake_model: Make, programs: Any, an_order: Make, hit: Candidate
) -> None:
    answer = work(an_engine(fake_model(None), programs, review_left_s=lambda: 0.03), an_order())

    assert answer.programs == (hit,)
    assert [gap.reason for gap in answer.gaps] == ["deadline"]


def test_a_bug_in_what_is_told_costs_no_program_its_findings(
    an_engine: Make, fake_model: Make, programs: Any, an_order: Make, a_task: Make, hit: Candidate
) -> None:
    def told(order: Any) -> Any:
        raise KeyError("bug")

    answer = work(an_engine(fake_model(None), programs, told=told), an_order(a_task(failures=2)))

    assert answer.programs == (hit,)


def test_a_cancelled_task_is_cancelled(an_engine: Make, fake_model: Make, an_order: Make) -> None:
    async def stopped() -> None:
        task = asyncio.create_task(an_engine(fake_model(None)).work(an_order()))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())


@pytest.fixture
def settle(clock: Any, trace: Any, journal: Any, an_order: Make) -> Callable[..., Settled]:
    """Bring one task to its end with an engine, as a review does."""

    def run(engine: Any, task: ReviewTask) -> Settled:
        dispatcher = Dispatcher(
            attempt=lambda each, _: run_task(engine, an_order(each)),
            retarget=lambda each, worker: each.model_copy(update={"worker": worker, "type": worker}),
            journal=journal,
            run_id="run",
            trace=trace,
            clock=clock,
            concurrency=2,
            deadline_s=60,
        )
        plan = Plan(goal="g", tasks=(task,), reason="r")
        return asyncio.run(dispatcher.dispatch(plan))[task.task_id]

    return run


@pytest.mark.parametrize(
    "reply",
    [
        EngineError("odd"),
        TransientError("busy"),
        RefusedError("no"),
        BudgetError("out"),
        RuntimeError("bug"),
        AccountError("key"),
        TooLongError("long"),
        CutOffError("cut"),
    ],
    ids=repr,
)
def test_a_dispatched_task_always_ends_with_what_programs_found_and_a_gap(
    reply: Exception, settle: Make, an_engine: Make, fake_model: Make, programs: Any, a_task: Make
) -> None:
    settled = settle(an_engine(fake_model(reply), programs), a_task())
    findings = [finding.rule for result in settled.results for finding in result.findings]

    assert findings == ["S307"]
    assert [gap.reason for result in settled.results for gap in result.gaps]


@pytest.mark.parametrize("error", [AccountError("the credentials (401)"), TransientError("busy")], ids=repr)
def test_what_nobody_can_help_or_was_tried_already_is_asked_once(
    error: Exception, settle: Make, an_engine: Make, fake_model: Make, a_task: Make
) -> None:
    model = fake_model(error)
    settled = settle(an_engine(model), a_task())

    assert len(model.requests) == 1
    assert [gap.message for result in settled.results for gap in result.gaps] == [str(error)]


@pytest.fixture
def two_files(a_task: Make, a_payload: Make) -> ReviewTask:
    task: ReviewTask = a_task(payload=a_payload(path="src/app.py"), more=(a_payload(path="b.py"),))
    return task


@pytest.mark.parametrize("error", [TooLongError("too long"), None], ids=["by the API", "by how the answer ended"])
def test_a_request_that_is_too_long_is_asked_in_two_halves(
    error: Exception | None, settle: Make, an_engine: Make, fake_model: Make, a_reply: Make, said: Make,
    programs: Any, two_files: ReviewTask, text_of: Make,
) -> None:  # fmt: skip
    model = fake_model(error or a_reply(stop="context"), said())
    settled = settle(an_engine(model, programs), two_files)
    shown = [[path for path in two_files.paths if f"file: {path}" in text_of(request)] for request in model.requests]

    assert shown == [["src/app.py", "b.py"], ["src/app.py"], ["b.py"]]
    assert settled.answered
    assert {finding.rule for result in settled.results for finding in result.findings} == {"S307"}


def test_a_request_that_is_too_long_and_cannot_be_parted_is_asked_once(
    settle: Make, an_engine: Make, fake_model: Make, a_task: Make
) -> None:
    model = fake_model(TooLongError("too long"))
    settled = settle(an_engine(model), a_task())

    assert len(model.requests) == 1
    assert [gap.message for result in settled.results for gap in result.gaps] == ["too long"]


def test_an_answer_that_is_cut_off_twice_is_asked_for_in_two_halves(
    settle: Make, an_engine: Make, fake_model: Make, a_reply: Make, said: Make, two_files: ReviewTask, text_of: Make
) -> None:
    cut = a_reply(stop="max_tokens")
    model = fake_model(cut, cut, said())
    settled = settle(an_engine(model), two_files)
    shown = [[path for path in two_files.paths if f"file: {path}" in text_of(request)] for request in model.requests]

    assert shown == [["src/app.py", "b.py"], ["src/app.py", "b.py"], ["src/app.py"], ["b.py"]]
    assert "cut off" in text_of(model.requests[1])
    assert settled.answered


def test_one_cut_after_another_fault_is_told_before_anything_is_parted(
    an_engine: Make, fake_model: Make, an_order: Make, two_files: ReviewTask
) -> None:
    task = two_files.model_copy(update={"failures": 1, "previous_error": "odd"})

    with pytest.raises(CutOffError):
        work(an_engine(fake_model(CutOffError("cut"))), an_order(task))


def test_what_is_told_holds_up_nobody_who_has_stopped_waiting(
    an_engine: Make, fake_model: Make, programs: Any, an_order: Make, hit: Candidate
) -> None:
    gate, ended = threading.Event(), list[bool]()

    def told(order: Any) -> Any:
        ended.append(gate.wait(HANGS_S))
        return ()

    try:
        answer = work(an_engine(fake_model(None), programs, told=told, review_left_s=lambda: 0.03), an_order())
        assert answer.programs == (hit,)
        assert not ended, "the loop has ended, and the thread has not"
    finally:
        gate.set()


def test_a_bad_answer_is_told_to_the_next_attempt(
    settle: Make, an_engine: Make, fake_model: Make, a_reply: Make, said: Make, text_of: Make, a_task: Make
) -> None:
    model = fake_model(a_reply("prose"), said())
    settled = settle(an_engine(model), a_task())

    assert settled.answered
    assert "could not be used" not in text_of(model.requests[0])
    assert "the answer is no JSON that can be read" in text_of(model.requests[1])


def test_a_foreign_error_never_tells_its_text(
    an_engine: Make, fake_model: Make, an_order: Make, fake_programs: Make
) -> None:
    outcome = asyncio.run(run_task(an_engine(fake_model(ValueError("/root/secret"))), an_order()))

    assert isinstance(outcome, Failure)
    assert "/root" not in outcome.message
