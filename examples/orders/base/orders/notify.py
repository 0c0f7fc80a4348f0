"""Tells the shops what happens to an order."""

from __future__ import annotations

import httpx

TIMEOUT_SECONDS = 5


async def notify_shop(url: str, event: dict[str, str]) -> bool:
    """Send one event to one shop; whether the shop took it."""
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as client:
        response = await client.post(url, json=event)
    return response.is_success
