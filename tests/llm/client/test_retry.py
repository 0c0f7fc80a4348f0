"""Trying again: when, how long after, how many at once, and never past the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.contracts import Usage
from reviewbot.errors import DeadlineError, EngineError, RefusedError, TransientError
from reviewbot.llm.client.budget import Deadline
from reviewbot.llm.client.rate_limiter import TokenBucket
from reviewbot.llm.client.retry import RetryingModel, RetryPolicy
from reviewbot.ports import ModelReply, ModelRequest

REPLY = ModelReply("yes", (), "end", Usage(calls=1), "m")

Request = Callable[..., ModelRequest]


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


def test_a_passing_failure_is_met_with_growing_waits(clock: Any, a_request: Request) -> None:
    flaky = Flaky(*[TransientError("busy")] * 3)
    policy = RetryPolicy(first_wait_s=1)
    assert ask(RetryingModel(flaky, clock, Deadline(clock, 100), policy), a_request()) == [REPLY]
    assert flaky.tries == 4
    for wait, least in zip(clock.slept, (1, 2, 4), strict=True):
        assert least <= wait <= least + 0.5


def test_after_its_tries_the_failure_is_told_as_it_is(clock: Any, a_request: Request) -> None:
    flaky = Flaky(*[TransientError("busy")] * 9)
    with pytest.raises(TransientError, match="busy"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 1_000), RetryPolicy(tries=3)), a_request())
    assert flaky.tries == 3


@pytest.mark.parametrize("error", [EngineError("no"), RefusedError("no"), DeadlineError("no"), TimeoutError("no")])
def test_what_another_try_would_not_change_is_not_tried_again(clock: Any, a_request: Request, error: Exception) -> None:
    flaky = Flaky(error)
    with pytest.raises(type(error), match="no"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 100)), a_request())
    assert (flaky.tries, clock.slept) == (1, [])


def test_the_far_ends_wish_is_kept_where_it_is_longer_than_ours(clock: Any, a_request: Request) -> None:
    flaky = Flaky(TransientError("busy", 20.0), TransientError("busy", 0.0))
    ask(RetryingModel(flaky, clock, Deadline(clock, 100), RetryPolicy(first_wait_s=1)), a_request())
    assert clock.slept[0] == 20.0
    assert clock.slept[1] >= 2


def test_a_wish_to_wait_for_an_hour_does_not_outlive_the_deadline(clock: Any, a_request: Request) -> None:
    flaky = Flaky(TransientError("busy", 3_600.0))
    with pytest.raises(DeadlineError, match="again in 3600 s, and the review has 600 s left"):
        ask(RetryingModel(flaky, clock, Deadline(clock, 600)), a_request())
    assert (flaky.tries, clock.slept) == (1, [])


def test_a_deadline_that_is_over_lets_nobody_ask(clock: Any, a_request: Request) -> None:
    deadline = Deadline(clock, 10)
    clock.now = 10.0
    flaky = Flaky()
    with pytest.raises(DeadlineError, match="no time"):
        ask(RetryingModel(flaky, clock, deadline), a_request())
    assert flaky.tries == 0


def test_an_answer_that_does_not_come_is_not_waited_for_past_the_deadline(clock: Any, a_request: Request) -> None:
    with pytest.raises(DeadlineError, match="before a model's answer"):
        ask(RetryingModel(Silent(), clock, Deadline(clock, 0.02)), a_request())


@given(st.integers(1, 5), st.integers(1, 12))
@settings(max_examples=25)
def test_no_more_calls_are_under_way_than_allowed(a_request: Request, allowed: int, wanted: int) -> None:
    clock = Still()
    flaky = Flaky()
    model = RetryingModel(flaky, clock, Deadline(clock, 100), RetryPolicy(concurrency=allowed))
    assert ask(model, *[a_request()] * wanted) == [REPLY] * wanted
    assert flaky.most_open == min(allowed, wanted)


class Still:
    """A clock that only sleeping moves; hypothesis wants a new one for each example."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, end)


def test_without_limits_a_bucket_never_makes_anybody_wait(clock: Any) -> None:
    bucket = TokenBucket(clock)
    assert [bucket.take(10**9) for _ in range(5)] == [0.0] * 5


def test_requests_flow_at_their_rate(clock: Any) -> None:
    bucket = TokenBucket(clock, requests_per_minute=30)
    assert [bucket.take(1) for _ in range(4)] == [0.0, 1.0, 3.0, 5.0]
    clock.now = 100.0
    assert bucket.take(1) == 0.0


def test_tokens_flow_at_their_rate_and_a_large_request_makes_the_next_one_wait(clock: Any) -> None:
    bucket = TokenBucket(clock, tokens_per_minute=6_000)
    assert bucket.take(1_000) == 0.0
    assert bucket.take(1) == pytest.approx(9.0)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 400)), min_size=1, max_size=30), st.integers(1, 600))
def test_in_no_minute_much_more_goes_out_than_the_rate(wishes: list[tuple[int, int]], rate: int) -> None:
    """Sent at the moment that the bucket names, the tokens of any minute are the rate and at most one request more."""
    clock = Still()
    bucket = TokenBucket(clock, tokens_per_minute=rate)
    sent = []
    for pause, tokens in wishes:
        clock.now += pause
        sent.append((clock.now + bucket.take(tokens), tokens))
    for begin, _ in sent:
        within = [tokens for at, tokens in sent if begin <= at < begin + 60]
        assert sum(within) - max(within) <= rate * 61 / 60 + 1


def test_one_who_is_turned_away_stops_everybody(a_request: Request) -> None:
    class Watched(Still):
        closed: float = 0.0

        async def sleep(self, seconds: float) -> None:
            self.closed = self.closed or bucket.closed_s()
            await super().sleep(seconds)

    clock = Watched()
    bucket = TokenBucket(clock)
    ask(
        RetryingModel(Flaky(TransientError("slow down", 30.0)), clock, Deadline(clock, 100), rate_limiter=bucket),
        a_request(),
    )
    assert clock.closed == 30.0


def test_while_a_bucket_is_closed_nothing_goes_out(clock: Any, a_request: Request) -> None:
    bucket = TokenBucket(clock)
    bucket.close(30.0)
    bucket.close(5.0)
    assert ask(RetryingModel(Flaky(), clock, Deadline(clock, 100), rate_limiter=bucket), a_request()) == [REPLY]
    assert clock.slept == [30.0]


def test_a_wait_for_room_that_would_outlast_the_deadline_is_not_begun(clock: Any, a_request: Request) -> None:
    bucket = TokenBucket(clock, requests_per_minute=1)
    model = RetryingModel(Flaky(), clock, Deadline(clock, 50), rate_limiter=bucket)
    ask(model, a_request())
    with pytest.raises(DeadlineError, match="has 50 s left"):
        ask(model, a_request())
    assert clock.slept == []
