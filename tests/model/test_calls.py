"""The whole discipline of calls around a model that answers as told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.budget import Deadline, Ledger, Limits
from reviewbot.contracts import Usage
from reviewbot.errors import (
    AccountError,
    BudgetError,
    DeadlineError,
    EngineError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.model.bucket import Bucket
from reviewbot.model.calls import STOPPED, Discipline, disciplined
from reviewbot.model.patience import Patience
from reviewbot.model.requests import digest, estimated_tokens
from reviewbot.ports import ModelReply, ModelRequest, OfferedTool, StopReason, Text, ToolAnswer, ToolCall, Turn
from reviewbot.prices import PriceTable, default_models, packaged_prices

MODELS = default_models()
SPENT = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.25)

Request = Callable[..., ModelRequest]


class Silent:
    """Never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


class Told:
    """Answers, or raises, what is next; keeps what it was asked."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, ModelReply)
        return outcome


def replied(text: str = "yes", stop: StopReason = "end", usage: Usage = SPENT) -> ModelReply:
    return ModelReply(text, (), stop, usage, "claude-sonnet-5-5")


@pytest.fixture
def discipline(clock: Any, journal: Any, trace: Any) -> Callable[..., Discipline]:
    def make(limits: Limits | None = None, **fields: Any) -> Discipline:
        known = {"ledger": Ledger(limits), "journal": journal, "recorder": trace, "models": MODELS}
        return Discipline(clock, Deadline(clock, 100), **{**known, "prices": packaged_prices(), **fields})

    return make


def run(awaited: Awaitable[ModelReply]) -> ModelReply:
    async def inner() -> ModelReply:
        return await awaited

    return asyncio.run(inner())


def test_an_answer_is_paid_once_and_traced_each_time(
    discipline: Callable[..., Discipline], a_request: Request, trace: Any
) -> None:
    told, by = Told(replied()), discipline()
    model = disciplined(told, by)
    first = run(model.ask(a_request()))
    second = run(model.ask(a_request(purpose="verifier", subject="f1")))
    assert (first.text, first.stored, first.usage) == ("yes", False, SPENT)
    assert (second.text, second.stored, second.usage) == ("yes", True, Usage())
    assert len(told.asked) == 1
    assert by.ledger.spent() == {"logic": SPENT}
    key = digest(a_request(), MODELS["sonnet"])
    known = {"tier": "sonnet", "model": "claude-sonnet-5-5", "request": key, "duration_ms": 0, "stop": "end"}
    assert trace.of("call") == [
        {"purpose": "logic", "subject": "logic:src/app.py#1", "usage": SPENT.model_dump(), "stored": False, **known},
        {"purpose": "verifier", "subject": "f1", "usage": Usage().model_dump(), "stored": True, **known},
    ]


def test_a_stored_answer_is_had_also_where_the_budget_is_spent(
    discipline: Callable[..., Discipline], a_request: Request
) -> None:
    run(disciplined(Told(replied()), discipline()).ask(a_request()))
    broke = disciplined(Told(), discipline(Limits(max_calls=0, max_tokens=0, max_cost_usd=0.0)))
    assert run(broke.ask(a_request())).stored
    with pytest.raises(BudgetError, match="--max-cost"):
        run(broke.ask(a_request("another question")))


def test_the_most_that_a_call_can_cost_must_fit_before_it_is_made(
    discipline: Callable[..., Discipline], a_request: Request
) -> None:
    request = a_request(max_tokens=100_000)  # a dollar's worth of words
    told = Told(replied())
    with pytest.raises(BudgetError, match="--max-cost"):
        run(disciplined(told, discipline(Limits(max_cost_usd=0.99))).ask(request))
    assert told.asked == []
    assert run(disciplined(told, discipline(Limits(max_cost_usd=1.01))).ask(request)).text == "yes"


def sent(request: ModelRequest) -> Usage:
    """What a try without an answer is taken to have used: it was read, at the price of the middle tier."""
    usage = Usage(calls=1, input_tokens=estimated_tokens(request))
    cost = packaged_prices().cost(MODELS["sonnet"], usage)
    assert cost
    return usage.model_copy(update={"cost_usd": cost})


def test_each_try_of_a_call_is_in_the_books(
    discipline: Callable[..., Discipline], a_request: Request, clock: Any
) -> None:
    told, by = Told(TransientError("busy"), TransientError("busy"), replied()), discipline(Limits(max_calls=3))
    assert run(disciplined(told, by).ask(a_request())).text == "yes"
    assert by.ledger.spent() == {"logic": sent(a_request()) + sent(a_request()) + SPENT}
    assert len(clock.slept) == 2


@pytest.mark.parametrize("error", [AccountError("401"), TooLongError("413"), TransientError("429", 2.0)])
def test_a_try_that_was_turned_away_is_a_call_that_read_nothing(
    discipline: Callable[..., Discipline], a_request: Request, error: EngineError
) -> None:
    by = discipline(patience=Patience(tries=1))
    with pytest.raises(type(error)):
        run(disciplined(Told(error), by).ask(a_request()))
    assert by.ledger.spent() == {"logic": Usage(calls=1)}


def test_a_try_that_the_budget_has_no_room_for_is_not_made(
    discipline: Callable[..., Discipline], a_request: Request
) -> None:
    told, by = Told(*[TransientError("broke off")] * 12), discipline(Limits(max_calls=2))
    model = disciplined(told, by)
    for _ in range(3):
        with pytest.raises(BudgetError, match="budget of 2 calls"):
            run(model.ask(a_request()))
    assert len(told.asked) == 2
    assert by.ledger.spent()["logic"].calls == 2


def test_a_failed_try_of_unknown_price_is_an_unpriced_call(
    discipline: Callable[..., Discipline], a_request: Request
) -> None:
    by = discipline(prices=PriceTable())
    with pytest.raises(EngineError):
        run(disciplined(Told(EngineError("no")), by).ask(a_request()))
    spent = by.ledger.spent()["logic"]
    assert (spent.calls, spent.unpriced_calls, spent.cost_usd) == (1, 1, 0.0)


def test_what_the_budget_has_no_room_for_is_refused_before_it_waits_for_its_turn(
    discipline: Callable[..., Discipline], a_request: Request, clock: Any
) -> None:
    told = Told(replied())
    model = disciplined(told, discipline(Limits(max_calls=1), bucket=Bucket(clock, requests_per_minute=1)))
    run(model.ask(a_request("first")))
    with pytest.raises(BudgetError):
        run(model.ask(a_request("second")))
    assert (len(told.asked), clock.slept) == (1, [])


def test_a_question_that_nobody_waits_for_any_more_is_in_the_books_and_in_the_trace(
    discipline: Callable[..., Discipline], a_request: Request, trace: Any
) -> None:
    by, silent = discipline(), Silent()

    async def stop() -> None:
        task = asyncio.create_task(disciplined(silent, by).ask(a_request()))
        await silent.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    (event,) = trace.of("call_failed")
    assert (event["error"], event["message"], event["purpose"]) == ("CancelledError", STOPPED, "logic")
    assert by.ledger.spent() == {"logic": sent(a_request())}


def test_an_answer_that_the_deadline_cut_off_is_in_the_books(
    discipline: Callable[..., Discipline], a_request: Request, clock: Any
) -> None:
    by = replace(discipline(), deadline=Deadline(clock, 0.02))
    with pytest.raises(DeadlineError):
        run(disciplined(Silent(), by).ask(a_request()))
    assert by.ledger.spent() == {"logic": sent(a_request())}


@pytest.mark.parametrize("error", [EngineError("no"), RefusedError("no"), BudgetError("no")])
def test_a_question_without_an_answer_is_traced_with_our_own_words(
    discipline: Callable[..., Discipline], a_request: Request, trace: Any, error: EngineError
) -> None:
    by = discipline()
    with pytest.raises(type(error)):
        run(disciplined(Told(error), by).ask(a_request()))
    (event,) = trace.of("call_failed")
    assert (event["error"], event["message"], event["purpose"]) == (type(error).__name__, "no", "logic")
    assert by.ledger.spent() == {"logic": sent(a_request())}


def test_an_answer_of_one_server_is_none_of_another(discipline: Callable[..., Discipline], a_request: Request) -> None:
    told = Told(replied("one"), replied("two"))
    texts = [
        run(disciplined(told, discipline(origin=origin)).ask(a_request())).text
        for origin in ("https://a.invalid", "https://b.invalid", "https://a.invalid")
    ]
    assert texts == ["one", "two", "one"]


TOOL = OfferedTool("grep", "Searches.", {"type": "object"})
CHANGES: list[dict[str, Any]] = [
    {"system": (Text("You judge tests."),)},
    {"turns": (Turn("user", (Text("is this wrong?"),)),)},
    {"turns": (Turn("assistant", (Text("is this right?"),)),)},
    {"turns": (Turn("user", (ToolCall("t", "grep", {"a": 1}),)),)},
    {"turns": (Turn("user", (ToolCall("t", "grep", {"a": 2}),)),)},
    {"turns": (Turn("user", (ToolAnswer("t", "text"),)),)},
    {"turns": (Turn("user", (ToolAnswer("t", "text", failed=True),)),)},
    {"tools": (TOOL,)},
    {"schema": {"type": "object"}},
    {"max_tokens": 1_001},
]


def test_a_requests_hash_is_of_all_that_is_sent_and_of_nothing_else(a_request: Request) -> None:
    plain = digest(a_request(), "m")
    different = [digest(a_request(**change), "m") for change in CHANGES]
    assert len({plain, *different, digest(a_request(), "n"), digest(a_request(), "m", "elsewhere")}) == len(CHANGES) + 3
    same = a_request(purpose="critic", subject="else", tier="opus", system=(Text("You judge code.", cached=True),))
    assert digest(same, "m") == plain


def test_the_estimate_counts_everything_that_is_sent(a_request: Request) -> None:
    small = estimated_tokens(a_request())
    assert 0 < small < 20
    for change in CHANGES[3:-1]:
        assert estimated_tokens(a_request(**change)) > 0
    assert estimated_tokens(a_request("x" * 4_000)) == pytest.approx(1_000 + small, abs=10)
    assert estimated_tokens(a_request(tools=(TOOL,), schema={"type": "object"})) > small
