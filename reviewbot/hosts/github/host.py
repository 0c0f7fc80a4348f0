"""GitHub, and GitHub Enterprise Server, as a code host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice

from reviewbot.config.load import FILE_NAME
from reviewbot.domain.errors import HostError, InputError
from reviewbot.hosts.base import CodeHost, HostedChange, PullHead, PullRequest, Push, Workspace
from reviewbot.hosts.github.auth.access import GithubAccess, find_access, web_host_of
from reviewbot.hosts.github.change import read_change
from reviewbot.hosts.github.checks import GithubChecks
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.files.stores import store_opener
from reviewbot.hosts.github.pull import check_repository, check_sha, read_listed, read_pull
from reviewbot.hosts.github.push import read_push, read_text
from reviewbot.hosts.github.reviews import GithubReviews
from reviewbot.hosts.pull_name import PullName

MAX_PULLS = 300
"""Open pull requests of one branch or commit that are looked at; more come only from an answer to another question."""

MAY_WRITE = frozenset({"admin", "write", "maintain"})
"""https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user"""

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?")
_TEAM = "team:"
"""Before the slug of a team of the repository's organisation."""


@contextmanager
def github_host(
    access: GithubAccess, own_id: int | None = None, before_write: Callable[[], None] = lambda: None
) -> Iterator[CodeHost]:
    """Open GitHub under a token.

    `own_id`: the account of our reviews, where it is known; else GitHub is asked. `before_write` is called right before
    every request that changes something, and stops it by raising.
    """
    with GithubClient(access, before_write=before_write) as client:
        yield GithubHost(client, own_id)


def open_host(name: PullName, environ: Mapping[str, str]) -> AbstractContextManager[CodeHost]:
    """Open the host of a pull request. Raises HostAccessError, and InputError where the hosts differ."""
    return github_host(access_to(name, environ))


def access_to(name: PullName, environ: Mapping[str, str]) -> GithubAccess:
    """The access to the host of a pull request. Raises as `open_host`."""
    if name.host is not None and not environ.get("GITHUB_API_URL", "").strip():
        environ = {**environ, "GH_HOST": name.host}
    access = find_access(environ)
    if name.host not in (None, web_host_of(access.api_url)):
        raise InputError(f"--pr is on {name.host}, and GITHUB_API_URL names the API of {web_host_of(access.api_url)}")
    return access


class GithubHost:
    """A `CodeHost`; the owner of the client closes it."""

    def __init__(self, client: GithubClient, own_id: int | None = None) -> None:
        self._client = client
        self._own_id = own_id
        self.within = client.within

    def pull_request(self, repository: str, number: int) -> PullRequest:
        """As `CodeHost.pull_request`."""
        return read_pull(self._client, repository, number)

    def change(self, pull: PullRequest, space: Workspace) -> HostedChange:
        """As `CodeHost.change`; nothing is checked out. Several requests, and later one for each file looked into."""
        read = read_change(self._client, pull)
        place = store_opener(space, self._client.access.api_url, pull.repository_id)
        snapshot = GithubSnapshot(self._client, pull, merge_base=read.merge_base, change=read.change, place=place)
        notes = [*read.notes]
        if snapshot.base_file(FILE_NAME) is not None and snapshot.organisation_settings_used:
            notes.append(f"{FILE_NAME} is that of the owner's .github repository; this one has none")
        return HostedChange(**(vars(read) | {"notes": tuple(notes)}), snapshot=snapshot)

    def push(self, pull: PullRequest, earlier: str) -> Push | None:
        """As `CodeHost.push`; two requests."""
        return read_push(self._client, pull, earlier)

    def text_at(self, pull: PullRequest, commit: str, path: str) -> str | None:
        """As `CodeHost.text_at`; one request."""
        return read_text(self._client, pull, commit, path)

    def reviews(self, pull: PullRequest) -> GithubReviews:
        """As `CodeHost.reviews`."""
        return GithubReviews(self._client, pull, self._own_id)

    def checks(self, repository: str, _number: int) -> GithubChecks:
        """As `CodeHost.checks`; on GitHub they belong to commits."""
        return GithubChecks(self._client, repository)

    def open_pulls(self, repository: str, head_sha: str, branch: str = "") -> tuple[PullHead, ...]:
        """As `CodeHost.open_pulls`.

        Sources: https://docs.github.com/en/rest/pulls/pulls#list-pull-requests and
        https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
        """
        place = f"/repos/{check_repository(repository)}"
        if branch:
            rows = self._client.items(f"{place}/pulls", query={"state": "open", "head": branch})
        else:
            rows = self._client.items(f"{place}/commits/{check_sha(head_sha)}/pulls")
        return tuple(head for row in islice(rows, MAX_PULLS) if (head := read_listed(row)) is not None)

    def may_write(self, repository: str, account: str) -> bool:
        """By the API's answer, never by a name or by what a payload claims."""
        if not _LOGIN.fullmatch(account):
            return False
        login = account.replace("[", "%5B").replace("]", "%5D")
        path = f"/repos/{check_repository(repository)}/collaborators/{login}/permission"
        found = self._client.request("GET", path).data
        return isinstance(found, dict) and found.get("permission") in MAY_WRITE

    def request_people(
        self, repository: str, number: int, label: str | None, reviewers: Sequence[str]
    ) -> tuple[str, ...]:
        """As `CodeHost.request_people`.

        The author of a pull request cannot be asked, and GitHub then asks none of those that were named with them:
        each is asked alone.
        """
        place = f"/repos/{check_repository(repository)}"
        notes: list[str] = []
        requests: list[tuple[str, dict[str, object]]] = []
        if label:
            requests.append((f"{place}/issues/{int(number)}/labels", {"labels": [label]}))
        for name in reviewers:
            login = name.removeprefix(_TEAM)
            if not _LOGIN.fullmatch(login) or "[" in login:
                notes.append("a reviewer to ask is no login and no team")
                continue
            kind = "reviewers" if login == name else "team_reviewers"
            requests.append((f"{place}/pulls/{int(number)}/requested_reviewers", {kind: [login]}))
        for path, body in requests:
            try:
                self._client.request("POST", path, body=body, repeatable=True)
            except HostError as error:
                notes.append(f"a person could not be called: {error}")
        return tuple(notes)
