"""What an order is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


class OrderStateError(Exception):
    """The order is not in a state that allows this."""


@dataclass(frozen=True)
class Line:
    """One position of an order; an article has at most one."""

    sku: str
    quantity: int
    unit_price_cents: int


@dataclass(frozen=True)
class Refund:
    """What a customer gets back, and for which articles."""

    order_id: str
    skus: tuple[str, ...]
    amount_cents: int


@dataclass(frozen=True)
class Shop:
    """A shop that wants to hear of its orders, `delay` seconds after they changed."""

    url: str
    delay: float


@dataclass
class Order:
    """An order; `status` is one of "open", "paid", "shipped" and "refunded"."""

    id: str
    customer_id: str
    status: str
    created: datetime
    discount_percent: int = 0
    lines: list[Line] = field(default_factory=list)
