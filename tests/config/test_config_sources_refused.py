"""What a refusal says, word for word, and what a neighbouring setting may still be."""

from __future__ import annotations

import pytest

from reviewbot.config import load_settings
from reviewbot.config.settings import KEYS
from reviewbot.domain.errors import ConfigError

OWN = ".reviewbot.toml"


def refusal(
    text: str | None = None, environ: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(text, environ or {}, flags or {})
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "deadline_s = 601",
            ".reviewbot.toml:1: deadline_s can only be lowered by a repository, to 600 or less",
        ),
        (
            'workers = ["style"]',
            ".reviewbot.toml:1: workers must name 'security'; a repository cannot switch it off",
        ),
        (
            "max_cost = 1",
            f"{OWN}:1: 'max_cost' cannot be set by a repository; the operator sets REVIEWBOT_MAX_COST or --max-cost",
        ),
        (
            "max_calls = 1",
            ".reviewbot.toml:1: 'max_calls' cannot be set by a repository; the operator sets REVIEWBOT_MAX_CALLS",
        ),
        ("fail_onn = 1", ".reviewbot.toml:1: unknown key 'fail_onn'; did you mean 'fail_on'?"),
        ("inline = 11", ".reviewbot.toml:1: inline must be a whole number from 0 to 10, or off, not 11"),
        (
            "min_confidence = 101",
            ".reviewbot.toml:1: min_confidence must be a whole number from 0 to 100, or none, not 101",
        ),
        ("max_findings = 0", ".reviewbot.toml:1: max_findings must be a whole number from 1 to 1000, not 0"),
    ],
)
def test_a_repository_is_told_what_is_wrong_and_what_is_expected(text: str, words: str) -> None:
    assert refusal(text) == words


def test_the_limit_of_the_deadline_is_no_limit_of_other_numbers() -> None:
    settings = load_settings("max_findings = 1000\nmin_confidence = 100\ndeadline_s = 600", {}, {})

    assert (settings.max_findings, settings.min_confidence, settings.deadline_s) == (1000, 100, 600)


def test_the_floor_of_the_workers_is_no_floor_of_other_lists() -> None:
    settings = load_settings('ignore = ["*.lock"]\npaths = ["src/**"]\nworkers = ["style", "security"]', {}, {})

    assert (settings.ignore, settings.paths, settings.workers) == (("*.lock",), ("src/**",), ("style", "security"))


@pytest.mark.parametrize("key", [key.name for key in KEYS.values() if not key.repository])
def test_what_a_repository_may_not_set_a_user_may(key: str) -> None:
    """Whatever the value: who may set it is looked at first."""
    assert "cannot be set by a repository" in refusal(f'{key} = "x"')
    with pytest.raises(ConfigError, match=f"^mine:1: {key} must be ") as caught:
        load_settings(None, {}, {}, user_text=f"{key} = [1]", user_name="mine")
    assert "repository" not in str(caught.value)


def test_of_several_wrong_variables_the_first_by_name_is_told_in_any_order() -> None:
    wrong = {"REVIEWBOT_MAX_CALLS": "x", "REVIEWBOT_CHUNK_LINES": "x", "REVIEWBOT_FAIL_ON": "x"}

    told = {refusal(environ=dict(order)) for order in (wrong.items(), reversed(wrong.items()), sorted(wrong.items()))}

    assert [each.split()[0] for each in told] == ["REVIEWBOT_CHUNK_LINES"]


@pytest.mark.parametrize(
    ("environ", "flags", "value", "origin"),
    [
        ({}, {}, 3, "mine:1"),
        ({"REVIEWBOT_MAX_FINDINGS": ""}, {}, 3, "mine:1"),
        ({"REVIEWBOT_MAX_FINDINGS": "4"}, {}, 4, "REVIEWBOT_MAX_FINDINGS"),
        ({"REVIEWBOT_MAX_FINDINGS": "4"}, {"max_findings": None}, 4, "REVIEWBOT_MAX_FINDINGS"),
        ({"REVIEWBOT_MAX_FINDINGS": "4"}, {"max_findings": 5}, 5, "max_findings"),
        ({}, {"max_findings": "6"}, 6, "max_findings"),
    ],
)
def test_the_last_source_that_says_something_wins_and_is_named(
    environ: dict[str, str], flags: dict[str, object], value: int, origin: str
) -> None:
    settings = load_settings("max_findings = 2", environ, flags, user_text="max_findings = 3", user_name="mine")

    assert (settings.max_findings, settings.origin["max_findings"]) == (value, origin)
    assert settings.origin["min_confidence"] == "default"


@pytest.mark.parametrize("low", [1, 10])
def test_the_ends_of_a_range_belong_to_it(low: int) -> None:
    key, high = {1: ("max_findings", 1_000), 10: ("chunk_lines", 10_000)}[low]

    for text in (str(low), str(high)):
        assert getattr(load_settings(None, {f"REVIEWBOT_{key.upper()}": text}, {}), key) == int(text)
    for text in (
        str(low - 1),
        str(high + 1),
        f"+{low}",
        f"{low}.0",
        f" {low}",
        f"{low:06}",
        "none",
        "٣",
        "1_0",
        "0x1",
        "",
    ):
        assert "must be" in refusal(flags={key: text})


@pytest.mark.parametrize(("text", "number"), [("off", 0), ("0", 0), ("1", 1), ("10", 10)])
def test_a_number_of_nothing_has_a_word(text: str, number: int) -> None:
    written = f'"{text}"' if text == "off" else text

    assert load_settings(None, {"REVIEWBOT_INLINE": text}, {}).inline == number
    assert load_settings(f"inline = {written}", {}, {}).inline == number


@pytest.mark.parametrize("text", ["11", "-1", "none", "OFF", "001"])
def test_what_is_no_number_of_comments_is_refused(text: str) -> None:
    assert "must be a whole number from 0 to 10, or off" in refusal(environ={"REVIEWBOT_INLINE": text})


@pytest.mark.parametrize("key", ["min_confidence", "task_timeout_s", "max_calls"])
def test_only_what_is_optional_can_be_unset(key: str) -> None:
    flags = {key: "none"}

    assert getattr(load_settings(None, {}, flags, user_text=f"{key} = 50"), key) is None
    assert "must be a whole number" in refusal(environ={"REVIEWBOT_DEADLINE_S": "none"})


@pytest.mark.parametrize(
    ("text", "amount"), [("0", 0.0), ("2.5", 2.5), ("2.50", 2.5), ("100000", 100_000.0), ("none", None)]
)
def test_an_amount_is_dollars_and_cents(text: str, amount: float | None) -> None:
    assert load_settings(None, {"REVIEWBOT_MAX_COST": text}, {}).max_cost == amount


@pytest.mark.parametrize(
    ("written", "amount"),
    [("0", 0.0), ("2", 2.0), ("2.506", 2.51), ("100000", 100_000.0), ('"none"', None)],
)
def test_an_amount_in_a_file_is_a_number_to_the_cent(written: str, amount: float | None) -> None:
    assert load_settings(None, {}, {}, user_text=f"max_cost = {written}").max_cost == amount


@pytest.mark.parametrize("text", ["-1", "100000.01", "2.505", ".5", "5.", "1e3", "inf", "nan", "1,5", "$2", "1000000"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    assert refusal(environ={"REVIEWBOT_MAX_COST": text}).startswith("REVIEWBOT_MAX_COST must be an amount in dollars")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.01, 100_000.01, True, "2.5 "])
def test_what_is_no_amount_is_refused_as_a_value_as_well(value: object) -> None:
    assert "--max-cost must be an amount in dollars" in refusal(flags={"max_cost": value})
