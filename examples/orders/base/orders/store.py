"""Orders and stock in the database."""

from __future__ import annotations

from datetime import datetime

import aiosqlite

from orders.models import Line, Order, OrderStateError


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

    async def take_stock(self, sku: str, quantity: int) -> bool:
        """Reserve stock; False when there is not enough of it."""
        cursor = await self._db.execute(
            "UPDATE stock SET count = count - ? WHERE sku = ? AND count >= ?",
            (quantity, sku, quantity),
        )
        await self._db.commit()
        return cursor.rowcount == 1

    async def mark_shipped(self, order_id: str) -> None:
        """A paid order leaves the house."""
        order = await self.order(order_id)
        if order is None or order.status != "paid":
            raise OrderStateError(order_id)
        await self._db.execute("UPDATE orders SET status = 'shipped' WHERE id = ?", (order_id,))
        await self._db.commit()

    async def _one(self, sql: str, *values: object) -> tuple | None:
        cursor = await self._db.execute(sql, values)
        return await cursor.fetchone()


def _order(row: tuple) -> Order:
    order_id, customer_id, status, created, discount = row
    return Order(order_id, customer_id, status, datetime.fromisoformat(created), discount)
