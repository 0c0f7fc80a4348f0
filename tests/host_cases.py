"""One repository with a pull request, on each host: what the contract of a code host is tried on."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from reviewbot.hosts.base import CodeHost, PullRequest
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from reviewbot.hosts.local.host import LocalHost
from reviewbot.sources.git.repository import GitRepository
from tests.git_repo import GitRepo
from tests.github_api.apps import AppGithub
from tests.github_api.state import Comment

BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"
"""Ruff's F632: a literal is compared by identity."""

PERSON = "octocat"


class Check(NamedTuple):
    """A check run as it stands on the host."""

    name: str
    head_sha: str
    conclusion: str | None
    title: str
    marks: int


class HostCase(ABC):
    """Pull request 1 of `repository`, from branch "feature" to "main" of `repo`, and its host."""

    repository: str
    host: CodeHost

    def __init__(self, repo: GitRepo) -> None:
        self.repo = repo

    def pull(self) -> PullRequest:
        return self.host.pull_request(self.repository, 1)

    @abstractmethod
    def push(self, **files: str) -> str:
        """Move the head on by a commit; its hash."""

    @abstractmethod
    def answer(self, thread_id: int, body: str) -> None:
        """`PERSON`, an owner of the repository, replies to a thread."""

    @abstractmethod
    def disown(self, review_id: int) -> None:
        """Let a review be one that `PERSON` has written."""

    @abstractmethod
    def checks(self) -> list[Check]:
        """All check runs on the commits of the pull request."""

    @abstractmethod
    def close(self) -> None:
        """Close the pull request."""


class GithubCase(HostCase):
    """On our GitHub."""

    repository = "acme/shop"

    def __init__(self, repo: GitRepo, api: AppGithub, client: GithubClient) -> None:
        super().__init__(repo)
        self.api = api
        api.add_repository(self.repository, repo.folder)
        api.open_pull(self.repository, "main", "feature", title="Pay three", labels=("size/s",))
        api.app.may[PERSON] = "admin"
        self.host = GithubHost(client)

    @property
    def _pull(self) -> Any:
        return self.api.state.repositories[self.repository].pulls[1]

    def push(self, **files: str) -> str:
        commit = self.repo.commit(files)
        self.api.push(self.repository, 1, commit)
        return commit

    def answer(self, thread_id: int, body: str) -> None:
        state = self.api.state
        with state.lock:
            first = next(each for each in self._pull.comments if each.comment_id == thread_id)
            reply = Comment(state.next_id(), None, state.account(PERSON), first.path, body, first.line, state.now())
            reply.in_reply_to_id, reply.author_association = thread_id, "OWNER"
            self._pull.comments.append(reply)

    def disown(self, review_id: int) -> None:
        for each in self._pull.reviews:
            if each.review_id == review_id:
                each.account = self.api.state.account(PERSON)

    def checks(self) -> list[Check]:
        return [
            Check(each.name, each.head_sha, each.conclusion, each.title or "", len(each.annotations))
            for each in self._pull.repository.checks
        ]

    def close(self) -> None:
        self._pull.state = "closed"


class LocalCase(HostCase):
    """In the folder of pull requests of the repository itself."""

    repository = "local/shop"

    def __init__(self, repo: GitRepo, git: GitRepository) -> None:
        super().__init__(repo)
        self.folder = repo.folder / ".git" / "pulls"
        self.folder.mkdir()
        record = {"title": "Pay three", "author": "contributor", "base": "main", "head": "feature"}
        self.write("1.json", {**record, "labels": ["size/s"]})
        self.write("accounts.json", {PERSON: "OWNER"})
        self.host = LocalHost(repo.folder, git)

    def write(self, name: str, value: object) -> Path:
        path = self.folder / name
        path.write_text(json.dumps(value), "utf-8")
        return path

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))

    def push(self, **files: str) -> str:
        return self.repo.commit(files)

    def answer(self, thread_id: int, body: str) -> None:
        activity = self.read("1.activity.json")
        [thread] = [each for each in activity["threads"] if each["comments"][0]["id"] == thread_id]
        thread["comments"].append({"id": 900, "author": PERSON, "body": body})
        self.write("1.activity.json", activity)

    def disown(self, review_id: int) -> None:
        activity = self.read("1.activity.json")
        for each in activity["reviews"]:
            each["author"] = PERSON if each["id"] == review_id else each["author"]
        self.write("1.activity.json", activity)

    def checks(self) -> list[Check]:
        return [
            Check(each["name"], each["commit"], each["conclusion"], each["title"], len(each["annotations"]))
            for each in self.read("1.activity.json")["checks"]
        ]

    def close(self) -> None:
        self.write("1.json", {**self.read("1.json"), "state": "closed"})
