from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.web.parts import SetupParts
from reviewbot.app.web.setup import LIFETIME_S, MAX_FORM_BYTES, MAX_STATES, SetupSessions
from reviewbot.domain.errors import ConfigError, HostError
from tests.webhooks import CREDENTIALS, KEY, SECRET, Service, service

TOKEN = "a-token-that-was-printed"
PUBLIC = "https://reviews.example.org"


@dataclass
class Host:
    """What GitHub would answer, and what was asked."""

    credentials: Credentials | None = None
    codes: list[str] = field(default_factory=list)
    error: Exception | None = None

    def convert(self, code: str) -> Credentials:
        self.codes.append(code)
        if self.error is not None:
            raise self.error
        return CREDENTIALS

    def keep(self, credentials: Credentials) -> str:
        self.credentials = credentials
        return "stored in /state/credentials.json"


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def target(host: Host, tmp_path: Path) -> Iterator[Service]:
    parts = SetupParts(host.convert, host.keep, TOKEN, public_url=PUBLIC)
    made = service(tmp_path, credentials=lambda: host.credentials, setup=parts)
    yield made
    made.inbox.close()


@dataclass
class Browser:
    """One browser, on this machine or elsewhere."""

    client: FlaskClient
    peer: str = "127.0.0.1"
    host: str = "localhost:8000"

    def get(self, path: str) -> TestResponse:
        return self.client.get(path, headers={"Host": self.host}, environ_overrides={"REMOTE_ADDR": self.peer})

    def enter(self, **fields: str) -> TestResponse:
        """Fill the page's own form in and post it; a redirect is followed, as browsers do."""
        token = re.search(r'name="form_token" value="([^"]+)"', self.get("/setup").text)
        known = {"public_url": PUBLIC, "name": "a", "organisation": "", "form_token": token[1] if token else ""}
        answer = self.post({**known, **fields})
        return self.get(answer.headers["Location"]) if answer.status_code == 303 else answer

    def post(self, form: dict[str, str]) -> TestResponse:
        return self.client.post(
            "/setup", data=form, headers={"Host": self.host}, environ_overrides={"REMOTE_ADDR": self.peer}
        )


@pytest.fixture
def browser(target: Service) -> Browser:
    """The one that was let in."""
    made = Browser(target.app.test_client())
    assert made.get(f"/setup?token={TOKEN}").status_code == 303
    return made


def form_of(page: TestResponse) -> tuple[str, dict[str, Any]]:
    """Where the page's form is posted to, and the manifest in it."""
    action = re.search(r'<form action="([^"]+)" method="post">', page.text)
    manifest = re.search(r'name="manifest" value="([^"]+)"', page.text)
    assert action is not None
    assert manifest is not None
    return html.unescape(action.group(1)), json.loads(html.unescape(manifest.group(1)))


def state_of(page: TestResponse) -> str:
    return parse_qs(urlsplit(form_of(page)[0]).query)["state"][0]


def test_from_nothing_to_an_app(browser: Browser, host: Host) -> None:
    page = browser.get("/setup")
    action, manifest = form_of(page)
    done = browser.get(f"/setup/callback?code=c0de&state={state_of(page)}")

    assert action.startswith("https://github.com/settings/apps/new?state=")
    assert manifest["hook_attributes"]["url"] == f"{PUBLIC}/webhook"
    assert manifest["redirect_url"] == "http://localhost:8000/setup/callback"
    assert done.status_code == 200
    assert 'href="https://github.com/apps/reviewbot/installations/new"' in done.text
    assert (host.codes, host.credentials) == (["c0de"], CREDENTIALS)
    assert not [secret for secret in (KEY, SECRET) if secret in done.text]


def test_with_an_app_there_is_no_setup(browser: Browser, host: Host) -> None:
    state = state_of(browser.get("/setup"))
    host.credentials = CREDENTIALS

    assert browser.get("/setup").status_code == 404
    assert browser.get(f"/setup/callback?code=c0de&state={state}").status_code == 404
    assert host.codes == []


def test_addresses_can_be_entered_on_the_page(browser: Browser) -> None:
    page = browser.enter(public_url="https://a.example/", name="My Bot", organisation="octo-org")
    action, manifest = form_of(page)

    assert action.startswith("https://github.com/organizations/octo-org/settings/apps/new?state=")
    assert (manifest["name"], manifest["url"]) == ("My Bot", "https://a.example")
    assert form_of(browser.get("/setup"))[1] == manifest


def test_a_link_changes_nothing_of_what_the_manifest_carries(browser: Browser) -> None:
    """With an address of the sender's the code for the App's private key would go there."""
    plain = form_of(browser.get("/setup"))
    link = form_of(browser.get("/setup?public_url=https://evil.example&name=evil&organisation=evil"))
    public = Browser(browser.client, "8.8.8.8", "reviews.example.org")

    assert link[1] == plain[1]
    assert link[0].partition("?")[0] == plain[0].partition("?")[0] == "https://github.com/settings/apps/new"
    browser.client.set_cookie("reviewbot_setup", cookie_of(browser), domain="reviews.example.org", path="/setup")
    assert form_of(public.get("/setup?public_url=https://evil.example"))[1]["redirect_url"].startswith(PUBLIC)


def cookie_of(browser: Browser) -> str:
    return browser.get("/setup").headers["Set-Cookie"].partition("=")[2].partition(";")[0]


@pytest.mark.parametrize("token", ["", "guess", "\u00e9", TOKEN])
def test_a_form_of_another_site_changes_nothing(token: str, browser: Browser) -> None:
    refused = browser.post({"public_url": "https://evil.example", "name": "a", "organisation": "", "form_token": token})

    assert refused.status_code == 403
    assert form_of(browser.get("/setup"))[1]["url"] == PUBLIC


def test_a_form_without_a_pass_or_of_any_size_is_refused(target: Service, browser: Browser) -> None:
    stranger = Browser(target.app.test_client())

    assert stranger.post({"public_url": PUBLIC, "form_token": "x"}).status_code == 403
    assert browser.enter(name="a" * MAX_FORM_BYTES).status_code == 413


def test_the_page_shows_each_address_that_the_manifest_carries(browser: Browser) -> None:
    pages = browser.get("/setup"), browser.enter(public_url="https://other.example", organisation="octo-org")
    for page in pages:
        manifest = form_of(page)[1]
        for address in (manifest["hook_attributes"]["url"], manifest["redirect_url"], manifest["url"]):
            assert f"<code>{address}</code>" in page.text

    assert "REVIEWBOT_PUBLIC_URL is" not in pages[0].text
    assert f"REVIEWBOT_PUBLIC_URL is <code>{PUBLIC}</code>" in pages[1].text
    assert "<b>octo-org</b>" in pages[1].text


@pytest.mark.parametrize(
    "entered",
    [
        {"public_url": "nowhere"},
        {"name": "<b>"},
        {"organisation": "../x"},
        {"public_url": ""},
        {"public_url": '"><script>alert(1)</script>'},
    ],
)
def test_what_cannot_be_is_refused_and_nothing_of_it_becomes_markup(entered: dict[str, str], browser: Browser) -> None:
    page = browser.enter(**entered)

    assert page.status_code == 400
    assert "<script>" not in page.text
    assert "<b>" not in page.text
    assert 'name="manifest"' not in page.text
    assert form_of(browser.get("/setup"))[1]["url"] == PUBLIC


def test_without_an_address_the_page_asks_for_one_first(host: Host, tmp_path: Path) -> None:
    target = service(tmp_path, credentials=lambda: None, setup=SetupParts(host.convert, host.keep, TOKEN))
    only = Browser(target.app.test_client())
    only.get(f"/setup?token={TOKEN}")
    page = only.get("/setup")

    assert page.status_code == 200
    assert 'name="manifest"' not in page.text
    assert 'name="public_url"' in page.text
    target.inbox.close()


@pytest.mark.parametrize("state", ["", "another", "\u00e9"])
def test_an_answer_to_nobodys_question_is_refused(state: str, browser: Browser, host: Host) -> None:
    browser.get("/setup")

    assert browser.get(f"/setup/callback?code=c0de&state={state}").status_code == 403
    assert host.codes == []


def test_a_state_is_good_once_and_for_the_browser_that_began(target: Service, browser: Browser, host: Host) -> None:
    state = state_of(browser.get("/setup"))
    host.error = HostError("GitHub cannot be reached")
    other = Browser(target.app.test_client())
    other.get("/setup")

    assert other.get(f"/setup/callback?code=stolen&state={state}").status_code == 403
    assert browser.get(f"/setup/callback?code=c0de&state={state}").status_code == 403
    assert host.codes == []


@pytest.mark.parametrize("error", [HostError("GitHub cannot be reached"), ConfigError("cannot be written")])
def test_what_goes_wrong_is_said_and_setup_stays_open(error: Exception, browser: Browser, host: Host) -> None:
    host.error = error
    page = browser.get(f"/setup/callback?code=c0de&state={state_of(browser.get('/setup'))}")

    assert page.status_code == 502
    assert str(error) in page.text
    assert browser.get("/setup").status_code == 200


@pytest.mark.parametrize(
    ("peer", "name"),
    [
        ("8.8.8.8", "localhost:8000"),
        ("127.0.0.1", "rebound.example"),
        ("10.0.0.9", "a"),
        ("127.0.0.1", "127.0.0.1:8000"),  # also a stranger whom a proxy that says nothing speaks for
    ],
)
def test_who_has_no_token_stays_outside_wherever_they_are(peer: str, name: str, target: Service) -> None:
    stranger = Browser(target.app.test_client(), peer, name)

    assert stranger.get("/setup").status_code == 403
    assert stranger.get("/setup?token=guess").status_code == 403


def test_who_is_elsewhere_comes_in_with_the_token_and_nobody_after_him(target: Service, host: Host) -> None:
    first = Browser(target.app.test_client(), "8.8.8.8", "reviews.example.org")
    second = Browser(target.app.test_client(), "9.9.9.9", "reviews.example.org")
    let_in = first.get(f"/setup?token={TOKEN}")
    page = first.get("/setup")

    assert (let_in.status_code, let_in.headers["Location"]) == (303, "/setup")
    assert form_of(page)[1]["redirect_url"] == f"{PUBLIC}/setup/callback"
    assert second.get(f"/setup?token={TOKEN}").status_code == 403
    assert first.get(f"/setup/callback?code=c0de&state={state_of(page)}").status_code == 200
    assert host.codes == ["c0de"]


def test_the_page_runs_nothing_and_sends_its_form_to_us_and_the_host_alone(browser: Browser) -> None:
    page = browser.get("/setup")
    policy = page.headers["Content-Security-Policy"]

    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    assert "form-action 'self' https://github.com;" in policy
    assert "<script" not in page.text
    assert re.search(r"HttpOnly; Path=/setup; SameSite=Lax", page.headers["Set-Cookie"])
    assert TOKEN not in page.text


def test_states_end_after_an_hour_and_there_are_not_many_of_them() -> None:
    now = [0.0]
    sessions = SetupSessions(TOKEN, lambda: now[0])
    old = sessions.begin("b")
    now[0] = LIFETIME_S + 1
    kept = [sessions.begin("b") for _ in range(MAX_STATES)]

    assert not sessions.finish(old, "b")
    assert sessions.finish(kept[-1], "b")
    sessions.begin("b")
    first, *_ = kept
    sessions.begin("b")
    assert not sessions.finish(first, "b")
