"""Whether an event leads to a review: pure functions of the event and the settings, and each refusal says why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from reviewbot.app.triggers.commands import READING, REPLY, VERBS, Command, command_in
from reviewbot.app.triggers.values import Comment, Refusal, Trigger, TriggerKind, WebhookEvent, refuse
from reviewbot.config.globs import matches_glob
from reviewbot.config.settings import Settings
from reviewbot.hosts.base import PullFacts

HEAD_ACTIONS = frozenset({"opened", "reopened", "ready_for_review", "synchronize"})
"""After these the pull request has a head that may have no review."""

_ACTIONS: Mapping[str, tuple[TriggerKind, tuple[str, ...]]] = {
    "check_run": ("rerun", ("rerequested",)),
    "check_suite": ("rerun", ("rerequested",)),
    "merge_group": ("group", ("checks_requested",)),
    "pull_request_review_thread": ("feedback", ("resolved", "unresolved")),
}
"""What events ask for that have no comment and no head of a pull request, and the actions that do."""

ALLOWED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Author associations that may give commands. https://docs.github.com/en/graphql/reference/enums#commentauthorassociation"""


def decide(event: WebhookEvent, settings: Settings, slug: str = "reviewbot") -> Trigger | Refusal:
    """What follows from an event.

    Args:
        event: as it was parsed; its sender is not our own bot and, unless the settings say so, no other.
        settings: the operator's, or later the repository's as well.
        slug: the App's name in addresses and mentions.
    """
    if event.comment is not None:
        return _commanded(event, slug)
    if event.name in _ACTIONS:
        return _by_action(event)
    if event.pull is None:
        return Refusal(f"nothing is done for {event.name} {event.action}")
    if event.action == "closed":
        return _trigger(event, "closed", "merged" if event.merged else "closed")
    if event.action not in HEAD_ACTIONS and not _may_change_the_answer(event):
        return Refusal(f"nothing is done for {event.name} {event.action}")
    trigger = _trigger(event, "head", event.action)
    reason = refusal_of(event.pull, settings)
    if not reason:
        return trigger
    return refuse(trigger, reason) if event.pull.is_open else Refusal(reason)


def refusal_of(pull: PullFacts, settings: Settings, paths: Collection[str] | None = None) -> str:
    """Why the settings want no review of a pull request without being asked for it; empty where they want one.

    `paths` are the names of the changed files; None where they are not known yet, and nothing is decided by them.
    """
    rules = (
        (not pull.is_open, "the pull request is closed"),
        (pull.draft and not settings.review_drafts, "it is a draft (review_drafts)"),
        (pull.author_is_bot and not settings.review_bots, "its author is a bot (review_bots)"),
        (_any_named(settings.skip_authors, [pull.author]), "its author is not reviewed (skip_authors)"),
        (_any_named(settings.skip_labels, pull.labels), "a label says not to (skip_labels)"),
        (
            bool(settings.only_labels) and not _any_named(settings.only_labels, pull.labels),
            "it has none of the labels that ask for a review (only_labels)",
        ),
        (_any(settings.skip_titles, [pull.title]), "its title says not to (skip_titles)"),
        (_none(settings.only_branches, [pull.base_ref]), "its base branch is not reviewed (only_branches)"),
        (_any(settings.skip_branches, [pull.head_ref]), "its head branch is not reviewed (skip_branches)"),
        (paths is not None and _none(settings.paths, paths), "no changed file is reviewed (paths)"),
    )
    return next((reason for holds, reason in rules if holds), "")


def _commanded(event: WebhookEvent, slug: str) -> Trigger | Refusal:
    """Strangers may ask for help and explanations; nothing else that they write is answered."""
    comment = event.comment
    if comment is None or event.action != "created":
        return Refusal(f"a comment that was {event.action} gives no command")
    command = command_in(comment.body, slug)
    if command is None:
        return _replied(event, comment)
    if comment.association not in ALLOWED and command.verb not in READING:
        return Refusal("only members and collaborators give commands")
    if command.verb not in VERBS:
        return Refusal("there is no such command")
    if event.closed:
        return Refusal("the pull request is closed")
    return _trigger(event, "command", "a command", command)


def _replied(event: WebhookEvent, comment: Comment) -> Trigger | Refusal:
    """What a reply says is read on the host, where the thread is."""
    if not comment.is_reply or event.closed:
        return Refusal("the comment holds no command")
    if comment.association not in ALLOWED:
        return Refusal("only replies of members and collaborators are read")
    return _trigger(event, "command", "a reply in a thread", Command(REPLY))


def _by_action(event: WebhookEvent) -> Trigger | Refusal:
    kind, actions = _ACTIONS[event.name]
    if event.action not in actions:
        return Refusal(f"nothing is done for {event.name} {event.action}")
    return _trigger(event, kind, f"{event.name} {event.action}")


def _may_change_the_answer(event: WebhookEvent) -> bool:
    """Whether something was just changed that settings may look at: the operator's, or those of the repository.

    Those are not known here. Where nothing was in the way of a review, the worker finds that there is nothing to do.
    """
    if event.action == "edited":
        return not {"title", "base"}.isdisjoint(event.changed)
    return event.action in {"labeled", "unlabeled"}


def _trigger(event: WebhookEvent, kind: TriggerKind, reason: str, command: Command | None = None) -> Trigger:
    comment = event.comment
    return Trigger(
        kind=kind,
        installation_id=event.installation_id,
        repository_id=event.repository_id,
        repository=event.repository,
        number=event.number,
        head_sha=event.head_sha,
        reason=reason,
        delivery_id=event.delivery_id,
        comment_id=None if comment is None else comment.comment_id,
        comment_kind=None if comment is None else comment.kind,
        actor=None if comment is None else event.sender,
        target_id=event.target_id,
        verb="" if command is None else command.verb,
        argument="" if command is None else command.argument,
    )


def _any(globs: Iterable[str], values: Iterable[str]) -> bool:
    given = tuple(values)
    return any(matches_glob(glob, value) for glob in globs for value in given)


def _any_named(globs: Iterable[str], values: Iterable[str]) -> bool:
    """The same of logins and labels, in which GitHub tells no case apart; branches, paths and titles are as written."""
    return _any((glob.casefold() for glob in globs), (value.casefold() for value in values))


def _none(globs: Iterable[str], values: Iterable[str]) -> bool:
    """Whether there are globs, and none of them fits."""
    wanted = tuple(globs)
    return bool(wanted) and not _any(wanted, values)
