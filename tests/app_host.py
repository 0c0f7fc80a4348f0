"""All of a GitHub that an App and its people meet at one address: making it, installing it, its API, sign-in, webhooks.

The pages are of our own making; the answer to a manifest's code is of the shape that GitHub's description requires
(`tests/app/runtime/test_conversion.py` holds it against that), and the API is `AppGithub`, which checks each request.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen
from uuid import uuid4

from tests.github_api.apps import APP_ID, AppGithub
from tests.oauth_host import CLIENT_ID, CLIENT_SECRET, Handler, OAuthHost
from tests.webhooks import PERSON, SECRET, body_of, headers_of

_ADDRESSES = ("avatar_url", "events_url", "followers_url", "following_url", "gists_url", "html_url", "url",
              "organizations_url", "received_events_url", "repos_url", "starred_url", "subscriptions_url")  # fmt: skip
"""Of an account."""

CODE = "c0de-of-the-manifest"
INSTALLATION = 1


def conversion(pem: str, app_id: int = APP_ID, slug: str = "reviewbot", **more: Any) -> dict[str, Any]:
    """What GitHub answers to the code of a manifest, once the App is made.

    https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
    """
    owner = {"login": "acme", "id": 5, "node_id": "O_5", "type": "User", "site_admin": False, "gravatar_id": ""}
    owner |= {name: f"https://api.github.com/users/acme/{name}" for name in _ADDRESSES}
    return {
        "id": app_id,
        "slug": slug,
        "node_id": "A_1",
        "owner": owner,
        "name": slug,
        "description": None,
        "external_url": "https://reviews.example.org",
        "html_url": f"https://github.com/apps/{slug}",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": {"contents": "read"},
        "events": ["pull_request"],
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "pem": pem,
        "webhook_secret": SECRET,
        **more,
    }


class AppHost(OAuthHost):
    """One App, which is made and installed by clicks; its repositories are those of `api`."""

    def __init__(self, api: AppGithub, pem: str) -> None:
        super().__init__(_Handler)
        self.api, self.pem = api, pem
        self.manifest: dict[str, Any] = {}
        self.converted = 0
        self.delivered: list[tuple[str, int]] = []
        """Each event that was sent, and the status of the answer."""

    def convert(self, code: str) -> tuple[int, Any]:
        """The App's credentials, for the code that its manifest led to."""
        if code != CODE or self.converted:
            return 404, {"message": "Not Found"}
        self.converted += 1
        return 201, conversion(self.pem, slug=str(self.manifest["name"]).lower().replace(" ", "-"))

    def install(self) -> str:
        """On all repositories, which the person who signs in may push to; where the browser is sent."""
        known = self.api.state.repositories.values()
        self.api.install(INSTALLATION, *(each.name for each in known))
        self.account.installations[INSTALLATION] = {each.repository_id: (each.name, True) for each in known}
        self.api.app.may[self.account.login] = "write"
        rows = [{"id": each.repository_id, "full_name": each.name, "private": each.private} for each in known]
        self.deliver("installation", {"action": "created", "installation": {"id": INSTALLATION}, "repositories": rows})
        return f"{self.manifest['setup_url']}?installation_id={INSTALLATION}&setup_action=install"

    def deliver(self, name: str, payload: dict[str, Any]) -> None:
        """An event, to the address that the manifest names, signed with the secret that the App was given."""
        body = body_of({"sender": PERSON, **payload})
        request = Request(self.manifest["hook_attributes"]["url"], body, headers_of(body, name, str(uuid4())))
        with urlopen(request, timeout=60) as answer:
            self.delivered.append((f"{name}.{payload['action']}", answer.status))


class _Handler(Handler):
    server: AppHost

    def do_GET(self) -> None:  # noqa: N802 - the library's name
        if self.path.startswith(("/login/", "/user")):
            return super().do_GET()
        if re.fullmatch(r"/apps/[a-z0-9-]+/installations/new", self.path):
            return self._page("<h1>Install the App</h1><form method=post><button>Install</button></form>")
        return self._ask_api()

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        path = urlsplit(self.path).path
        if path.startswith("/login/"):
            return super().do_POST()
        if found := re.fullmatch(r"/app-manifests/([^/]+)/conversions", path):
            return self._answer(*self.server.convert(found[1]))
        if path.endswith("/installations/new"):
            return self._redirect(self.server.install())
        return self._make() if path.endswith("/settings/apps/new") else self._ask_api()

    def do_PATCH(self) -> None:  # noqa: N802 - the library's name
        self._ask_api()

    do_PUT = do_DELETE = do_PATCH  # noqa: N815 - the library's names

    def _make(self) -> None:
        """The page that a manifest is posted to."""
        self.server.manifest = json.loads(parse_qs(self._body().decode())["manifest"][0])
        state = parse_qs(urlsplit(self.path).query)["state"][0]
        back = html.escape(f"{self.server.manifest['redirect_url']}?code={CODE}&state={state}")
        self._page(f'<h1>Make the App</h1><a id="create" href="{back}">Create the App</a>')

    def _ask_api(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.api.answer(self.command, self.path, headers, self._body())
        kind = "text/plain" if isinstance(reply.body, bytes) else "application/json"
        self._send(reply.status, reply.data, {"Content-Type": kind, **reply.headers})

    def _page(self, text: str) -> None:
        page = f'<!doctype html><title>GitHub</title><link rel="icon" href="data:,">{text}'
        self._send(200, page.encode(), {"Content-Type": "text/html"})


@contextmanager
def app_host(api: AppGithub, pem: str) -> Iterator[AppHost]:
    """A stand-in that answers, also for `api`."""
    with AppHost(api, pem) as host:
        thread = Thread(target=host.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield host
        host.shutdown()
        thread.join(60)
