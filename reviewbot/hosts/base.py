"""The interface of a code host: the values that are read from it and written to it, and small protocols.

Adapters implement the protocols. What is written is always a constant of ours with data in it, never a command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from reviewbot.domain.contracts.base import Conclusion

Event = Literal["COMMENT", "REQUEST_CHANGES"]
Level = Literal["notice", "warning", "failure"]


@dataclass(frozen=True)
class PullRequest:
    """A pull request as the host reports it now. Texts are its author's words: data."""

    repository: str
    """As "owner/name"."""
    repository_id: int
    number: int
    title: str
    description: str
    author: str
    author_is_bot: bool
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str | None
    """None where the fork is gone."""
    is_open: bool
    draft: bool
    labels: tuple[str, ...]
    changed_files: int
    additions: int
    deletions: int
    url: str


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
    """A comment at a line that stands on the host."""

    author_id: int | None
    line: int | None
    """None where the line is no longer in the change."""
    body: str


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
    """A finished check run. Texts are Markdown of ours."""

    title: str
    summary: str
    text: str
    conclusion: Conclusion
    annotations: tuple[Annotation, ...] = ()


class ReviewHost(Protocol):
    """One pull request, as its publisher needs it. Blocking; HostError and its kinds are all that is raised.

    `post_review` never repeats itself: HostUnknownError says that it may or may not have been carried out.
    """

    def head_sha(self) -> str:
        """The head, read now."""

    def own_id(self) -> int:
        """The account that our reviews are written by."""

    def reviews(self) -> tuple[PostedReview, ...]:
        """All reviews, of all pages, oldest first."""

    def comments(self) -> tuple[PostedComment, ...]:
        """All comments at lines, of all pages, oldest first."""

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        """Post a review in one call. Raises HostInvalidError where the host rejects the draft, such as a line of it."""

    def edit_review(self, review_id: int, body: str) -> None:
        """Put another body in the place of that of one of our own reviews."""

    def release_review(self, review_id: int, message: str) -> None:
        """Let one of our own reviews no longer ask for changes."""


class Intents(Protocol):
    """Intents to post, stored durably, so that two posters or a crash do not make two reviews of one."""

    def begin(self, key: str, holder: str, lease_s: float) -> bool:
        """Take the intent. False where another holder has it and its lease has not run out."""

    def done(self, key: str, review_id: int) -> None:
        """Record that it was posted as this review."""

    def posted(self, key: str) -> int | None:
        """The review as which it was posted; None where none is recorded."""
