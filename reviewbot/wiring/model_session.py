"""Connect one run to its models: which provider serves them, with which key, and what it may spend."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.config import Settings
from reviewbot.domain.ports import Model, UsageLedger
from reviewbot.llm.client.budget import Deadline, SpendLedger, SpendLimits
from reviewbot.llm.client.rate_limiter import RateLimiter, TokenBucket
from reviewbot.llm.client.retry import RetryPolicy
from reviewbot.llm.client.stack import ClientConfig, build_client
from reviewbot.llm.providers import DEFAULT_TIMEOUT_S, ConnectRequest, folder_of
from reviewbot.wiring.models import RunServices, prices_of, provider_of, tiers_of

MARGIN, MAX_MARGIN_S = 0.05, 5.0
"""Of the review's time, at the end of which nothing more is asked: what was found must still be handed over."""


@dataclass(frozen=True)
class ModelSession:
    """The models of one run, and what was spent on them."""

    model: Model
    usage_ledger: UsageLedger
    deadline: Deadline


def open_session(settings: Settings, services: RunServices) -> ModelSession:
    """Open the session. Raises ConfigError where no model can be asked."""
    provider, models, prices = provider_of(settings), tiers_of(settings), prices_of(settings)
    timeout_s = float(settings.task_timeout_s or DEFAULT_TIMEOUT_S)
    request = ConnectRequest(provider.name, services.environ, models, prices, timeout_s)
    client = folder_of(provider).connect(request)
    deadline = Deadline(services.clock, settings.deadline_s - min(MAX_MARGIN_S, MARGIN * settings.deadline_s))
    limits = SpendLimits(settings.max_cost, settings.max_calls, settings.max_tokens, settings.worker_tokens)
    ledger = SpendLedger(limits)
    config = ClientConfig(
        clock=services.clock,
        deadline=deadline,
        ledger=ledger,
        journal=services.journal,
        recorder=services.trace,
        models=models,
        prices=prices,
        retry=RetryPolicy(concurrency=settings.calls_in_flight),
        rate_limiter=_rate_limiter(settings, services, client.address),
        origin=client.address,
    )

    return ModelSession(build_client(client, config), ledger, deadline)


def _rate_limiter(settings: Settings, services: RunServices, origin: str) -> RateLimiter:
    """The limiter of this run's calls; where several processes share one, that of their provider."""
    limits = (settings.requests_per_minute, settings.tokens_per_minute)
    return TokenBucket(services.clock, *limits) if services.rates is None else services.rates(origin, *limits)
