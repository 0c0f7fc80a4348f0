"""Read a pull request from GitHub, and check the names that go into addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reviewbot.domain.errors import HostError, HostMissingError
from reviewbot.hosts.base import PullHead, PullRequest
from reviewbot.hosts.github.auth.access import web_host_of
from reviewbot.hosts.github.client import GithubClient

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
"""Owners are 39 characters at most on github.com; those of an Enterprise server may be longer and have a "_"."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def check_repository(name: str) -> str:
    """The name of a repository as "owner/name", fit for an address. Raises HostMissingError."""
    if not _NAME.fullmatch(name):
        raise HostMissingError("a repository is named OWNER/REPO, in letters, digits and . _ - alone")
    return name


def check_sha(sha: str) -> str:
    """A commit, a tree or a blob, fit for an address. Raises HostError."""
    if not _SHA.fullmatch(sha):
        raise HostError("GitHub names an object by what is no hash")
    return sha


def _valid(text: object) -> object:
    """Valid Unicode with line ends as files have them: JSON can carry halves of characters, and a form sends CR LF."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n") if isinstance(text, str) else text


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("no name of a repository")
    return name


_Text = Annotated[str, BeforeValidator(_valid)]
_Sha = Annotated[str, Field(pattern=f"^{_SHA.pattern}$")]


@dataclass(frozen=True)
class GithubPull(PullRequest):
    """A pull request with GitHub's own counts, against which what was read of its change is checked."""

    changed_files: int = 0
    additions: int = 0
    deletions: int = 0


class _Read(BaseModel):
    """What is read of an object of GitHub's; it has many more fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Account(_Read):
    login: _Text
    type: str = "User"


class _Repository(_Read):
    id: int
    full_name: Annotated[str, AfterValidator(_check_name)]


class _Label(_Read):
    name: _Text


class _Head(_Read):
    ref: _Text
    sha: _Sha
    repo: _Repository | None = None


class _Base(_Head):
    repo: _Repository


class _ListedPull(_Read):
    number: Annotated[int, Field(gt=0)]
    state: str
    base: _Base
    head: _Head


class _Pull(_ListedPull):
    title: _Text
    body: _Text | None = None
    draft: bool | None = False
    user: _Account | None = None
    labels: list[_Label] = []
    changed_files: Annotated[int, Field(ge=0)]
    additions: Annotated[int, Field(ge=0)]
    deletions: Annotated[int, Field(ge=0)]


def read_pull(client: GithubClient, repository: str, number: int) -> GithubPull:
    """Read the pull request as it is now. Raises HostError and its kinds.

    Source: https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
    """
    answer = client.request("GET", f"/repos/{check_repository(repository)}/pulls/{int(number)}")
    try:
        found = _Pull.model_validate(answer.data)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise HostError(
            f"GitHub's answer about {repository}#{number} cannot be used: {where or 'it'} is wrong"
        ) from None
    return _to_pull_request(found, client.access.api_url)


def read_listed(row: object) -> PullHead | None:
    """Read a pull request of a list; None for one that is not open. Raises HostError."""
    try:
        found = _ListedPull.model_validate(row)
    except ValidationError:
        raise HostError("GitHub's list of pull requests cannot be read") from None
    head = found.head.repo
    open_head = PullHead(found.number, found.head.sha, found.base.repo.id, head.id if head else None)
    return open_head if found.state.lower() == "open" else None


def _to_pull_request(found: _Pull, api_url: str) -> GithubPull:
    author = found.user or _Account(login="ghost")  # GitHub's own name for an account that is gone
    name = found.base.repo.full_name
    return GithubPull(
        repository=name,
        repository_id=found.base.repo.id,
        number=found.number,
        title=found.title,
        description=found.body or "",
        author=author.login,
        author_is_bot=author.type == "Bot",
        base_ref=found.base.ref,
        base_sha=found.base.sha,
        head_ref=found.head.ref,
        head_sha=found.head.sha,
        is_open=found.state.lower() == "open",
        draft=bool(found.draft),
        labels=tuple(label.name for label in found.labels),
        changed_files=found.changed_files,
        additions=found.additions,
        deletions=found.deletions,
        url=f"{urlsplit(api_url).scheme}://{web_host_of(api_url)}/{name}/pull/{found.number}",
    )
