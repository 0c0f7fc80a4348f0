"""Map a payload to a trigger, or to the reason why there is none. Pure.

The header only says which event to look for; whether the body is one is seen in the body, which is signed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from reviewbot.app.triggers.decide import decide
from reviewbot.app.triggers.values import Comment, Refusal, Trigger, TriggerKind, WebhookEvent
from reviewbot.app.web.payloads import (
    Account,
    Acted,
    BaseRef,
    CheckRunPayload,
    CheckSuitePayload,
    CommentPart,
    InstallationPayload,
    IssueCommentPayload,
    LinePayload,
    ListedBase,
    MergeGroupPayload,
    PullPayload,
    Repository,
    ReviewCommentPayload,
)
from reviewbot.config.settings import Settings
from reviewbot.hosts.base import CommentKind, PullFacts

_INSTALLATIONS: Mapping[tuple[str, object], TriggerKind] = {
    ("installation", "deleted"): "uninstalled",
    ("installation", "suspend"): "narrowed",
    ("installation", "new_permissions_accepted"): "narrowed",
    ("installation_repositories", "removed"): "narrowed",
}
"""What follows from the events of a whole installation."""

_QUEUE_BRANCH = re.compile(r"refs/heads/gh-readonly-queue/.{1,500}/pr-([1-9][0-9]{0,9})-(?:[0-9a-f]{40}|[0-9a-f]{64})")

GHOST = "ghost"
"""GitHub's name for an account that is gone."""


class PayloadError(ValueError):
    """A body is no payload of its event; the text names the field and quotes nothing."""


@dataclass(frozen=True)
class AppIdentity:
    """The App's own ids and names, so that we do not answer ourselves."""

    app_id: int
    slug: str
    bot_id: int | None = None


def decide_trigger(
    name: str, payload: Mapping[str, object], delivery_id: str, who: AppIdentity, settings: Settings
) -> Trigger | Refusal:
    """Decide what a signed payload triggers. Raises PayloadError where a field that we use is not what it must be."""
    try:
        return _read_and_decide(name, payload, delivery_id, who, settings)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        raise PayloadError(f"{'.'.join(str(part) for part in first['loc'])[:100]} is not as it must be") from None


def _read_and_decide(
    name: str, payload: Mapping[str, object], delivery_id: str, who: AppIdentity, settings: Settings
) -> Trigger | Refusal:
    shape = _SHAPES.get(name)
    if shape is None:
        return _installation(name, payload, delivery_id, who)
    if not shape.needs <= payload.keys() or shape.lacks & payload.keys():
        return Refusal("the body is of another event")
    if any(payload.get(part) is None for part in ("installation", "repository", "sender")):
        return Refusal("it does not come through an installation of the App")
    found = shape.payload.model_validate(payload)
    if isinstance(found, PullPayload | LinePayload) and not _goes_into(found.repository, found.pull_request.base):
        raise PayloadError("pull_request.base.repo is not as it must be")
    event = shape.read(_event(name, delivery_id, found), found)
    if isinstance(event, Refusal):
        return event
    if reason := _not_ours_to_answer(event, found.sender, who, settings):
        return Refusal(reason)
    decision = decide(event, settings, who.slug)
    if isinstance(decision, Trigger) and decision.kind == "command" and decision.comment_id is None:
        raise PayloadError("comment.id is not as it must be")
    return decision


def _not_ours_to_answer(event: WebhookEvent, sender: Account, who: AppIdentity, settings: Settings) -> str:
    """Why nothing that this sender did is answered; empty where it may be."""
    is_check = event.target_id is not None
    is_bot = sender.type.lower() == "bot"
    own_account = who.bot_id is not None and sender.id == who.bot_id
    own_name = is_bot and sender.login.lower() == f"{who.slug}[bot]"
    own_app = event.app == who.app_id and not is_check
    is_queue = event.name == "merge_group"  # a queue is a program
    rules = (
        (own_account or own_name or own_app, "it is our own doing"),
        (is_bot and event.comment is not None, "a bot gives no commands"),
        (is_bot and not settings.review_bots and not is_queue, "a bot did it (review_bots)"),
        (is_check and event.app != who.app_id, "it is the check of another App"),
    )
    return next((reason for holds, reason in rules if holds), "")


def _installation(name: str, payload: Mapping[str, object], delivery_id: str, who: AppIdentity) -> Trigger | Refusal:
    """Much can be deleted in an installation, a comment say: only an event about the whole of it tells who has it."""
    installation = payload.get("installation")
    action = payload.get("action")
    kind = _INSTALLATIONS.get((name, action)) if isinstance(action, str) else None
    if kind is None or installation is None:
        return Refusal("nothing is done for this event")
    if not isinstance(installation, dict) or not installation.keys() >= {"account", "app_id"}:
        return Refusal("the body is of another event")
    found = InstallationPayload.model_validate(payload)
    if found.installation.app_id != who.app_id:
        return Refusal("it is the installation of another App")
    return Trigger(
        kind=kind,
        installation_id=found.installation.id,
        repository_id=0,
        repository="",
        number=None,
        head_sha=None,
        reason="the App was removed" if kind == "uninstalled" else f"{name} {payload['action']}",
        delivery_id=delivery_id,
    )


def _pull(event: WebhookEvent, found: PullPayload) -> WebhookEvent:
    pull = found.pull_request
    if found.number is not None and found.number != pull.number:
        raise PayloadError("number is not as it must be")
    author = pull.user
    facts = PullFacts(
        title=pull.title,
        author=GHOST if author is None else author.login,
        author_is_bot=author is not None and author.type.lower() == "bot",
        draft=pull.draft,
        is_open=pull.state.lower() == "open",
        labels=tuple(label.name for label in pull.labels),
        base_ref=pull.base.ref,
        head_ref=pull.head.ref,
    )
    return replace(
        event,
        number=pull.number,
        head_sha=pull.head.sha,
        pull=facts,
        merged=pull.merged is True,
        changed=tuple(sorted(found.changes)),
    )


def _issue_comment(event: WebhookEvent, found: IssueCommentPayload) -> WebhookEvent | Refusal:
    if found.issue.pull_request is None:
        return Refusal("the comment is not on a pull request")
    closed = found.issue.state.lower() != "open"
    return replace(_commented(event, "issue", found.comment), number=found.issue.number, closed=closed)


def _review_comment(event: WebhookEvent, found: ReviewCommentPayload) -> WebhookEvent:
    return replace(_commented(event, "review", found.comment), number=found.pull_request.number)


def _thread(event: WebhookEvent, found: LinePayload) -> WebhookEvent:
    return replace(event, number=found.pull_request.number)


def _commented(event: WebhookEvent, kind: CommentKind, part: CommentPart) -> WebhookEvent:
    is_reply = part.in_reply_to_id is not None
    comment = Comment(part.id, kind, part.body or "", part.author_association.upper(), is_reply)
    through = part.performed_via_github_app
    return replace(event, comment=comment, app=None if through is None else through.id)


def _check(event: WebhookEvent, found: CheckRunPayload | CheckSuitePayload) -> WebhookEvent:
    """In a fork, the pull requests that are listed may be those of the repository that it was forked from."""
    part = found.check
    numbers = [each.number for each in part.pull_requests if _goes_into(found.repository, each.base)]
    number = numbers[0] if len(numbers) == 1 else None
    app = None if part.app is None else part.app.id
    return replace(event, number=number, head_sha=part.head_sha, target_id=part.id, app=app)


def _merge_group(event: WebhookEvent, found: MergeGroupPayload) -> WebhookEvent:
    """The branch of a merge group names the pull request that was added to the queue last; GitHub alone makes it."""
    match = _QUEUE_BRANCH.fullmatch(found.merge_group.head_ref)
    number = None if match is None else int(match[1])
    return replace(event, number=number, head_sha=found.merge_group.head_sha)


def _goes_into(repository: Repository, base: BaseRef | ListedBase | None) -> bool:
    """Whether the base of a pull request, as far as the event names it, is the repository that the event is of.

    The installation was asked about that repository alone, and the pull request's number counts there.
    """
    declared = None if base is None else base.repo
    if declared is None:
        return True
    same_name = declared.full_name is None or declared.full_name.lower() == repository.full_name.lower()
    return same_name and (declared.id is None or declared.id == repository.id)


def _event(name: str, delivery_id: str, found: Acted) -> WebhookEvent:
    """What all events have."""
    return WebhookEvent(
        name=name,
        action=found.action,
        installation_id=found.installation.id,
        repository_id=found.repository.id,
        repository=found.repository.full_name,
        number=None,
        head_sha=None,
        delivery_id=delivery_id,
        sender=found.sender.login,
    )


@dataclass(frozen=True)
class _Shape:
    """How a body of one event is recognised and read."""

    payload: type[Acted]
    read: Callable[[WebhookEvent, Any], WebhookEvent | Refusal]
    """Completes what all events have; it takes a `payload`."""
    needs: frozenset[str]
    lacks: frozenset[str] = frozenset()


_SHAPES: Mapping[str, _Shape] = {
    "pull_request": _Shape(
        PullPayload, _pull, frozenset({"pull_request"}), frozenset({"comment", "review", "thread", "check_run"})
    ),
    "issue_comment": _Shape(IssueCommentPayload, _issue_comment, frozenset({"issue", "comment"})),
    "pull_request_review_comment": _Shape(
        ReviewCommentPayload, _review_comment, frozenset({"pull_request", "comment"})
    ),
    "pull_request_review_thread": _Shape(LinePayload, _thread, frozenset({"pull_request", "thread"})),
    "check_run": _Shape(CheckRunPayload, _check, frozenset({"check_run"})),
    "merge_group": _Shape(MergeGroupPayload, _merge_group, frozenset({"merge_group"})),
    "check_suite": _Shape(CheckSuitePayload, _check, frozenset({"check_suite"}), frozenset({"check_run"})),
}
