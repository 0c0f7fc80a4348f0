"""Whether models review, which ones, and what they cost. Only the environment holds keys; no file and no flag does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.config import Settings
from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS, SECRET_VARIABLES, Provider
from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import ConfigError, InputError
from reviewbot.domain.ports import Clock, Journal, Recorder
from reviewbot.hosts.registry import registrations
from reviewbot.prices import TIERS, PriceTable, default_models, packaged_prices, read_prices

if TYPE_CHECKING:
    # What asks models is loaded where a model is configured, and not with every review.
    from reviewbot.llm.client.rate_limiter import RateLimiter

_OWN_SECRETS = (
    *SECRET_VARIABLES,
    *("REVIEWBOT_CLIENT_SECRET", "REVIEWBOT_MARKER_KEY", "REVIEWBOT_METRICS_TOKEN", "REVIEWBOT_PAGES_TOKEN"),
    *("REVIEWBOT_PRIVATE_KEY", "REVIEWBOT_WEBHOOK_SECRET"),
)
"""Variables of which no value may ever be in a report, from whatever source; those of hosts come with each host."""
_MIN_SECRET_CHARS = 16
"""Characters. To mask what is shorter wherever it stands would mask words."""


def own_secrets(environ: Mapping[str, str]) -> list[str]:
    """The credentials that this process was given."""
    of_hosts = (name for _, host in registrations() for name in host.SECRETS)
    names = (*_OWN_SECRETS, *of_hosts)
    return [value for name in names if len(value := environ.get(name, "")) >= _MIN_SECRET_CHARS]


def provider_of(settings: Settings) -> Provider:
    """The provider of the models."""
    return DEFAULT_PROVIDER if settings.provider is None else PROVIDERS[settings.provider]


def asks_models(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether models review: that was said, or nothing was and there is a key, or a provider with its own login."""
    return provider_of(settings).can_ask(environ) if settings.engine is None else settings.engine == "models"


def tiers_of(settings: Settings) -> Mapping[Tier, str]:
    """The id of each tier's model. Raises ConfigError for a provider whose ids must be configured, and are not."""
    given = {tier: getattr(settings, f"model_{tier}") for tier in TIERS}
    chosen = {tier: name for tier, name in given.items() if name is not None}
    return chosen if len(chosen) == len(given) else {**default_models(provider_of(settings).name), **chosen}


def effective(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings with what a run chooses where they leave it open: engine, provider, models, concurrency.

    Models of a provider that ships none stay open: a run would ask for them.
    """
    origin, provider = dict(settings.origin), provider_of(settings)
    if settings.engine is None:
        key = next((name for name in provider.keys if environ.get(name)), None)
        why = f"{key} is set" if key else "there is no key of a model"
        if not provider.keys:
            why = f"the provider is {provider.name}"
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
        engine=settings.engine or ("models" if asked else "analyzers"),
        provider=provider.name,
        concurrency=settings.calls_in_flight if asked else settings.tasks_at_once,
        origin=origin,
        model_small=models.get("small", settings.model_small),
        model_medium=models.get("medium", settings.model_medium),
        model_large=models.get("large", settings.model_large),
    )


def prices_of(settings: Settings) -> PriceTable:
    """Read what models cost. Raises InputError for an unreadable file, ConfigError for an invalid table."""
    table = packaged_prices(provider_of(settings).name)
    if settings.prices is None:
        return table
    try:
        text = Path(settings.prices).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prices {settings.prices}: {error}") from None
    return table.extend(read_prices(text, settings.prices))


MakeRateLimiter = Callable[[str, int | None, int | None], "RateLimiter"]
"""The limiter of a provider's address, with requests and tokens per minute."""


@dataclass(frozen=True)
class RunServices:
    """What the calls of a run share with the rest of it."""

    clock: Clock
    journal: Journal
    trace: Recorder
    environ: Mapping[str, str]
    rates: MakeRateLimiter | None = None
