"""Resolve the head of a request that does not name it (a command in a comment, a check of a fork), by the host.

So it is where a pull request was said to be closed and may have been opened again before.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from reviewbot.app.worker.work import Json, ReviewRequest
from reviewbot.domain.errors import HostError
from reviewbot.hosts.base import CodeHost, PullRequest

logger = logging.getLogger("reviewbot.app.worker")

REACTION = "eyes"
"""Seen, and under way. Setting it once more does nothing."""


def resolve_command(host: CodeHost, request: ReviewRequest) -> ReviewRequest | None:
    """The request with its number and head; None where it is refused. Blocking. Raises HostError."""
    trigger = request.trigger
    if trigger.get("kind") == "command" and not may_command(host, request):
        logger.info("a command was refused: its author has no write permission")
        return None
    number = request.number or _of_commit(host, request)
    if not number:
        return None
    pull = host.pull_request(request.repository, number)
    if pull.repository_id != request.repository_id or not pull.is_open:
        return None
    if trigger.get("kind") == "rerun" and pull.head_sha != trigger.get("head_sha"):
        return None  # the check of an older head: that of the newer one is not to be stopped for it
    acknowledge(host, pull, trigger)
    found = replace(request, number=number, head_sha=pull.head_sha)
    return replace(found, cause="reopened", trigger={}) if trigger.get("kind") == "closed" else found


def may_command(host: CodeHost, request: ReviewRequest) -> bool:
    """Whether the author of a command may write; one who may only read is a stranger who could let us work for them."""
    actor = request.trigger.get("actor")
    return isinstance(actor, str) and host.may_write(request.repository, actor)


def _of_commit(host: CodeHost, request: ReviewRequest) -> int:
    """The one open pull request whose head is this commit; 0 where there is none or several."""
    listed = host.open_pulls(request.repository, request.head_sha)
    numbers = {each.number for each in listed if each.head_sha == request.head_sha}
    return numbers.pop() if len(numbers) == 1 else 0


def acknowledge(host: CodeHost, pull: PullRequest, trigger: Json) -> None:
    """React to the comment of a command. That it cannot be acknowledged is no reason not to follow it."""
    comment, kind = trigger.get("comment_id"), trigger.get("comment_kind")
    if not isinstance(comment, int) or kind not in ("issue", "review"):
        return
    try:
        host.reviews(pull).react(kind, comment, REACTION)
    except HostError as error:
        logger.info("no reaction: %s", error)
