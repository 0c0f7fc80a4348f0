"""`reviewbot config`: what a run would be done with, and who says so."""

from __future__ import annotations

import argparse
import io
import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.commands.configuration import config_command, settings_json, settings_text
from reviewbot.config import Settings, load_settings
from reviewbot.config.providers import SECRET_VARIABLES
from reviewbot.config.settings import KEYS
from reviewbot.domain.errors import ConfigError
from reviewbot.prices import default_models

HARD = 'ignore = ["a\\"b", "c\\\\d", "é/*", "\U0001f600"]\nworkers = ["security"]\nallow_partial = true\n'


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command prints, with a home of its own and without the variables of whoever runs the tests."""
    for key in KEYS:
        monkeypatch.delenv(f"REVIEWBOT_{key.upper()}", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*, repo: Path | None = None, show_origin: bool = False, form: str = "terminal") -> str:
        assert config_command(argparse.Namespace(repo=repo, show_origin=show_origin, format=form)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    path = tmp_path / ".config" / "reviewbot" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("max_findings = 7\nmin_confidence = 60\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / ".reviewbot.toml").write_text('max_findings = 3\nfail_on = "critical"\n')
    return folder


def test_every_setting_is_shown_with_its_value(show: Callable[..., str]) -> None:
    table = tomllib.loads(show())

    assert list(table) == list(KEYS)
    assert (table["fail_on"], table["deadline_s"], table["ignore"]) == ("none", 600, [])


def test_what_a_run_chooses_by_itself_is_shown_as_it_would_choose_it(
    show: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRET_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    without = json.loads(show(form="json"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    monkeypatch.setenv("REVIEWBOT_MODEL_LARGE", "mine")
    keyed = json.loads(show(form="json"))
    monkeypatch.setenv("REVIEWBOT_PROVIDER", "bedrock")
    hosted = json.loads(show(form="json"))

    assert without["engine"] == {"value": "analyzers", "origin": "default: there is no key of a model"}
    assert keyed["engine"] == {"value": "models", "origin": "default: ANTHROPIC_API_KEY is set"}
    assert hosted["engine"] == {"value": "models", "origin": "default: the provider is bedrock"}
    assert (without["provider"]["value"], hosted["provider"]["value"]) == ("anthropic", "bedrock")
    shipped = default_models("anthropic")
    assert [without[f"model_{tier}"]["value"] for tier in ("small", "medium", "large")] == list(shipped.values())
    assert keyed["model_large"] == {"value": "mine", "origin": "REVIEWBOT_MODEL_LARGE"}
    assert hosted["model_large"]["value"] == "mine"
    assert hosted["model_small"]["value"] == "none"
    assert hosted["model_small"]["origin"].startswith("default: the ids of models at bedrock depend on region")
    assert (keyed["concurrency"]["value"], without["concurrency"]["value"] >= 4) == (16, True)


def test_an_engine_that_was_set_is_shown_as_it_was_set(
    show: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWBOT_ENGINE", "scripted")

    assert json.loads(show(form="json"))["engine"] == {"value": "scripted", "origin": "REVIEWBOT_ENGINE"}


def test_the_origin_stands_beside_each_value(
    show: Callable[..., str], user_file: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWBOT_MIN_CONFIDENCE", "50")

    lines = [line.split("  # ") for line in show(repo=repository, show_origin=True).splitlines()]

    origins = {line.split(" = ")[0]: (line.split(" = ")[1].strip(), origin) for line, origin in lines}
    assert list(origins) == list(KEYS)
    assert origins["max_findings"] == ("7", "~/.config/reviewbot/config.toml:1")
    assert origins["fail_on"] == ('"critical"', ".reviewbot.toml:2")
    assert origins["min_confidence"] == ("50", "REVIEWBOT_MIN_CONFIDENCE")
    assert origins["deadline_s"] == ("600", "default")


def test_programs_are_told_values_and_origins(show: Callable[..., str], user_file: Path) -> None:
    table: dict[str, Any] = json.loads(show(form="json"))

    assert list(table) == list(KEYS)
    assert table["max_findings"] == {"value": 7, "origin": "~/.config/reviewbot/config.toml:1"}
    assert table["ignore"] == {"value": [], "origin": "default"}
    assert table["prices"] == {"value": "none", "origin": "default"}


def test_what_is_wrong_is_refused_as_in_a_review(show: Callable[..., str], user_file: Path) -> None:
    user_file.write_text("max_finding = 7")

    with pytest.raises(ConfigError, match="did you mean 'max_findings'"):
        show()


@pytest.mark.parametrize("text", [HARD, "", 'fail_on = "warning"\nmin_confidence = 0\n'])
@pytest.mark.parametrize("show_origin", [False, True])
def test_what_is_printed_is_a_settings_file_with_the_same_settings(text: str, show_origin: bool) -> None:  # noqa: FBT001 - a parameter of the test
    settings = load_settings(None, {}, {}, user_text=text)

    assert load_settings(None, {}, {}, user_text=settings_text(settings, show_origin=show_origin)) == settings


def test_one_long_list_does_not_move_all_comments() -> None:
    settings = load_settings(None, {}, {"ignore": tuple(f"folder-{number}/*" for number in range(50))})

    lines = settings_text(settings, show_origin=True).splitlines()

    assert sorted(len(line.partition("  # ")[0]) for line in lines)[-2] < 50


def test_a_terminal_without_the_letters_is_no_fault(monkeypatch: pytest.MonkeyPatch, show: Callable[..., str]) -> None:
    monkeypatch.setenv("REVIEWBOT_IGNORE", "é/*")
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", stream)

    config_command(argparse.Namespace(repo=None, show_origin=False, format="terminal"))

    stream.flush()
    assert b"\\xe9/*" in stream.buffer.getvalue()


def test_the_settings_of_no_source_are_printed_too() -> None:
    table = json.loads(settings_json(Settings(origin=dict.fromkeys(KEYS, "default"))))

    assert {entry["origin"] for entry in table.values()} == {"default"}
