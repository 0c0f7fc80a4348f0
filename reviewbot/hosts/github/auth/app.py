"""Authenticate as the App: a signed JWT, for which GitHub gives tokens of its installations.

Each token is for one repository and for the permissions that are needed, and lasts an hour; it is given out again until
shortly before it ends. Sources: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock
from typing import Literal, NamedTuple

import jwt

from reviewbot.domain.errors import HostAccessError, HostError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.strict_json import a_dict

Permission = Literal["read", "write"]

BACKDATED_S = 60
"""GitHub's clock may be behind ours."""

WORD_S = 540
"""How long a signed JWT is valid; ten minutes is the most that GitHub takes, its clock may be ahead."""

EARLY_S = 300.0
"""A token that ends sooner is not given out again: what is begun with it must still be able to end."""

ASKING_S = 60.0
"""For a token, waits for limits included."""

MAX_KEPT = 1_000
"""Tokens that are kept at once."""

_TOKEN = re.compile(r"[\x21-\x7e]{10,4096}")


class AppKeys(NamedTuple):
    """The App's number, and its private keys (PEM); two while one is exchanged for the other."""

    app_id: int
    private_keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"AppKeys(app_id={self.app_id})"


class _CachedToken(NamedTuple):
    token: str
    until: float


class AppTokens:
    """Access for the App and for its installations. Safe to use from several threads; keeps tokens in memory alone.

    `keys` is asked each time, since keys are exchanged while we run. Raises HostAccessError and other kinds of
    HostError; no text has a key or a token.
    """

    def __init__(self, keys: Callable[[], AppKeys], api_url: str, now: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._api_url = api_url
        self._now = now
        self._lock = Lock()
        self._kept: dict[tuple[int, str], _CachedToken] = {}

    def app(self) -> tuple[GithubAccess, ...]:
        """Access as the App itself, once for each key: the first one may be revoked already."""
        keys = self._keys()
        return tuple(GithubAccess(self._word(keys.app_id, key), self._api_url) for key in keys.private_keys)

    def installation(self, installation: int, repository: int, permissions: Mapping[str, Permission]) -> GithubAccess:
        """Access to one repository (its id), with these permissions and no others."""
        return self._access(installation, {"repository_ids": [int(repository)], "permissions": dict(permissions)})

    def reading_all(self, installation: int) -> GithubAccess:
        """Access to all repositories of an installation, to see which pull requests there are, and to nothing else."""
        return self._access(installation, {"permissions": {"metadata": "read", "pull_requests": "read"}})

    def forget(self, installation: int) -> None:
        """Drop the kept tokens of this installation."""
        with self._lock:
            for asked in [each for each in self._kept if each[0] == installation]:
                del self._kept[asked]

    def _access(self, installation: int, body: Mapping[str, object]) -> GithubAccess:
        asked = (installation, json.dumps(body, sort_keys=True))
        with self._lock:
            kept = self._kept.get(asked)
        if kept is None or kept.until - EARLY_S <= self._now():
            kept = self._fetch(f"/app/installations/{int(installation)}/access_tokens", body)
            self._keep(asked, kept)
        return GithubAccess(kept.token, self._api_url)

    def _keep(self, asked: tuple[int, str], kept: _CachedToken) -> None:
        with self._lock:
            self._kept[asked] = kept
            ended = [each for each, found in self._kept.items() if found.until <= self._now()]
            for each in ended + list(self._kept)[: max(0, len(self._kept) - MAX_KEPT)]:
                self._kept.pop(each, None)

    def _fetch(self, path: str, body: Mapping[str, object]) -> _CachedToken:
        refused: HostAccessError | None = None
        for access in self.app():
            try:
                with GithubClient(access, deadline_s=ASKING_S) as client:
                    # A second token does no harm: this may be repeated.
                    return _read(client.request("POST", path, body=body, repeatable=True).data)
            except HostAccessError as error:
                refused = error
        raise refused or HostAccessError("the App has no private key")

    def _word(self, app_id: int, key: str) -> str:
        now = int(self._now())
        claims = {"iat": now - BACKDATED_S, "exp": now + WORD_S, "iss": str(app_id)}
        try:
            return jwt.encode(claims, key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            raise HostAccessError("the App's private key cannot be used: it must be the PEM that GitHub gave") from None


def _read(answer: object) -> _CachedToken:
    token, ends = a_dict(answer).get("token"), a_dict(answer).get("expires_at")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token) or not isinstance(ends, str):
        raise HostError("GitHub's answer to the wish for a token holds none")
    try:
        return _CachedToken(token, datetime.fromisoformat(ends).timestamp())
    except ValueError:
        raise HostError("GitHub does not say until when its token holds") from None
