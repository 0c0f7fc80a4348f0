"""Request a person's review, where a review has something that it could neither settle nor drop."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from reviewbot.domain.contracts.pulls import PullRef
from reviewbot.domain.errors import HostError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository

logger = logging.getLogger("reviewbot.app.worker")

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})")
_TEAM = "team:"
"""Before the slug of a team of the repository's organisation."""


def reviewers_in(text: str | None) -> list[str]:
    """The names in the setting."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def call_person(client: GithubClient, pull: PullRef, label: str | None, reviewers: Sequence[str]) -> tuple[str, ...]:
    """Set the label and ask the reviewers; what could not be done, one line each. Twice does what once does.

    The author of a pull request cannot be asked, and GitHub then asks none of those that were named with them: each is
    asked alone. Blocking.
    """
    place, number = f"/repos/{check_repository(pull.repository)}", pull.number
    notes: list[str] = []
    wishes: list[tuple[str, dict[str, object]]] = []
    if label:
        wishes.append((f"{place}/issues/{number}/labels", {"labels": [label]}))
    for name in reviewers:
        team = name.startswith(_TEAM)
        login = name.removeprefix(_TEAM)
        if not _LOGIN.fullmatch(login):
            notes.append("a reviewer to ask is no login and no team")
            continue
        body: dict[str, object] = {"team_reviewers" if team else "reviewers": [login]}
        wishes.append((f"{place}/pulls/{number}/requested_reviewers", body))
    for path, body in wishes:
        try:
            client.request("POST", path, body=body, repeatable=True)
        except HostError as error:
            notes.append(f"a person could not be called: {error}")
    for note in notes:
        logger.warning("%s", note)
    return tuple(notes)
