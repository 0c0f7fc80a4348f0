from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from reviewbot.app.pages.github_sign_in import GithubSignIn
from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.runs import RunRecord, Runs, State
from reviewbot.app.store.inbox.inbox import Inbox, open_inbox
from reviewbot.app.web.app import create_app
from reviewbot.app.web.parts import WebParts
from reviewbot.config import Settings
from tests.oauth_host import CLIENT_ID, CLIENT_SECRET, OAuthHost, oauth_host
from tests.webhooks import CREDENTIALS

PUBLIC = "https://reviews.example.org"
TOKEN = "read-only-token-of-a-test"
A, B = 11, 22
"""Repositories: octo/one, which `octocat` may push to, and other/two, of which they know nothing."""

HOSTILE = "<script>alert(1)</script>\"'&\u202e\x1b[31m"
"""A text that a page has to escape."""


@dataclass
class Site:
    """The pages, their database and the host that people sign in with."""

    client: FlaskClient
    runs: Runs
    host: OAuthHost
    parts: PagesParts
    inbox: Inbox

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, base_url=PUBLIC, headers=headers)

    def post(self, path: str, **form: str) -> TestResponse:
        return self.client.post(path, base_url=PUBLIC, data=form)

    def sign_in(self, path: str = "/") -> TestResponse:
        """The way of a person: to GitHub, consent, back; the first page."""
        leaving = self.get(f"/sign-in/github?next={path}")
        back = urlsplit(self.host.consent(leaving.headers["Location"]))
        done = self.get(f"{back.path}?{back.query}")
        assert done.status_code == 303, done.text
        return self.get(done.headers["Location"])

    def sign_in_with_token(self, token: str = TOKEN) -> TestResponse:
        return self.post("/sign-in/token", token=token, form_token=form_token(self.get("/sign-in")), next="/")

    def add_run(self, number: int = 7, repository: int = A, state: State = "posted", **fields: Any) -> str:
        """A run of a pull request that ended, or waits."""
        name = "octo/one" if repository == A else "other/two"
        record = RunRecord(f"review:{repository}:{number}:{'a' * 40}:p", 1, name, repository, number, "a" * 40, 1,
                           "waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)._replace(**fields)  # fmt: skip
        self.runs.add(record)
        if state not in ("waiting", "running"):
            self.runs.end(record.run, state, record.reason, record.url)
        if record.dollars:
            self.runs.cost(record.run, record.dollars, record.tokens, "")
        return record.run


def form_token(page: TestResponse) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1]


@pytest.fixture
def host() -> Iterator[OAuthHost]:
    with oauth_host() as made:
        made.account.installations = {1: {A: ("octo/one", True)}}
        yield made


@pytest.fixture
def make_site(host: OAuthHost, database: Database, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    credentials = replace(CREDENTIALS, client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
    github = GithubSignIn(credentials, host.url, host.url, PUBLIC)
    opened: list[Inbox] = []

    def make(**fields: Any) -> Site:
        inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False)
        opened.append(inbox)
        parts = replace(PagesParts(database, lambda: github, Settings(), host.url, inbox.put, TOKEN), **fields)
        app = create_app(WebParts(inbox, lambda: CREDENTIALS, Settings(), pages=parts))
        return Site(app.test_client(), Runs(database), host, parts, inbox)

    yield make
    for inbox in opened:
        inbox.close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()
