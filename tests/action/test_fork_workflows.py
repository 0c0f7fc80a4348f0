"""The two workflows that we hand out: as documented, named as in the code, each with no more than its part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.artifact import FILE_NAME
from reviewbot.action.artifact_download import name_of
from reviewbot.commands.action import STAGES
from tests.action_runner import read_yaml

ROOT = Path(__file__).parents[2]
ONE = ROOT / "examples/workflows/fork-analyze.yml"
TWO = ROOT / "examples/workflows/fork-review.yml"


def job_of(path: Path) -> dict[str, Any]:
    (job,) = read_yaml(path)["jobs"].values()
    assert isinstance(job, dict)
    return job


@pytest.mark.parametrize("path", [ONE, TWO], ids=["one", "two"])
def test_the_page_shows_the_file_as_it_is(path: Path) -> None:
    assert f"```yaml\n{path.read_text()}```" in (ROOT / "docs/forks.md").read_text()


@pytest.mark.parametrize("path", [ONE, TWO], ids=["one", "two"])
def test_nothing_is_checked_out_and_no_script_is_run(path: Path) -> None:
    for step in job_of(path)["steps"]:
        assert "run" not in step
        assert "checkout" not in step["uses"]


def test_stage_one_has_no_secret_and_can_only_read() -> None:
    workflow = read_yaml(ONE)
    assert "secrets" not in ONE.read_text()
    assert list(workflow["on"]) == ["pull_request"]
    assert workflow["permissions"] == {}
    assert job_of(ONE)["permissions"] == {"contents": "read", "pull-requests": "read"}


def test_stage_two_writes_reviews_and_checks_and_nothing_else() -> None:
    workflow = read_yaml(TWO)
    assert list(workflow["on"]) == ["workflow_run"]
    assert workflow["on"]["workflow_run"]["workflows"] == [read_yaml(ONE)["name"]]
    assert workflow["permissions"] == {}
    written = {name for name, level in job_of(TWO)["permissions"].items() if level == "write"}
    assert written == {"pull-requests", "checks"}


def test_both_start_for_forks_alone_and_stop_for_a_newer_head() -> None:
    for path in (ONE, TWO):
        assert "full_name != github.repository" in job_of(path)["if"]
        assert read_yaml(path)["concurrency"]["cancel-in-progress"] is True


def test_the_names_are_those_of_the_code() -> None:
    analyze, upload = job_of(ONE)["steps"]
    (review,) = job_of(TWO)["steps"]
    assert [each["with"]["mode"] for each in (analyze, review)] == list(STAGES)
    assert upload["with"]["name"] == name_of(1).replace("1", "${{ github.run_attempt }}")
    assert upload["with"]["path"] == f"${{{{ runner.temp }}}}/{FILE_NAME}"
