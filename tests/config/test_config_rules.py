"""The setting `rules`: what it may hold, and which of its entries decides about a finding."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.config import load_settings
from reviewbot.config.rules import RuleLevels, RuleSetting, merge_rules, setting_of
from reviewbot.domain.errors import ConfigError

KIND: Any = RuleLevels()
TABLE = {
    "S603": "off",
    "S105": {"level": "off", "paths": ["tests/*"]},
    "debug": [{"level": "on", "paths": ["src/*"]}, "info"],
}


def test_a_table_is_read_in_its_order_and_written_back_as_it_was() -> None:
    entries = KIND.check(TABLE)

    assert entries == (
        RuleSetting("S603", "off"),
        RuleSetting("S105", "off", ("tests/*",)),
        RuleSetting("debug", "on", ("src/*",)),
        RuleSetting("debug", "info"),
    )
    assert KIND.write(entries) == TABLE


def test_a_text_says_the_same_in_one_line() -> None:
    assert KIND.parse(" S603=off, S105=off:tests/*,debug=on:src/*,debug=info,") == KIND.check(TABLE)
    assert KIND.parse("") == ()


@pytest.mark.parametrize(
    "value",
    [
        "off",
        [],
        {"S603": "none"},
        {"S603": None},
        {"S603": []},
        {"a b": "off"},
        {1: "off"},
        {"S603": {"level": "off", "paths": []}},
        {"S603": {"level": "off", "paths": [""]}},
        {"S603": {"level": "off", "paths": "tests/*"}},
        {"S603": {"paths": ["a"]}},
        {"S603": {"level": "off", "path": "a"}},
        {"S603": ["off"] * 21},
        {f"R{number}": "off" for number in range(101)},
    ],
    ids=str,
)
def test_what_is_no_table_of_rules_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".*"):
        KIND.check(value)


def test_what_is_no_text_of_rules_is_refused_with_an_example() -> None:
    with pytest.raises(ConfigError, match=r"--rule must be rules, each with off, on, .* such as S603=off"):
        load_settings(None, {}, {"rules": "=off"})


LEVELS = "S603 must be off, on, critical, warning or info"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("S603", LEVELS),
        ("print=off,S603=of", f"{LEVELS}, not 'of'"),
        ("S603=off;print=off", f"{LEVELS}, not 'off;print=off'"),
        ("S603=off:", "S603: paths must be a list of 1 to 20 globs, not a list"),
    ],
)
def test_the_rule_at_fault_is_named(text: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(None, {}, {"rules": text})
    assert str(caught.value) == f"--rule: {fault}"


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ('S603 = "no"', f"{LEVELS}, not 'no'"),
        ('S603 = {paths = ["a"]}', LEVELS),
        ('S603 = {level = "off", path = "a"}', "S603: unknown key 'path'; known: level, paths"),
        ('S603 = {level = "off", paths = "a"}', "S603: paths must be a list of 1 to 20 globs, not 'a'"),
    ],
)
def test_a_file_names_the_rule_at_fault_likewise(entry: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(f"[rules]\n{entry}\n", {}, {})
    assert str(caught.value) == f".reviewbot.toml:2: rules: {fault}"


def test_the_first_name_with_an_entry_for_the_file_decides() -> None:
    entries = KIND.check({"debug": "info", "leftover-print": {"level": "off", "paths": ["app/*"]}})

    assert setting_of(entries, ("leftover-print", "debug"), "app/a.py") == entries[1]
    assert setting_of(entries, ("leftover-print", "debug"), "lib/a.py") == entries[0]
    assert setting_of(entries, ("S603",), "app/a.py") is None


def test_a_later_source_replaces_what_is_said_of_the_rules_that_it_names() -> None:
    before = KIND.check({"S603": "off", "S105": ["info", "off"]})

    assert merge_rules(before, KIND.check({"S105": "on"}), "mine: {}".format) == (
        RuleSetting("S603", "off"),
        RuleSetting("S105", "on", (), "mine: S105"),
    )


def test_the_sources_are_merged_and_each_entry_knows_its_own() -> None:
    settings = load_settings(
        '[rules]\nS603 = "off"\nS105 = "off"\n',
        {"REVIEWBOT_RULES": "debug=off"},
        {"rules": "S105=critical"},
        user_text='rules = {S105 = "info", S101 = "off"}',
        user_name="mine.toml",
    )

    assert {(each.rule, each.level, each.origin) for each in settings.rules} == {
        ("S603", "off", ".reviewbot.toml:2"),
        ("S105", "critical", "--rule"),
        ("S101", "off", "mine.toml:1"),
        ("debug", "off", "REVIEWBOT_RULES"),
    }
    assert settings.origin["rules"] == ".reviewbot.toml:1, mine.toml:1, REVIEWBOT_RULES, --rule"
