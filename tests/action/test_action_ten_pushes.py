"""Ten pushes to one pull request, each reviewed by a run of the Action that has nothing but our comments to go by."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from tests.action_runner import ActionRunner, pull_request
from tests.git_repo import GitRepo
from tests.github_api.apps import AppGithub
from tests.host_cases import BEFORE, GithubCase
from tests.messages_api import MessagesApi
from tests.ten_pushes import PushReport, TenPushes, repeat_nothing_and_forget_nothing

KEY = "sk-ant-api03-" + "k" * 40
PERMISSIONS = {"contents": "read", "pull_requests": "write", "checks": "write"}
"""As the workflows of docs have them."""
WORKFLOWS = 15_368
"""The App whose tokens GitHub gives to workflow runs."""


class ActionPushes(TenPushes):
    """Each push is an event for a process of its own, on a runner without files, with a token of its own."""

    def __init__(self, case: GithubCase, models: MessagesApi, folder: Path, tree: Path, installed: Path) -> None:
        super().__init__(case, models)
        self.github, self.folder, self.tree, self.installed = case.api, folder, tree, installed
        self.runs = 0

    def tell(self, files: Mapping[str, str | None]) -> PushReport:
        self.commit(files)
        self.runs += 1
        token = f"ghs_tenpushes{self.runs:026}"
        self.github.add_token(token, "github-actions[bot]", PERMISSIONS)
        self.github.state.tokens[token].app_id = WORKFLOWS
        place = self.folder / f"runner-{self.runs}"
        assert not place.exists()
        given = {"install": {"home": str(self.installed)}}
        runner = ActionRunner(self.tree, place, self.github.url, token=token, given=given)
        event = pull_request(1, "synchronize" if self.runs > 1 else "opened")
        pull = self.case.pull()
        event["pull_request"]["head"]["sha"], event["pull_request"]["base"]["sha"] = pull.head_sha, pull.base_sha
        ran = runner.run("pull_request", event, {"anthropic-api-key": KEY, "base-url": self.api.url})
        assert (ran.code, ran.outputs["review-url"] != "") == (0, True), ran.log
        [log] = json.loads(Path(ran.outputs["sarif"]).read_text())["runs"]
        paths = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in log["results"]]
        notes = (line.removeprefix("- ").replace("`", "") for line in ran.summary.splitlines())
        return PushReport(tuple(paths), tuple(notes))


@pytest.fixture
def case(tmp_path: Path) -> Iterator[GithubCase]:
    repo = GitRepo(tmp_path / "shop")
    repo.commit({"README.md": "a shop\n", "src/pay.py": BEFORE})
    repo.git("branch", "feature")
    with AppGithub() as api, GithubClient(GithubAccess(api.token, api.url)) as client:
        yield GithubCase(repo, api, client)
    api.check()


@pytest.mark.slow
def test_ten_runs_that_know_nothing_but_our_comments_repeat_nothing_and_forget_nothing(
    case: GithubCase, messages_api: MessagesApi, tmp_path: Path, action_tree: Path, installed: Path
) -> None:
    pushes = ActionPushes(case, messages_api, tmp_path, action_tree, installed)

    repeat_nothing_and_forget_nothing(pushes)

    assert pushes.runs == 10
