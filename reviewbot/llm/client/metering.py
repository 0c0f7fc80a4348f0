"""Reserve what a call can cost before it is sent, and record what it used after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.ports import Model, ModelReply, ModelRequest
from reviewbot.llm.client.budget import SpendLedger
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimate_tokens
from reviewbot.prices import PriceTable

MAX_CHARS_PER_TOKEN = 20
"""Fewer tokens than this for the characters that were sent or received were not counted, or not all of them."""

MIN_CHARS_PER_TOKEN = 0.5
"""More tokens than this, beside `UNSEEN_TOKENS`, were not in what was sent."""

UNSEEN_TOKENS = 5_000
"""What a provider may add to a request: its own instructions for tools and structured answers."""


@dataclass(frozen=True)
class Meter:
    """The budgets, and what calls cost of them. `models` are the ids by tier."""

    ledger: SpendLedger
    prices: PriceTable
    models: Mapping[Tier, str]

    def most(self, request: ModelRequest, read: int) -> tuple[int, float | None]:
        """Tokens and dollars that a try can cost at most where about `read` tokens are sent."""
        dollars = self.prices.at_most(self.models[request.tier], read, request.max_tokens)
        return read + request.max_tokens, dollars

    def check_usage(self, request: ModelRequest, read: int, used: Usage, answer: str = "") -> Usage:
        """The usage that a provider reported, or an estimate where it cannot be right.

        Input and output are judged apart: by the `read` tokens that were sent by estimate, and by the size of `answer`.
        An estimate counts all input as read without a cache.
        """
        wrote = len(answer) / CHARS_PER_TOKEN
        reported = used.input_tokens + used.cached_tokens + used.cache_write_tokens
        estimate: dict[str, int] = {}
        if not _fits(reported, read, read * CHARS_PER_TOKEN / MIN_CHARS_PER_TOKEN + UNSEEN_TOKENS):
            estimate |= {"input_tokens": read, "cached_tokens": 0, "cache_write_tokens": 0}
        if not _fits(used.output_tokens, wrote, 2 * request.max_tokens):
            estimate["output_tokens"] = round(wrote)
        if not estimate:
            return used
        counted = used.model_copy(update={**estimate, "estimated_calls": 1})
        dollars = self.prices.cost(self.models[request.tier], counted)
        return counted.model_copy(update={"cost_usd": dollars or 0.0, "unpriced_calls": int(dollars is None)})


class MeteredModel:
    """Makes a try only where the ledger has room for the most that it can cost; raises BudgetError otherwise.

    Recorded is what the provider reports, with an answer or before a call fails: a call of which it reports nothing
    costs nothing. An answer whose usage is missing or cannot be right is recorded, and returned, with an estimate.
    """

    def __init__(self, inner: Model, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        meter, read = self._meter, estimate_tokens(request)
        async with meter.ledger.reserve(request.purpose, *meter.most(request, read)) as reservation:

            def report(used: Usage) -> None:
                reservation.settle(meter.check_usage(request, read, used))
                if request.on_usage is not None:
                    request.on_usage(used)

            reply = await self._inner.ask(replace(request, on_usage=report))
            answer = reply.text + "".join(json.dumps(dict(call.arguments)) for call in reply.calls)
            used = meter.check_usage(request, read, reply.usage, answer)
            reservation.settle(used)
            return replace(reply, usage=used)


class BudgetCheck(MeteredModel):
    """Raises BudgetError at once where the ledger has no room, before the request waits for its turn."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        self._meter.ledger.check(request.purpose, *self._meter.most(request, estimate_tokens(request)))
        return await self._inner.ask(request)


def _fits(tokens: int, estimated: float, most: float) -> bool:
    """Whether a count can be true of something whose tokens were estimated from its length."""
    return estimated * CHARS_PER_TOKEN / MAX_CHARS_PER_TOKEN <= tokens <= most
