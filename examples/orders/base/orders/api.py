"""The HTTP interface."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orders.pricing import order_total_cents

NOT_FOUND = JSONResponse({"error": "no such order"}, status_code=404)


async def get_order(request: Request) -> Response:
    """One order of the customer who asks."""
    order = await request.app.state.store.order(request.path_params["order_id"])
    if order is None or order.customer_id != request.user.identity:
        return NOT_FOUND
    return JSONResponse({"id": order.id, "status": order.status, "total_cents": order_total_cents(order)})


async def ship_order(request: Request) -> Response:
    """The warehouse reports that an order left the house."""
    await request.app.state.store.mark_shipped(request.path_params["order_id"])
    return Response(status_code=204)


app = Starlette(
    routes=[
        Route("/orders/{order_id}", get_order),
        Route("/warehouse/orders/{order_id}/shipped", ship_order, methods=["POST"]),
    ]
)
