from datetime import datetime, timezone

from orders.models import Line, Order
from orders.pricing import order_total_cents

CREATED = datetime(2026, 3, 1, tzinfo=timezone.utc)


def test_the_total_is_the_sum_of_the_lines():
    order = Order("o1", "c1", "open", CREATED, lines=[Line("AB-1000", 2, 350), Line("AB-2000", 1, 100)])

    assert order_total_cents(order) == 800


def test_a_discount_is_rounded_down():
    order = Order("o1", "c1", "open", CREATED, discount_percent=10, lines=[Line("AB-1000", 1, 99)])

    assert order_total_cents(order) == 89
