"""Prices and models as they are shipped, and as a user adds to them."""

from __future__ import annotations

import re
from datetime import date
from typing import get_args

import pytest

from reviewbot.config.providers import TIERS
from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.errors import ConfigError
from reviewbot.prices import PER, Price, PriceTable, default_models, packaged_prices, read_prices, unpriced_note

ROW = """[[price]]
model = "m"
input = 1
output = 2.5
cache_read = 0.1
cache_write = 1.25
"""


@pytest.mark.slow
def test_the_models_are_in_the_sdks_list_and_not_deprecated() -> None:
    from anthropic.resources.messages import DEPRECATED_MODELS  # noqa: PLC0415 - it takes two seconds
    from anthropic.types import ModelParam  # noqa: PLC0415 - the same

    listed = get_args(get_args(ModelParam)[0])
    models: dict[str, str] = dict(default_models().items())
    assert tuple(models) == TIERS == get_args(Tier)
    for family, model in zip(("haiku", "sonnet", "opus"), models.values(), strict=True):
        assert model in listed
        assert model not in DEPRECATED_MODELS
        of_tier = [each for each in listed if each.startswith(f"claude-{family}-") and each not in DEPRECATED_MODELS]
        assert max(of_tier, key=_version) == model


def _version(model: str) -> tuple[int, ...]:
    """As in claude-opus-5-5; what has a date behind it is the same model."""
    return tuple(int(part) for part in re.findall(r"-(\d+)", model) if len(part) < 8)


@pytest.mark.parametrize("provider", ["bedrock", "vertex"])
def test_other_providers_have_ids_and_prices_of_their_own_which_are_configured(provider: str) -> None:
    with pytest.raises(ConfigError, match="REVIEWBOT_MODEL_SMALL"):
        default_models(provider)
    assert packaged_prices(provider) == PriceTable()


def test_models_that_a_limit_in_dollars_cannot_hold_are_named_in_one_line() -> None:
    prices = read_prices(ROW, "p.toml")

    assert unpriced_note(prices, ["m", "m"]) is None
    assert unpriced_note(prices, ["x", "m", "x"]) == (
        "--max-cost does not limit calls of x, whose price is not known: "
        "set the price of it with REVIEWBOT_PRICES, or limit REVIEWBOT_MAX_TOKENS"
    )
    assert "calls of y, x, whose" in (unpriced_note(PriceTable(), ("y", "x", "y")) or "")


def test_each_shipped_price_says_where_and_when_it_was_read_and_makes_sense() -> None:
    prices = packaged_prices().prices
    assert set(default_models().values()) <= set(prices)
    for price in prices.values():
        assert price.source.startswith("https://")
        assert isinstance(price.read, date)
        for rates in filter(None, (price, price.long)):
            assert 0 < rates.cache_read < rates.input < rates.cache_write < rates.output


def test_a_price_that_nobody_looked_up_is_unknown() -> None:
    table = packaged_prices()
    for model in ("claude-opus-5-5-v1:0", "us.anthropic.claude-opus-5-5", "claude-opus", "claude-fable-5-2", ""):
        assert table.cost(model, Usage(calls=1, input_tokens=5)) is None
        assert table.at_most(model, 5, 5) is None


def test_what_a_call_cost_is_the_sum_of_its_four_parts() -> None:
    usage = Usage(input_tokens=PER, output_tokens=PER, cached_tokens=PER, cache_write_tokens=PER)
    assert PriceTable({"m": Price(model="m", input=1, output=2, cache_read=4, cache_write=8)}).cost("m", usage) == 15


def test_the_most_that_a_call_can_cost_is_without_help_from_the_cache() -> None:
    table = read_prices(ROW, "mine")
    assert table.at_most("m", PER, PER) == 1.25 + 2.5


def test_a_long_prompt_is_charged_at_its_own_rate_from_its_first_token() -> None:
    table = packaged_prices()
    short = Usage(input_tokens=50_000, cached_tokens=30_000, cache_write_tokens=20_000, output_tokens=1_000)
    cost = table.cost("claude-haiku-5-5", short)
    longer = table.cost("claude-haiku-5-5", short.model_copy(update={"cached_tokens": 30_001}))
    assert cost is not None
    assert cost == pytest.approx((50_000 * 0.1 + 30_000 * 0.01 + 20_000 * 0.125 + 1_000 * 0.5) / PER)
    assert longer == pytest.approx(5 * cost, rel=1e-3)


def test_a_users_table_goes_before_the_shipped_one() -> None:
    mine = read_prices(ROW + 'also = ["claude-opus-5-5"]\n', "mine")
    table = packaged_prices().extend(mine)
    assert table.prices["claude-opus-5-5"] is table.prices["m"]
    assert table.prices["m"].output == 2.5
    assert table.prices["claude-sonnet-5-5"] == packaged_prices().prices["claude-sonnet-5-5"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[price", "no TOML"),
        ("", r"list of \[\[price\]\]"),
        ("schema = 2\n" + ROW, "schema = 1"),
        ("price = 3", r"list of \[\[price\]\]"),
        ("price = [3]", "number 1: the top: .*dictionary"),
        ('[[price]]\nmodel = ""', "number 1: "),
        (ROW + ROW, "m stands there twice"),
        (ROW + 'also = ["m"]', "m stands there twice"),
        (ROW + 'also = "n"', "also: .*tuple"),
        (ROW + "also = [1]", "also.0: .*string"),
        (ROW + "outptu = 1", "outptu: Extra inputs"),
        (ROW.replace("2.5", "nan"), "number 1: output: "),
        (ROW.replace("2.5", "inf"), "number 1: output: "),
        (ROW.replace("2.5", "-1"), "number 1: output: "),
        (ROW.replace("2.5", "true"), "number 1: output: "),
        (ROW.replace("2.5", '"3"'), "number 1: output: "),
        (ROW.replace("output = 2.5\n", ""), "number 1: output: "),
        (ROW + "long = 1", "number 1: long"),
        (ROW + "long = { over = 5 }", "number 1: long"),
        (ROW + "long = { over = 0, input = 1, output = 1, cache_read = 1, cache_write = 1 }", "long.over: "),
        (ROW + "long = { over = 9, input = -1, output = 1, cache_read = 1, cache_write = 1 }", "long.input: "),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_name(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=f"^my.toml: .*{words}"):
        read_prices(text, "my.toml")
