"""Stage two of docs/forks.md as a runner carries it out: a process, real git, and our GitHub on loopback.

It runs the step of its workflow file with the token that the permissions there give, in a folder that the author of the
change has filled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import ROOT, ActionRunner, Ran, read_yaml
from tests.git_repo import GitRepo
from tests.github_api import FakeGitHub, Pull

pytestmark = pytest.mark.slow

WORKFLOW = ROOT / "examples/workflows/fork-review.yml"
BEFORE = "def run(name):\n    return name\n"
DEFECT = 'import subprocess\n\n\ndef run(name):\n    subprocess.run(f"ls {name}", shell=True)\n    return name\n'
CANARY = "/tmp/reviewbot-fork-process-canary"
HOSTILE = {
    ".reviewbot.toml": 'ignore = ["*"]\nfail_on = "none"\n',
    ".reviewbot/workers/evil.toml": 'name = "evil"\n',
    ".github/workflows/fork-review.yml": "on: push\n",
    **dict.fromkeys(
        ("sitecustomize.py", "usercustomize.py", "json.py", "reviewbot.py", "reviewbot/__init__.py"),
        f"open({CANARY!r}, 'w').close()\n",
    ),
    ".config/reviewbot/config.toml": 'ignore = ["*"]\n',
}
"""What stands in the fork's head, and in the folder in which the steps begin."""


class Runs:
    """A repository, a stranger's fork, and runs of the workflow."""

    def __init__(self, github: FakeGitHub, folder: Path, tree: Path, installed: Path) -> None:
        self.github, self.folder = github, folder
        self.tree, self.installed = tree, installed
        self.origin = GitRepo(folder / "origin")
        self.origin.commit({"app.py": BEFORE})
        self.repository = github.add_repository("acme/shop", self.origin.folder)
        self.fork = github.add_repository("mallory/shop", self.origin.folder)
        self.tokens: list[str] = []
        self.origin.git("checkout", "-q", "-b", "patch-1")
        self.origin.commit({"app.py": DEFECT, **HOSTILE})
        self.pull: Pull = github.open_pull("acme/shop", "main", "patch-1", author="mallory", fork="mallory/shop")

    def review(self, event: dict[str, Any] | None = None) -> Ran:
        """Carry out the step of the workflow, with the token that its job has."""
        (job_of,) = read_yaml(WORKFLOW)["jobs"].values()
        token = f"ghs_forkreview{len(self.tokens):020}"
        self.tokens.append(token)
        granted = {right.replace("-", "_"): level for right, level in job_of["permissions"].items()}
        self.github.add_token(token, "github-actions[bot]", granted)
        self.github.state.tokens[token].app_id = 15_368
        given = {"install": {"home": str(self.installed)}}
        place = self.folder / f"run-{len(self.tokens)}"
        runner = ActionRunner(self.tree, place, self.github.url, token=token, given=given)
        for path, text in HOSTILE.items():
            (runner.workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (runner.workspace / path).write_text(text)
        inputs = {key: str(value) for key, value in job_of["steps"][0]["with"].items() if "secrets." not in str(value)}
        ran = runner.run("workflow_run", event or self.finished(), inputs)
        assert not [each for each in self.tokens if each in ran.log + ran.summary]
        return ran

    def finished(self, **run: Any) -> dict[str, Any]:
        """The event that stage one has ended."""
        known: dict[str, Any] = {"event": "pull_request", "head_branch": "patch-1"}
        known |= {"head_sha": self.pull.head_sha}
        known |= {"head_repository": {"id": self.fork.repository_id, "owner": {"login": "mallory"}}}
        repository = {"id": self.repository.repository_id, "full_name": "acme/shop"}
        return {"action": "completed", "repository": repository, "workflow_run": known | run}


@pytest.fixture
def runs(github_api: FakeGitHub, tmp_path: Path, action_tree: Path, installed: Path) -> Iterator[Runs]:
    yield Runs(github_api, tmp_path, action_tree, installed)
    assert not Path(CANARY).exists()


def test_a_strangers_change_becomes_one_review(runs: Runs) -> None:
    first, again = runs.review(), runs.review()

    assert (first.code, again.code, len(runs.pull.reviews)) == (0, 0, 1), first.log + again.log
    assert "app.py" in runs.pull.reviews[0].body
    assert "this change cannot configure its own review" in runs.pull.reviews[0].body
    assert [(each.status, each.head_sha) for each in runs.repository.checks][:1] == [("completed", runs.pull.head_sha)]
    assert not [each for each in runs.tokens if each in runs.pull.reviews[0].body]


def test_stage_two_asks_for_nothing_that_stage_one_made(runs: Runs) -> None:
    assert runs.review().code == 0

    assert not [each.path for each in runs.github.recorded if "/actions/" in each.path]


def test_a_push_between_the_stages_is_reviewed_once_and_by_its_own_runs(runs: Runs) -> None:
    late = runs.finished()
    head = runs.origin.commit({"app.py": DEFECT + "\n"})
    runs.github.push("acme/shop", runs.pull.number, head)

    assert runs.review(late).code == 0
    assert runs.pull.reviews == []
    assert runs.review().code == 0
    assert runs.review(late).code == 0
    assert [each.commit_id for each in runs.pull.reviews] == [head]


@pytest.mark.parametrize(
    "run",
    [
        {"event": "push"},
        {"event": "pull_request_target"},
        {"head_sha": "0" * 40},
        {"head_repository": {"id": 1, "owner": {"login": "mallory"}}},
        {"head_branch": "$(id)\n::set-output name=x::y"},
    ],
)
def test_a_run_of_something_else_reviews_nothing(run: dict[str, Any], runs: Runs) -> None:
    ran = runs.review(runs.finished(**run))

    assert (runs.pull.reviews, runs.repository.checks) == ([], [])
    assert "::set-output" not in ran.log


def test_the_name_of_a_branch_is_one_value_of_the_question(runs: Runs) -> None:
    runs.review(runs.finished(head_branch="patch-1&state=all#"))

    asked = next(each for each in runs.github.recorded if each.path.endswith("/pulls"))
    assert (asked.query["head"], asked.query["state"]) == ("mallory:patch-1&state=all#", "open")


def test_the_event_of_another_repository_reviews_nothing(runs: Runs) -> None:
    event = runs.finished()
    event["repository"] = {"id": runs.fork.repository_id, "full_name": "mallory/shop"}

    assert runs.review(event).code == 2
    assert json.dumps([each.path for each in runs.github.recorded]).count("reviews") == 0
