"""Everything for a run with models, put together. Only the environment holds keys; no file and no flag does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.claude import Access, ClaudeModel, Sdk
from reviewbot.adapters.claude.access import DEFAULT_TIMEOUT_S, Provider
from reviewbot.cards import shipped_files
from reviewbot.config import Settings
from reviewbot.contracts import Tier
from reviewbot.errors import ConfigError, InputError
from reviewbot.llm.client.budget import Deadline, Ledger, Limits
from reviewbot.llm.client.rate_limiter import RateLimiter, TokenBucket
from reviewbot.llm.client.retry import RetryPolicy
from reviewbot.llm.client.stack import ClientConfig, build_client
from reviewbot.ports import Books, Clock, Journal, Model, Recorder
from reviewbot.prices import TIERS, PriceTable, default_models, packaged_prices, read_prices

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_OWN_SECRETS = (
    *KEYS, "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
    "REVIEWBOT_MARKER_KEY", "REVIEWBOT_METRICS_TOKEN", "REVIEWBOT_PRIVATE_KEY", "REVIEWBOT_WEBHOOK_SECRET",
)  # fmt: skip
"""Variables of which no value may ever be in a report, whoever wrote it there."""
_SHORTEST_SECRET = 16
"""Characters. To mask what is shorter wherever it stands would mask words."""
"""Either will do; the SDK's own names."""

MARGIN, MOST_MARGIN_S = 0.05, 5.0
"""Of the review's time, at the end of which nothing more is asked: what was found must still be handed over."""


def own_secrets(environ: Mapping[str, str]) -> list[str]:
    """The credentials that this process was given."""
    return [value for name in _OWN_SECRETS if len(value := environ.get(name, "")) >= _SHORTEST_SECRET]


def asks_models(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether models review: that was said, or nothing was and there is a key, or a provider with its own login."""
    if settings.engine is not None:
        return settings.engine == "claude"
    return settings.provider in ("bedrock", "vertex") or any(environ.get(name) for name in KEYS)


def loading(environ: Mapping[str, str], engine: str | None) -> Sdk | None:
    """Begin to load the SDK while the change is read; None where no model will be asked.

    Whatever is wrong is found, and said, when the settings are read.
    """
    wanted = engine or environ.get("REVIEWBOT_ENGINE") or "claude"
    asked = environ.get("REVIEWBOT_PROVIDER") in ("bedrock", "vertex") or any(environ.get(name) for name in KEYS)
    if wanted != "claude" or not asked:
        return None
    sdk = Sdk()
    sdk.begin()
    return sdk


def tiers_of(settings: Settings) -> Mapping[Tier, str]:
    """The id of each tier's model. Raises ConfigError."""
    given: dict[Tier, str | None] = {
        "haiku": settings.model_haiku,
        "sonnet": settings.model_sonnet,
        "opus": settings.model_opus,
    }
    chosen = {tier: name for tier, name in given.items() if name is not None}
    if len(chosen) == len(given):
        return chosen
    return {**default_models(settings.provider or "anthropic"), **chosen}


def effective(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings with what a run chooses where they leave it open: engine, provider, models, concurrency.

    Models of a provider that ships none stay open: a run would ask for them.
    """
    origin = dict(settings.origin)
    if settings.engine is None:
        key = next((name for name in KEYS if environ.get(name)), None)
        why = f"{key} is set" if key else "there is no key of a model"
        if settings.provider in ("bedrock", "vertex"):
            why = f"the provider is {settings.provider}"
        origin["engine"] = f"{origin.get('engine', 'default')}: {why}"
    asked = asks_models(settings, environ)
    models: Mapping[Tier, str] = {}
    try:
        models = tiers_of(settings)
    except ConfigError as error:
        open_ones = [f"model_{tier}" for tier in TIERS if getattr(settings, f"model_{tier}") is None]
        origin |= {key: f"{origin.get(key, 'default')}: {error}" for key in open_ones}
    return replace(
        settings,
        engine=settings.engine or ("claude" if asked else "analyzers"),
        provider=settings.provider or "anthropic",
        model_haiku=models.get("haiku", settings.model_haiku),
        model_sonnet=models.get("sonnet", settings.model_sonnet),
        model_opus=models.get("opus", settings.model_opus),
        concurrency=settings.calls_in_flight if asked else settings.tasks_at_once,
        origin=origin,
    )


def prices_of(settings: Settings) -> PriceTable:
    """What models cost. Raises InputError for a table that cannot be read, ConfigError for one that is none."""
    table = packaged_prices(settings.provider or "anthropic")
    if settings.prices is None:
        return table
    try:
        text = Path(settings.prices).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prices {settings.prices}: {error}") from None
    return table.extended(read_prices(text, settings.prices))


MakeRateLimiter = Callable[[str, int | None, int | None], RateLimiter]
"""The limiter of a provider's address, with requests and tokens per minute."""


@dataclass(frozen=True)
class Line:
    """The line to the models in one run, and what was spent on it."""

    model: Model
    books: Books
    deadline: Deadline
    ready: Callable[[], Awaitable[object]]
    """Done when the SDK is loaded."""
    close: Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Around:
    """What the calls of a run share with the rest of it."""

    clock: Clock
    journal: Journal
    trace: Recorder
    environ: Mapping[str, str]
    sdk: Sdk | None = None
    rates: MakeRateLimiter | None = None


def line_to(settings: Settings, around: Around) -> Line:
    """The line. Raises ConfigError where no model can be asked."""
    access = access_of(settings, around.environ)
    models, prices = tiers_of(settings), prices_of(settings)
    sdk = around.sdk or Sdk()
    adapter = ClaudeModel(access, models, prices, sdk)
    deadline = Deadline(around.clock, settings.deadline_s - min(MOST_MARGIN_S, MARGIN * settings.deadline_s))
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

    return Line(build_client(adapter, config), ledger, deadline, sdk.module, close)


def _rate_limiter(settings: Settings, around: Around, origin: str) -> RateLimiter:
    """The limiter of this run's calls; where several processes share one, that of their provider."""
    limits = (settings.requests_per_minute, settings.tokens_per_minute)
    return TokenBucket(around.clock, *limits) if around.rates is None else around.rates(origin, *limits)


def access_of(settings: Settings, environ: Mapping[str, str]) -> Access:
    """Who serves the models. Raises ConfigError where the key is missing."""
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


def prompt(name: str) -> str:
    """A shipped prompt that is no worker's."""
    return shipped_files()[f"prompts/{name}.md"]
