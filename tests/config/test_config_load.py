from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config import Settings, load, load_settings
from reviewbot.config.load import MAX_MISTAKES
from reviewbot.config.settings import KEYS, MANDATORY_WORKER
from reviewbot.domain import contracts
from reviewbot.domain.errors import ConfigError


def refusal(text: str | None = None, environ: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(text, environ or {}, flags)
    message = str(caught.value)
    assert message.isprintable()
    return message


def refused_line(text: str | None, flags: dict[str, object], user_text: str | None = None) -> str | None:
    """The refusal, where there is one; it is always one printable line."""
    line = None
    try:
        load_settings(text, {}, flags, user_text=user_text)
    except ConfigError as error:
        line = str(error)
    assert line is None or line.isprintable()
    return line


def test_without_any_source_the_defaults_hold() -> None:
    assert load_settings(None, {}, {}) == Settings()


def test_the_defaults_are_the_documented_ones() -> None:
    assert Settings() == Settings(
        engine=None,
        fail_on=None,
        min_confidence=None,
        deadline_s=600,
        max_findings=25,
        concurrency=None,
        ignore=(),
        paths=(),
        workers=(),
        allow_partial=False,
        chunk_lines=400,
    )


def test_models_are_asked_sixteen_times_at_once_and_analyzers_run_one_to_a_processor() -> None:
    default, given = Settings(), Settings(concurrency=3)

    assert (default.calls_in_flight, default.tasks_at_once) == (16, max(4, os.cpu_count() or 1))
    assert (given.calls_in_flight, given.tasks_at_once) == (3, 3)


def test_every_field_of_the_settings_is_declared() -> None:
    assert [each.name for each in fields(Settings) if each.name != "origin"] == list(KEYS)


def test_every_variable_that_the_program_reads_is_a_setting_or_known_as_none() -> None:
    package = Path(load.__file__).parents[1]
    texts = [path.read_text("utf-8") for path in package.rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"""["'](REVIEWBOT_[A-Z_]+)["']""", text)}
    settings = {key.variable for key in KEYS.values()}

    assert named - settings <= load.OTHER_VARIABLES
    assert not settings & load.OTHER_VARIABLES


def test_a_variable_of_the_app_is_no_slip_in_a_settings_name() -> None:
    environ = dict.fromkeys(load.OTHER_VARIABLES, "x") | {
        "REVIEWBOT_PRIVATE_KEY_FILE": "x",
        "REVIEWBOT_PRIVATE_KEY_2": "x",
    }

    assert load_settings(None, environ, {}) == Settings()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().engine = "scripted"  # type: ignore[misc]


def test_a_repository_sets_what_it_may() -> None:
    settings = load_settings(
        'fail_on = "critical"\nmin_confidence = 90\ndeadline_s = 60\nmax_findings = 5\n'
        'ignore = ["vendor/*"]\nworkers = ["security", "style"]\n',
        {},
        {},
    )

    assert (settings.fail_on, settings.min_confidence, settings.deadline_s) == ("critical", 90, 60)
    assert (settings.max_findings, settings.ignore, settings.workers) == (5, ("vendor/*",), ("security", "style"))


def test_each_source_wins_over_the_one_before() -> None:
    text = 'fail_on = "critical"\nmax_findings = 1\nmin_confidence = 1\n'
    environ = {"REVIEWBOT_MAX_FINDINGS": "2", "REVIEWBOT_MIN_CONFIDENCE": "2"}

    settings = load_settings(text, environ, {"min_confidence": 3})

    assert (settings.fail_on, settings.max_findings, settings.min_confidence) == ("critical", 2, 3)
    assert settings.origin == dict.fromkeys(KEYS, "default") | {
        "fail_on": ".reviewbot.toml:1",
        "max_findings": "REVIEWBOT_MAX_FINDINGS",
        "min_confidence": "--min-confidence",
    }


def test_the_users_file_wins_over_the_repository_and_yields_to_the_environment() -> None:
    repository = 'fail_on = "critical"\nmax_findings = 1\nmin_confidence = 1\ndeadline_s = 1\n'
    user = "max_findings = 2\nmin_confidence = 2\ndeadline_s = 2\n"

    settings = load_settings(
        repository, {"REVIEWBOT_MIN_CONFIDENCE": "3"}, {"deadline_s": 4}, user_text=user, user_name="mine.toml"
    )

    assert (settings.fail_on, settings.max_findings) == ("critical", 2)
    assert (settings.min_confidence, settings.deadline_s) == (3, 4)
    assert (settings.origin["fail_on"], settings.origin["max_findings"]) == (".reviewbot.toml:1", "mine.toml:1")
    assert (settings.origin["min_confidence"], settings.origin["deadline_s"]) == (
        "REVIEWBOT_MIN_CONFIDENCE",
        "--deadline",
    )


def test_a_user_sets_every_key_without_the_limits_of_a_repository() -> None:
    text = """
engine = "scripted"
fail_on = "none"
min_confidence = "none"
deadline_s = 86400
max_findings = 1
concurrency = 1
ignore = ["a"]
paths = ["src/*"]
private = ["legal/*"]
workers = ["style"]
worker = {security = {max_turns = 1}}
rules = {S603 = "off"}
allow_partial = true
chunk_lines = 10
reader_lines = 50
task_timeout_s = 900
max_cost = 2.5
max_calls = 9
max_tokens = 5000
worker_tokens = "none"
requests_per_minute = 60
tokens_per_minute = 9000
plan_above = 0
fan_out = 4
replan = true
effort = "deep"
extra_workers = 1
provider = "vertex"
model_small = "small-1"
model_medium = "none"
model_large = "eu.anthropic.large-2-v1:0"
prices = "prices.toml"
review_drafts = true
review_bots = true
only_labels = ["a"]
skip_labels = ["b"]
skip_titles = ["c"]
skip_authors = ["d"]
only_branches = ["e"]
skip_branches = ["f"]
person_label = "g"
person_reviewers = "octocat, team:h"
inline = "off"
request_changes = true
check = false
"""
    settings = load_settings(None, {}, {}, user_text=text)

    assert (settings.engine, settings.fail_on, settings.min_confidence) == ("scripted", None, None)
    assert (settings.deadline_s, settings.max_findings, settings.concurrency) == (86400, 1, 1)
    assert (settings.ignore, settings.workers) == (("a",), ("style",))
    assert (settings.allow_partial, settings.chunk_lines) == (True, 10)
    assert (settings.max_cost, settings.max_calls, settings.worker_tokens, settings.effort) == (2.5, 9, None, "deep")
    assert (settings.provider, settings.model_medium, settings.model_large) == (
        "vertex",
        None,
        "eu.anthropic.large-2-v1:0",
    )
    assert set(settings.origin.values()) == {f"~/.config/reviewbot/config.toml:{line}" for line in range(2, 47)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engin = 'scripted'", "mine.toml:1: unknown key 'engin'; did you mean 'engine'?"),
        ("chunk_lines = 9", "mine.toml:1: chunk_lines must be a whole number from 10 to 10000, not 9"),
        (
            "max_cost = -1",
            "mine.toml:1: max_cost must be an amount in dollars from 0 to 100000, such as 2.50, or none, not -1",
        ),
        ("max_cost = true", "mine.toml:1: max_cost must be an amount in dollars"),
        ("model_large = 'a b'", "mine.toml:1: model_large must be the id of a model, not 'a b'"),
        ("model_large = 3", "mine.toml:1: model_large must be the id of a model, not 3"),
        ("[engine]", "mine.toml:1: engine must be one of models, analyzers, scripted, none, not a table"),
        ("engine", "mine.toml: is not valid TOML: "),
    ],
)
def test_a_wrong_users_file_is_refused_by_its_name(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(None, {}, {}, user_text=text, user_name="mine.toml")

    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("REVIEWBOT_ENGINE", "analyzers", "engine", "analyzers"),
        ("REVIEWBOT_FAIL_ON", "warning", "fail_on", "warning"),
        ("REVIEWBOT_FAIL_ON", "none", "fail_on", None),
        ("REVIEWBOT_MIN_CONFIDENCE", "0", "min_confidence", 0),
        ("REVIEWBOT_MIN_CONFIDENCE", "none", "min_confidence", None),
        ("REVIEWBOT_DEADLINE_S", "3600", "deadline_s", 3600),
        ("REVIEWBOT_CONCURRENCY", "1", "concurrency", 1),
        ("REVIEWBOT_MAX_COST", "0.35", "max_cost", 0.35),
        ("REVIEWBOT_MAX_COST", "none", "max_cost", None),
        ("REVIEWBOT_MODEL_LARGE", "large@1", "model_large", "large@1"),
        ("REVIEWBOT_IGNORE", "a/*, ,*.svg,", "ignore", ("a/*", "*.svg")),
        ("REVIEWBOT_WORKERS", "style", "workers", ("style",)),
        ("REVIEWBOT_ALLOW_PARTIAL", "Yes", "allow_partial", True),
        ("REVIEWBOT_ALLOW_PARTIAL", "0", "allow_partial", False),
        ("REVIEWBOT_CHUNK_LINES", "10", "chunk_lines", 10),
    ],
)
def test_a_variable_is_read_as_its_key_wants_it(variable: str, text: str, key: str, value: object) -> None:
    assert getattr(load_settings(None, {variable: text}, {}), key) == value
    assert getattr(load_settings(None, {}, {key: text}), key) == value


def test_a_flag_may_hand_in_a_typed_value_and_none_means_not_given() -> None:
    flags: dict[str, object] = {"allow_partial": True, "ignore": ["a"], "workers": ("style",), "engine": None}

    settings = load_settings(None, {"REVIEWBOT_ENGINE": "scripted"}, flags)

    assert (settings.allow_partial, settings.ignore, settings.workers) == (True, ("a",), ("style",))
    assert settings.engine == "scripted"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load_settings(None, {"REVIEWBOT_FAIL_ON": ""}, {}).origin["fail_on"] == "default"


def test_all_mistakes_of_a_file_are_named_at_once() -> None:
    message = refusal(
        'fail-on = "critical"\nmin_confidence = 250\nignore = ["*.md"]\n[worker.security]\nthreshhold = 80\n'
    )

    assert message.split("; then ") == [
        ".reviewbot.toml:1: unknown key 'fail-on'; did you mean 'fail_on'?",
        ".reviewbot.toml:2: min_confidence must be a whole number from 0 to 100, or none, not 250",
        ".reviewbot.toml:4: worker: security: unknown key 'threshhold'; did you mean 'threshold'?",
    ]


def test_of_many_mistakes_the_first_are_named_and_the_rest_is_counted() -> None:
    message = refusal("".join(f"colour{number} = 1\n" for number in range(MAX_MISTAKES + 2)))

    assert message.count("unknown key") == MAX_MISTAKES
    assert message.endswith("; and 2 more")


def test_foreign_variables_of_the_same_prefix_are_let_be() -> None:
    names = ("PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR", "PORT_80_TCP_PROTO", "SERVICE_HOST", "SERVICE_PORT", "APP_ID")
    environ = {f"REVIEWBOT_{name}": "tcp://10.0.0.1:80" for name in names} | {"PATH": "/bin"}

    assert load_settings(None, environ, {}) == Settings()


def test_a_slip_in_a_variables_name_is_refused() -> None:
    message = refusal(None, {"REVIEWBOT_FAILON": "critical"})

    assert message == "unknown variable 'REVIEWBOT_FAILON'; did you mean 'REVIEWBOT_FAIL_ON'?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_finding = 3", ".reviewbot.toml:1: unknown key 'max_finding'; did you mean 'max_findings'?"),
        ("min_confidence = 101", "min_confidence must be a whole number from 0 to 100, or none, not 101"),
        ("min_confidence = true", "or none, not true"),
        ("min_confidence = 80.0", "or none, not 80.0"),
        ('min_confidence = "80"', "or none, not '80'"),
        ("max_findings = false", "not false"),
        ("max_findings = {}", "not a table"),
        ("max_findings = [1]", "not a list"),
        ("max_findings = 1979-05-27", "not datetime.date(1979, 5, 27)"),
        ("max_findings = 0x7fffffffffffffffffff", "not a huge number"),
        ("deadline_s = 0", "deadline_s must be a whole number from 1 to 86400, not 0"),
        ('fail_on = "blocker"', "fail_on must be one of critical, warning, info, none, not 'blocker'"),
        ("fail_on = 1", "not 1"),
        ('ignore = "*.py"', "ignore must be a list of at most 100 globs"),
        ("ignore = [1]", "ignore must be a list"),
        (f'ignore = ["{"a" * 257}"]', "ignore must be a list"),
        ('ignore = [""]', "ignore must be a list"),
        ("ignore = [" + "'a', " * 101 + "]", "ignore must be a list"),
        ('workers = ["Security"]', "workers must be a list of worker names"),
        ('workers = "security"', "workers must be a list of worker names"),
        ("max_findings", ".reviewbot.toml: is not valid TOML: Expected '='"),
        ("max_findings = 1\nmax_findings = 2", "is not valid TOML: Cannot overwrite a value"),
        ("a = " + "[" * 5_000, ".reviewbot.toml: is nested too deeply"),
        ("max_findings = " + "9" * 5_000, "is not valid TOML"),
        ("# " + "é" * 32 * 1024, ".reviewbot.toml: is larger than 64 KiB"),
        (".".join("a" * 20_000) + " = 1", ".reviewbot.toml: has too many dots on a line"),
        ("\ud800 = 1", "is not valid TOML"),
        ('"\\u001b[31m" = 1', "unknown key '\\x1b[31m'"),
        (f'"{"x" * 500}" = 1', "x..."),
    ],
)
def test_a_wrong_repository_file_is_refused_with_the_place_and_what_is_expected(text: str, message: str) -> None:
    refused = refusal(text)

    assert refused.startswith((".reviewbot.toml: ", ".reviewbot.toml:1: "))
    assert message in refused
    assert len(refused) < 400


@pytest.mark.parametrize(
    ("key", "how"),
    [
        ("engine", "REVIEWBOT_ENGINE or --engine"),
        ("concurrency", "REVIEWBOT_CONCURRENCY or --concurrency"),
        ("max_cost", "REVIEWBOT_MAX_COST or --max-cost"),
        ("model_large", "REVIEWBOT_MODEL_LARGE"),
        ("allow_partial", "REVIEWBOT_ALLOW_PARTIAL or --allow-partial"),
        ("chunk_lines", "REVIEWBOT_CHUNK_LINES"),
    ],
)
def test_a_repository_cannot_set_what_is_the_operators(key: str, how: str) -> None:
    assert refusal(f"{key} = 1") == (
        f".reviewbot.toml:1: {key!r} cannot be set by a repository; the operator sets {how}"
    )
    assert not KEYS[key].repository


@pytest.mark.parametrize(
    "key", ["anthropic_base_url", "base_url", "api_key", "event", "models", "prompt_suffix", "max_cost_usd", "origin"]
)
def test_nothing_that_redirects_pays_or_approves_is_a_key(key: str) -> None:
    assert f"unknown key {key!r}" in refusal(f'{key} = "x"')


def test_a_repository_can_only_lower_the_deadline() -> None:
    assert "deadline_s can only be lowered" in refusal("deadline_s = 601")
    assert load_settings("deadline_s = 600", {}, {}).deadline_s == 600


def test_a_repository_cannot_switch_the_security_worker_off() -> None:
    assert "workers must name 'security'" in refusal('workers = ["style"]')
    assert load_settings("workers = []", {}, {}).workers == ()


def test_a_repository_cannot_loosen_what_the_operator_set() -> None:
    settings = load_settings(
        "min_confidence = 100\nmax_findings = 1", {"REVIEWBOT_MIN_CONFIDENCE": "50"}, {"max_findings": 9}
    )

    assert (settings.min_confidence, settings.max_findings) == (50, 9)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"REVIEWBOT_DEADLINE_S": "-1"}, "REVIEWBOT_DEADLINE_S must be a whole number from 1 to 86400, not '-1'"),
        ({"REVIEWBOT_DEADLINE_S": "1_0"}, "not '1_0'"),
        ({"REVIEWBOT_DEADLINE_S": " 1"}, "not ' 1'"),
        ({"REVIEWBOT_DEADLINE_S": "\u0663"}, "not '\\u0663'"),
        ({"REVIEWBOT_DEADLINE_S": "9" * 5_000}, "not '999"),
        ({"REVIEWBOT_ALLOW_PARTIAL": "maybe"}, "REVIEWBOT_ALLOW_PARTIAL must be true or false, not 'maybe'"),
        ({"REVIEWBOT_ENGINE": "gpt"}, "REVIEWBOT_ENGINE must be one of models, analyzers, scripted, none, not 'gpt'"),
        ({"REVIEWBOT_WORKERS": "a b"}, "REVIEWBOT_WORKERS must be a list of worker names"),
    ],
)
def test_a_wrong_variable_is_refused_by_its_name(environ: dict[str, str], message: str) -> None:
    assert message in refusal(None, environ)


def test_a_wrong_flag_is_refused_by_its_name() -> None:
    assert refusal(fail_on="high").startswith("--fail-on must be one of")
    assert refusal(deadline_s=0).startswith("--deadline must be a whole number")
    assert refusal(allow_partial=1) == "--allow-partial must be true or false, not 1"
    assert refusal(max_finding=1) == "unknown setting 'max_finding'; did you mean 'max_findings'?"


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    assert load_settings("\ufeffmax_findings = 3\r\n", {}, {}).max_findings == 3


@given(st.text(max_size=300))
def test_any_text_gives_settings_or_one_line_of_refusal(text: str) -> None:
    refused_line(text, {})


@given(st.text(max_size=300))
def test_any_users_text_gives_settings_or_one_line_of_refusal(text: str) -> None:
    refused_line(None, {}, text)


_WORDS = st.sampled_from([*KEYS, "x", ""])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(_WORDS, _VALUES, max_size=3))
def test_any_flags_give_settings_of_the_right_types_or_a_refusal(flags: dict[str, object]) -> None:
    if refused_line(None, flags) is not None:
        return
    settings = load_settings(None, {}, flags)
    assert type(settings.deadline_s) is int
    assert type(settings.allow_partial) is bool
    assert all(type(glob) is str for glob in settings.ignore)


def test_the_floor_has_one_name() -> None:
    assert MANDATORY_WORKER == contracts.MANDATORY_WORKER


def test_settings_are_loaded_without_any_installed_package() -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import reviewbot.config; print('pydantic' in sys.modules)"
    root = str(Path(__file__).parents[2])

    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, root], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_what_one_source_keeps_private_no_other_takes_back() -> None:
    settings = load_settings(
        'private = ["legal/*", "a"]\n',
        {"REVIEWBOT_PRIVATE": "keys/*,a"},
        {},
        user_text="private = []\n",
        user_name="user",
    )

    assert settings.private == ("legal/*", "a", "keys/*")
    assert settings.origin["private"] == ".reviewbot.toml:1, user:1, REVIEWBOT_PRIVATE"
