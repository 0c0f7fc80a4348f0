"""Whether models review, which ones, and what they cost. Only the environment holds keys; no file and no flag does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.config import Settings
from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import ConfigError, InputError
from reviewbot.domain.ports import Clock, Journal, Recorder
from reviewbot.prices import TIERS, PriceTable, default_models, packaged_prices, read_prices

if TYPE_CHECKING:
    # What asks models is loaded where a model is configured, and not with every review.
    from reviewbot.llm.client.rate_limiter import RateLimiter
    from reviewbot.llm.providers.claude import Sdk

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Either will do; the SDK's own names."""
_OWN_SECRETS = (
    *KEYS, "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
    "REVIEWBOT_MARKER_KEY", "REVIEWBOT_METRICS_TOKEN", "REVIEWBOT_PRIVATE_KEY", "REVIEWBOT_WEBHOOK_SECRET",
)  # fmt: skip
"""Variables of which no value may ever be in a report, from whatever source."""
_MIN_SECRET_CHARS = 16
"""Characters. To mask what is shorter wherever it stands would mask words."""


def own_secrets(environ: Mapping[str, str]) -> list[str]:
    """The credentials that this process was given."""
    return [value for name in _OWN_SECRETS if len(value := environ.get(name, "")) >= _MIN_SECRET_CHARS]


def asks_models(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether models review: that was said, or nothing was and there is a key, or a provider with its own login."""
    if settings.engine is not None:
        return settings.engine == "claude"
    return settings.provider in ("bedrock", "vertex") or any(environ.get(name) for name in KEYS)


def tiers_of(settings: Settings) -> Mapping[Tier, str]:
    """The id of each tier's model. Raises ConfigError."""
    given: dict[Tier, str | None] = {
        "small": settings.model_small,
        "medium": settings.model_medium,
        "large": settings.model_large,
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
        model_small=models.get("small", settings.model_small),
        model_medium=models.get("medium", settings.model_medium),
        model_large=models.get("large", settings.model_large),
        concurrency=settings.calls_in_flight if asked else settings.tasks_at_once,
        origin=origin,
    )


def prices_of(settings: Settings) -> PriceTable:
    """Read what models cost. Raises InputError for a table that cannot be read, ConfigError for one that is none."""
    table = packaged_prices(settings.provider or "anthropic")
    if settings.prices is None:
        return table
    try:
        text = Path(settings.prices).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prices {settings.prices}: {error}") from None
    return table.extended(read_prices(text, settings.prices))


MakeRateLimiter = Callable[[str, int | None, int | None], "RateLimiter"]
"""The limiter of a provider's address, with requests and tokens per minute."""


@dataclass(frozen=True)
class RunServices:
    """What the calls of a run share with the rest of it."""

    clock: Clock
    journal: Journal
    trace: Recorder
    environ: Mapping[str, str]
    sdk: Sdk | None = None
    rates: MakeRateLimiter | None = None
