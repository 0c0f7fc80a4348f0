"""The published schema of a settings file, held against what is accepted and against what is stored."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config import Settings, load_settings
from reviewbot.config.schema import settings_schema
from reviewbot.config.settings import KEYS
from reviewbot.domain.errors import ConfigError

DRAFT = "https://json-schema.org/draft/2020-12/schema"
STORED = Path(__file__).parents[2] / "docs" / "schemas" / "settings.json"
SAMPLE = """
engine = "analyzers"
fail_on = "critical"
min_confidence = 85
deadline_s = 60
max_findings = 5
concurrency = 2
ignore = ["vendor/*", "**/*.ü"]
paths = ["src/*"]
private = ["legal/*"]
workers = ["security", "logic"]
worker = {security = {threshold = 90}, logic = {tier = "small", max_tokens = 900, timeout_s = 9, max_turns = 2}}
rules = {S603 = "off", S105 = {level = "off", paths = ["tests/*"]}, debug = [{level = "on", paths = ["src/*"]}, "info"]}
allow_partial = false
chunk_lines = 200
effort = "quick"
reader_lines = 300
task_timeout_s = "none"
max_cost = 0.5
max_calls = 20
max_tokens = 100000
worker_tokens = 50000
requests_per_minute = 50
tokens_per_minute = 40000
plan_above = 1000
fan_out = 16
replan = false
extra_workers = 2
provider = "bedrock"
model_small = "a"
model_medium = "b"
model_large = "none"
prices = "~/prices.toml"
review_drafts = true
review_bots = false
only_labels = ["review*"]
skip_labels = ["no-review"]
skip_titles = ["WIP*"]
skip_authors = ["renovate*"]
only_branches = ["main", "release/*"]
skip_branches = ["l10n_*"]
person_label = "needs a person"
person_reviewers = "octocat, team:security"
inline = "off"
request_changes = true
check = false
"""


def accepts(table: object) -> bool:
    return bool(jsonschema.Draft202012Validator(settings_schema()).is_valid(table))


def loads(table: dict[str, Any]) -> bool:
    try:
        load_settings(None, {}, {key: value for key, value in table.items() if not isinstance(value, str)})
        # Texts go the way of a file here: as a flag they would be parsed.
        texts = {key: value for key, value in table.items() if isinstance(value, str)}
        load_settings(None, {}, {}, user_text="".join(f"{key} = {json.dumps(text)}\n" for key, text in texts.items()))
    except ConfigError:
        return False
    return True


def test_the_stored_schema_is_the_one_of_the_code() -> None:
    made = json.dumps({"$schema": DRAFT, **settings_schema()}, indent=2, sort_keys=True) + "\n"

    assert STORED.read_text("utf-8") == made


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema({"$schema": DRAFT, **settings_schema()})


def test_a_file_with_keys_of_every_kind_fits() -> None:
    table = tomllib.loads(SAMPLE)

    jsonschema.validate(table, settings_schema())
    assert {type(KEYS[key].kind) for key in table} == {type(key.kind) for key in KEYS.values()}
    assert load_settings(None, {}, {}, user_text=SAMPLE).chunk_lines == 200


def test_the_defaults_fit_and_are_the_settings() -> None:
    properties: Any = settings_schema()["properties"]
    defaults = {key: found["default"] for key, found in properties.items() if "default" in found}

    assert accepts(defaults)
    assert load_settings(None, {}, {}, user_text=_toml(defaults)) == Settings()
    assert set(KEYS) == set(defaults)


def test_every_setting_says_what_it_means_and_whether_a_repository_may_set_it() -> None:
    properties: Any = settings_schema()["properties"]

    assert list(properties) == [each.name for each in fields(Settings) if each.name != "origin"]
    assert all(len(found["description"]) > 15 for found in properties.values())
    forbidden = {key for key, found in properties.items() if "Not in .reviewbot.toml." in found["description"]}
    assert forbidden == {key.name for key in KEYS.values() if not key.repository}


@pytest.mark.parametrize(
    "table",
    [
        {"max_finding": 1},
        {"max_findings": 0},
        {"max_findings": True},
        {"max_findings": "1"},
        {"min_confidence": "all"},
        {"fail_on": "blocker"},
        {"ignore": "*.py"},
        {"ignore": [""]},
        {"ignore": ["a\nb"]},
        {"ignore": ["x"] * 101},
        {"workers": ["Security"]},
        {"workers": [1]},
        {"allow_partial": 1},
        {"engine": None},
    ],
    ids=str,
)
def test_what_is_refused_does_not_fit(table: dict[str, Any]) -> None:
    assert not accepts(table)


_VALUES: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-1, 90_000),
    st.sampled_from(["none", "off", "critical", "analyzers", "x", ""]),
    st.lists(st.sampled_from(["a", "security", "A b", "", "*"]), max_size=3),
    st.dictionaries(st.sampled_from(["S603", "a b", ""]), st.deferred(lambda: _RULE), max_size=2),
)
_TABLE: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"level": st.sampled_from(["off", "on", "none", 1])},
    optional={"paths": st.lists(st.sampled_from(["a/*", "", "\n", 1]), max_size=2), "path": st.just("a")},
)
_LEVEL: st.SearchStrategy[Any] = st.one_of(st.sampled_from(["off", "info", "none", 0]), _TABLE)
_RULE: st.SearchStrategy[Any] = st.one_of(_LEVEL, st.lists(_LEVEL, max_size=2), st.just({}))


@given(st.dictionaries(st.sampled_from(list(KEYS)), _VALUES, max_size=3))
def test_the_schema_and_the_reader_agree(table: dict[str, Any]) -> None:
    assert accepts(table) == loads(table)


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {'{}' if value == {} else json.dumps(value)}\n" for key, value in table.items())
