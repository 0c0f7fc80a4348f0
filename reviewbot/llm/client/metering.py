"""Reserve what a call can cost before it is sent, and record what it used after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reviewbot.contracts import Tier, Usage
from reviewbot.errors import AccountError, EngineError, TooLongError, TransientError
from reviewbot.llm.client.budget import Ledger
from reviewbot.llm.client.requests import estimated_tokens
from reviewbot.ports import Model, ModelReply, ModelRequest
from reviewbot.prices import PriceTable


@dataclass(frozen=True)
class Meter:
    """The budgets, and what calls cost of them. `models` are the ids by tier."""

    ledger: Ledger
    prices: PriceTable
    models: Mapping[Tier, str]

    def most(self, request: ModelRequest) -> tuple[int, float | None]:
        """Tokens and dollars that a try can cost at most, by a guess at what will be read."""
        read = estimated_tokens(request)
        dollars = self.prices.at_most(self.models[request.tier], read, request.max_tokens)
        return read + request.max_tokens, dollars

    def sent(self, request: ModelRequest) -> Usage:
        """What a try has used of which no answer came: it was read, as far as we know, and nothing was written."""
        read = Usage(calls=1, input_tokens=estimated_tokens(request))
        dollars = self.prices.cost(self.models[request.tier], read)
        return read.model_copy(update={"cost_usd": dollars or 0.0, "unpriced_calls": int(dollars is None)})


class MeteredModel:
    """Makes a try only where the ledger has room for the most that it can cost; raises BudgetError otherwise.

    A try that failed or was stopped is in the books with what was sent: it is a call, and the provider may charge it.
    One that was turned away at the door is a call without tokens: nobody charges that, and a report must not say so.
    """

    def __init__(self, inner: Model, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        async with self._meter.ledger.reserved(request.purpose, *self._meter.most(request)) as reservation:
            reservation.settle(self._meter.sent(request))  # what stands where no answer comes
            try:
                reply = await self._inner.ask(request)
            except EngineError as error:
                if _turned_away(error):
                    reservation.settle(Usage(calls=1))
                raise
            reservation.settle(reply.usage)
            return reply


class BudgetCheck:
    """Raises BudgetError at once where the ledger has no room: nobody waits for a turn in order to be refused."""

    def __init__(self, inner: Model, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        self._meter.ledger.check(request.purpose, *self._meter.most(request))
        return await self._inner.ask(request)


def _turned_away(error: EngineError) -> bool:
    """Whether the provider has surely read nothing: it refused the account or the length, or said when to come back."""
    if isinstance(error, TransientError):
        return error.retry_after_s is not None
    return isinstance(error, (AccountError, TooLongError))
