"""A stand-in of GitHub's sign-in: consent, the exchange of a code with PKCE, and what a person may read."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT_ID, CLIENT_SECRET = "Iv1.0123456789abcdef", "client-secret-of-a-test"


@dataclass
class Account:
    """A person on the host: installations, with their repositories as id -> (name, may push)."""

    login: str
    installations: dict[int, dict[int, tuple[str, bool]]] = field(default_factory=dict)


class OAuthHost(ThreadingHTTPServer):
    """Consents at once, for `account`. `requests` has every path that was asked for."""

    daemon_threads = True

    def __init__(self, handler: type[Handler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.account = Account("octocat")
        self.is_away = False
        self.requests: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, Account] = {}

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}"

    def consent(self, address: str) -> str:
        """What a person who agrees is sent back to, for the address that our server sent the browser to."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def revoke(self) -> None:
        """No token is valid any more."""
        self.tokens.clear()

    def exchanged(self, form: dict[str, str]) -> dict[str, Any]:
        """The answer to a code; each is good once."""
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        known = asked is not None and (asked["code_challenge"], asked["redirect_uri"]) == (
            challenge,
            form["redirect_uri"],
        )
        if not known or (form["client_id"], form["client_secret"]) != (CLIENT_ID, CLIENT_SECRET):
            return {"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."}
        token = f"ghu_{len(self.requests):036}"
        self.tokens[token] = self.account
        return {"access_token": token, "expires_in": 28800, "token_type": "bearer", "scope": ""}

    def read(self, path: str, token: str) -> tuple[int, Any]:
        """The API for a user's token."""
        account = self.tokens.get(token)
        if account is None:
            return 401, {"message": "Bad credentials"}
        parts = urlsplit(path)
        if parts.path == "/user":
            return 200, {"login": account.login, "id": 1}
        if parts.path == "/user/installations":
            rows = [{"id": each} for each in account.installations]
            return 200, {"total_count": len(rows), "installations": rows}
        number, page = int(parts.path.split("/")[3]), int(parse_qs(parts.query)["page"][0])
        every = [
            {"id": each, "full_name": name, "permissions": {"pull": True, "push": push}}
            for each, (name, push) in account.installations[number].items()
        ]
        return 200, {"total_count": len(every), "repositories": every[(page - 1) * 100 : page * 100]}


class Handler(BaseHTTPRequestHandler):
    """Consent, the exchange, and the API for a user's token."""

    server: OAuthHost

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        if self.path.startswith("/login/oauth/authorize"):
            return self._redirect(self.server.consent(self.path))
        if self.server.is_away:
            return self._answer(502, {"message": "away"})
        return self._answer(*self.server.read(self.path, self.headers.get("Authorization", "").removeprefix("Bearer ")))

    def do_POST(self) -> None:
        self.server.requests.append(self.path)
        form = parse_qs(self._body().decode())
        if self.server.is_away:
            return self._answer(502, {"message": "away"})
        return self._answer(200, self.server.exchanged({name: values[0] for name, values in form.items()}))

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, value: Any) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _redirect(self, address: str) -> None:
        self._send(302, b"", {"Location": address})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def oauth_host() -> Iterator[OAuthHost]:
    """A stand-in that answers."""
    with OAuthHost() as host:
        thread = threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield host
        host.shutdown()
        thread.join(60)
