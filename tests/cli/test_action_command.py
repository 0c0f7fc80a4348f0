"""The door of the Action in one process: the environment of a step in, exit code, review and outputs out."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from reviewbot.action.outcome import KEYLESS, STOPPED
from reviewbot.cli.commands.action import forget, run_step
from tests.action_runner import BEFORE, DEFECT, outputs_in, pull_request, pushed
from tests.git_repo import GitRepo
from tests.github_api import FakeGitHub, Pull, Reply

NAME = "acme/shop"
KEY = "sk-ant-api03-" + "k" * 40


@pytest.fixture
def pull(github_api: FakeGitHub, tmp_path: Path) -> Pull:
    origin = GitRepo(tmp_path / "origin")
    origin.commit({"app.py": BEFORE})
    origin.git("checkout", "-q", "-b", "feature")
    origin.commit({"run.py": DEFECT})
    github_api.add_repository(NAME, origin.folder)
    return github_api.open_pull(NAME, "main", "feature")


class Step:
    """The environment of a step, and what came of it."""

    def __init__(self, folder: Path, api_url: str, token: str) -> None:
        self.folder = folder
        self.log = io.StringIO()
        places = {"RUNNER_TEMP": folder, "GITHUB_WORKSPACE": folder / "work"}
        places |= {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH")}
        self.environ = {name: str(path) for name, path in places.items()}
        self.environ |= {"GITHUB_REPOSITORY": NAME, "GITHUB_API_URL": api_url, "INPUT_GITHUB_TOKEN": token}

    def __call__(self, event: str, payload: object, **environ: str) -> int:
        Path(self.environ["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))
        return run_step({**self.environ, "GITHUB_EVENT_NAME": event, **environ}, self.log)

    @property
    def outputs(self) -> dict[str, str]:
        return outputs_in(Path(self.environ["GITHUB_OUTPUT"]).read_text())

    @property
    def summary(self) -> str:
        return Path(self.environ["GITHUB_STEP_SUMMARY"]).read_text()


@pytest.fixture
def step(tmp_path: Path, github_api: FakeGitHub) -> Step:
    return Step(tmp_path, github_api.url, github_api.token)


def test_a_pull_request_is_reviewed_and_posted_once_however_often_the_step_runs(step: Step, pull: Pull) -> None:
    codes = [step("pull_request", pull_request(pull.number), INPUT_FAIL_ON="critical") for _ in range(2)]

    assert (codes, len(pull.reviews)) == ([1, 1], 1)
    assert step.outputs["review-url"].endswith(f"pull/1#pullrequestreview-{pull.reviews[0].review_id}")
    assert "This head has its review already" in step.summary
    assert [check.conclusion for check in pull.repository.checks] == ["failure"] * len(pull.repository.checks)
    # The check run carries the marks, and the log one closing line a run.
    said = step.log.getvalue().splitlines()
    assert [line[: len("reviewbot: 1 issue found")] for line in said] == ["reviewbot: 1 issue found"] * 2


@pytest.mark.parametrize("mode", ["annotate", "report"])
def test_where_nothing_is_to_be_posted_nothing_is_written_to_github(
    step: Step, github_api: FakeGitHub, pull: Pull, mode: str
) -> None:
    assert step("pull_request", pull_request(pull.number), INPUT_MODE=mode) == 0

    assert {each.method for each in github_api.recorded} == {"GET"}
    assert (step.outputs["verdict"], step.outputs["review-url"]) == ("issues", "")


def test_the_file_of_config_comes_from_the_base_branch_and_not_from_the_head(
    step: Step, github_api: FakeGitHub, tmp_path: Path
) -> None:
    origin = GitRepo(tmp_path / "origin")
    origin.commit({"app.py": BEFORE, "ci/bot.toml": 'fail_on = "critical"\n'})
    origin.git("checkout", "-q", "-b", "feature")
    origin.commit({"run.py": DEFECT, "ci/bot.toml": 'ignore = ["*"]\n'})
    github_api.add_repository(NAME, origin.folder)
    pull = github_api.open_pull(NAME, "main", "feature")

    code = step("pull_request", pull_request(pull.number), INPUT_CONFIG="ci/bot.toml", INPUT_MODE="report")

    assert (code, step.outputs["critical"]) == (1, "1")


@pytest.mark.parametrize(
    ("files", "code", "verdict"),
    [
        ({"app.ex": "defmodule App do\nend\n"}, 4, "not_reviewed"),
        pytest.param({"app.ex": "defmodule App do\nend\n", "other.py": BEFORE}, 0, "limited", marks=pytest.mark.slow),
        pytest.param({"package-lock.json": "{}\n"}, 0, "nothing_to_review", marks=pytest.mark.slow),
    ],
)
def test_without_a_key_no_check_is_green_for_what_was_not_reviewed(
    step: Step, github_api: FakeGitHub, tmp_path: Path, files: dict[str, str], code: int, verdict: str
) -> None:
    origin = GitRepo(tmp_path / "origin")
    origin.commit({"app.py": BEFORE})
    origin.git("checkout", "-q", "-b", "feature")
    origin.commit(files)
    repository = github_api.add_repository(NAME, origin.folder)
    pull = github_api.open_pull(NAME, "main", "feature")

    assert step("pull_request", pull_request(pull.number)) == code

    assert [check.conclusion for check in repository.checks] == ["neutral"]
    assert step.outputs["verdict"] == verdict
    assert KEYLESS in step.summary


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("INPUT_GITHUB_TOKEN", "", "the input github-token is empty"),
        ("REVIEWBOT_MARKER_KEY", "short", "REVIEWBOT_MARKER_KEY must have at least 16 characters"),
        ("INPUT_FAIL_ON", "always", "the input fail-on must be one of critical, warning, info, none"),
        ("INPUT_CONFIG", "no.toml", "the base side of this change has no such file"),
    ],
)
def test_what_the_workflow_says_wrong_is_one_mark_at_the_run(
    step: Step, pull: Pull, variable: str, value: str, message: str
) -> None:
    assert step("pull_request", pull_request(pull.number), **{variable: value}) == 2

    assert message in step.log.getvalue()
    assert step.log.getvalue().startswith("::error title=reviewbot::")
    assert step.outputs["verdict"] == "not_reviewed"
    assert not pull.reviews


def test_a_head_that_moves_while_it_is_reviewed_gets_nothing(step: Step, github_api: FakeGitHub, pull: Pull) -> None:
    GitRepo(pull.repository.folder).commit({"more.py": "x = 1\n"})

    def moved() -> Reply:
        pull.head_sha = GitRepo(pull.repository.folder).git("rev-parse", "HEAD")
        return Reply(200, [])

    github_api.refuse("GET", r"/pulls/1/reviews$", moved)

    assert step("pull_request", pull_request(pull.number)) == 0
    assert "Nothing was posted: the pull request has a newer head" in step.summary
    assert not pull.reviews


def test_a_fault_of_ours_is_said_in_the_summary_before_it_goes_on(step: Step, tmp_path: Path) -> None:
    class Broken(io.StringIO):
        left = 1

        def write(self, text: str) -> int:
            if self.left:
                self.left -= 1
                raise RuntimeError("a fault")
            return super().write(text)

    step.log = Broken()

    with pytest.raises(RuntimeError, match="a fault"):
        step("push", pushed("a" * 40, "0" * 40))

    assert STOPPED in step.summary
    assert step.outputs["verdict"] == "not_reviewed"


@pytest.mark.parametrize("mode", ["fork-analyze", "fork-review"])
def test_the_stages_for_forks_are_modes_of_the_same_step(step: Step, pull: Pull, mode: str) -> None:
    environ = {"INPUT_MODE": mode, "INPUT_ANTHROPIC_API_KEY": KEY}

    assert step("push", pushed("a" * 40, "0" * 40), **environ) == 2

    assert "::error title=reviewbot::" in step.log.getvalue()
    assert not pull.reviews


def test_secrets_and_what_steers_the_sdk_are_taken_out_of_the_environment() -> None:
    environ = {
        "INPUT_GITHUB_TOKEN": "t",
        "INPUT_FAIL_ON": "critical",
        "REVIEWBOT_MARKER_KEY": "m",
        "ANTHROPIC_BASE_URL": "https://evil.example",
        "ANTHROPIC_CUSTOM_HEADERS": "x: y",
        "AWS_REGION": "eu-west-1",
        "PATH": "/usr/bin",
    }

    forget(environ)

    assert environ == {"AWS_REGION": "eu-west-1", "PATH": "/usr/bin"}
