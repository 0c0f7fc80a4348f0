"""Trying again: when, how long after, how many at once, and never past the deadline."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import (
    AccountError,
    BudgetError,
    CallRejectedError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TransientError,
)
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.llm.client.budget import Deadline
from reviewbot.llm.client.rate_limiter import TokenBucket
from reviewbot.llm.client.retry import RetryingModel, RetryPolicy
from tests.make import MakeRequest
from tests.still_clock import StillClock

REPLY = ModelReply("yes", (), "end", Usage(calls=1), "m")


class Flaky:
    """Fails as told, then answers; says how many calls were under way at once."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tries = 0
        self.open = 0
        self.most_open = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.tries += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        try:
            await asyncio.sleep(0)
            if self.errors:
                raise self.errors.pop(0)
            return REPLY
        finally:
            self.open -= 1


class Silent:
    """Never answers."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        await asyncio.Event().wait()
        raise AssertionError


def ask(model: RetryingModel, *requests: ModelRequest) -> list[ModelReply]:
    async def run() -> list[ModelReply]:
        return list(await asyncio.gather(*(model.ask(request) for request in requests)))

    return asyncio.run(run())


def test_a_passing_failure_is_met_with_growing_waits(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(*[TransientError("busy")] * 3)
    policy = RetryPolicy(first_wait_s=1)
    assert ask(RetryingModel(flaky, clock, Deadline(clock, 100), policy), a_request()) == [REPLY]
    assert flaky.tries == 4
    for wait, least in zip(clock.slept, (1, 2, 4), strict=True):
        assert least <= wait <= least + 0.5


def test_after_its_tries_the_failure_is_told_as_it_is(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(*[TransientError("busy")] * 9)
    with pytest.raises(ProviderError, match=r"busy \(3 tries in a row\)"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 1_000), RetryPolicy(tries=3)), a_request())
    assert flaky.tries == 3


def test_one_request_that_fails_while_others_are_answered_ends_with_its_own_failure(
    clock: Any, a_request: MakeRequest
) -> None:
    class Poisoned:
        async def ask(self, request: ModelRequest) -> ModelReply:
            if request.purpose == "poisoned":
                await others.ask(a_request())
                raise TransientError("it broke")
            return REPLY

    model = RetryingModel(Poisoned(), clock, Deadline(clock, 1_000))
    others = model
    with pytest.raises(TransientError, match="it broke"):
        ask(model, a_request(purpose="poisoned"))
    assert ask(model, a_request()) == [REPLY]


@pytest.mark.parametrize("error", [EngineError("no"), RefusedError("no"), DeadlineError("no"), TimeoutError("no")])
def test_what_another_try_would_not_change_is_not_tried_again(
    clock: Any, a_request: MakeRequest, error: Exception
) -> None:
    flaky = Flaky(error)
    with pytest.raises(type(error), match="no"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 100)), a_request())
    assert (flaky.tries, clock.slept) == (1, [])


def test_the_far_ends_wish_is_kept_where_it_is_longer_than_ours(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(TransientError("busy", 20.0, throttled=True), TransientError("busy", 0.0, throttled=True))
    ask(RetryingModel(flaky, clock, Deadline(clock, 100), RetryPolicy(first_wait_s=1)), a_request())
    assert clock.slept[0] == 20.0
    assert clock.slept[1] >= 2


@pytest.mark.parametrize(("throttled", "tries"), [(True, 8), (False, 4)])
def test_a_throttled_request_has_more_tries_whether_or_not_a_wait_was_asked_for(
    clock: Any, a_request: MakeRequest, tries: int, *, throttled: bool
) -> None:
    flaky = Flaky(*(TransientError("busy", wait, throttled=throttled) for wait in (None, 1.0) * 8))
    with pytest.raises(ProviderError, match=f"{tries} tries in a row"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 1_000)), a_request())
    assert flaky.tries == tries


def test_a_wish_to_wait_for_an_hour_does_not_outlive_the_deadline(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(TransientError("busy", 3_600.0, throttled=True))
    with pytest.raises(ProviderError, match="busy; it can be asked again in 3600 s, and the review has 600 s left"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 600)), a_request())
    assert (flaky.tries, clock.slept) == (1, [])


def test_a_deadline_that_is_over_lets_nobody_ask(clock: Any, a_request: MakeRequest) -> None:
    deadline = Deadline(clock, 10)
    clock.now = 10.0
    flaky = Flaky()
    with pytest.raises(DeadlineError, match="no time"):
        ask(RetryingModel(flaky, clock, deadline), a_request())
    assert flaky.tries == 0


def test_an_answer_that_does_not_come_is_not_waited_for_past_the_deadline(clock: Any, a_request: MakeRequest) -> None:
    with pytest.raises(DeadlineError, match="before a model's answer"):
        ask(RetryingModel(Silent(), clock, Deadline(clock, 0.02)), a_request())


@given(st.integers(1, 5), st.integers(1, 12))
@settings(max_examples=25)
def test_no_more_calls_are_under_way_than_allowed(a_request: MakeRequest, allowed: int, wanted: int) -> None:
    clock = StillClock()
    flaky = Flaky()
    model = RetryingModel(flaky, clock, Deadline(clock, 100), RetryPolicy(concurrency=allowed))
    assert ask(model, *[a_request()] * wanted) == [REPLY] * wanted
    assert flaky.most_open == min(allowed, wanted)


def test_one_who_is_turned_away_stops_everybody(a_request: MakeRequest) -> None:
    class Watched(StillClock):
        closed: float = 0.0

        async def sleep(self, seconds: float) -> None:
            self.closed = self.closed or bucket.closed_s()
            await super().sleep(seconds)

    clock = Watched()
    bucket = TokenBucket(clock)
    ask(
        RetryingModel(
            Flaky(TransientError("slow down", 30.0, throttled=True)), clock, Deadline(clock, 100), rate_limiter=bucket
        ),
        a_request(),
    )
    assert clock.closed == 30.0


def test_while_a_bucket_is_closed_nothing_goes_out(clock: Any, a_request: MakeRequest) -> None:
    bucket = TokenBucket(clock)
    bucket.close(30.0)
    bucket.close(5.0)
    assert ask(RetryingModel(Flaky(), clock, Deadline(clock, 100), rate_limiter=bucket), a_request()) == [REPLY]
    assert clock.slept == [30.0]


def test_a_wait_for_room_that_would_outlast_the_deadline_is_not_begun(clock: Any, a_request: MakeRequest) -> None:
    bucket = TokenBucket(clock, requests_per_minute=1)
    model = RetryingModel(Flaky(), clock, Deadline(clock, 50), rate_limiter=bucket)
    ask(model, a_request())
    with pytest.raises(DeadlineError, match="has 50 s left"):
        ask(model, a_request())
    assert clock.slept == []


class Dead:
    """Fails every call in one way, at once or after all that were sent together; counts them."""

    def __init__(self, error: EngineError) -> None:
        self.error = error
        self.calls = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        await asyncio.sleep(0)
        raise self.error


def errors_of(model: RetryingModel, *requests: ModelRequest) -> list[BaseException | ModelReply]:
    async def run() -> list[BaseException | ModelReply]:
        return await asyncio.gather(*(model.ask(request) for request in requests), return_exceptions=True)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (TransientError("it cannot be reached"), 16 + 3),
        (TransientError("it is full", 1.0, throttled=True), 16 + 7),
        (CallRejectedError("refused (400)"), 16 + 3),
        (AccountError("the credentials (401)"), 16),
    ],
    ids=repr,
)
def test_a_provider_that_is_down_is_left_after_one_volley_and_a_few_single_calls(
    clock: Any, a_request: MakeRequest, error: EngineError, calls: int
) -> None:
    dead = Dead(error)
    model = RetryingModel(dead, clock, Deadline(clock, 1_000), RetryPolicy(concurrency=16))
    ended = errors_of(model, *(a_request(f"question {n}") for n in range(60)))
    assert dead.calls == calls
    assert {type(each) for each in ended[20:]} == {ProviderError}
    with pytest.raises(ProviderError, match=str(error).partition(" (")[0]):
        ask(model, a_request("one more"))
    assert dead.calls == calls


def test_an_account_that_may_not_use_one_model_uses_the_others(clock: Any, a_request: MakeRequest) -> None:
    class Partial:
        async def ask(self, request: ModelRequest) -> ModelReply:
            if request.tier == "large":
                raise AccountError("no such model", "big")
            return REPLY

    model = RetryingModel(Partial(), clock, Deadline(clock, 100))
    first, second = errors_of(model, a_request(tier="large")), errors_of(model, a_request(tier="large"))
    assert [str(*first), str(*second)] == ["no such model"] * 2
    assert ask(model, a_request(tier="small")) == [REPLY]


def test_after_an_outage_of_some_seconds_every_request_is_answered(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(*[TransientError("it cannot be reached")] * 17)
    model = RetryingModel(flaky, clock, Deadline(clock, 1_000), RetryPolicy(concurrency=16))
    assert ask(model, *(a_request(f"question {n}") for n in range(40))) == [REPLY] * 40
    assert flaky.tries == 40 + 17


def test_a_budget_that_refuses_says_nothing_of_the_provider(clock: Any, a_request: MakeRequest) -> None:
    flaky = Flaky(*[BudgetError("spent")] * 6)
    model = RetryingModel(flaky, clock, Deadline(clock, 100))
    ended = errors_of(model, *(a_request(f"question {n}") for n in range(7)))
    assert [type(each) for each in ended] == [BudgetError] * 6 + [ModelReply]


def test_a_rate_limit_halves_the_calls_in_flight_and_answers_raise_them_again(
    clock: Any, a_request: MakeRequest
) -> None:
    """A provider that takes five calls at once: more are refused with a 429."""

    class Narrow:
        def __init__(self) -> None:
            self.open = self.most_open = self.refused = 0

        async def ask(self, request: ModelRequest) -> ModelReply:
            if self.open == 5:
                self.refused += 1
                raise TransientError("too many (429)", 1.0, throttled=True)
            self.open += 1
            self.most_open = max(self.open, self.most_open)
            for _ in range(3):
                await asyncio.sleep(0)
            self.open -= 1
            return REPLY

    narrow = Narrow()
    model = RetryingModel(narrow, clock, Deadline(clock, 10_000), RetryPolicy(concurrency=16))
    assert ask(model, *(a_request(f"question {n}") for n in range(200))) == [REPLY] * 200
    assert narrow.most_open == 5
    assert narrow.refused < 60, "the limit is found, and tried again now and then"


def test_requests_beyond_the_rate_wait_for_their_turn(clock: Any, a_request: MakeRequest) -> None:
    model = RetryingModel(Flaky(), clock, Deadline(clock, 100), rate_limiter=TokenBucket(clock, requests_per_minute=60))
    assert [ask(model, a_request(f"question {n}")) for n in range(4)] == [[REPLY]] * 4
    assert clock.slept == [1.0, 1.0]


def test_what_waits_for_the_rate_is_not_sent_to_a_provider_that_refused_the_account(
    clock: Any, a_request: MakeRequest
) -> None:
    dead = Dead(AccountError("the credentials (401)"))
    model = RetryingModel(dead, clock, Deadline(clock, 100), rate_limiter=TokenBucket(clock, requests_per_minute=60))
    ended = errors_of(model, *(a_request(f"question {n}") for n in range(6)))
    assert [str(error) for error in ended] == ["the credentials (401)"] * 6
    assert dead.calls == 2, "the burst that the rate allows"
