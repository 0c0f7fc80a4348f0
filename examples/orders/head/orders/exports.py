"""The monthly export for the bookkeeping."""

from __future__ import annotations

import csv
import io
from datetime import datetime

from orders.pricing import line_total_cents
from orders.store import Store

PAGE_SIZE = 500
HEADER = ("order", "created", "status", "sku", "quantity", "total_cents")


async def month_csv(store: Store, start: datetime, end: datetime) -> str:
    """All orders that were placed from `start` until before `end`, one row per position."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(HEADER)
    pages = await store.count_between(start, end) // PAGE_SIZE
    for page in range(pages):
        for order in await store.orders_between(start, end, PAGE_SIZE, page * PAGE_SIZE):
            lines = await store.lines(order.id)
            for line in lines:
                writer.writerow(
                    (order.id, order.created.isoformat(), order.status, line.sku, line.quantity, line_total_cents(line))
                )
    return out.getvalue()
