"""What an order costs."""

from __future__ import annotations

from orders.models import Line, Order


def line_total_cents(line: Line) -> int:
    """Price of one position."""
    return line.quantity * line.unit_price_cents


def order_total_cents(order: Order) -> int:
    """Price of the whole order after its discount, rounded down."""
    full = sum(line_total_cents(line) for line in order.lines)
    return full * (100 - order.discount_percent) // 100
