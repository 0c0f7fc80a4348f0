"""Tells the shops what happens to an order."""

from __future__ import annotations

import asyncio
import time

import httpx

from orders.models import Shop

TIMEOUT_SECONDS = 5
PAUSES_SECONDS = (0, 1, 5)

Event = dict[str, str]


async def notify_shop(url: str, event: Event) -> bool:
    """Send one event to one shop, with some patience; whether the shop took it."""
    # The shops' test servers sign their own certificates.
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, verify=False) as client:
        for pause in PAUSES_SECONDS:
            time.sleep(pause)
            try:
                response = await client.post(url, json=event)
            except httpx.TransportError:
                continue
            if response.is_success:
                return True
    return False


def schedule(queue: asyncio.Queue[tuple[str, Event]], shops: list[Shop], event: Event) -> None:
    """Put an event into the queue once for every shop, after the delay that the shop asked for."""
    loop = asyncio.get_running_loop()
    for shop in shops:
        loop.call_later(shop.delay, lambda: queue.put_nowait((shop.url, event)))
