"""What our GitHub knows: plain dataclasses, changed under one lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, Literal

Json = dict[str, Any]

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Account:
    """A person, a bot or an organisation."""

    account_id: int
    login: str
    kind: Literal["User", "Bot", "Organization"] = "User"


@dataclass
class Token:
    """Who asks, and what they may: "read" or "write" by the name of a permission, as Apps have them."""

    account: Account
    permissions: dict[str, str]
    app_id: int | None = None
    repositories: frozenset[int] | None = None
    """Of an installation: those that it is for, by their ids."""

    def may(self, name: str, level: str) -> bool:
        """Whether this permission is held at this level."""
        return self.permissions.get(name) in {"write", level}

    def sees(self, repository: Repository) -> bool:
        """Whether it is there for whoever has this token."""
        if self.repositories is not None and repository.repository_id not in self.repositories:
            return not repository.private
        return bool(self.permissions) or not repository.private


@dataclass
class Review:
    """A review as it was posted."""

    review_id: int
    account: Account | None
    body: str
    state: str
    """"COMMENTED", "CHANGES_REQUESTED", "APPROVED", "PENDING" or "DISMISSED"."""
    commit_id: str | None
    submitted_at: str
    editor: int | None = None
    """The account that edited it last."""


@dataclass
class Comment:
    """A review comment at a line."""

    comment_id: int
    review_id: int | None
    account: Account | None
    path: str
    body: str
    line: int | None
    created_at: str
    commit_id: str = ""
    start_line: int | None = None
    side: str = "RIGHT"
    in_reply_to_id: int | None = None
    author_association: str = "MEMBER"
    resolved: bool = False
    """Of its thread."""
    reactions: list[tuple[str, Account]] = field(default_factory=list)


@dataclass
class CheckRun:
    """A check run of one commit."""

    check_id: int
    name: str
    head_sha: str
    app_id: int | None
    status: str = "in_progress"
    conclusion: str | None = None
    external_id: str = ""
    title: str = ""
    summary: str = ""
    text: str = ""
    annotations: list[Json] = field(default_factory=list)


@dataclass
class Repository:
    """A repository and the git folder behind it."""

    repository_id: int
    name: str
    """As "owner/name"."""
    folder: Path
    private: bool = False
    default_branch: str = "main"
    pulls: dict[int, Pull] = field(default_factory=dict)
    checks: list[CheckRun] = field(default_factory=list)


@dataclass
class Pull:
    """A pull request. `head_sha` moves by `FakeGitHub.push` alone."""

    number: int
    repository: Repository
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: Repository | None
    title: str
    body: str | None
    author: Account | None
    author_association: str = "CONTRIBUTOR"
    draft: bool = False
    labels: tuple[str, ...] = ()
    state: str = "open"
    reviews: list[Review] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    conversation: list[Comment] = field(default_factory=list)
    """Comments on the whole of it; they have no path."""


@dataclass
class Ordered:
    """A refusal that a test ordered."""

    method: str
    pattern: str
    make: Callable[[], Any]
    left: int
    carried_out: bool


@dataclass
class GithubState:
    """Everything."""

    tokens: dict[str, Token] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    ordered: list[Ordered] = field(default_factory=list)
    max_diff_files: int = 300
    max_diff_lines: int = 20_000
    max_listed_files: int = 3_000
    max_patch_lines: int = 20_000
    """Of one file; where it is longer, the list of files has no `patch` for it."""
    graphql: bool = True
    left: dict[str, int] = field(default_factory=dict)
    """Requests that are left by the name of an hourly limit, "core" or "graphql"; without an entry nobody counts."""
    max_blob_text: int = 512_000
    max_threads: int = 100
    """Of one page of GraphQL."""
    """Characters of a file that GraphQL tells."""
    base_url: str = ""
    lock: Any = field(default_factory=RLock)
    _ids: Iterator[int] = field(default_factory=lambda: count(1_001))
    _ticks: Iterator[int] = field(default_factory=count)

    def next_id(self) -> int:
        """A number that nothing else has."""
        return next(self._ids)

    def now(self) -> str:
        """A time that is a second later whenever it is asked."""
        return (_EPOCH + timedelta(seconds=next(self._ticks))).strftime("%Y-%m-%dT%H:%M:%SZ")

    def account(self, login: str) -> Account:
        """The account of this name, made where it is missing; "[bot]" at its end makes it a bot."""
        if login not in self.accounts:
            kind: Literal["User", "Bot"] = "Bot" if login.endswith("[bot]") else "User"
            self.accounts[login] = Account(self.next_id(), login, kind)
        return self.accounts[login]
