"""Connect one run to its models: which provider serves them, with which key, and what it may spend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from reviewbot.config import Settings
from reviewbot.domain.errors import ConfigError
from reviewbot.domain.ports import Model, UsageLedger
from reviewbot.llm.client.budget import Deadline, Ledger, Limits
from reviewbot.llm.client.rate_limiter import RateLimiter, TokenBucket
from reviewbot.llm.client.retry import RetryPolicy
from reviewbot.llm.client.stack import ClientConfig, build_client
from reviewbot.llm.providers.claude import Access, ClaudeModel, Sdk
from reviewbot.llm.providers.claude.access import DEFAULT_TIMEOUT_S, Provider
from reviewbot.wiring.models import KEYS, RunServices, prices_of, tiers_of

MARGIN, MAX_MARGIN_S = 0.05, 5.0
"""Of the review's time, at the end of which nothing more is asked: what was found must still be handed over."""


@dataclass(frozen=True)
class ModelSession:
    """The models of one run, and what was spent on them."""

    model: Model
    books: UsageLedger
    deadline: Deadline
    ready: Callable[[], Awaitable[object]]
    """Done when the SDK is loaded."""
    close: Callable[[], Awaitable[None]]


def line_to(settings: Settings, around: RunServices) -> ModelSession:
    """Open the session. Raises ConfigError where no model can be asked."""
    access = access_of(settings, around.environ)
    models, prices = tiers_of(settings), prices_of(settings)
    sdk = around.sdk or Sdk()
    adapter = ClaudeModel(access, models, prices, sdk)
    deadline = Deadline(around.clock, settings.deadline_s - min(MAX_MARGIN_S, MARGIN * settings.deadline_s))
    limits = Limits(settings.max_cost, settings.max_calls, settings.max_tokens, settings.worker_tokens)
    ledger = Ledger(limits)
    config = ClientConfig(
        clock=around.clock,
        deadline=deadline,
        ledger=ledger,
        journal=around.journal,
        recorder=around.trace,
        models=models,
        prices=prices,
        retry=RetryPolicy(concurrency=settings.calls_in_flight),
        rate_limiter=_rate_limiter(settings, around, access.base_url or access.provider),
        origin=access.base_url or access.provider,
    )

    async def close() -> None:
        await adapter.aclose()
        if adapter.load_ms is not None:
            around.trace.record("sdk_loaded", duration_ms=adapter.load_ms)

    return ModelSession(build_client(adapter, config), ledger, deadline, sdk.module, close)


def _rate_limiter(settings: Settings, around: RunServices, origin: str) -> RateLimiter:
    """The limiter of this run's calls; where several processes share one, that of their provider."""
    limits = (settings.requests_per_minute, settings.tokens_per_minute)
    return TokenBucket(around.clock, *limits) if around.rates is None else around.rates(origin, *limits)


def access_of(settings: Settings, environ: Mapping[str, str]) -> Access:
    """How to reach the provider, by settings and environment. Raises ConfigError where the key is missing."""
    provider: Provider = settings.provider or "anthropic"
    timeout_s = float(settings.task_timeout_s or DEFAULT_TIMEOUT_S)
    if provider == "bedrock":
        region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
        key = environ.get("AWS_BEARER_TOKEN_BEDROCK") or None
        return Access(provider, key, environ.get("ANTHROPIC_BEDROCK_BASE_URL") or None, region, None, timeout_s)
    if provider == "vertex":
        project = environ.get("ANTHROPIC_VERTEX_PROJECT_ID")
        url = environ.get("ANTHROPIC_VERTEX_BASE_URL") or None
        return Access(provider, None, url, environ.get("CLOUD_ML_REGION"), project, timeout_s)
    key = next((environ[name] for name in KEYS if environ.get(name)), None)
    return Access(provider, key, _address(environ.get("ANTHROPIC_BASE_URL")), timeout_s=timeout_s)


def _address(text: str | None) -> str | None:
    if text and not text.startswith(("https://", "http://")):
        raise ConfigError("ANTHROPIC_BASE_URL must begin with https:// or http://")
    return text or None
