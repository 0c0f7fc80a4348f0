"""The former names of tiers: read in settings and cards, and nowhere else."""

from __future__ import annotations

from typing import get_args

import pytest

from reviewbot.config import load_settings
from reviewbot.config.settings import KEYS
from reviewbot.config.tiers import FORMER_KEYS, FORMER_TIERS, current_keys, current_tier
from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import ConfigError


def test_each_tier_has_one_former_name() -> None:
    assert tuple(FORMER_TIERS.values()) == get_args(Tier)
    assert set(FORMER_KEYS.values()) <= KEYS.keys()


@pytest.mark.parametrize(("tier", "current"), [("opus", "large"), ("large", "large"), ("gpt", "gpt"), (3, 3), ([], [])])
def test_current_tier_changes_former_names_alone(tier: object, current: object) -> None:
    assert current_tier(tier) == current


@pytest.mark.parametrize("table", [{"model_opus": 1, "model_large": 2}, {"model_large": 2, "model_opus": 1}])
def test_a_current_key_wins_over_its_former_name(table: dict[str, int]) -> None:
    assert current_keys(table) == {"model_large": 2}


def test_a_former_key_of_a_file_sets_the_current_setting() -> None:
    settings = load_settings(None, {}, {}, user_text='model_haiku = "a"', user_name="mine.toml")

    assert (settings.model_small, settings.origin["model_small"]) == ("a", "mine.toml:1")


def test_a_former_variable_sets_the_current_setting() -> None:
    settings = load_settings(None, {"REVIEWBOT_MODEL_SONNET": "b"}, {})

    assert (settings.model_medium, settings.origin["model_medium"]) == ("b", "REVIEWBOT_MODEL_SONNET")


@pytest.mark.parametrize("text", ["claude", "models"])
def test_the_engine_of_models_has_a_former_name_too(text: str) -> None:
    assert load_settings(None, {"REVIEWBOT_ENGINE": text}, {}).engine == "models"
    assert load_settings(None, {}, {}, user_text=f'engine = "{text}"').engine == "models"


def test_a_current_variable_wins_over_its_former_name() -> None:
    settings = load_settings(None, {"REVIEWBOT_MODEL_SONNET": "b", "REVIEWBOT_MODEL_MEDIUM": "c"}, {})

    assert (settings.model_medium, settings.origin["model_medium"]) == ("c", "REVIEWBOT_MODEL_MEDIUM")


def test_a_repository_cannot_set_a_model_by_its_former_name_either() -> None:
    with pytest.raises(ConfigError, match="'model_large' cannot be set by a repository"):
        load_settings('model_opus = "c"', {}, {})
