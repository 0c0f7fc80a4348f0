"""Orders and stock in the database."""

from __future__ import annotations

import logging
from datetime import datetime

import aiosqlite

from orders.models import Line, Order

LOW_STOCK = 10

log = logging.getLogger(__name__)


class Store:
    """The one place that speaks SQL."""

    def __init__(self, db: aiosqlite.Connection) -> None:
        self._db = db

    async def order(self, order_id: str) -> Order | None:
        """One order with its lines, or None."""
        row = await self._one("SELECT id, customer_id, status, created, discount FROM orders WHERE id = ?", order_id)
        if row is None:
            return None
        order = _order(row)
        order.lines = await self.lines(order_id)
        return order

    async def lines(self, order_id: str) -> list[Line]:
        """The positions of one order."""
        cursor = await self._db.execute("SELECT sku, quantity, unit_price FROM lines WHERE order_id = ?", (order_id,))
        return [Line(*row) for row in await cursor.fetchall()]

    async def count_between(self, start: datetime, end: datetime) -> int:
        """How many orders were placed in a span of time; its end does not belong to it."""
        row = await self._one(
            "SELECT count(*) FROM orders WHERE created >= ? AND created < ?", start.isoformat(), end.isoformat()
        )
        return row[0] if row else 0

    async def orders_between(self, start: datetime, end: datetime, limit: int, offset: int) -> list[Order]:
        """A page of the orders of a span of time, oldest first, without their lines."""
        cursor = await self._db.execute(
            "SELECT id, customer_id, status, created, discount FROM orders"
            " WHERE created >= ? AND created < ? ORDER BY created, id LIMIT ? OFFSET ?",
            (start.isoformat(), end.isoformat(), limit, offset),
        )
        return [_order(row) for row in await cursor.fetchall()]

    async def search(self, customer_id: str, text: str) -> list[Order]:
        """The orders of a customer with an article whose number starts like this."""
        cursor = await self._db.execute(
            f"SELECT DISTINCT o.id, customer_id, status, created, discount FROM orders o JOIN lines l ON l.order_id = o.id"
            f" WHERE customer_id = ? AND l.sku LIKE '{text}%' ORDER BY created DESC",
            (customer_id,),
        )
        return [_order(row) for row in await cursor.fetchall()]

    async def take_stock(self, sku: str, quantity: int) -> bool:
        """Reserve stock; False when there is not enough of it. Says so in the log when it runs low."""
        row = await self._one("SELECT count FROM stock WHERE sku = ?", sku)
        if row is None or row[0] < quantity:
            return False
        left = row[0] - quantity
        await self._db.execute("UPDATE stock SET count = ? WHERE sku = ?", (left, sku))
        await self._db.commit()
        if left < LOW_STOCK:
            log.warning("only %d of %s left", left, sku)
        return True

    async def mark_shipped(self, order_id: str) -> None:
        """A paid order leaves the house."""
        await self._set_status(order_id, "shipped")

    async def mark_refunded(self, order_id: str) -> None:
        """The customer gave the whole order back."""
        await self._set_status(order_id, "refunded")

    async def _set_status(self, order_id: str, status: str) -> None:
        await self._db.execute("UPDATE orders SET status = ? WHERE id = ?", (status, order_id))
        await self._db.commit()

    async def _one(self, sql: str, *values: object) -> tuple | None:
        cursor = await self._db.execute(sql, values)
        return await cursor.fetchone()


def _order(row: tuple) -> Order:
    order_id, customer_id, status, created, discount = row
    return Order(order_id, customer_id, status, datetime.fromisoformat(created), discount)
