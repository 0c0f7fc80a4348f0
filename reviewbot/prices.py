"""Which models there are and what they cost: tables that come with the package, and what a user adds to them.

A price that is in no table is unknown, and stays so: it is never taken from a model with a similar name.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Annotated, get_args

from pydantic import Field, ValidationError

from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS
from reviewbot.domain.contracts import Contract, Tier, Usage
from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import ConfigError
from reviewbot.tables import packaged_table, packaged_text

PER = 1_000_000
"""Tokens that a price is for."""

MAX_DOLLARS = 100_000.0
"""Per million tokens. What is above it was meant for other units."""

TIERS: tuple[Tier, ...] = get_args(Tier)
"""From the cheapest."""

_SCHEMA = 1

Dollars = Annotated[float, Field(ge=0, le=MAX_DOLLARS)]
ModelId = Annotated[str, Field(min_length=1)]


class Rates(Contract):
    """Dollars per million tokens; `cache_write` is for five minutes."""

    input: Dollars
    output: Dollars
    cache_read: Dollars
    cache_write: Dollars

    def dollars(self, usage: Usage) -> float:
        """What a call cost."""
        parts = (
            usage.input_tokens * self.input,
            usage.output_tokens * self.output,
            usage.cached_tokens * self.cache_read,
            usage.cache_write_tokens * self.cache_write,
        )
        return math.fsum(parts) / PER


class LongRates(Rates):
    """The rates by which a whole call is charged whose prompt is long."""

    over: Annotated[int, Field(ge=1)]
    """Tokens of a prompt, cached ones included, above which it is."""


class Price(Rates):
    """What one model costs: a row of a table."""

    model: ModelId
    also: Annotated[tuple[ModelId, ...], Field(strict=False)] = ()
    """Further ids of the same model."""
    source: str = ""
    """Where that is written."""
    read: date | str = ""
    """When it was read there."""
    long: LongRates | None = None

    def rates_for(self, prompt_tokens: int) -> Rates:
        """The rates of a call with such a prompt."""
        return self.long if self.long is not None and prompt_tokens > self.long.over else self


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
    """Read a table from TOML: a list `rows_of` of prices, as in the shipped one.

    Raises ConfigError, which calls the file `name`.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{name}: this is no TOML ({str(error)[:100]})") from None
    if table.get("schema", _SCHEMA) != _SCHEMA or not isinstance(rows := table.get(rows_of), list):
        raise ConfigError(f"{name}: it needs a list of [[{rows_of}]], and schema = {_SCHEMA} or none")
    prices: dict[str, Price] = {}
    for number, row in enumerate(rows, 1):
        try:
            price = Price.model_validate(row)
        except ValidationError as error:
            raise ConfigError(f"{name}: [[{rows_of}]] number {number}: {': '.join(first_fault(error))}") from None
        for each in (price.model, *price.also):
            if each in prices:
                raise ConfigError(f"{name}: {each} stands there twice")
            prices[each] = price
    return PriceTable(prices)
