"""Which models there are and what they cost: tables that come with the package, and what a user adds to them.

A price that is in no table is unknown, and stays so: it is never taken from a model with a similar name.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, get_args

from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS
from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.errors import ConfigError
from reviewbot.tables import packaged_table, packaged_text

PER = 1_000_000
"""Tokens that a price is for."""

MAX_DOLLARS = 100_000.0
"""Per million tokens. What is above it was meant for other units."""

TIERS: tuple[Tier, ...] = get_args(Tier)
"""From the cheapest."""

_SCHEMA = 1
_KEYS = {"model", "also", "read", "source", "long"}


@dataclass(frozen=True)
class Rates:
    """Dollars per million tokens; `cache_write` is for five minutes."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def dollars(self, usage: Usage) -> float:
        """What a call cost."""
        parts = (
            usage.input_tokens * self.input,
            usage.output_tokens * self.output,
            usage.cached_tokens * self.cache_read,
            usage.cache_write_tokens * self.cache_write,
        )
        return math.fsum(parts) / PER


_RATES = tuple(each.name for each in fields(Rates))


@dataclass(frozen=True)
class Price:
    """What one model costs, where that is written and when it was read (YYYY-MM-DD, or empty)."""

    rates: Rates
    source: str
    read: str = ""
    long_over: int | None = None
    """Tokens of a prompt, cached ones included, above which the whole call is charged by `long_rates`."""
    long_rates: Rates | None = None

    def rates_for(self, prompt_tokens: int) -> Rates:
        """The rates of a call with such a prompt."""
        if self.long_rates is not None and self.long_over is not None and prompt_tokens > self.long_over:
            return self.long_rates
        return self.rates


@dataclass(frozen=True)
class PriceTable:
    """Prices by the exact id of a model."""

    prices: Mapping[str, Price] = field(default_factory=dict)

    def cost(self, model: str, usage: Usage) -> float | None:
        """Dollars for one call; None where the price is not known."""
        if (price := self.prices.get(model)) is None:
            return None
        return price.rates_for(usage.input_tokens + usage.cached_tokens + usage.cache_write_tokens).dollars(usage)

    def at_most(self, model: str, prompt_tokens: int, output_tokens: int) -> float | None:
        """Dollars for one call of which nothing is read from the cache and all is written to it; None as above."""
        dearest = (
            Usage(input_tokens=prompt_tokens, output_tokens=output_tokens),
            Usage(cache_write_tokens=prompt_tokens, output_tokens=output_tokens),
        )
        found = [self.cost(model, usage) for usage in dearest]
        return max((cost for cost in found if cost is not None), default=None)

    def extend(self, more: PriceTable) -> PriceTable:
        """Both tables; where both have a model, `more` wins."""
        return PriceTable({**self.prices, **more.prices})


def unpriced_note(prices: PriceTable, models: Iterable[str]) -> str | None:
    """One line for a review that has a limit in dollars: which of its models it cannot limit; None where it limits all.

    Each is named once, in the order in which they come.
    """
    unknown = [model for model in dict.fromkeys(models) if model not in prices.prices]
    if not unknown:
        return None
    them = "it" if len(unknown) == 1 else "them"
    return (
        f"--max-cost does not limit calls of {', '.join(unknown)}, whose price is not known: "
        f"set the price of {them} with REVIEWBOT_PRICES, or limit REVIEWBOT_MAX_TOKENS"
    )


@cache
def packaged_prices(provider: str = DEFAULT_PROVIDER.name) -> PriceTable:
    """The table that comes with the package; empty for a provider with prices of its own. Read once: it is a value."""
    known = provider in packaged_table("prices")
    return read_prices(packaged_text("prices.toml"), "prices.toml", provider) if known else PriceTable()


def default_models(provider: str = DEFAULT_PROVIDER.name) -> dict[Tier, str]:
    """The model of each tier. Raises ConfigError for a provider whose ids must be configured."""
    models = PROVIDERS[provider].models
    if not models:
        raise ConfigError(
            f"the ids of models at {provider} depend on region and account: "
            "set model_small, model_medium and model_large (or REVIEWBOT_MODEL_SMALL and so on)"
        )
    return {tier: models[tier] for tier in TIERS}


def read_prices(text: str, name: str, rows_of: str = "price") -> PriceTable:
    """Read a table from TOML: a list `rows_of`, of which each has `model` and the four rates, as in the shipped one.

    `source`, `read`, `also` (further ids of the same model) and `long` may be left out. Raises ConfigError, which calls
    the file `name`.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{name}: this is no TOML ({str(error)[:100]})") from None
    if table.get("schema", _SCHEMA) != _SCHEMA or not isinstance(rows := table.get(rows_of), list):
        raise ConfigError(f"{name}: it needs a list of [[{rows_of}]], and schema = {_SCHEMA} or none")
    prices: dict[str, Price] = {}
    for row in rows:
        ids, price = _row(row, name)
        for each in ids:
            if each in prices:
                raise ConfigError(f"{name}: {each} stands there twice")
            prices[each] = price
    return PriceTable(prices)


def _row(row: object, name: str) -> tuple[list[str], Price]:
    if not isinstance(row, dict) or not isinstance(model := row.get("model"), str) or not model:
        raise ConfigError(f"{name}: each price needs the id of its model")
    if unknown := row.keys() - _KEYS - set(_RATES):
        raise ConfigError(f"{name}: {model}: {min(unknown)} is no part of a price")
    also = row.get("also", [])
    if not isinstance(also, list) or not all(isinstance(each, str) and each for each in also):
        raise ConfigError(f"{name}: {model}: also must be a list of ids")
    over, long_rates = _long(row.get("long"), f"{name}: {model}: long")
    source, read = (str(row.get(key, default)) for key, default in (("source", name), ("read", "")))
    return [model, *also], Price(_rates(row, f"{name}: {model}"), source, read, over, long_rates)


def _long(row: object, where: str) -> tuple[int | None, Rates | None]:
    if row is None:
        return None, None
    if not isinstance(row, dict) or row.keys() != {"over", *_RATES}:
        raise ConfigError(f"{where}: it needs over, {', '.join(_RATES)}, and nothing else")
    over = row["over"]
    if type(over) is not int or over < 1:  # `type`, for true is a number to Python
        raise ConfigError(f"{where}: over must be a whole number of tokens")
    return over, _rates(row, where)


def _rates(row: Mapping[str, Any], where: str) -> Rates:
    for key in _RATES:
        value = row.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_DOLLARS:
            raise ConfigError(f"{where}: {key} must be dollars per million tokens, from 0 to {MAX_DOLLARS:.0f}")
    return Rates(**{key: float(row[key]) for key in _RATES})
