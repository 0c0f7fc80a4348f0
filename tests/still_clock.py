"""Clocks that only tests move."""

from __future__ import annotations

import asyncio


class StillClock:
    """Only sleeping moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, end)


class Moment:
    """The time of day that tests set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now
