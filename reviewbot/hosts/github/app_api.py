"""What an App may ask GitHub about itself: deliveries that failed, its installations, and their open pull requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.github.auth.app import AppTokens
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.strict_json import a_dict

ROUND_S = 600.0
"""For all calls of one function here."""

MAX_DELIVERIES = 1_000
"""Of the newest, that are looked through at once."""

MAX_REDELIVERIES = 100
"""Deliveries that are asked for again at once."""

MAX_TRIES = 3
"""Of one delivery; what fails so often is not going to be taken."""

MAX_REPOSITORIES = 200
"""Of one installation that are looked through at once: those that were pushed to last."""

Json = dict[str, Any]


class Installation(NamedTuple):
    """Where the App is installed."""

    installation_id: int
    suspended: bool
    created_s: float
    """Seconds since 1970."""


def redeliver_failed(tokens: AppTokens, since_s: float) -> int:
    """Have GitHub deliver again what failed since then, where no later try went well; how many deliveries failed."""
    with _as_app(tokens) as client:
        tried: dict[str, list[Json]] = {}
        for each in islice(client.items("/app/hook/deliveries"), MAX_DELIVERIES):
            if _seconds(each.get("delivered_at")) < since_s:
                break  # the newest come first
            if isinstance(each.get("guid"), str) and isinstance(each.get("id"), int):
                tried.setdefault(each["guid"], []).append(each)
        failed = [tries for tries in tried.values() if not any(_went_well(each) for each in tries)]
        for tries in failed[:MAX_REDELIVERIES]:
            if len(tries) < MAX_TRIES:
                client.request("POST", f"/app/hook/deliveries/{tries[0]['id']}/attempts", repeatable=True)
    return len(failed)


def installations(tokens: AppTokens) -> list[Installation]:
    """All installations of the App."""
    with _as_app(tokens) as client:
        return [
            Installation(each["id"], bool(each.get("suspended_at")), _seconds(each.get("created_at")))
            for each in client.items("/app/installations")
            if isinstance(each.get("id"), int)
        ]


def open_heads(tokens: AppTokens, installation: int, since_s: float) -> Iterator[tuple[str, int, int, str]]:
    """Yield the open pull requests of an installation that were touched since then.

    Each as the repository's name and id, the number, and the head.
    """
    with GithubClient(tokens.reading_all(installation), deadline_s=ROUND_S) as client:
        listed = client.items("/installation/repositories", key="repositories")
        lately = [each for each in listed if _seconds(each.get("pushed_at")) >= since_s]
        lately.sort(key=lambda each: _seconds(each.get("pushed_at")), reverse=True)
        for repository in lately[:MAX_REPOSITORIES]:
            path = f"/repos/{check_repository(str(repository.get('full_name')))}/pulls"
            for pull in client.items(path, query={"state": "open", "sort": "updated", "direction": "desc"}):
                if _seconds(pull.get("updated_at")) < since_s:
                    break
                number, repository_id = pull.get("number"), repository.get("id")
                sha = a_dict(pull.get("head")).get("sha")
                if isinstance(number, int) and isinstance(repository_id, int) and isinstance(sha, str):
                    yield str(repository["full_name"]), repository_id, number, check_sha(sha)


@contextmanager
def _as_app(tokens: AppTokens) -> Iterator[GithubClient]:
    """A client with a key that is taken; of two keys, one may be revoked already."""
    refused = HostAccessError("the App has no private key")
    for access in tokens.app():
        with GithubClient(access, deadline_s=ROUND_S) as client:
            try:
                client.request("GET", "/app")
            except HostAccessError as error:
                refused = error
                continue
            yield client
            return
    raise refused


def _went_well(delivery: Json) -> bool:
    code = delivery.get("status_code")
    return isinstance(code, int) and 200 <= code < 400  # noqa: PLR2004 - HTTP


def _seconds(text: object) -> float:
    """Seconds since 1970; 0 for what is no time."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
