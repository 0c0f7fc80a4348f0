"""Resolve the head of a request that does not name it (a command in a comment, a check of a fork), by the host.

So it is where a pull request was said to be closed and may have been opened again before.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.errors import HostError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha, read_pull

logger = logging.getLogger("reviewbot.app.worker")

MAY_COMMAND = frozenset({"admin", "write", "maintain"})
"""Permissions of members and collaborators; a user who may only read is a stranger who could let us work for them.

https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
"""

REACTION = "eyes"
"""Seen, and under way. Setting it once more does nothing."""

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?")
_KINDS = {"issue": "issues", "review": "pulls"}


def resolved(client: GithubClient, order: ReviewRequest) -> ReviewRequest | None:
    """The order with its number and head; None where it is refused. Blocking. Raises HostError."""
    trigger = order.trigger
    if trigger.get("kind") == "command" and not _may(client, order.repository, trigger.get("actor")):
        logger.info("a command of somebody who may not give one")
        return None
    number = order.number or _of_commit(client, order)
    if not number:
        return None
    pull = read_pull(client, order.repository, number)
    if pull.repository_id != order.repository_id or not pull.is_open:
        return None
    if trigger.get("kind") == "rerun" and pull.head_sha != trigger.get("head_sha"):
        return None  # the check of an older head: that of the newer one is not to be stopped for it
    _react(client, order)
    found = replace(order, number=number, head_sha=pull.head_sha)
    return replace(found, cause="reopened", trigger={}) if trigger.get("kind") == "closed" else found


def _may(client: GithubClient, repository: str, login: object) -> bool:
    """By the API's answer, never by a name or by what a payload claims."""
    if not isinstance(login, str) or not _LOGIN.fullmatch(login):
        return False
    path = f"/repos/{check_repository(repository)}/collaborators/{login.replace('[', '%5B').replace(']', '%5D')}"
    told = client.request("GET", f"{path}/permission").data
    return isinstance(told, dict) and told.get("permission") in MAY_COMMAND


def _of_commit(client: GithubClient, order: ReviewRequest) -> int:
    """The one open pull request whose head is this commit; 0 where there is none or several.

    https://docs.github.com/en/rest/commits/commits#list-pull-requests-associated-with-a-commit
    """
    path = f"/repos/{check_repository(order.repository)}/commits/{check_sha(order.head_sha)}/pulls"
    numbers = {
        each["number"]
        for each in client.items(path)
        if each.get("state") == "open"
        and isinstance(each.get("number"), int)
        and isinstance(each.get("head"), dict)
        and each["head"].get("sha") == order.head_sha
    }
    return int(numbers.pop()) if len(numbers) == 1 else 0


def _react(client: GithubClient, order: ReviewRequest) -> None:
    """Acknowledge a command. That it cannot be acknowledged is no reason not to follow it."""
    comment, kind = order.trigger.get("comment_id"), order.trigger.get("comment_kind")
    if not isinstance(comment, int) or kind not in _KINDS:
        return
    path = f"/repos/{check_repository(order.repository)}/{_KINDS[kind]}/comments/{comment}/reactions"
    try:
        client.request("POST", path, body={"content": REACTION}, repeatable=True)
    except HostError as error:
        logger.info("no reaction: %s", error)
