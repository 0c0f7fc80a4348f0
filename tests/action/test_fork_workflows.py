"""The two workflows that we hand out: as documented, named as in the code, each with no more than its part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.inputs import MODES
from tests.action_runner import read_yaml

ROOT = Path(__file__).parents[2]
ONE = ROOT / "examples/workflows/fork-trigger.yml"
TWO = ROOT / "examples/workflows/fork-review.yml"


def job_of(path: Path) -> dict[str, Any]:
    (job,) = read_yaml(path)["jobs"].values()
    assert isinstance(job, dict)
    return job


@pytest.mark.parametrize("path", [ONE, TWO], ids=["one", "two"])
def test_the_page_shows_the_file_as_it_is(path: Path) -> None:
    assert f"```yaml\n{path.read_text()}```" in (ROOT / "docs/forks.md").read_text()


def test_stage_one_has_no_secret_and_a_token_that_can_do_nothing() -> None:
    workflow = read_yaml(ONE)
    assert "secrets" not in ONE.read_text()
    assert list(workflow["on"]) == ["pull_request"]
    assert workflow["permissions"] == job_of(ONE)["permissions"] == {}
    assert job_of(ONE)["steps"] == [{"run": "true"}]


def test_stage_two_checks_nothing_out_runs_no_script_and_is_one_step_of_ours() -> None:
    (step,) = job_of(TWO)["steps"]
    assert "run" not in step
    assert step["uses"].startswith("OWNER/reviewbot@")
    assert step["with"]["mode"] in MODES


def test_stage_two_writes_reviews_and_checks_and_reads_nothing_that_stage_one_made() -> None:
    workflow = read_yaml(TWO)
    assert list(workflow["on"]) == ["workflow_run"]
    assert workflow["on"]["workflow_run"]["workflows"] == [read_yaml(ONE)["name"]]
    assert workflow["permissions"] == {}
    assert job_of(TWO)["permissions"] == {"contents": "read", "pull-requests": "write", "checks": "write"}


def test_both_start_for_forks_alone_and_stop_for_a_newer_head() -> None:
    for path in (ONE, TWO):
        assert "full_name != github.repository" in job_of(path)["if"]
        assert read_yaml(path)["concurrency"]["cancel-in-progress"] is True
