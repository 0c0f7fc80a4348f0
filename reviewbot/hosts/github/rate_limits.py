"""Repeat requests after GitHub's rate limits and faults, until a deadline.

Sources: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api and, beside it,
best-practices-for-using-the-rest-api: wait as `retry-after` says, else until `x-ratelimit-reset`, else a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from threading import Lock
from typing import Protocol, TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from reviewbot.domain.errors import HostError, HostLimitError

TRIES = 4
"""Of one request that may be repeated."""

FIRST_WAIT_S = 0.5
MAX_WAIT_S = 20.0

MINUTE_S = 60.0
"""What GitHub asks for where a secondary limit says no time itself."""

DEADLINE_S = 300.0
"""Seconds from the making of a client after which nothing is waited for, unless the caller sets another time."""

LIMITS = frozenset({"core", "graphql"})
"""GitHub's names of the hourly limits that we count against."""

RESERVE = 50
"""Requests of an hour that are left alone where they are not needed to post a review and to conclude its check run."""

_LIMITED = frozenset({403, 429})
_RETRY_DIGITS = 7
_TIME_DIGITS = 12
"""Of numbers that are believed."""

T = TypeVar("T")


class BlockingClock(Protocol):
    """Clock of a blocking client: the module `time`, or one with which tests need not wait."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""

    def time(self) -> float:
        """Seconds since 1970: GitHub says so when a limit ends."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


class RetryableError(Exception):
    """A request failed and may be sent again: it was not carried out, or two do what one does. Else it is `error`."""

    def __init__(self, error: HostError, wait_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait_s = wait_s


def limit_pause_s(status: int, headers: Mapping[str, str], message: str, now: float) -> float | None:
    """Seconds that GitHub asks us to wait; None where the answer names no limit. Names of headers in lower case."""
    if status not in _LIMITED:
        return None
    after = _seconds(headers.get("retry-after"))
    if after is not None:
        return after
    if headers.get("x-ratelimit-remaining") == "0":
        reset = _number(headers.get("x-ratelimit-reset"), _TIME_DIGITS)
        # A second more, since both clocks count whole seconds.
        return MINUTE_S if reset is None else max(1.0, reset - now + 1)
    return MINUTE_S if status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in message.lower() else None


class RemainingRequests:
    """What GitHub says is left of its hourly limits, each by its name. Safe to use from several threads.

    Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, tuple[float, float]] = {}

    def note(self, headers: Mapping[str, str], limit: str) -> None:
        """Take in the headers of an answer; `limit` is the one that it counts against where they do not say it."""
        left = _number(headers.get("x-ratelimit-remaining"), _TIME_DIGITS)
        if left is None:
            return
        reset = _number(headers.get("x-ratelimit-reset"), _TIME_DIGITS)
        with self._lock:
            name = headers.get("x-ratelimit-resource", limit)
            if name in LIMITS:
                self._known[name] = (left, float("inf") if reset is None else reset)

    def of(self, limit: str, now: float) -> int | None:
        """Requests that are left of a limit; None where no answer has said so, or its hour has passed."""
        with self._lock:
            left, reset = self._known.get(limit, (0.0, 0.0))
        return int(left) if now < reset else None


def _seconds(text: str | None) -> float | None:
    """What `retry-after` asks for; a date, which GitHub never sends, counts as a minute."""
    return None if text is None else _number(text, _RETRY_DIGITS) or MINUTE_S


def _number(text: str | None, digits: int) -> float | None:
    return float(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


class RetryPolicy:
    """Repeats what failed with `RetryableError`, never past the deadline. Safe to use from several threads."""

    def __init__(self, clock: BlockingClock, deadline_s: float) -> None:
        self.clock = clock
        self._end = clock.monotonic() + deadline_s
        self._growing = wait_exponential(multiplier=FIRST_WAIT_S, max=MAX_WAIT_S) + wait_random(0, FIRST_WAIT_S / 2)

    def remaining_s(self) -> float:
        """Seconds until the deadline; below zero after it."""
        return self._end - self.clock.monotonic()

    def wait(self, seconds: float) -> None:
        """Wait. Raises HostLimitError at once where that would outlast the deadline."""
        self._check(HostLimitError("GitHub's limit of requests is reached"), seconds)
        self.clock.sleep(seconds)

    def carry_out(self, once: Callable[[], T]) -> T:
        """Call a function, and again where it raised RetryableError. Raises HostError and its kinds."""
        retrying = Retrying(
            retry=retry_if_exception_type(RetryableError),
            stop=stop_after_attempt(TRIES),
            wait=self._wait_s,
            before_sleep=self._before_sleep,
            sleep=self.clock.sleep,
            reraise=True,
        )
        try:
            return retrying(once)
        except RetryableError as again:
            raise again.error from None

    def _wait_s(self, state: RetryCallState) -> float:
        again = _again_of(state)
        return max(self._growing(state), again.wait_s if again else 0.0)

    def _before_sleep(self, state: RetryCallState) -> None:
        if again := _again_of(state):
            self._check(again.error, state.upcoming_sleep)

    def _check(self, error: HostError, wait_s: float) -> None:
        left = self.remaining_s()
        if wait_s < left:
            return
        if isinstance(error, HostLimitError):
            text = f"{error}; it asks for {wait_s:.0f} s, and there are {max(0.0, left):.0f} s left"
            raise HostLimitError(text, wait_s) from None
        raise error


def _again_of(state: RetryCallState) -> RetryableError | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, RetryableError) else None
