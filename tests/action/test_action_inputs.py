"""The inputs of the Action, and the settings that they make with the files of the base side."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewbot.action.inputs import LOGINS, MODES, SETTINGS, Inputs, read_inputs, settings_by
from reviewbot.config import Settings
from reviewbot.domain.errors import ConfigError
from tests.action_runner import ROOT, read_yaml

KEY, TOKEN = "sk-ant-" + "k" * 30, "ghs_" + "t" * 36


class Base:
    """A base side with some files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    def base_file(self, path: str) -> str | None:
        return self.files.get(path)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        return ()


def inputs(**given: str) -> Inputs:
    return read_inputs({f"INPUT_{name.upper()}": value for name, value in given.items()})


def test_nothing_given_is_a_review_without_a_key_and_with_the_default_settings() -> None:
    found = inputs()

    assert (found.mode, found.keyless, found.config, found.secrets) == ("review", True, "", ())
    assert settings_by(found, None) == Settings()


def test_every_setting_among_the_inputs_reaches_the_settings() -> None:
    found = inputs(
        engine="analyzers", fail_on="critical", min_confidence="85", paths="src/*\nlib/*, x.py\n", max_cost="1.50"
    )

    settings = settings_by(found, None)

    assert (settings.engine, settings.fail_on, settings.min_confidence) == ("analyzers", "critical", 85)
    assert (settings.paths, settings.max_cost) == (("src/*", "lib/*", "x.py"), 1.5)


def test_the_inputs_of_the_action_are_those_that_are_read() -> None:
    declared = read_yaml(ROOT / "action.yml")

    others = {"anthropic-api-key", "github-token", "base-url", "config", "mode", "results"}
    assert set(declared["inputs"]) == {*SETTINGS, *others}
    handed = declared["runs"]["steps"][-1]["env"]
    assert {name for name in handed if name.startswith("INPUT_")} == {
        "INPUT_" + name.upper().replace("-", "_") for name in declared["inputs"]
    }
    assert all(each["description"] and not each["required"] for each in declared["inputs"].values())


def test_the_page_lists_every_input_and_output() -> None:
    page = (ROOT / "docs/action.md").read_text()
    declared = read_yaml(ROOT / "action.yml")

    def listed(title: str) -> list[str]:
        table = page.partition(f"\n## {title}\n")[2].strip().partition("\n\n")[0]
        rows = [line.split("|")[1] for line in table.splitlines()[2:]]
        return [name.strip(" `") for row in rows for name in row.split(",")]

    assert sorted(listed("Inputs")) == sorted(declared["inputs"])
    assert sorted(listed("Outputs")) == sorted(declared["outputs"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("engine", "gpt", "the input engine must be one of models, analyzers, scripted, none, not 'gpt'"),
        ("fail_on", "error", "the input fail-on must be one of critical, warning, info, none, not 'error'"),
        ("min_confidence", "101", "the input min-confidence must be a whole number from 0 to 100"),
        ("max_cost", "-1", "the input max-cost must be an amount in dollars"),
        ("paths", "a" * 257, "the input paths must be a list of at most 100 globs"),
        ("mode", "approve", "the input mode must be one of review, annotate, report, fork-review, not 'approve'"),
        ("config", "/etc/passwd", "the input config must be a path inside the repository"),
        ("config", "../x.toml", "the input config must be a path inside the repository"),
        ("config", "a/../../x", "the input config must be a path inside the repository"),
        ("config", "a\\b", "the input config must be a path inside the repository"),
        ("config", "a\x1bb", "the input config must be a path inside the repository"),
    ],
)
def test_a_wrong_input_is_named_with_what_it_must_be(name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        inputs(**{name: text})

    assert str(caught.value).isprintable()


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_can_be_asked_for(mode: str) -> None:
    assert inputs(mode=f" {mode}\n").mode == mode


def test_the_file_of_config_is_read_from_the_base_side_and_may_set_everything() -> None:
    base = Base({"ci/bot.toml": 'provider = "bedrock"\nmax_findings = 3\n', ".reviewbot.toml": "max_findings = 9\n"})

    settings = settings_by(inputs(config="./ci/bot.toml"), base)

    assert (settings.provider, settings.max_findings) == ("bedrock", 3)
    assert settings.origin["max_findings"] == "ci/bot.toml:2"


def test_an_input_counts_above_both_files() -> None:
    base = Base({"ci/bot.toml": 'fail_on = "info"\n', ".reviewbot.toml": 'fail_on = "warning"\n'})

    assert settings_by(inputs(config="ci/bot.toml", fail_on="critical"), base).fail_on == "critical"


@pytest.mark.parametrize(
    ("name", "line"),
    [("fail_on", 'fail_on = "info"'), ("min_confidence", "min_confidence = 90"), ("max_cost", "max_cost = 1")],
)
def test_an_input_that_says_none_counts_above_the_file_as_well(name: str, line: str) -> None:
    base = Base({"ci/bot.toml": line + "\n"})

    assert getattr(settings_by(inputs(config="ci/bot.toml"), base), name) is not None
    assert getattr(settings_by(inputs(config="ci/bot.toml", **{name: "none"}), base), name) is None


@pytest.mark.parametrize("base", [None, Base({})])
def test_a_config_that_the_base_side_does_not_have_is_an_error_and_not_the_defaults(base: Base | None) -> None:
    with pytest.raises(ConfigError, match=r"names 'bot\.toml', and the base side of this change has no such file"):
        settings_by(inputs(config="bot.toml"), base)


def test_a_mistake_in_the_file_of_config_names_it() -> None:
    with pytest.raises(ConfigError, match=r"^ci/bot\.toml:1: unknown key 'fail-on'"):
        settings_by(inputs(config="ci/bot.toml"), Base({"ci/bot.toml": 'fail-on = "info"\n'}))


def test_a_review_knows_the_key_and_address_of_the_inputs_and_logins_of_the_job_alone() -> None:
    job = {
        "ANTHROPIC_API_KEY": "sk-other",
        "ANTHROPIC_AUTH_TOKEN": "other",
        "ANTHROPIC_BASE_URL": "https://evil.example",
        "ANTHROPIC_BEDROCK_BASE_URL": "https://evil.example",
        "REVIEWBOT_FAIL_ON": "none",
        "HOME": "/root",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "",
    }

    assert inputs().environment(job) == {"AWS_REGION": "eu-west-1"}
    assert inputs(anthropic_api_key=KEY, base_url="https://gateway.example").environment(job) == {
        "AWS_REGION": "eu-west-1",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": "https://gateway.example",
    }
    assert not [name for name in LOGINS if name.endswith("URL")]


def test_no_secret_is_in_the_text_of_the_inputs() -> None:
    found = read_inputs(
        {
            "INPUT_ANTHROPIC_API_KEY": KEY,
            "INPUT_GITHUB_TOKEN": TOKEN,
            "INPUT_BASE_URL": "https://u:pass@x",
            "REVIEWBOT_MARKER_KEY": "m" * 20,
        }
    )

    assert found.secrets == (KEY, "https://u:pass@x", TOKEN, "m" * 20)
    assert not [text for text in found.secrets if text in repr(found)]
