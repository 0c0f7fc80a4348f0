"""The values of a trigger. Names, shas and ids in them have been checked against their forms; texts are data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from reviewbot.hosts.base import CommentKind, PullFacts

TriggerKind = Literal["head", "rerun", "command", "closed", "feedback", "group", "uninstalled", "narrowed"]
"""What is asked for.

head: the pull request has a head that should have a review (opened, reopened, ready, a push ...).
rerun: a user asked for our check again. command: a user wrote one. closed: nothing more is to be done for it.
feedback: a thread was resolved, or opened again.
group: a merge queue waits for our check on the commit of a merge group. uninstalled: the installation has ended; there
is no repository then (id 0, no name). narrowed: it was suspended, or has other repositories or rights now; no
repository either.
"""

LIFTING = frozenset({"labeled", "unlabeled", "edited", "ready_for_review"})
"""Reasons after which the same head may be judged otherwise: what was in the way of a review may be gone."""


@dataclass(frozen=True)
class Trigger:
    """Why a pull request may get a review now."""

    kind: TriggerKind
    installation_id: int
    repository_id: int
    repository: str
    """As "owner/name"."""
    number: int | None
    """None where the host names none or several, as for a fork's check: then `head_sha` tells which they are."""
    head_sha: str | None
    """As the host said then; None for a comment in a conversation. What counts is the head that the API tells now."""
    reason: str
    """In words: "opened", "synchronize", "check_run rerequested", "a command" ..."""
    delivery_id: str
    refusal: str = ""
    """Why the operator's settings are against a review; the check says it. Empty: decide again by the repository's."""
    comment_id: int | None = None
    comment_kind: CommentKind | None = None
    """Of a command, for the reaction."""
    actor: str | None = None
    """The login of who gave the command; the API is asked whether they may."""
    target_id: int | None = None
    """Of a re-run: the check run or check suite."""
    verb: str = ""
    """Of a command, see `reviewbot.app.triggers.commands`."""
    argument: str = ""
    """Of a command: its writer's words."""

    @property
    def place(self) -> str:
        """The pull request. Of its triggers of kind "head" that wait, the newest stands for all."""
        return f"{self.repository_id}:{self.number}"

    @property
    def key(self) -> str:
        """The key by which deliveries that ask for the same thing are recognised, whatever their ids and bodies are."""
        what = self.comment_id if self.kind == "command" else self.target_id
        parts = (self.kind, self.place, self.head_sha, what, self.comment_kind, "refused" if self.refusal else "")
        return ":".join("" if part is None else str(part) for part in parts)

    @property
    def lifts(self) -> bool:
        """Whether it may lift a refusal: then it is no repeat of what was refused, and one label is not another."""
        return self.kind == "head" and self.reason in LIFTING


@dataclass(frozen=True)
class Delivery:
    """One signed request of the host: the fields that are used."""

    delivery_id: str
    """As the header says; it is not signed, and nothing is decided by it."""
    event: str
    body_sha256: str
    trigger: Trigger
    id: int = 0
    """Of its row in the inbox; 0 until it has one."""
    received_at: float = 0.0
    """Seconds since the epoch."""
    tries: int = 0
    """How many times it has been claimed."""


@dataclass(frozen=True)
class Comment:
    """A comment that may hold a command."""

    comment_id: int | None
    kind: CommentKind
    body: str
    association: str
    """As the payload claims: a first filter. The API's answer decides later."""
    is_reply: bool = False
    """Whether it answers another comment at a line."""


@dataclass(frozen=True)
class WebhookEvent:
    """A parsed delivery of an event that we act on."""

    name: str
    action: str
    installation_id: int
    repository_id: int
    repository: str
    number: int | None
    head_sha: str | None
    delivery_id: str
    sender: str
    pull: PullFacts | None = None
    merged: bool = False
    comment: Comment | None = None
    changed: tuple[str, ...] = ()
    """Of an edit: what was changed, such as "title"."""
    target_id: int | None = None
    app: int | None = None
    """Of a check, whose it is; of a comment, the App through which it was written."""
    closed: bool = False
    """Whether the conversation that was commented on is closed."""


@dataclass(frozen=True)
class Refusal:
    """Why there is no review now."""

    reason: str
    trigger: Trigger | None = None
    """What would have been done, where the check is to report the refusal. None: it is reported nowhere."""


def refuse(trigger: Trigger, reason: str) -> Refusal:
    """A refusal that the check run reports."""
    return Refusal(reason, replace(trigger, refusal=reason))


def trigger_values(trigger: Trigger) -> dict[str, object]:
    """A trigger as JSON values; `Trigger(**values)` is it again."""
    return dict(vars(trigger))
