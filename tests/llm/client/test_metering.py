"""What a call is counted as, whatever the provider says of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import BudgetError
from reviewbot.domain.ports import ModelReply, ModelRequest, ToolCall
from reviewbot.llm.client.budget import SpendLedger, SpendLimits
from reviewbot.llm.client.metering import Meter, MeteredModel
from reviewbot.llm.client.requests import estimate_tokens
from reviewbot.prices import PriceTable, default_models, packaged_prices
from tests.make import MakeRequest

MODELS = default_models()
PROMPT = "def total(items):\n    return sum(item.price for item in items)\n" * 400
ANSWER = "The discount is applied before the tax, and the contract says after it. " * 20
WROTE = len(ANSWER) // 4


class Reporting:
    """Answers with the same words and a given usage."""

    def __init__(self, usage: Usage, text: str = ANSWER, calls: tuple[ToolCall, ...] = ()) -> None:
        self.usage = usage
        self.text = text
        self.calls = calls

    async def ask(self, request: ModelRequest) -> ModelReply:
        return ModelReply(self.text, self.calls, "end", self.usage, MODELS["medium"])


def metered(
    inner: Any, limits: SpendLimits | None = None, prices: PriceTable | None = None
) -> tuple[MeteredModel, SpendLedger]:
    ledger = SpendLedger(limits)
    return MeteredModel(inner, Meter(ledger, packaged_prices() if prices is None else prices, MODELS)), ledger


def ask(usage: Usage, request: ModelRequest, prices: PriceTable | None = None, **fields: Any) -> Usage:
    """The usage that comes back with an answer, which is the one in the ledger."""
    model, ledger = metered(Reporting(usage, **fields), prices=prices)
    reply = asyncio.run(model.ask(request))
    assert ledger.usage_by_purpose() == {request.purpose: reply.usage}
    return reply.usage


@pytest.mark.parametrize(
    "fields",
    [
        {"input_tokens": 6_000, "output_tokens": 300},
        {"input_tokens": 12, "cached_tokens": 6_000, "output_tokens": 300},
        {"input_tokens": 12, "cache_write_tokens": 8_000, "output_tokens": 300},
        {"input_tokens": 6_000, "output_tokens": 900},
    ],
    ids=["plain", "from the cache", "into the cache", "with thinking"],
)
def test_counts_that_can_be_right_are_taken_as_they_are(fields: dict[str, int], a_request: MakeRequest) -> None:
    usage = Usage(calls=1, cost_usd=0.5, **fields)
    assert ask(usage, a_request(PROMPT)) == usage


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"output_tokens": 300},
        {"input_tokens": 12, "output_tokens": 300},
        {"input_tokens": 10**12, "output_tokens": 300},
        {"input_tokens": 12, "cached_tokens": 10**15, "output_tokens": 300},
    ],
    ids=["nothing", "no input", "only what was not cached", "too much", "absurd cache"],
)
def test_input_that_cannot_be_right_is_estimated_from_the_request(
    fields: dict[str, int], a_request: MakeRequest
) -> None:
    request = a_request(PROMPT)
    used = ask(Usage(calls=1, **fields), request)
    assert (used.input_tokens, used.cached_tokens, used.cache_write_tokens) == (estimate_tokens(request), 0, 0)
    assert used.estimated_calls == 1
    assert used.cost_usd == packaged_prices().cost(MODELS["medium"], used)


@pytest.mark.parametrize("said", [0, 3, 10**9])
def test_output_that_cannot_be_right_is_estimated_from_the_answer(said: int, a_request: MakeRequest) -> None:
    used = ask(Usage(calls=1, input_tokens=6_000, output_tokens=said), a_request(PROMPT))
    assert (used.input_tokens, used.output_tokens, used.estimated_calls) == (6_000, WROTE, 1)


def test_a_call_of_a_tool_is_an_answer_with_a_length(a_request: MakeRequest) -> None:
    call = ToolCall("t1", "search", {"pattern": "x" * 400})
    used = ask(Usage(calls=1, input_tokens=6_000), a_request(PROMPT), text="", calls=(call,))
    assert used.output_tokens == pytest.approx(100, abs=10)


def test_an_empty_answer_may_have_written_nothing(a_request: MakeRequest) -> None:
    usage = Usage(calls=1, input_tokens=6_000)
    assert ask(usage, a_request(PROMPT), text="") == usage


def test_an_estimate_at_an_unknown_price_is_an_unpriced_call(a_request: MakeRequest) -> None:
    used = ask(Usage(calls=1), a_request(PROMPT), prices=PriceTable())
    assert (used.estimated_calls, used.unpriced_calls, used.cost_usd) == (1, 1, 0.0)


def test_a_budget_in_dollars_binds_where_answers_report_no_usage(a_request: MakeRequest) -> None:
    model, ledger = metered(Reporting(Usage(calls=1)), SpendLimits(max_cost_usd=0.2))

    async def run() -> int:
        for number in range(1_000):
            try:
                await model.ask(a_request(f"{number} {PROMPT}"))
            except BudgetError:
                return number
        raise AssertionError("nothing stopped it")

    assert 0 < asyncio.run(run()) < 20
    assert 0.1 < ledger.usage_by_purpose()["logic"].cost_usd <= 0.2


def test_what_is_reported_of_a_call_that_is_stopped_is_in_the_books_and_checked(a_request: MakeRequest) -> None:
    class Stopped:
        async def ask(self, request: ModelRequest) -> ModelReply:
            assert request.on_usage is not None
            request.on_usage(Usage(calls=1, input_tokens=10**12, output_tokens=1))
            raise asyncio.CancelledError

    model, ledger = metered(Stopped())
    request = a_request(PROMPT)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(model.ask(request))
    assert ledger.usage_by_purpose()["logic"].input_tokens == estimate_tokens(request)


def test_what_a_provider_reports_reaches_the_caller_too(a_request: MakeRequest) -> None:
    class Streaming(Reporting):
        async def ask(self, request: ModelRequest) -> ModelReply:
            assert request.on_usage is not None
            request.on_usage(self.usage)
            return await super().ask(request)

    seen: list[Usage] = []
    used = Usage(calls=1, input_tokens=5, output_tokens=WROTE)
    model, _ = metered(Streaming(used))

    asyncio.run(model.ask(a_request(on_usage=seen.append)))

    assert seen == [used]
