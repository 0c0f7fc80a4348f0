"""The chain that every call to a model goes through, from the caller to the provider's adapter.

    TracingModel    writes one trace event for each request, however it ends
    CachingModel    answers from the journal what was answered before; needs no budget
    PrefixGate      holds requests back until the first one with their cached prefix is being answered
    BudgetCheck     refuses what the budgets have no room for, before it waits for anything
    RetryingModel   retries transient errors within deadline, rate and concurrency
    MeteredModel    reserves room in the budgets for each try and records what it used
    adapter         one try

CachingModel stands outside of the budgets because a stored answer must be available when nothing more may be spent.
MeteredModel stands inside of RetryingModel because each try may be charged, and because a wait for room in the budgets
must end with the deadline as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Clock, Journal, Model, ModelReply, ModelRequest, Recorder
from reviewbot.llm.client.budget import Deadline, SpendLedger
from reviewbot.llm.client.metering import BudgetCheck, Meter, MeteredModel
from reviewbot.llm.client.prefix_gate import PrefixGate
from reviewbot.llm.client.rate_limiter import RateLimiter
from reviewbot.llm.client.requests import digest
from reviewbot.llm.client.response_cache import CachingModel
from reviewbot.llm.client.retry import RetryingModel, RetryPolicy
from reviewbot.prices import PriceTable

STOPPED = "the request was cancelled"
"""The message of a request that was stopped by its task's timeout or by the end of the run."""


@dataclass(frozen=True)
class ClientConfig:
    """The configuration that all calls of one run share."""

    clock: Clock
    deadline: Deadline
    ledger: SpendLedger
    journal: Journal
    recorder: Recorder
    models: Mapping[Tier, str]
    """The id of each tier's model."""
    prices: PriceTable = field(default_factory=PriceTable)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    rate_limiter: RateLimiter | None = None
    """None: no limit."""
    origin: str = ""
    """What serves the models, such as a base URL; part of the cache's keys."""


def build_client(adapter: Model, config: ClientConfig) -> Model:
    """The model that all callers in a run share. For one event loop."""
    meter = Meter(config.ledger, config.prices, config.models)
    metered = MeteredModel(adapter, meter)
    retrying = RetryingModel(metered, config.clock, config.deadline, config.retry, config.rate_limiter)
    gated = PrefixGate(BudgetCheck(retrying, meter), config.models)
    cached = CachingModel(gated, config.journal, config.models, config.origin)
    return TracingModel(cached, config)


class TracingModel:
    """Writes `call` for each answer, and `call_failed` with one line for each request without an answer."""

    def __init__(self, inner: Model, config: ClientConfig) -> None:
        self._inner = inner
        self._config = config

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        begin = self._config.clock.monotonic()
        asked = {
            "purpose": request.purpose,
            "subject": request.subject,
            "tier": request.tier,
            "request": digest(request, self._config.models[request.tier], self._config.origin),
        }
        try:
            reply = await self._inner.ask(request)
        except (EngineError, asyncio.CancelledError) as error:
            why = str(error) if isinstance(error, EngineError) else STOPPED
            self._config.recorder.record(
                "call_failed", **asked, error=type(error).__name__, message=why, duration_ms=self._since(begin)
            )
            raise
        self._config.recorder.record(
            "call",
            **asked,
            model=reply.model,
            usage=reply.usage.model_dump(mode="json"),
            duration_ms=self._since(begin),
            stored=reply.stored,
            stop=reply.stop,
        )
        return reply

    def _since(self, begin: float) -> int:
        return round((self._config.clock.monotonic() - begin) * 1000)
