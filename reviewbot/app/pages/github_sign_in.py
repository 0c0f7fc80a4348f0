"""Sign-in through the App's own OAuth: the address to send a browser to, the code's exchange, what its person may read.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.host_request import send_request
from reviewbot.domain.errors import HostAccessError, HostError

TIMEOUT_S = 5.0
"""For each request to GitHub: a person is waiting, and a thread of the server."""

MAX_REQUESTS = 30
"""To list what a person may read. What does not fit into so many is not shown."""

MAX_REPOSITORIES = 2_000
PER_PAGE = 100
"""GitHub's own limit."""

MAX_LIST_BYTES = 4 * 1024 * 1024
"""Of one page of repositories; each takes about 6 kB."""

_OK, _UNAUTHORIZED = 200, 401
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_LOGIN = r"^[A-Za-z0-9_\[\]-]{1,100}$"
_NAME = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"
_CONFIG = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True, frozen=True)


class Repository(NamedTuple):
    """A repository that a person may read."""

    name: str
    """As "owner/name"."""
    installation: int
    may_write: bool
    """Whether its person may push to it."""


class SignedInUser(NamedTuple):
    """Who signed in."""

    login: str
    token: str


@dataclass(frozen=True)
class GithubSignIn:
    """The sign-in of one App on one host."""

    credentials: Credentials
    web_url: str
    api_url: str
    public_url: str | None

    def address(self, state: str, challenge: str) -> str:
        """Where a browser asks its person for consent; `challenge` is the S256 of the verifier (PKCE)."""
        query = {
            "client_id": self.credentials.client_id,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **self._callback(),
        }
        return f"{self.web_url}/login/oauth/authorize?{urlencode(query)}"

    def exchange(self, code: str, verifier: str) -> SignedInUser:
        """The person whose consent a code stands for. Raises HostAccessError for a refused code, and HostError."""
        if not _CODE.fullmatch(code):
            raise HostAccessError("this is no code of GitHub's")
        form = {
            "client_id": self.credentials.client_id,
            "client_secret": self.credentials.client_secret,
            "code": code,
            "code_verifier": verifier,
            **self._callback(),
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        status, data = send_request(
            "POST", self.web_url, "/login/oauth/access_token", headers, urlencode(form), timeout_s=TIMEOUT_S
        )
        token = _parsed(_Token, status, data).access_token
        if not token:
            raise HostAccessError("GitHub did not take the code; sign in again")
        return SignedInUser(_parsed(_User, *self._get("/user", token)).login, token)

    def repositories(self, token: str) -> Mapping[int, Repository]:
        """What a person may read through the App's installations, by id.

        Raises HostAccessError where the token is not valid any more, and HostError: then nothing may be shown.
        """
        found: dict[int, Repository] = {}
        requests = 0
        for installation in self._installations(token):
            page = 1
            while requests < MAX_REQUESTS and len(found) < MAX_REPOSITORIES:
                path = f"/user/installations/{installation}/repositories?per_page={PER_PAGE}&page={page}"
                rows = _parsed(_Repositories, *self._get(path, token)).repositories
                found.update({row.id: Repository(row.full_name, installation, row.permissions.push) for row in rows})
                requests, page = requests + 1, page + 1
                if len(rows) < PER_PAGE:
                    break
        return found

    def _installations(self, token: str) -> Iterator[int]:
        rows = _parsed(_Installations, *self._get(f"/user/installations?per_page={PER_PAGE}", token)).installations
        return (row.id for row in rows)

    def _get(self, path: str, token: str) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": "2022-11-28"}
        return send_request("GET", self.api_url, path, headers, timeout_s=TIMEOUT_S, max_bytes=MAX_LIST_BYTES)

    def _callback(self) -> dict[str, str]:
        """GitHub takes the first address of the App's settings where none is named."""
        return {"redirect_uri": f"{self.public_url}/sign-in/callback"} if self.public_url else {}


class _Token(BaseModel):
    model_config = _CONFIG

    access_token: Annotated[str, Field(pattern=r"^[\x21-\x7e]{0,512}$")] = ""


class _User(BaseModel):
    model_config = _CONFIG

    login: Annotated[str, Field(pattern=_LOGIN)]


class _Installation(BaseModel):
    model_config = _CONFIG

    id: Annotated[int, Field(ge=1)]


class _Installations(BaseModel):
    model_config = _CONFIG

    installations: tuple[_Installation, ...] = Field(strict=False)


class _Permissions(BaseModel):
    model_config = _CONFIG

    push: bool = False


class _Repository(BaseModel):
    model_config = _CONFIG

    id: Annotated[int, Field(ge=1)]
    full_name: Annotated[str, Field(pattern=_NAME)]
    permissions: _Permissions = _Permissions()


class _Repositories(BaseModel):
    model_config = _CONFIG

    repositories: tuple[_Repository, ...] = Field(strict=False)


_Model = TypeVar("_Model", bound=BaseModel)


def _parsed(model: type[_Model], status: int, data: bytes) -> _Model:
    if status == _UNAUTHORIZED:
        raise HostAccessError("GitHub takes this sign-in no more; sign in again")
    if status != _OK:
        raise HostError(f"GitHub answered with {status}")
    try:
        return model.model_validate_json(data)
    except ValidationError:
        raise HostError("GitHub's answer cannot be read") from None
