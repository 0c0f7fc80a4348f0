"""Rules that are off and ignore comments in whole reviews: what counts, and what no change can bring."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main
from tests.git_repo import GitRepo

MARK = "# reviewbot: ignore[S602, command-parameter] the command is a constant"
BASE = f"""import subprocess


def run(command):
    return subprocess.run(command + " -v", shell=True)  {MARK}
"""
HEAD = BASE.replace("shell=True", "check=True, shell=True")

Reviewed = Callable[..., tuple[int, Any]]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / {"settings": ".reviewbot.toml", "app": "app.py"}[name]).write_text(text)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str], dict[str, str]], Path]:
    """A repository of two commits, with neither settings nor progress of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith(("REVIEWBOT_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    for name in ("CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))

    def make(base: dict[str, str], head: dict[str, str]) -> Path:
        folder = tmp_path / "repository"
        repo = GitRepo(folder)
        for files in (base, head):
            write(folder, **files)
            repo.commit()
        return folder

    return make


@pytest.fixture
def reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Reviewed:
    """The exit code and the report of a review of the newest commit, or of what `how` says instead."""

    def run(folder: Path, *more: str, how: tuple[str, ...] | None = None) -> tuple[int, Any]:
        change = how or ("--git", "HEAD~1..HEAD", "--repo", str(folder))
        common = ("--min-confidence", "75", "--format", "json", "--output", str(tmp_path / "report.json"))
        code = main(["review", *change, *common, *more])
        assert capsys.readouterr().out == ""
        return code, json.loads((tmp_path / "report.json").read_text())

    return run


def found(report: Any) -> set[tuple[str, str]]:
    return {(each["rule"], each["severity"]) for each in report["findings"]}


def done(report: Any) -> set[tuple[str, str, str]]:
    return {(each["action"], each["rule"], each["by"]) for each in report["suppressed"]}


def test_an_ignore_comment_of_the_base_side_silences_opens_the_gate_and_stays_listed(
    repository: Any, reviewed: Reviewed
) -> None:
    folder = repository({"app": BASE}, {"app": HEAD})

    code, report = reviewed(folder, "--fail-on", "info")

    assert (code, found(report)) == (0, set())
    assert report["verdict"] == "clean"
    assert ("ignored", "S602", "comment at line 5") in done(report)
    assert all(each["severity"] and each["message"] for each in report["suppressed"])
    assert {each["reason"] for each in report["suppressed"]} == {"the command is a constant"}
    assert "silenced" in report["summary"]


def test_an_ignore_comment_that_the_change_adds_silences_nothing_and_is_listed(
    repository: Any, reviewed: Reviewed
) -> None:
    folder = repository({"app": "import subprocess\n"}, {"app": HEAD})

    code, report = reviewed(folder, "--fail-on", "warning")

    assert code == 1
    assert found(report)
    assert done(report) == {("refused", "S602, command-parameter", "comment at line 5")}
    assert "this change adds it" in report["suppressed"][0]["message"]


def test_rules_of_the_base_side_are_off_or_have_another_severity(repository: Any, reviewed: Reviewed) -> None:
    settings = '[rules]\nS602 = "off"\nF632 = "info"\nB008 = {level = "off", paths = ["lib/*"]}\n'
    text = HEAD.replace(f"  {MARK}", "") + "\n\ndef is_any(kind):\n    return kind is 'any'\n"
    folder = repository({"settings": settings, "app": "import subprocess\n"}, {"app": text})

    _, report = reviewed(folder, "--min-confidence", "80")

    assert found(report) == {("F632", "info")}
    assert done(report) == {("off", "S602", ".reviewbot.toml:2"), ("severity", "F632", ".reviewbot.toml:3")}
    assert [each["shown_as"] for each in report["suppressed"] if each["action"] == "severity"] == ["info"]


def test_rules_that_the_change_sets_count_for_nothing(repository: Any, reviewed: Reviewed) -> None:
    folder = repository(
        {"app": "import subprocess\n"},
        {"settings": '[rules]\nS602 = "off"\ncommand-injection = "off"\n', "app": HEAD.replace(f"  {MARK}", "")},
    )

    code, report = reviewed(folder, "--fail-on", "warning")

    assert code == 1
    assert done(report) == set()
    assert any("cannot configure its own review" in note for note in report["notes"])


def test_the_user_and_the_command_line_say_it_likewise_and_win(
    repository: Any, reviewed: Reviewed, tmp_path: Path
) -> None:
    folder = repository(
        {"settings": '[rules]\ncommand-injection = "off"\n', "app": "import subprocess\n"},
        {"app": HEAD.replace(f"  {MARK}", "")},
    )
    (tmp_path / "CONFIG" / "reviewbot").mkdir(parents=True)
    (tmp_path / "CONFIG" / "reviewbot" / "config.toml").write_text('[rules]\ncommand-injection = "on"\n')

    assert found(reviewed(folder)[1])
    _, report = reviewed(folder, "--rule", "command-injection=off", "--rule", "S602=off")
    assert found(report) == set()
    assert {by for _, _, by in done(report)} == {"--rule"}


def test_a_folder_beside_a_diff_has_a_base_side_and_a_diff_alone_has_none(
    repository: Any, reviewed: Reviewed, tmp_path: Path
) -> None:
    folder = repository({"app": BASE}, {"app": HEAD})
    (tmp_path / "change.diff").write_text(GitRepo(folder).git("diff", "HEAD~1..HEAD"))

    beside = reviewed(folder, how=(str(tmp_path / "change.diff"), "--repo", str(folder)))[1]
    alone = reviewed(folder, how=(str(tmp_path / "change.diff"),))[1]

    assert found(beside) == set()
    assert {action for action, _, _ in done(beside)} == {"ignored"}
    assert found(alone)
    assert {action for action, _, _ in done(alone)} == {"refused"}


def test_names_that_no_rule_has_are_a_note_with_the_nearest_one(repository: Any, reviewed: Reviewed) -> None:
    settings = '[rules]\nleftover-prin = "off"\nD103 = "off"\n'
    folder = repository({"settings": settings, "app": BASE}, {"app": HEAD.replace("S602,", "comand-injection,")})

    _, report = reviewed(folder)

    assert [note.split(": no analyzer has a rule or category ") for note in report["notes"]] == [
        [".reviewbot.toml:2: rules", "'leftover-prin'; did you mean 'leftover-print'?"],
        ["app.py:5: ignore comment", "'comand-injection'; did you mean 'command-injection'?"],
    ]


def test_a_replay_lists_the_same_and_another_rule_is_not_resumed_from_an_old_run(
    repository: Any, reviewed: Reviewed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = "\n\ndef also(x):\n    return eval(x)  # reviewbot: ignore[S307] known\n"
    folder = repository({"app": BASE}, {"app": HEAD + added})
    trace = tmp_path / "trace.json"

    _, report = reviewed(folder, "--trace", str(trace))
    assert main(["replay", str(trace), "--format", "json"]) == 0

    assert json.loads(capsys.readouterr().out) == report
    assert {action for action, _, _ in done(report)} == {"ignored", "refused"}
    assert found(report)
    assert found(reviewed(folder, "--resume", "--rule", "code-injection=off", "--rule", "S307=off")[1]) == set()


def test_a_rule_that_is_off_leaves_no_uncertain_finding_of_the_same_line_to_a_person(
    repository: Any, reviewed: Reviewed
) -> None:
    text = (
        "def find(connection, name):\n    return connection.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n"
    )
    folder = repository({"settings": '[rules]\nsql-parameter = "off"\n'}, {"app": text})

    _, report = reviewed(folder)

    assert (found(report), report["human"], report["withheld"]) == (set(), [], [])
    assert done(report) == {("off", "sql-parameter", ".reviewbot.toml:2"), ("off", "S608", ".reviewbot.toml:2")}
    assert found(reviewed(folder, "--rule", "sql-parameter=on")[1]) == {("sql-parameter", "critical")}
