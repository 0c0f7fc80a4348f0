"""Asking again where that may help, never past the deadline, and never too much at once."""

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

from reviewbot.budget import Deadline
from reviewbot.errors import DeadlineError, TransientError
from reviewbot.model.bucket import Bucket, Rate
from reviewbot.model.requests import estimated_tokens
from reviewbot.ports import Clock, Model, ModelReply, ModelRequest

NO_TIME = "the review's deadline leaves no time to ask a model"


@dataclass(frozen=True)
class Patience:
    """How often and how much is asked. The waits between tries double, with a random part so that tasks spread."""

    tries: int = 4
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    concurrency: int = 16
    """Calls under way at once."""


class Patient:
    """Asks again after a TransientError, as late as the far end asked for; raises DeadlineError where time is up.

    Where it is clear that a wait would outlast the deadline, the error comes at once. For one event loop.
    """

    def __init__(
        self,
        inner: Model,
        clock: Clock,
        deadline: Deadline,
        patience: Patience | None = None,
        bucket: Rate | None = None,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._deadline = deadline
        self._patience = patience or Patience()
        self._bucket: Rate = bucket or Bucket(clock)
        self._places = asyncio.Semaphore(self._patience.concurrency)
        first, longest = self._patience.first_wait_s, self._patience.longest_wait_s
        self._growing = wait_exponential(multiplier=first, max=longest) + wait_random(0, first / 2)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self._patience.tries),
            wait=self._wait_s,
            before_sleep=self._before_sleep,
            sleep=self._clock.sleep,
            reraise=True,
        )
        return await retrying(self._once, request)

    async def _once(self, request: ModelRequest) -> ModelReply:
        """One try, all of whose waiting counts against the deadline."""
        left = self._deadline.left_s()
        if left <= 0:
            raise DeadlineError(NO_TIME)
        limit = asyncio.timeout(left)
        try:
            async with limit, self._places:
                await self._wait_for_room(estimated_tokens(request))
                return await self._inner.ask(request)
        except TimeoutError:
            if limit.expired():
                raise DeadlineError("the review's deadline came before a model's answer") from None
            raise

    async def _wait_for_room(self, tokens: int) -> None:
        wait = self._bucket.take(tokens)
        while wait > 0:
            self._check(wait)
            await self._clock.sleep(wait)
            wait = self._bucket.closed_s()  # somebody else may have been turned away meanwhile

    def _wait_s(self, state: RetryCallState) -> float:
        """Seconds before the next try: as the far end asked, or longer."""
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_s if isinstance(error, TransientError) else None
        return max(self._growing(state), asked or 0.0)

    def _before_sleep(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, TransientError) and error.retry_after_s is not None:
            self._bucket.close(error.retry_after_s)
        self._check(state.upcoming_sleep)

    def _check(self, wait_s: float) -> None:
        left = self._deadline.left_s()
        if wait_s >= left:
            raise DeadlineError(f"a model can be asked again in {wait_s:.0f} s, and the review has {left:.0f} s left")
