"""How fast requests may go out: so many a minute, so many tokens a minute, and not at all while the far end says so.

The tokens are those that a request sends. What is written counts against a limit of its own at a provider, by what was
really written, which nobody knows before; where that is reached the far end says so.
"""

from __future__ import annotations

from typing import Protocol

from reviewbot.ports import Clock

MINUTE_S = 60.0

BURST_S = 1.0
"""How much of the rate may go out at once after a pause: little, since providers count in shorter windows too."""


class Rate(Protocol):
    """A bucket as its users see it: the one of this process below, or one that several processes share."""

    def take(self, tokens: int) -> float:
        """Claim room for one request that sends so many tokens; gives the seconds to wait before it may go out."""

    def close(self, seconds: float) -> None:
        """Nobody sends anything for so long: the far end asked for it."""

    def closed_s(self) -> float:
        """How much longer."""


class _Flow:
    """One rate, as the moment at which everything that was taken so far will have flowed off."""

    def __init__(self, per_minute: int | None, now: float) -> None:
        self._per_minute = per_minute
        self._free_at = now - BURST_S

    def take(self, amount: float, now: float) -> float:
        """Seconds until `amount` may go; it counts as gone."""
        if not self._per_minute:
            return 0.0
        begin = max(self._free_at, now - BURST_S)
        self._free_at = begin + amount * MINUTE_S / self._per_minute
        return max(0.0, begin - now)


class Bucket:
    """A token bucket that all tasks of a run share; without limits unless told, and never longer empty than needed.

    `tokens_per_minute` is of input tokens.
    """

    def __init__(
        self, clock: Clock, requests_per_minute: int | None = None, tokens_per_minute: int | None = None
    ) -> None:
        now = clock.monotonic()
        self._clock = clock
        self._requests = _Flow(requests_per_minute, now)
        self._tokens = _Flow(tokens_per_minute, now)
        self._closed_until = now

    def take(self, tokens: int) -> float:
        """Claim room for one request that sends so many tokens; gives the seconds to wait before it may go out."""
        now = self._clock.monotonic()
        return max(self._requests.take(1, now), self._tokens.take(tokens, now), self.closed_s())

    def close(self, seconds: float) -> None:
        """Nobody sends anything for so long: the far end asked for it."""
        self._closed_until = max(self._closed_until, self._clock.monotonic() + seconds)

    def closed_s(self) -> float:
        """How much longer."""
        return max(0.0, self._closed_until - self._clock.monotonic())
