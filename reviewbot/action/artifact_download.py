"""The artifact of one run, through the API: the list of the run, one entry of our name, then its archive.

GitHub answers the request for an archive with a redirect to a storage host, where its client goes for nobody. That one
hop is taken here, without the token, and no other: what the storage answers is bytes for `artifact_zip`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Annotated, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.action.artifact import Id
from reviewbot.action.artifact_zip import MAX_ZIP_BYTES
from reviewbot.errors import ArtifactError

if TYPE_CHECKING:
    from reviewbot.action.fork_events import FinishedRun
    from reviewbot.adapters.github.access import Access

NAME = "reviewbot-fork"
"""How the artifact is called; the number of the run's attempt follows, for a run that is done again keeps the old."""

DEADLINE_S = 60.0
"""For the whole archive: it is small, and the storage is GitHub's own."""

_SILENCE_S = 20.0
_CHUNK = 64 * 1024
_BROKEN = (URLError, HTTPException, OSError, ValueError)
"""All that the library raises where no answer comes, or none of the protocol."""
_PUBLIC_API = "api.github.com"
_STORAGE = (".blob.core.windows.net", ".actions.githubusercontent.com")
"""Where github.com keeps artifacts:
https://docs.github.com/en/actions/reference/runners/self-hosted-runners#accessible-domains-by-function"""


_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:[/?][\x21-\x5b\x5d-\x7e]*)?"
)
"""An address that every program reads alike: of a backslash some make a slash, of "%2f" in a host as well."""

_NAMED = re.compile(r"(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*[a-z0-9]")
"""A host with a domain. What ends in a number is an address to some resolver, in decimal, octal or hexadecimal."""

_LOCAL = (".localhost", ".localdomain", ".internal")
"""Domains of one machine, and of what a provider of machines answers on it."""


class Reply(Protocol):
    """What the API answered."""

    @property
    def data(self) -> object:
        """JSON."""


class Api(Protocol):
    """The part of the host's client that is needed here. HostError and its kinds are all that is raised."""

    def request(self, method: str, path: str, *, query: Mapping[str, str | int] | None = None) -> Reply:
        """One request below the API's address."""


class _Made(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    id: Id


class _Listed(_Made):
    name: str
    size_in_bytes: Annotated[int, Field(ge=0)]
    expired: bool
    workflow_run: _Made


class _List(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    total_count: Annotated[int, Field(ge=0)]
    artifacts: list[_Listed]


def name_of(attempt: int) -> str:
    """The artifact's name in the run's attempt of that number."""
    return f"{NAME}-{attempt}"


def download(api: Api, access: Access, run: FinishedRun, deadline_s: float = DEADLINE_S) -> bytes:
    """The archive of the run's artifact. Raises ArtifactError where there is none that can be taken, and HostError."""
    found = _only_one(api, run)
    address = _storage_of(access, f"/repos/{run.repository}/actions/artifacts/{found.id}/zip")
    _check_address(address, access.api_url)
    return _fetched(address, deadline_s)


def _only_one(api: Api, run: FinishedRun) -> _Listed:
    wanted = name_of(run.attempt)
    path = f"/repos/{run.repository}/actions/runs/{run.run_id}/artifacts"
    answer = api.request("GET", path, query={"name": wanted, "per_page": 10})
    try:
        listed = _List.model_validate(answer.data)
    except ValidationError:
        raise ArtifactError("GitHub's list of the run's artifacts cannot be read") from None
    named = [each for each in listed.artifacts if each.name == wanted]
    if not named:
        raise ArtifactError("the run left none")
    if len(named) > 1 or listed.total_count > 1:
        raise ArtifactError("the run left several of its name")
    found = named[0]
    if found.workflow_run.id != run.run_id:
        raise ArtifactError("it is of another run")
    if found.expired:
        raise ArtifactError("it has expired")
    if found.size_in_bytes > MAX_ZIP_BYTES:
        raise ArtifactError(f"its archive is larger than {MAX_ZIP_BYTES >> 20} MiB")
    return found


def _storage_of(access: Access, path: str) -> str:
    """Where GitHub says that the archive is. `path` is made of checked parts."""
    headers = {"Authorization": f"Bearer {access.token}", "User-Agent": "reviewbot"}
    request = Request(access.api_url + path, headers=headers)  # noqa: S310 - the operator's own address
    try:
        with build_opener(_NoRedirect()).open(request, timeout=_SILENCE_S) as answer:
            status = answer.status
    except HTTPError as error:
        error.close()
        if error.code == HTTPStatus.FOUND:
            return str(error.headers.get("Location", ""))
        status = error.code
    except _BROKEN:
        raise ArtifactError("GitHub could not be asked where its archive is") from None
    raise ArtifactError(f"GitHub answered {status} and not where its archive is")


def _check_address(address: str, api_url: str) -> None:
    """Refuse what the API would never answer: another scheme than its own, a name and password, a host of nobody's.

    An Enterprise server may keep archives at any host that has a name, or at its own address; an address of numbers,
    which may be this machine or a service beside it, is no storage.
    """
    api = urlsplit(api_url)
    found = _ADDRESS.fullmatch(address)
    if found is None or found["scheme"] != api.scheme:
        raise ArtifactError("GitHub sent us to an address that is none")
    host, port = found["host"].lower(), found["port"]
    public = api.hostname == _PUBLIC_API
    if public and (port is not None or not host.endswith(_STORAGE)):
        raise ArtifactError("GitHub sent us to a host that is not its storage")
    if not public and host.strip("[]") != api.hostname and (not _NAMED.fullmatch(host) or host.endswith(_LOCAL)):
        raise ArtifactError("GitHub sent us to a host that is not its storage")


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        """None: the answer stays what it is, an error."""


def _fetched(address: str, deadline_s: float) -> bytes:
    """The bytes there. The address holds its own short-lived permission, so that it is never shown."""
    # The scheme was checked to be that of the configured API.
    request = Request(address, headers={"User-Agent": "reviewbot"})  # noqa: S310 - checked by _check_address
    until = time.monotonic() + deadline_s
    try:
        with build_opener(_NoRedirect()).open(request, timeout=_SILENCE_S) as answer:
            return _bounded(answer, until)
    except HTTPError as error:
        error.close()
        raise ArtifactError(f"the storage answered with {error.code}") from None
    except _BROKEN:
        raise ArtifactError("the storage could not be reached, or broke off") from None


def _bounded(answer: HTTPResponse, until: float) -> bytes:
    data = bytearray()
    while chunk := answer.read1(_CHUNK):
        data += chunk
        if len(data) > MAX_ZIP_BYTES:
            raise ArtifactError(f"its archive is larger than {MAX_ZIP_BYTES >> 20} MiB")
        if time.monotonic() > until:
            raise ArtifactError("its archive did not come in time")
    if answer.length:
        raise ArtifactError("the storage broke off")
    return bytes(data)
