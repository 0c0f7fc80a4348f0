"""A clock for tests that need a new one for each example."""

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
