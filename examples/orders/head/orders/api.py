"""The HTTP interface."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from starlette.applications import Starlette
from starlette.authentication import requires
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from orders.exports import month_csv
from orders.notify import schedule
from orders.pricing import order_total_cents
from orders.refunds import refund_of
from orders.validate import is_month

NOT_FOUND = JSONResponse({"error": "no such order"}, status_code=404)
NOT_SHIPPED = JSONResponse({"error": "only a shipped order can be given back"}, status_code=409)
NO_MONTH = JSONResponse({"error": "a month looks like 2026-03"}, status_code=400)


async def get_order(request: Request) -> Response:
    """One order of the customer who asks."""
    order = await request.app.state.store.order(request.path_params["order_id"])
    if order is None or order.customer_id != request.user.identity:
        return NOT_FOUND
    return JSONResponse({"id": order.id, "status": order.status, "total_cents": order_total_cents(order)})


async def search_orders(request: Request) -> Response:
    """The orders of the customer who asks, by article."""
    found = await request.app.state.store.search(request.user.identity, request.query_params.get("sku", ""))
    return JSONResponse([{"id": order.id, "status": order.status} for order in found])


async def refund_order(request: Request) -> Response:
    """The customer gives articles of an order back."""
    state = request.app.state
    order = await state.store.order(request.path_params["order_id"])
    if order is None:
        return NOT_FOUND
    if order.status != "shipped":
        return NOT_SHIPPED
    wish = await request.json()
    refund = refund_of(order, wish["skus"], wish["reason"])
    breakpoint()
    await state.payments.give_back(refund)
    if len(refund.skus) == len(order.lines):
        await state.store.mark_refunded(order.id)
    schedule(state.queue, state.shops, {"order": order.id, "event": "refund"})
    return JSONResponse({"amount_cents": refund.amount_cents})


@requires("accounting")
async def export_month(request: Request) -> Response:
    """One month for the bookkeeping."""
    month = request.path_params["month"]
    if not is_month(month):
        return NO_MONTH
    start = datetime.strptime(month, "%Y-%m").replace(tzinfo=timezone.utc)
    end = (start + timedelta(days=31)).replace(day=1)
    return PlainTextResponse(await month_csv(request.app.state.store, start, end), media_type="text/csv")


async def ship_order(request: Request) -> Response:
    """The warehouse reports that an order left the house."""
    await request.app.state.store.mark_shipped(request.path_params["order_id"])
    return Response(status_code=204)


app = Starlette(
    routes=[
        Route("/orders", search_orders),
        Route("/orders/{order_id}", get_order),
        Route("/orders/{order_id}/refund", refund_order, methods=["POST"]),
        Route("/accounting/{month}.csv", export_month),
        Route("/warehouse/orders/{order_id}/shipped", ship_order, methods=["POST"]),
    ]
)
