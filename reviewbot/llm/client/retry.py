"""Retry transient errors with backoff until the deadline, with a limit of calls at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from reviewbot.errors import DeadlineError, TransientError
from reviewbot.llm.client.budget import Deadline
from reviewbot.llm.client.rate_limiter import RateLimiter, TokenBucket
from reviewbot.llm.client.requests import estimated_tokens
from reviewbot.ports import Clock, Model, ModelReply, ModelRequest

NO_TIME = "the review's deadline leaves no time to ask a model"


@dataclass(frozen=True)
class RetryPolicy:
    """Number of tries and waits between them, which double, with jitter; and how many calls run at once."""

    tries: int = 4
    first_wait_s: float = 0.5
    max_wait_s: float = 30.0
    concurrency: int = 16
    """Calls in flight at once."""


class RetryingModel:
    """Retries after a TransientError, not before the provider's `retry-after`; raises DeadlineError when time is up.

    A wait that would outlast the deadline is not begun: the error is raised at once. For one event loop.
    """

    def __init__(
        self,
        inner: Model,
        clock: Clock,
        deadline: Deadline,
        policy: RetryPolicy | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._deadline = deadline
        self._policy = policy or RetryPolicy()
        self._rate_limiter: RateLimiter = rate_limiter or TokenBucket(clock)
        self._slots = asyncio.Semaphore(self._policy.concurrency)
        first, longest = self._policy.first_wait_s, self._policy.max_wait_s
        self._backoff = wait_exponential(multiplier=first, max=longest) + wait_random(0, first / 2)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self._policy.tries),
            wait=self._wait_s,
            before_sleep=self._before_sleep,
            sleep=self._clock.sleep,
            reraise=True,
        )
        return await retrying(self._once, request)

    async def _once(self, request: ModelRequest) -> ModelReply:
        """One try. All of its waits count against the deadline."""
        left = self._deadline.left_s()
        if left <= 0:
            raise DeadlineError(NO_TIME)
        limit = asyncio.timeout(left)
        try:
            async with limit, self._slots:
                await self._wait_for_room(estimated_tokens(request))
                return await self._inner.ask(request)
        except TimeoutError:
            if limit.expired():
                raise DeadlineError("the review's deadline came before a model's answer") from None
            raise

    async def _wait_for_room(self, tokens: int) -> None:
        wait = self._rate_limiter.take(tokens)
        while wait > 0:
            self._check(wait)
            await self._clock.sleep(wait)
            wait = self._rate_limiter.closed_s()  # another call may have been turned away meanwhile

    def _wait_s(self, state: RetryCallState) -> float:
        """Seconds before the next try: the backoff, or `retry-after` where that is longer."""
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_s if isinstance(error, TransientError) else None
        return max(self._backoff(state), asked or 0.0)

    def _before_sleep(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, TransientError) and error.retry_after_s is not None:
            self._rate_limiter.close(error.retry_after_s)
        self._check(state.upcoming_sleep)

    def _check(self, wait_s: float) -> None:
        left = self._deadline.left_s()
        if wait_s >= left:
            raise DeadlineError(f"a model can be asked again in {wait_s:.0f} s, and the review has {left:.0f} s left")
