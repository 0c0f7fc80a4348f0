"""Limit the rate of requests: requests and input tokens per minute, and a pause that the provider asked for.

Output tokens have a limit of their own at a provider, which counts what was written; that is not known before, so it is
left to the provider's 429.
"""

from __future__ import annotations

from typing import Protocol

from reviewbot.ports import Clock

MINUTE_S = 60.0

BURST_S = 1.0
"""Seconds of the rate that may go out at once after a pause: few, since providers count in shorter windows too."""


class RateLimiter(Protocol):
    """A limiter of this process (`TokenBucket`), or one that several processes share."""

    def take(self, tokens: int) -> float:
        """Claim room for one request of `tokens` input tokens; returns the seconds to wait before sending it."""

    def close(self, seconds: float) -> None:
        """Send nothing for `seconds`, as the provider asked."""

    def closed_s(self) -> float:
        """Seconds that are left of such a pause."""


class _Flow:
    """One rate, kept as the moment at which all that was taken will have drained."""

    def __init__(self, per_minute: int | None, now: float) -> None:
        self._per_minute = per_minute
        self._free_at = now - BURST_S

    def take(self, amount: float, now: float) -> float:
        """Take `amount`; returns the seconds until it may be sent."""
        if not self._per_minute:
            return 0.0
        begin = max(self._free_at, now - BURST_S)
        self._free_at = begin + amount * MINUTE_S / self._per_minute
        return max(0.0, begin - now)


class TokenBucket:
    """A token bucket that all tasks of a run share. None: no limit; `tokens_per_minute` counts input tokens."""

    def __init__(
        self, clock: Clock, requests_per_minute: int | None = None, tokens_per_minute: int | None = None
    ) -> None:
        now = clock.monotonic()
        self._clock = clock
        self._requests = _Flow(requests_per_minute, now)
        self._tokens = _Flow(tokens_per_minute, now)
        self._closed_until = now

    def take(self, tokens: int) -> float:
        """Claim room for one request of `tokens` input tokens; returns the seconds to wait before sending it."""
        now = self._clock.monotonic()
        return max(self._requests.take(1, now), self._tokens.take(tokens, now), self.closed_s())

    def close(self, seconds: float) -> None:
        """Send nothing for `seconds`, as the provider asked."""
        self._closed_until = max(self._closed_until, self._clock.monotonic() + seconds)

    def closed_s(self) -> float:
        """Seconds that are left of such a pause."""
        return max(0.0, self._closed_until - self._clock.monotonic())
