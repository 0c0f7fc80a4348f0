"""An App on our GitHub, a pull request, and a stage whose steps are the real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.inbox.counters import Counters
from reviewbot.app.store.inbox.store import open_store
from reviewbot.app.worker.github_steps import App, github_steps
from reviewbot.app.worker.runner import Runner
from reviewbot.app.worker.work import End, ReviewRequest, RunSteps
from reviewbot.hosts.github.auth.app import AppKeys, AppTokens
from reviewbot.publish.marker import Signer
from tests.app.conftest import Stage
from tests.git_repo import GitRepo
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub
from tests.messages_api import Scripted, a_reading, answered
from tests.still_clock import StillClock

BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"
ENVIRON = {"REVIEWBOT_ENGINE": "analyzers", "HOME": "/nowhere"}


class Shop:
    """An App on our GitHub, a pull request, and a stage whose steps are the real ones."""

    def __init__(self, github: AppGithub, folder: Path, database: Database, pem: str) -> None:
        self.github = github
        self.folder = folder
        self.stage = Stage(database)
        self.pem = pem
        self.environ = dict(ENVIRON)
        self.tallies = Counters(open_store(str(folder.parent / "inbox.sqlite"), durable=False))
        self.repo = GitRepo(folder)

    def commit(self, branch: str = "", **files: str) -> str:
        return self.repo.commit({name.replace("__", "."): text for name, text in files.items()}, branch=branch)

    def open(self, settings: str = "", after: str = AFTER, **more: Any) -> Pull:
        base = {"pay__py": BEFORE, **({"__reviewbot__toml": settings} if settings else {})}
        self.commit(**base)
        self.commit("feature", pay__py=after)
        self.github.add_repository("acme/shop", self.folder)
        self.github.install(1, "acme/shop")
        return self.github.open_pull("acme/shop", "main", "feature", **more)

    def order(self, pull: Pull, **more: Any) -> ReviewRequest:
        result = {
            "installation": 1,
            "repository": "acme/shop",
            "repository_id": pull.repository.repository_id,
            "number": pull.number,
            "head_sha": pull.head_sha,
            "trigger": {"kind": "head"},
            **more,
        }
        return ReviewRequest.from_json(result)

    def steps(self) -> RunSteps:
        """The real steps of a worker."""
        tokens = AppTokens(lambda: AppKeys(APP_ID, (self.pem,)), self.github.url)
        app = App(
            tokens, lambda: Signer((b"k" * 32,)), self.environ, lambda: self.github.own.account_id, self.tallies,
            lambda: self.stage.database, StillClock(),
        )  # fmt: skip
        return github_steps(app)

    def run(self, order: ReviewRequest) -> End:
        """Order it, and carry it out as a worker would."""
        self.stage.runner = Runner(self.stage.database, self.steps(), self.stage.scheduler, "worker")
        return self.stage.carry_out(self.stage.submit(order))

    def writes(self) -> list[str]:
        writing = [each for each in self.github.recorded if each.method not in ("GET", "HEAD")]
        return [each.path for each in writing if "access_tokens" not in each.path]


def nothing_found(body: dict[str, Any]) -> Scripted:
    """What a model says that finds nothing."""
    del body
    return answered(a_reading())
