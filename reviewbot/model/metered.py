"""What calls cost: asked for before, settled after."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.budget import Ledger
from reviewbot.contracts import Tier
from reviewbot.model.requests import estimated_tokens
from reviewbot.ports import Model, ModelReply, ModelRequest
from reviewbot.prices import PriceTable


class Metered:
    """Makes a call only where the ledger has room for the most that it can cost; raises BudgetError otherwise.

    A call that failed gives back what it had reserved: what it cost, the provider alone knows.
    """

    def __init__(self, inner: Model, ledger: Ledger, prices: PriceTable, models: Mapping[Tier, str]) -> None:
        self._inner = inner
        self._ledger = ledger
        self._prices = prices
        self._models = models

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        read = estimated_tokens(request)
        dollars = self._prices.at_most(self._models[request.tier], read, request.max_tokens)
        async with self._ledger.reserved(request.purpose, read + request.max_tokens, dollars) as reservation:
            reply = await self._inner.ask(request)
            reservation.settle(reply.usage)
            return reply
