from datetime import datetime, timezone

from orders.models import Line, Order
from orders.refunds import refund_of

CREATED = datetime(2026, 3, 1, tzinfo=timezone.utc)


def test_a_fee_is_kept_when_the_customer_changes_his_mind():
    order = Order("o1", "c1", "shipped", CREATED, lines=[Line("AB-1000", 1, 1000), Line("AB-2000", 1, 500)])

    refund = refund_of(order, ["AB-1000"], "changed_mind")

    assert refund.skus == ("AB-1000",)
    assert refund.amount_cents == 850
