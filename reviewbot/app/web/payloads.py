"""The parts of GitHub's payloads that we use, strictly typed. What else stands in them is ignored: GitHub adds fields.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

MAX_TEXT = 4_000
"""Characters of a text that are kept: settings look at titles, commands stand at the start of a comment."""


def _plain(value: object) -> object:
    """A text without halves of surrogate pairs, which JSON can write and nothing can store."""
    return value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _inside(name: str) -> str:
    if any(part in {".", ".."} for part in name.split("/")):
        raise ValueError("no name of a repository")
    return name


Id = Annotated[int, Field(ge=1, lt=2**63)]
Sha = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
FullName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"), AfterValidator(_inside)]
Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}(?:\[bot\])?$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z_]{1,50}$")]
Text = Annotated[str, BeforeValidator(_plain)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


class Account(_Part):
    """Who did something. Only `type` says whether it is a program; a login may end in anything."""

    login: Login
    type: Word
    id: Id | None = None


class Numbered(_Part):
    """Something with an id: an installation, an App."""

    id: Id


class Repository(_Part):
    """The repository that the event happened in."""

    id: Id
    full_name: FullName


class PullLabel(_Part):
    """A label."""

    name: Text


class BaseRepository(_Part):
    """The repository that a pull request goes into, as far as an event names it."""

    id: Id | None = None
    full_name: FullName | None = None


class Side(_Part):
    """The head of a pull request."""

    sha: Sha
    ref: Text


class BaseRef(Side):
    """The base of a pull request."""

    repo: BaseRepository | None = None


class Pull(_Part):
    """A pull request."""

    number: Id
    title: Text = ""
    draft: bool = False
    state: Word = "open"
    merged: bool | None = None
    user: Account | None = None
    labels: list[PullLabel] = []
    head: Side
    base: BaseRef


class ListedBase(_Part):
    """The base of a pull request, where only its repository is used."""

    repo: BaseRepository | None = None


class ListedPull(_Part):
    """A pull request as checks and comments at lines have it."""

    number: Id
    base: ListedBase | None = None


class Issue(_Part):
    """What was commented on; a pull request where it says so."""

    number: Id
    state: Word = "open"
    pull_request: dict[str, object] | None = None


class CommentPart(_Part):
    """A comment."""

    id: Id | None = None
    body: Text | None = None
    author_association: Word = "NONE"
    performed_via_github_app: Numbered | None = None
    in_reply_to_id: Id | None = None


class CheckPart(_Part):
    """A check run or a check suite."""

    id: Id
    head_sha: Sha
    app: Numbered | None = None
    pull_requests: list[ListedPull] = []


class MergeGroup(_Part):
    """Pull requests that a merge queue tries together, as one commit on a branch of its own."""

    head_sha: Sha
    head_ref: Text


class Installed(Numbered):
    """An installation as its own events have it; all others have its id alone."""

    app_id: Id


class InstallationPayload(_Part):
    """`installation`."""

    installation: Installed


class Acted(_Part):
    """The same of an event that we act on."""

    action: Word
    sender: Account
    installation: Numbered
    repository: Repository


class PullPayload(Acted):
    """`pull_request`."""

    number: Id | None = None
    pull_request: Pull
    changes: dict[str, object] = {}


class IssueCommentPayload(Acted):
    """`issue_comment`."""

    issue: Issue
    comment: CommentPart


class LinePayload(Acted):
    """`pull_request_review_thread`: of the thread nothing is used, for its state is read from the API."""

    pull_request: ListedPull
    """With fewer fields than elsewhere."""


class ReviewCommentPayload(LinePayload):
    """`pull_request_review_comment`."""

    comment: CommentPart


class CheckRunPayload(Acted):
    """`check_run`."""

    check: Annotated[CheckPart, Field(alias="check_run")]


class CheckSuitePayload(Acted):
    """`check_suite`."""

    check: Annotated[CheckPart, Field(alias="check_suite")]


class MergeGroupPayload(Acted):
    """`merge_group`."""

    merge_group: MergeGroup
