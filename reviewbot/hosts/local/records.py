"""The JSON files of a local repository's pull requests. docs/hosts.md describes them for people."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from reviewbot.domain.contracts import Conclusion
from reviewbot.domain.contracts.pulls import Sha
from reviewbot.hosts.base import Level

OWN = "reviewbot"
"""The account that reviews are written by."""

Login = Annotated[str, Field(min_length=1, max_length=100)]
Id = Annotated[int, Field(ge=1, le=10**15)]
"""Of so few digits that those after it, too, have room in the marker of a review."""
_NO_BRANCH = re.compile(r"[-/.]|.*(?:\.\.|@\{|//|[./]$)|.*[\x00-\x20~^:?*\[\\\x7f]", re.DOTALL)


def _branch(name: str) -> str:
    if _NO_BRANCH.match(name):
        raise ValueError("it is no name of a branch")
    return name


Ref = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_branch)]
"""The name of a branch, by git's rules: nothing in it means anything to git but a name."""


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class PullRecord(_Record):
    """`NUMBER.json`: a pull request, as its author wrote it. Never written by reviewbot."""

    number: Id | None = None
    """As in the file's name, where it is given."""
    title: str = ""
    body: str = ""
    author: Login = "author"
    """An account; one that ends with "[bot]" is a bot's."""
    base: Ref
    head: Ref
    draft: bool = False
    labels: list[str] = []
    state: Literal["open", "closed", "merged"] = "open"


class CommentRecord(_Record):
    """A comment."""

    id: Id
    author: Login
    body: str
    reactions: list[str] = []


class ThreadRecord(_Record):
    """A comment at a line, with the replies to it."""

    path: str
    line: Id
    """Of the new side at `commit`."""
    start_line: Id | None = None
    commit: Sha
    review: Id | None = None
    resolved: bool = False
    comments: Annotated[list[CommentRecord], Field(min_length=1)]


class ReviewRecord(_Record):
    """A review."""

    id: Id
    author: Login
    commit: Sha
    state: Literal["COMMENT", "REQUEST_CHANGES", "DISMISSED"]
    body: str
    message: str = ""
    """Why it was dismissed."""


class AnnotationRecord(_Record):
    """A mark in a check run."""

    path: str
    start_line: Id
    end_line: Id
    level: Level
    title: str
    message: str


class CheckRecord(_Record):
    """A check run. `conclusion` is None while it is in progress."""

    id: Id
    name: str
    commit: Sha
    conclusion: Conclusion | None = None
    title: str = ""
    summary: str = ""
    text: str = ""
    annotations: list[AnnotationRecord] = []


class Activity(_Record):
    """`NUMBER.activity.json`: what was written about a pull request, by reviewbot and by people."""

    reviews: list[ReviewRecord] = []
    threads: list[ThreadRecord] = []
    comments: list[CommentRecord] = []
    """On the pull request as a whole."""
    checks: list[CheckRecord] = []
    labels: list[str] = []
    """Added to those of the pull request."""
    requested: list[str] = []
    """Whose review was asked for."""

    def all_comments(self) -> list[CommentRecord]:
        """Those of threads and those on the whole."""
        return [*self.comments, *(each for thread in self.threads for each in thread.comments)]

    def next_id(self) -> int:
        """A number that nothing here has."""
        listed = (self.reviews, self.checks, self.all_comments())
        return 1 + max((each.id for records in listed for each in records), default=0)


def account_id(login: str) -> int:
    """The number of an account, which is known by its name alone."""
    return number_of(f"account {login}")


def number_of(text: str) -> int:
    """A number from 1 on that stands for a text: 56 bits of its digest, as the markers of reviews take it."""
    return 1 + int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:7])
