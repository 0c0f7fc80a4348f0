"""When calls are refused for a provider that is down, and how one call finds out that it is there again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import AccountError, CallRejectedError, EngineError, ProviderError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.llm.client.budget import Deadline
from reviewbot.llm.client.rate_limiter import TokenBucket
from reviewbot.llm.client.retry import RetryingModel, RetryPolicy
from tests.make import MakeRequest
from tests.still_clock import StillClock

REPLY = ModelReply("yes", (), "end", Usage(calls=1), "m")
DOWN = TransientError("it cannot be reached")
POLICY = RetryPolicy(tries=3, first_wait_s=0.5, cool_down_s=10)


class Outage:
    """Answers until `begins`, and again from `ends` on, by the clock; says when each call was made."""

    def __init__(self, clock: Any, begins: float, ends: float, error: EngineError = DOWN) -> None:
        self.clock, self.begins, self.ends, self.error = clock, begins, ends, error
        self.called: list[float] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.called.append(self.clock.monotonic())
        await asyncio.sleep(0)
        if self.begins <= self.clock.monotonic() < self.ends:
            raise self.error
        return REPLY


def ask(model: RetryingModel, *requests: ModelRequest) -> list[BaseException | ModelReply]:
    async def run() -> list[BaseException | ModelReply]:
        return await asyncio.gather(*(model.ask(request) for request in requests), return_exceptions=True)

    return asyncio.run(run())


def kinds(ended: list[BaseException | ModelReply]) -> set[type]:
    return {type(each) for each in ended}


def test_after_a_cool_down_one_call_is_made_and_its_answer_lets_all_through_again(
    clock: Any, a_request: MakeRequest
) -> None:
    outage = Outage(clock, begins=0, ends=9)
    model = RetryingModel(outage, clock, Deadline(clock, 600), POLICY)

    assert kinds(ask(model, *(a_request(f"{n}") for n in range(9)))) == {ProviderError}
    down = len(outage.called)
    assert kinds(ask(model, a_request("too early"))) == {ProviderError}
    assert len(outage.called) == down
    clock.now += POLICY.cool_down_s

    assert ask(model, *(a_request(f"{n}") for n in range(9))) == [REPLY] * 9


def test_the_failure_of_that_call_refuses_all_for_twice_as_long(clock: Any, a_request: MakeRequest) -> None:
    outage = Outage(clock, begins=0, ends=9_999)
    model = RetryingModel(outage, clock, Deadline(clock, 9_999), POLICY)
    ask(model, a_request())
    down = len(outage.called)

    for cool_down in (10, 20, 40):
        clock.now += cool_down - 1
        assert kinds(ask(model, a_request("too early"))) == {ProviderError}
        clock.now += 1
        before = len(outage.called)
        assert kinds(ask(model, *(a_request(f"{n}") for n in range(9)))) == {ProviderError}
        assert len(outage.called) - before == 1
    assert [str(each) for each in ask(model, a_request())] == ["it cannot be reached (6 tries in a row)"]
    assert down == POLICY.tries


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [DOWN, CallRejectedError("refused (400)"), TransientError("full (529)", 1.0, throttled=True)], ids=repr
)
def test_a_provider_that_is_down_for_a_whole_review_costs_few_calls(
    clock: Any, a_request: MakeRequest, error: EngineError
) -> None:
    """A question each second of ten minutes."""
    outage = Outage(clock, begins=0, ends=9_999, error=error)
    model = RetryingModel(outage, clock, Deadline(clock, 600), RetryPolicy())

    while clock.now < 600:
        ask(model, a_request(f"{clock.now}"))
        clock.now += 1

    assert len(outage.called) <= RetryPolicy().max_tries(error) + 5


def test_where_the_provider_had_answered_all_wait_for_the_one_call(a_request: MakeRequest) -> None:
    clock = StillClock()
    outage = Outage(clock, begins=100, ends=108)
    model = RetryingModel(outage, clock, Deadline(clock, 600), POLICY)
    assert ask(model, a_request("first")) == [REPLY]
    clock.now = 100.0

    ended = ask(model, *(a_request(f"{n}") for n in range(40)))

    assert ended == [REPLY] * 40
    assert sum(100 <= at < 108 for at in outage.called) == 16 + 2  # all that were in flight, then one at a time


def test_where_that_call_fails_as_well_nobody_waits_any_longer(a_request: MakeRequest) -> None:
    clock = StillClock()
    outage = Outage(clock, begins=100, ends=9_999)
    model = RetryingModel(outage, clock, Deadline(clock, 9_999), POLICY)
    ask(model, a_request("first"))
    clock.now = 100.0

    ended = ask(model, *(a_request(f"{n}") for n in range(40)))

    assert kinds(ended) == {ProviderError}
    assert len(outage.called) == 1 + 16 + 2 + 1
    assert clock.now < 100 + 2 + POLICY.cool_down_s + 2


def test_a_cool_down_that_would_outlast_the_deadline_is_not_waited_for(a_request: MakeRequest) -> None:
    clock = StillClock()
    outage = Outage(clock, begins=100, ends=9_999)
    model = RetryingModel(outage, clock, Deadline(clock, 109), POLICY)
    ask(model, a_request("first"))
    clock.now = 100.0

    ended = ask(model, *(a_request(f"{n}") for n in range(40)))

    assert kinds(ended) == {ProviderError}
    assert clock.now < 103


def test_what_waits_for_the_rate_takes_a_new_turn_after_the_cool_down(a_request: MakeRequest) -> None:
    clock = StillClock()
    outage = Outage(clock, begins=100, ends=108)
    model = RetryingModel(outage, clock, Deadline(clock, 600), POLICY, TokenBucket(clock, requests_per_minute=120))
    ask(model, a_request("first"))
    clock.now = 100.0

    assert ask(model, *(a_request(f"{n}") for n in range(12))) == [REPLY] * 12
    assert len(outage.called) < 12 + 20


def test_a_refused_account_is_refused_for_the_rest_of_the_run(clock: Any, a_request: MakeRequest) -> None:
    outage = Outage(clock, begins=0, ends=5, error=AccountError("the credentials (401)"))
    model = RetryingModel(outage, clock, Deadline(clock, 600), POLICY)
    ask(model, a_request())
    clock.now = 500.0

    assert [str(each) for each in ask(model, a_request())] == ["the credentials (401)"]
    assert len(outage.called) == 1
