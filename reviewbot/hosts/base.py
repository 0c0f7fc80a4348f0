"""The interface of a code host: the values that are read from it and written to it, and its protocols.

A host is one folder beside this module that implements `CodeHost`; `registry.py` finds it. It has a source of changes
(`CodeHost.change`), a service for reviews and threads (`ReviewHost`) and one for check runs (`CheckHost`). What is
written is always a constant text of reviewbot with data in it, never a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from reviewbot.config.source import BaseSide
from reviewbot.domain.contracts import ChangeSet, Conclusion
from reviewbot.domain.ports import RepositorySnapshot

Event = Literal["COMMENT", "REQUEST_CHANGES"]
Level = Literal["notice", "warning", "failure"]
CommentKind = Literal["issue", "review"]
"""A comment on the whole pull request, or one at lines."""


class PullHead(NamedTuple):
    """An open pull request in a list."""

    number: int
    head_sha: str
    repository_id: int
    head_repository_id: int | None
    """None where the fork is gone."""


@dataclass(frozen=True, kw_only=True)
class PullFacts:
    """What settings judge a pull request by. Texts are its author's words: data."""

    title: str
    author: str
    author_is_bot: bool
    draft: bool
    is_open: bool
    labels: tuple[str, ...]
    base_ref: str
    head_ref: str


@dataclass(frozen=True, kw_only=True)
class PullRequest(PullFacts):
    """A pull request as the host reports it now."""

    repository: str
    """As "owner/name"."""
    repository_id: int
    number: int
    description: str
    base_sha: str
    head_sha: str
    url: str

    def describe(self, change: ChangeSet) -> ChangeSet:
        """Put title, description and commits of the pull request into its change."""
        words = {"title": self.title, "description": self.description}
        return change.model_copy(update={**words, "base_sha": self.base_sha, "head_sha": self.head_sha})


@dataclass(frozen=True)
class PostedReview:
    """A review that stands on the host."""

    review_id: int
    author_id: int | None
    """None where the account is gone."""
    commit_sha: str | None
    body: str
    url: str
    blocks: bool = False
    """Whether it asks for changes, so that the host refuses to merge while it stands."""


@dataclass(frozen=True)
class PostedComment:
    """One comment of a thread."""

    comment_id: int
    author_id: int | None
    """None where the account is gone."""
    author: str
    association: str
    """The author's to the repository, in GitHub's words: OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE ..."""
    body: str
    reactions: int = 0
    """How many reactions it has, where the host says so."""


@dataclass(frozen=True)
class Reaction:
    """One reaction of one account to a comment."""

    account_id: int | None
    """None where the account is gone."""
    login: str
    content: str
    """In GitHub's words: "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket" or "eyes"."""


@dataclass(frozen=True)
class Thread:
    """A comment at a line, with the replies to it."""

    thread_id: int
    """That of its first comment."""
    path: str
    line: int | None
    """Of the new side; None where the line is no longer in the change."""
    resolved: bool | None
    """None where the host does not say."""
    comments: tuple[PostedComment, ...]
    """The first opened the thread, the others are replies; never empty."""


@dataclass(frozen=True)
class InlineComment:
    """A comment at lines `start_line` (or `line` alone) to `line` of the new side."""

    path: str
    line: int
    body: str
    start_line: int | None = None


@dataclass(frozen=True)
class ReviewDraft:
    """One review, ready to be posted in one call."""

    commit_sha: str
    body: str
    event: Event = "COMMENT"
    comments: tuple[InlineComment, ...] = ()


@dataclass(frozen=True)
class Annotation:
    """A mark in a check run."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True)
class CheckDraft:
    """A finished check run. Texts are Markdown by reviewbot."""

    title: str
    summary: str
    text: str
    conclusion: Conclusion
    annotations: tuple[Annotation, ...] = ()


class HostSnapshot(RepositorySnapshot, BaseSide, Protocol):
    """Both sides of a pull request, and the tip of its base branch, which configures the review."""

    def read_warnings(self) -> tuple[str, ...]:
        """Notes on what was asked for and could not be read, one line each."""


@dataclass(frozen=True, kw_only=True)
class ReadChange:
    """The change of a pull request as its host gave it."""

    change: ChangeSet
    digest: str
    """Of the diff's bytes, in hexadecimal."""
    merge_base: str
    """The commit from which the change starts; the old sides of its files are this commit's."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it was read."""


@dataclass(frozen=True, kw_only=True)
class HostedChange(ReadChange):
    """The same with both sides of its files."""

    snapshot: HostSnapshot


@dataclass(frozen=True)
class Workspace:
    """This machine, as a host may use it to read a change."""

    environ: Mapping[str, str]
    """Says where files of repositories are kept."""
    checkout: Path | None
    """A folder whose git objects may save fetching some of them."""
    closing: ExitStack
    """Ends what reading has opened, at the end of the run."""


@dataclass(frozen=True)
class Push:
    """What a head has beyond an earlier head of its branch."""

    commits: tuple[str, ...]
    """Along the first parents, oldest first; the last one is the head. Empty where they are not known."""
    change: ChangeSet


class ReviewHost(Protocol):
    """The reviews and threads of one pull request. Blocking; HostError and its kinds are all that is raised.

    `post_review`, `reply` and `say` never repeat themselves: HostUnknownError says that it may or may not be done.
    """

    def head_sha(self) -> str:
        """The head, read now."""

    def own_id(self) -> int:
        """The account that our reviews are written by."""

    def reviews(self) -> tuple[PostedReview, ...]:
        """All reviews, of all pages, oldest first."""

    def editors(self) -> Mapping[int, int]:
        """The account that last edited a review, by the review's id, as far as the host tells it."""

    def threads(self) -> tuple[Thread, ...]:
        """All threads at lines, of all pages, oldest first."""

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        """Post a review in one call. Raises HostInvalidError where the host rejects the draft, such as a line of it."""

    def edit_review(self, review_id: int, body: str) -> None:
        """Replace the body of one of our own reviews."""

    def release_review(self, review_id: int, message: str) -> None:
        """Let one of our own reviews no longer ask for changes."""

    def reply(self, thread_id: int, body: str) -> PostedComment:
        """Add a reply to a thread."""

    def conversation(self) -> tuple[PostedComment, ...]:
        """The comments on the whole pull request, of all pages, oldest first."""

    def say(self, body: str) -> PostedComment:
        """Add a comment on the whole pull request."""

    def resolve(self, thread_id: int, *, resolved: bool = True) -> None:
        """Mark a thread as resolved, or as open again. Raises HostMissingError where there is no such thread."""

    def reactions(self, comment_id: int) -> tuple[Reaction, ...]:
        """The reactions to a comment at a line, of all pages; none where the host does not say whose they are."""

    def react(self, kind: CommentKind, comment_id: int, reaction: str) -> None:
        """React to a comment, such as with "eyes". Twice does what once does."""


class CheckHost(Protocol):
    """The check runs of a repository. Blocking; HostError and its kinds are all that is raised."""

    def start_check(self, name: str, head_sha: str) -> int:
        """Start a check run; its id. An own check run of this name that is in progress is taken up again."""

    def finish_check(self, check_id: int, draft: CheckDraft) -> str:
        """Conclude it; its URL."""

    def finish_started(self, name: str, head_sha: str, draft: CheckDraft) -> None:
        """Conclude the newest own check run of this name on a commit that is in progress, if there is one."""

    def in_progress(self, name: str, head_sha: str) -> int | None:
        """The newest own check run of this name on a commit that is in progress."""


class CodeHost(Protocol):
    """A code host under one account. Blocking; HostError and its kinds are all that is raised."""

    def within(self, seconds: float) -> object:
        """Begin a new deadline for all calls that follow, so many seconds from now."""

    def pull_request(self, repository: str, number: int) -> PullRequest:
        """The pull request as it is now."""

    def change(self, pull: PullRequest, space: Workspace) -> HostedChange:
        """Read its change. Raises EmptyChangeError where there is nothing to review, HostMovedError as well."""

    def push(self, pull: PullRequest, earlier: str) -> Push | None:
        """What its head has beyond an earlier one; None where that commit is not in the history of the head."""

    def text_at(self, pull: PullRequest, commit: str, path: str) -> str | None:
        """A text file of a commit of its branch; None where there is none. Raises as the others where it is unknown."""

    def reviews(self, pull: PullRequest) -> ReviewHost:
        """Its reviews and threads."""

    def checks(self, repository: str, number: int) -> CheckHost:
        """The check runs on its commits."""

    def open_pulls(self, repository: str, head_sha: str, branch: str = "") -> tuple[PullHead, ...]:
        """Open pull requests with this commit in them; with `branch` ("owner:branch") those from there in its place."""

    def may_write(self, repository: str, account: str) -> bool:
        """Whether an account may write to the repository, by the host's own word."""

    def request_people(
        self, repository: str, number: int, label: str | None, reviewers: Sequence[str]
    ) -> tuple[str, ...]:
        """Set a label and ask for reviews, of logins and of "team:SLUG"; what was not possible, one line each."""
