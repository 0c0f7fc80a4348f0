"""The whole chain of a call around a model with canned answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import Usage
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
from reviewbot.domain.ports import ModelReply, ModelRequest, OfferedTool, StopReason, Text, ToolAnswer, ToolCall, Turn
from reviewbot.llm.client.budget import Deadline, SpendLedger, SpendLimits
from reviewbot.llm.client.rate_limiter import TokenBucket
from reviewbot.llm.client.requests import digest, estimate_tokens
from reviewbot.llm.client.retry import RetryPolicy
from reviewbot.llm.client.stack import STOPPED, ClientConfig, build_client
from reviewbot.prices import default_models, packaged_prices
from tests.fake_model import FakeModel
from tests.make import MakeRequest

MODELS = default_models()
SPENT = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.25)

MakeConfig = Callable[..., ClientConfig]


class Silent:
    """Never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def replied(text: str = "yes", stop: StopReason = "end", usage: Usage = SPENT) -> ModelReply:
    return ModelReply(text, (), stop, usage, "claude-sonnet-5-5")


@pytest.fixture
def make_config(clock: Any, journal: Any, trace: Any) -> Callable[..., ClientConfig]:
    def make(limits: SpendLimits | None = None, **fields: Any) -> ClientConfig:
        known = {"ledger": SpendLedger(limits), "journal": journal, "recorder": trace, "models": MODELS}
        return ClientConfig(clock, Deadline(clock, 100), **{**known, "prices": packaged_prices(), **fields})

    return make


def run(awaited: Awaitable[ModelReply]) -> ModelReply:
    async def inner() -> ModelReply:
        return await awaited

    return asyncio.run(inner())


def test_an_answer_is_paid_once_and_traced_each_time(
    make_config: MakeConfig, a_request: MakeRequest, trace: Any
) -> None:
    told, config = FakeModel(replied()), make_config()
    model = build_client(told, config)
    first = run(model.ask(a_request()))
    second = run(model.ask(a_request(purpose="verifier", subject="f1")))
    assert (first.text, first.stored, first.usage) == ("yes", False, SPENT)
    assert (second.text, second.stored, second.usage) == ("yes", True, Usage())
    assert len(told.requests) == 1
    assert config.ledger.usage_by_purpose() == {"logic": SPENT}
    key = digest(a_request(), MODELS["medium"])
    known = {"tier": "medium", "model": "claude-sonnet-5-5", "request": key, "duration_ms": 0, "stop": "end"}
    assert trace.of("call") == [
        {"purpose": "logic", "subject": "logic:src/app.py#1", "usage": SPENT.model_dump(), "stored": False, **known},
        {"purpose": "verifier", "subject": "f1", "usage": Usage().model_dump(), "stored": True, **known},
    ]


def test_a_stored_answer_is_had_also_where_the_budget_is_spent(make_config: MakeConfig, a_request: MakeRequest) -> None:
    run(build_client(FakeModel(replied()), make_config()).ask(a_request()))
    broke = build_client(FakeModel(), make_config(SpendLimits(max_calls=0, max_tokens=0, max_cost_usd=0.0)))
    assert run(broke.ask(a_request())).stored
    with pytest.raises(BudgetError, match="--max-cost"):
        run(broke.ask(a_request("another question")))


def test_the_most_that_a_call_can_cost_must_fit_before_it_is_made(
    make_config: MakeConfig, a_request: MakeRequest
) -> None:
    request = a_request(max_tokens=100_000)  # a dollar's worth of words
    told = FakeModel(replied())
    with pytest.raises(BudgetError, match="--max-cost"):
        run(build_client(told, make_config(SpendLimits(max_cost_usd=0.99))).ask(request))
    assert told.requests == []
    assert run(build_client(told, make_config(SpendLimits(max_cost_usd=1.01))).ask(request)).text == "yes"


@pytest.mark.parametrize(
    "error",
    [
        AccountError("401"),
        TooLongError("413"),
        EngineError("no"),
        RefusedError("no"),
        TransientError("429", 2.0, throttled=True),
        TransientError("500"),
    ],
    ids=repr,
)
def test_a_try_without_an_answer_costs_nothing(
    make_config: MakeConfig, a_request: MakeRequest, error: EngineError
) -> None:
    config = make_config(retry=RetryPolicy(tries=1, throttled_tries=1))
    with pytest.raises(EngineError):
        run(build_client(FakeModel(error), config).ask(a_request()))
    assert config.ledger.usage_by_purpose() == {}


def test_of_a_call_that_is_answered_at_its_third_try_one_call_is_in_the_books(
    make_config: MakeConfig, a_request: MakeRequest, clock: Any
) -> None:
    told, config = (
        FakeModel(TransientError("busy"), TransientError("busy"), replied()),
        make_config(SpendLimits(max_calls=1)),
    )
    assert run(build_client(told, config).ask(a_request())).text == "yes"
    assert config.ledger.usage_by_purpose() == {"logic": SPENT}
    assert len(clock.slept) == 2


def test_a_provider_that_is_down_spends_nothing_of_a_small_budget_and_is_named_as_the_cause(
    make_config: MakeConfig, a_request: MakeRequest
) -> None:
    config = make_config(SpendLimits(max_cost_usd=0.05))
    model = build_client(FakeModel(*[TransientError("it cannot be reached")] * 99), config)

    async def ask_all() -> list[object]:
        requests = [a_request(f"question {n}", max_tokens=1_000) for n in range(30)]
        return list(await asyncio.gather(*(model.ask(each) for each in requests), return_exceptions=True))

    assert {type(error) for error in asyncio.run(ask_all())} <= {ProviderError, TransientError}
    assert config.ledger.usage_by_purpose() == {}


def test_what_was_reported_of_a_call_that_broke_off_is_in_the_books(
    make_config: MakeConfig, a_request: MakeRequest
) -> None:
    class Breaking:
        async def ask(self, request: ModelRequest) -> ModelReply:
            assert request.on_usage is not None
            request.on_usage(SPENT)
            raise EngineError("it broke off")

    config = make_config()
    with pytest.raises(EngineError):
        run(build_client(Breaking(), config).ask(a_request()))
    assert config.ledger.usage_by_purpose() == {"logic": SPENT}


def test_a_try_that_the_budget_has_no_room_for_is_not_made(make_config: MakeConfig, a_request: MakeRequest) -> None:
    told, config = FakeModel(replied(), replied()), make_config(SpendLimits(max_calls=2))
    model = build_client(told, config)
    for question in ("one", "two"):
        run(model.ask(a_request(question)))
    with pytest.raises(BudgetError, match="budget of 2 calls"):
        run(model.ask(a_request("three")))
    assert len(told.requests) == 2
    assert config.ledger.usage_by_purpose()["logic"].calls == 2


def test_what_the_budget_has_no_room_for_is_refused_before_it_waits_for_its_turn(
    make_config: MakeConfig, a_request: MakeRequest, clock: Any
) -> None:
    told = FakeModel(replied())
    model = build_client(
        told, make_config(SpendLimits(max_calls=1), rate_limiter=TokenBucket(clock, requests_per_minute=1))
    )
    run(model.ask(a_request("first")))
    with pytest.raises(BudgetError):
        run(model.ask(a_request("second")))
    assert (len(told.requests), clock.slept) == (1, [])


def test_a_request_that_is_cancelled_is_in_the_trace(
    make_config: MakeConfig, a_request: MakeRequest, trace: Any
) -> None:
    config, silent = make_config(), Silent()

    async def stop() -> None:
        task = asyncio.create_task(build_client(silent, config).ask(a_request()))
        await silent.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    (event,) = trace.of("call_failed")
    assert (event["error"], event["message"], event["purpose"]) == ("CancelledError", STOPPED, "logic")
    assert config.ledger.usage_by_purpose() == {}


def test_an_answer_that_the_deadline_cut_off_before_it_began_costs_nothing(
    make_config: MakeConfig, a_request: MakeRequest, clock: Any
) -> None:
    config = replace(make_config(), deadline=Deadline(clock, 0.02))
    with pytest.raises(DeadlineError):
        run(build_client(Silent(), config).ask(a_request()))
    assert config.ledger.usage_by_purpose() == {}


@pytest.mark.parametrize("error", [EngineError("no"), RefusedError("no"), BudgetError("no")])
def test_a_question_without_an_answer_is_traced_with_our_own_words(
    make_config: MakeConfig, a_request: MakeRequest, trace: Any, error: EngineError
) -> None:
    config = make_config()
    with pytest.raises(type(error)):
        run(build_client(FakeModel(error), config).ask(a_request()))
    (event,) = trace.of("call_failed")
    assert (event["error"], event["message"], event["purpose"]) == (type(error).__name__, "no", "logic")
    assert config.ledger.usage_by_purpose() == {}


def test_an_answer_of_one_server_is_none_of_another(make_config: MakeConfig, a_request: MakeRequest) -> None:
    told = FakeModel(replied("one"), replied("two"))
    texts = [
        run(build_client(told, make_config(origin=origin)).ask(a_request())).text
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


def test_a_requests_hash_is_of_all_that_is_sent_and_of_nothing_else(a_request: MakeRequest) -> None:
    plain = digest(a_request(), "m")
    different = [digest(a_request(**change), "m") for change in CHANGES]
    assert len({plain, *different, digest(a_request(), "n"), digest(a_request(), "m", "elsewhere")}) == len(CHANGES) + 3
    same = a_request(purpose="critic", subject="else", tier="large", system=(Text("You judge code.", cached=True),))
    assert digest(same, "m") == plain


def test_the_estimate_counts_everything_that_is_sent(a_request: MakeRequest) -> None:
    small = estimate_tokens(a_request())
    assert 0 < small < 20
    for change in CHANGES[3:-1]:
        assert estimate_tokens(a_request(**change)) > 0
    assert estimate_tokens(a_request("x" * 4_000)) == pytest.approx(1_000 + small, abs=10)
    assert estimate_tokens(a_request(tools=(TOOL,), schema={"type": "object"})) > small
