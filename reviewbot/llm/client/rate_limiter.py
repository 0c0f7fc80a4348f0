"""Limit calls: how many are in flight, requests and input tokens per minute, and pauses that the provider asked for.

Output tokens have a limit of their own at a provider, which counts what was written; that is not known before, so it is
left to the provider's 429.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from reviewbot.domain.ports import Clock

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


class ConcurrencyLimiter:
    """How many calls of a run may be in flight: additive increase, multiplicative decrease (AIMD) within 1 and `most`.

    A provider that refuses calls for their rate halves the limit, once for all calls that were in flight together; as
    many answers as the limit is high raise it by one. For one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._in_flight = 0
        self._cuts = 0
        self._changed = asyncio.Event()

    def has_room(self) -> bool:
        """Whether another call may be sent now."""
        return self._in_flight < int(self._limit)

    async def wait_for_release(self) -> None:
        """Wait until a call has left."""
        await self._changed.wait()

    def enter(self) -> int:
        """A call begins; the number says to `shrink` when that was. Each one ends in `leave`."""
        self._in_flight += 1
        return self._cuts

    def leave(self) -> None:
        """A call has ended."""
        self._in_flight -= 1
        self._changed.set()
        self._changed = asyncio.Event()

    def grow(self) -> None:
        """A call was answered."""
        self._limit = min(self._most, self._limit + 1 / self._limit)

    def shrink(self, entered: int) -> None:
        """A call was refused for its rate."""
        if entered == self._cuts:
            self._limit = max(1.0, self._limit / 2)
            self._cuts += 1
