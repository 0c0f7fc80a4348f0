"""How many calls may be in flight, and how fast they may follow each other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.llm.client.rate_limiter import ConcurrencyLimiter, TokenBucket
from tests.still_clock import StillClock


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


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 400)), min_size=1, max_size=30), st.integers(1, 600))
def test_in_no_minute_much_more_goes_out_than_the_rate(wishes: list[tuple[int, int]], rate: int) -> None:
    """Sent at the moment that the bucket names, the tokens of any minute are the rate and at most one request more."""
    clock = StillClock()
    bucket = TokenBucket(clock, tokens_per_minute=rate)
    sent = []
    for pause, tokens in wishes:
        clock.now += pause
        sent.append((clock.now + bucket.take(tokens), tokens))
    for begin, _ in sent:
        within = [tokens for at, tokens in sent if begin <= at < begin + 60]
        assert sum(within) - max(within) <= rate * 61 / 60 + 1


def room_of(limiter: ConcurrencyLimiter) -> int:
    """How many more calls the limiter lets in; they leave again."""
    entered = 0
    while limiter.has_room():
        limiter.enter()
        entered += 1
    for _ in range(entered):
        limiter.leave()
    return entered


def test_a_refused_round_halves_the_limit_once_and_never_below_one_call() -> None:
    limiter = ConcurrencyLimiter(16)
    together = [limiter.enter() for _ in range(16)]
    for entered in together:
        limiter.shrink(entered)
        limiter.leave()
    assert room_of(limiter) == 8
    for left in (4, 2, 1, 1):
        limiter.shrink(limiter.enter())
        limiter.leave()
        assert room_of(limiter) == left


def test_answers_raise_the_limit_by_one_a_round_up_to_its_most() -> None:
    limiter = ConcurrencyLimiter(6)
    limiter.shrink(limiter.enter())
    limiter.leave()
    rooms = []
    for _ in range(20):
        limiter.grow()
        rooms.append(room_of(limiter))
    assert rooms[:3] == [3, 3, 3]
    assert rooms[-1] == 6
    assert rooms == sorted(rooms)


@given(st.lists(st.sampled_from(["enter", "leave", "refused", "answered"]), max_size=80), st.integers(1, 40))
def test_the_limit_stays_within_one_and_its_most(events: list[str], most: int) -> None:
    async def run() -> None:
        limiter = ConcurrencyLimiter(most)
        inside: list[int] = []
        for event in events:
            if event == "enter" and limiter.has_room():
                inside.append(limiter.enter())
            elif event != "enter" and inside:
                entered = inside.pop()
                if event == "refused":
                    limiter.shrink(entered)
                elif event == "answered":
                    limiter.grow()
                limiter.leave()
            assert len(inside) <= most
        for _ in inside:
            limiter.leave()
        assert 1 <= room_of(limiter) <= most

    asyncio.run(run())
