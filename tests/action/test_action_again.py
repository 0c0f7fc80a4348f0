"""A run of the Action on a head that has its review already: it makes none, and says where the one is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reviewbot.action.inputs import read_inputs
from reviewbot.action.pulls import ActionPulls
from reviewbot.action.run import WorkflowStep, act
from reviewbot.action.runner import StepOutput, runner_of
from reviewbot.cli.running import run_to_end
from tests.action_runner import outputs_in
from tests.git_repo import GitRepo
from tests.github_api import FakeGitHub, Pull

BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"


@pytest.fixture
def pull(github_api: FakeGitHub, tmp_path: Path) -> Pull:
    repo = GitRepo(tmp_path / "shop")
    repo.commit({"pay.py": BEFORE})
    repo.commit({"pay.py": AFTER}, branch="feature")
    github_api.add_repository("acme/shop", repo.folder)
    return github_api.open_pull("acme/shop", "main", "feature")


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def run(api: FakeGitHub, folder: Path, closing: ExitStack, **inputs: str) -> tuple[int, dict[str, str], str]:
    """One step: its end, its outputs and its log."""
    output, event = folder / "output", folder / "event.json"
    output.write_text("")
    result = {"action": "synchronize", "number": 1, "pull_request": {"number": 1, "head": {}, "base": {}}}
    event.write_text(json.dumps(result | {"repository": {"full_name": "acme/shop"}}))
    places = {"GITHUB_OUTPUT": output, "GITHUB_EVENT_PATH": event, "RUNNER_TEMP": folder, "GITHUB_WORKSPACE": folder}
    named = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_API_URL": api.url}
    runner = runner_of(named | {name: str(place) for name, place in places.items()})
    given = {"github_token": api.token, "engine": "analyzers", **inputs}
    read = read_inputs({f"INPUT_{name.upper()}": text for name, text in given.items()})
    log = io.StringIO()
    voice = StepOutput(runner, log, read.secrets)
    step = WorkflowStep(runner, read, voice, run_to_end, lambda: ActionPulls(runner, read, run_to_end, closing))
    return act(step), outputs_in(output.read_text()), log.getvalue()


@pytest.mark.slow
def test_the_second_run_reviews_nothing_and_tells_where_the_review_is(
    github_api: FakeGitHub, pull: Pull, tmp_path: Path, closing: ExitStack
) -> None:
    first = run(github_api, tmp_path, closing)
    checks = len(pull.repository.checks)

    code, outputs, log = run(github_api, tmp_path, closing)

    assert (first[0], code, len(pull.reviews), len(pull.repository.checks)) == (0, 0, 1, checks)
    assert first[1]["verdict"] == "issues"
    assert outputs["verdict"] == "nothing_to_review"
    assert outputs["review-url"] == first[1]["review-url"] != ""
    assert outputs["findings"] == ""
    assert "not reviewed again" in log


@pytest.mark.slow
def test_a_closed_gate_stays_closed_however_often_the_job_is_run(
    github_api: FakeGitHub, pull: Pull, tmp_path: Path, closing: ExitStack
) -> None:
    codes = [run(github_api, tmp_path, closing, fail_on="warning")[0] for _ in range(2)]

    assert codes == [1, 1]
    assert len(pull.reviews) == 1
