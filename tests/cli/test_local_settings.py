"""Settings and workers of the repository that one stands in: who reads them, and who says that they were not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run, git

CHANGE = b"""\
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 def double(number):
-    return number * 2
+    return number + number
"""
NOT_READ = (
    "reviewbot: the settings and workers of this repository do not count for a diff alone; "
    "--repo {} takes them from the base side of the change\n"
)


@pytest.mark.parametrize("command", ["review", "plan"])
@pytest.mark.parametrize("own", [".reviewbot.toml", ".reviewbot/workers/house.toml"])
def test_a_diff_alone_says_that_the_settings_and_workers_here_were_not_read(
    run: Run, repository: Path, command: str, own: str
) -> None:
    (repository / own).parent.mkdir(parents=True, exist_ok=True)
    (repository / own).write_text("this = 'would be refused'\n")

    ended = run(command, "-", stdin=CHANGE)

    assert (ended.code, ended.err) == (0, NOT_READ.format("."))


def test_in_a_folder_of_the_repository_the_way_to_its_top_is_named(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".reviewbot.toml").write_text("max_findings = 3\n")
    (repository / "docs" / "api").mkdir(parents=True)
    monkeypatch.chdir(repository / "docs" / "api")

    assert run("review", "-", stdin=CHANGE).err == NOT_READ.format("../..")
    assert run("review", "-", "--repo", "../..", stdin=CHANGE).err == ""
    assert json.loads(run("config", "--format", "json").out)["max_findings"]["value"] == 3


def test_without_settings_or_with_the_repository_a_diff_says_nothing(run: Run, repository: Path) -> None:
    assert run("review", "-", stdin=CHANGE).err == ""

    (repository / ".reviewbot.toml").write_text("max_findings = 3\n")

    assert run("review", "-", "--repo", ".", stdin=CHANGE).err == ""


def test_a_diff_alone_is_not_gated_by_a_file_that_its_author_may_have_written(run: Run, repository: Path) -> None:
    """The folder may stand at the head of the change; the diff that is handed in need not name all of it."""
    (repository / ".reviewbot.toml").write_text('ignore = ["*"]\n')

    ended = run("review", "-", "--format", "json", stdin=CHANGE)

    assert [(entry["need"], entry["state"]) for entry in ended.report["coverage"]] == [("review", "reviewed")]


def test_config_shows_the_settings_of_the_repository_that_one_stands_in(run: Run, home: Path) -> None:
    (home / ".reviewbot.toml").write_text("max_findings = 3\n")

    assert "max_findings = 3" in run("config").out
    assert json.loads(run("config", "--format", "json").out)["max_findings"]["origin"] == ".reviewbot.toml:1"


def test_a_threshold_of_one_worker_holds_in_the_repository_that_sets_it(run: Run, repository: Path) -> None:
    (repository / ".reviewbot.toml").write_text("[worker.security]\nthreshold = 99\n")
    change = CHANGE.replace(b"+    return number + number", b"+    return eval(input())")
    note = ".reviewbot.toml:2: security.threshold is 99; its card says 80"

    without = run("review", "-", "--format", "json", stdin=change).report
    within = run("review", "-", "--format", "json", "--repo", ".", "--trace", "trace.json", stdin=change).report
    everywhere = run("review", "-", "--format", "json", "--repo", ".", "--min-confidence", "60", stdin=change).report

    assert [each["type"] for each in without["findings"]] == ["security"]
    assert (within["findings"], note in within["notes"]) == ([], True)
    assert [each["type"] for each in everywhere["findings"]] == ["security"], "a flag for all workers is stronger"
    given = next(event for event in json.loads(Path("trace.json").read_text())["events"] if "thresholds" in event)
    assert given["thresholds"]["security"] == 99
    assert note in json.loads(run("plan", "-", "--repo", ".", "--format", "json", stdin=change).out)["notes"]
    assert "shown from 99" in run("workers").out


def test_config_refuses_what_a_review_here_would_refuse(run: Run, repository: Path) -> None:
    (repository / ".reviewbot.toml").write_text("max_finding = 3\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "settings")
    git(repository, "checkout", "-q", "-b", "feature")
    (repository / "app.py").write_text("")
    git(repository, "commit", "-qam", "two")

    shown, reviewed = run("config"), run("review")

    assert (shown.code, reviewed.code) == (2, 2)
    assert "did you mean 'max_findings'" in shown.err
    assert reviewed.err.endswith(f"{shown.err.rstrip()} (as it stands on the base side of the change)\n")


def test_a_wrong_card_says_which_side_of_the_change_counts(run: Run, repository: Path) -> None:
    (repository / ".reviewbot/workers").mkdir(parents=True)
    (repository / ".reviewbot/workers/house.toml").write_text("name = 'house'\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "card")

    ended = run("review", "-", "--repo", ".", stdin=CHANGE)

    fault = ".reviewbot/workers/house.toml: description is missing"
    assert ended.code == 2
    assert ended.err == f"reviewbot: {fault} (as it stands on the base side of the change)\n"
