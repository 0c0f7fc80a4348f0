"""A local git repository as a code host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.errors import EmptyChangeError, HostError, HostMissingError
from reviewbot.hosts.base import CodeHost, HostedChange, PullHead, PullRequest, Push, Workspace
from reviewbot.hosts.local.change import LocalSnapshot, as_host_errors, branch_tips, read_change
from reviewbot.hosts.local.checks import LocalChecks
from reviewbot.hosts.local.records import PullRecord, number_of
from reviewbot.hosts.local.registration import repository_name
from reviewbot.hosts.local.reviews import LocalReviews
from reviewbot.hosts.local.store import PullFolder
from reviewbot.hosts.pull_name import PullName
from reviewbot.sources.git.place import find_place
from reviewbot.sources.git.repository import GitRepository

MAY_WRITE = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Associations of accounts that may write, by `accounts.json`."""

_BOT = "[bot]"
_REVIEWER = re.compile(r"(?:team:)?[A-Za-z0-9][A-Za-z0-9_-]{0,98}")


@contextmanager
def open_host(name: PullName, environ: Mapping[str, str]) -> Iterator[CodeHost]:
    """Open the repository of a pull request. Raises InputError where there is none."""
    del environ
    path = Path(name.host or ".")
    with GitRepository(path) as repository:
        yield LocalHost(path, repository)


class LocalHost:
    """A `CodeHost` of one repository; the owner of `repository` closes it."""

    def __init__(self, path: Path, repository: GitRepository) -> None:
        """Raises InputError where there is no repository at `path`."""
        self._git = repository
        self._folder = PullFolder(find_place(path).common_dir)
        self._name = repository_name(path)
        # By its place: a copy of a repository is another one, which has no review yet.
        self._repository_id = number_of(f"repository {self._folder.path.resolve()}")

    def within(self, seconds: float) -> LocalHost:
        """Nothing here waits long: each git command and each lock has a bound of its own."""
        del seconds
        return self

    def pull_request(self, repository: str, number: int) -> PullRequest:
        """As `CodeHost.pull_request`, with the tips of its branches as they are now."""
        if repository != self._name:
            raise HostMissingError(f"{repository} is not here: this is {self._name}")
        record = self._folder.pull(number)
        base_sha, head_sha = branch_tips(self._git, record.base, record.head)
        return PullRequest(
            repository=self._name,
            repository_id=self._repository_id,
            number=number,
            title=record.title,
            description=record.body.replace("\r\n", "\n"),
            author=record.author,
            author_is_bot=record.author.endswith(_BOT),
            base_ref=record.base,
            base_sha=base_sha,
            head_ref=record.head,
            head_sha=head_sha,
            is_open=record.state == "open",
            draft=record.draft,
            labels=tuple(dict.fromkeys([*record.labels, *self._folder.activity(number).labels])),
            url=str(self._folder.path / f"{number}.json"),
        )

    def change(self, pull: PullRequest, space: Workspace) -> HostedChange:
        """As `CodeHost.change`, from git's objects; nothing is checked out."""
        del space
        read = read_change(self._git, pull.base_sha, pull.head_sha)
        if not read.change.files:
            raise EmptyChangeError(f"{pull.repository}#{pull.number} changes no file; nothing to review")
        snapshot = LocalSnapshot(self._git, pull, read.merge_base)
        return HostedChange(**(vars(read) | {"change": pull.describe(read.change)}), snapshot=snapshot)

    def push(self, pull: PullRequest, earlier: str) -> Push | None:
        """As `CodeHost.push`."""
        with as_host_errors():
            commits = self._git.commits_since(earlier, pull.head_sha)
            if commits is None:
                return None
            return Push(commits, parse_diff(self._git.range_diff(f"{earlier}..{pull.head_sha}").diff))

    def text_at(self, pull: PullRequest, commit: str, path: str) -> str | None:
        """As `CodeHost.text_at`."""
        del pull
        with as_host_errors():
            return self._git.blob(commit, path)

    def reviews(self, pull: PullRequest) -> LocalReviews:
        """As `CodeHost.reviews`."""
        return LocalReviews(self._git, self._folder, replace(pull, url=self._activity_url(pull.number)))

    def checks(self, repository: str, number: int) -> LocalChecks:
        """As `CodeHost.checks`."""
        del repository
        return LocalChecks(self._folder, number, self._activity_url(number))

    def open_pulls(self, repository: str, head_sha: str, branch: str = "") -> tuple[PullHead, ...]:
        """As `CodeHost.open_pulls`; one that cannot be read is left out."""
        del repository
        return tuple(
            PullHead(number, tip, self._repository_id, self._repository_id)
            for number, record, tip in self._open_records()
            if (f"local:{record.head}" == branch if branch else tip == head_sha)
        )

    def may_write(self, repository: str, account: str) -> bool:
        """By `accounts.json`."""
        del repository
        return self._folder.associations().get(account) in MAY_WRITE

    def request_people(
        self, repository: str, number: int, label: str | None, reviewers: Sequence[str]
    ) -> tuple[str, ...]:
        """As `CodeHost.request_people`."""
        author = self.pull_request(repository, number).author
        named = [name for name in reviewers if _REVIEWER.fullmatch(name) and name != author]
        with self._folder.editing(number) as activity:
            activity.labels = list(dict.fromkeys([*activity.labels, *([label] if label else [])]))
            activity.requested = list(dict.fromkeys([*activity.requested, *named]))
        return tuple(f"{name!r} cannot be asked for a review" for name in reviewers if name not in named)

    def _open_records(self) -> Iterator[tuple[int, PullRecord, str]]:
        for number in self._folder.numbers():
            try:
                record = self._folder.pull(number)
                tip = branch_tips(self._git, record.base, record.head)[1]
            except HostError:
                continue
            if record.state == "open":
                yield number, record, tip

    def _activity_url(self, number: int) -> str:
        return str(self._folder.path / f"{number}.activity.json")
