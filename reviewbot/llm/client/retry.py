"""Retry transient errors with backoff until the deadline, with a limit of calls in flight."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential, wait_random

from reviewbot.domain.errors import AccountError, CallRejectedError, DeadlineError, EngineError, TransientError
from reviewbot.domain.ports import Clock, Model, ModelReply, ModelRequest
from reviewbot.llm.client.budget import Deadline
from reviewbot.llm.client.circuit_breaker import Attempt, CircuitBreaker
from reviewbot.llm.client.rate_limiter import ConcurrencyLimiter, RateLimiter, TokenBucket
from reviewbot.llm.client.requests import estimate_tokens

NO_TIME = "the review's deadline leaves no time to ask a model"


@dataclass(frozen=True)
class RetryPolicy:
    """Number of tries and the waits between them, which double, with jitter."""

    tries: int = 4
    """Of one request; and failures in a row of all requests after which the provider counts as down."""
    throttled_tries: int = 8
    """The same for a provider that answers with a rate limit or an overload: a minute of waiting in all."""
    first_wait_s: float = 0.5
    max_wait_s: float = 30.0
    cool_down_s: float = 15.0
    """From the last of so many failures in a row until one call tries again; doubled each time that this fails."""
    concurrency: int = 16
    """Calls in flight at once."""

    def max_tries(self, error: BaseException | None) -> int:
        """The number of tries after which such an error is final."""
        return self.throttled_tries if _is_throttled(error) else self.tries

    def wait_s(self, failures: int) -> float:
        """Seconds, without jitter, that all calls wait after so many failures in a row."""
        return 0.0 if failures == 0 else min(self.max_wait_s, self.first_wait_s * 2.0 ** (failures - 1))


class RetryingModel:
    """Retries after a TransientError, not before the provider's `retry-after`; raises DeadlineError when time is up.

    A wait that would outlast the deadline is not begun: the error is raised at once. Raises ProviderError where the
    circuit breaker is open: after failures in a row of all requests together, until one call tries again, or for a
    refused account. For one event loop.
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
        self._slots = ConcurrencyLimiter(self._policy.concurrency)
        self._breaker = CircuitBreaker(clock, self._policy.cool_down_s)
        first, longest = self._policy.first_wait_s, self._policy.max_wait_s
        self._backoff = wait_exponential(multiplier=first, max=longest) + wait_random(0, first / 2)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=self._is_last,
            wait=self._wait_s,
            before_sleep=lambda state: self._check_time(state.upcoming_sleep),
            sleep=self._clock.sleep,
            reraise=True,
        )
        return await retrying(self._try, request)

    async def _try(self, request: ModelRequest) -> ModelReply:
        """One try. All of its waits count against the deadline."""
        left = self._deadline.remaining_s()
        if left <= 0:
            raise DeadlineError(NO_TIME)
        limit = asyncio.timeout(left)
        try:
            async with limit:
                reply = None
                while reply is None:
                    reply = await self._take_turn(request)
                return reply
        except TimeoutError:
            if limit.expired():
                raise DeadlineError("the review's deadline came before a model's answer") from None
            raise

    async def _take_turn(self, request: ModelRequest) -> ModelReply | None:
        """Send the request when its turn has come; None where the breaker opened while it waited for the rate."""
        await self._wait_for_turn(request)
        slot, attempt = self._slots.enter(), self._breaker.begin()
        try:
            return await self._send(request, slot, attempt) if await self._wait_for_rate(request) else None
        finally:
            self._breaker.end(attempt)
            self._slots.leave()

    async def _wait_for_turn(self, request: ModelRequest) -> None:
        """Wait until this request may be the next one in flight. Raises ProviderError where the breaker is open."""
        while True:
            if (cool_down := self._breaker.wait_s(request.tier, self._deadline.remaining_s())) > 0:
                await self._sleep(cool_down)
            elif not (self._slots.has_room() and self._breaker.has_room()):
                await self._slots.wait_for_release()
            elif (pause := self._rate_limiter.closed_s()) > 0:
                await self._sleep(pause)
            else:
                return

    async def _wait_for_rate(self, request: ModelRequest) -> bool:
        """Wait for room in the rate; False where the breaker opened meanwhile, so that a new turn is needed."""
        wait = self._rate_limiter.take(estimate_tokens(request))
        while wait > 0:
            await self._sleep(wait)
            if self._breaker.wait_s(request.tier, self._deadline.remaining_s()) > 0:
                return False
            wait = self._rate_limiter.closed_s()  # another call may have been turned away meanwhile
        return True

    async def _send(self, request: ModelRequest, slot: int, attempt: Attempt) -> ModelReply:
        try:
            reply = await self._inner.ask(request)
        except EngineError as error:
            if isinstance(error, AccountError):
                self._breaker.refuse(str(error), None if error.model is None else request.tier)
            elif isinstance(error, (TransientError, CallRejectedError)):
                self._slow_down(error, slot, attempt)
            self._breaker.wait_s(request.tier, self._deadline.remaining_s())  # raises where no other try may follow
            raise
        self._breaker.succeed()
        self._slots.grow()
        return reply

    def _slow_down(self, error: TransientError | CallRejectedError, slot: int, attempt: Attempt) -> None:
        """Let all calls of the run take notice of a failure that the next one would meet as well."""
        asked = error.retry_after_s if isinstance(error, TransientError) else None
        if _is_throttled(error):
            self._slots.shrink(slot)
        failures = self._breaker.fail(attempt, str(error), self._policy.max_tries(error))
        pause, left = max(asked or 0.0, self._policy.wait_s(failures)), self._deadline.remaining_s()
        if asked is not None and asked >= left:
            self._breaker.refuse(
                f"{error}; it can be asked again in {asked:.0f} s, and the review has {left:.0f} s left"
            )
        elif pause > 0:
            self._rate_limiter.close(pause)

    def _is_last(self, state: RetryCallState) -> bool:
        """Whether a request has had its tries. Where the provider is down they say nothing of the request."""
        return state.attempt_number >= self._policy.max_tries(_error_of(state)) and not self._breaker.open_s()

    def _wait_s(self, state: RetryCallState) -> float:
        """Seconds before the next try: the backoff, or `retry-after` where that is longer."""
        error = _error_of(state)
        asked = error.retry_after_s if isinstance(error, TransientError) else None
        return max(self._backoff(state), asked or 0.0)

    async def _sleep(self, wait_s: float) -> None:
        self._check_time(wait_s)
        await self._clock.sleep(wait_s)

    def _check_time(self, wait_s: float) -> None:
        left = self._deadline.remaining_s()
        if wait_s >= left:
            raise DeadlineError(f"a model can be asked again in {wait_s:.0f} s, and the review has {left:.0f} s left")


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _is_throttled(error: BaseException | None) -> bool:
    """See `TransientError`."""
    return isinstance(error, TransientError) and error.throttled
