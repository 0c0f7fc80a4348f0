"""Catch up on webhook deliveries that failed: GitHub never delivers them again by itself.

Failed deliveries are asked for once more, and open pull requests whose head has no run get one. Both are bounded; what
is left over comes with the next round. Source:
https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reviewbot.app.scheduling.scheduler import OPEN, Scheduler
from reviewbot.app.store.durable import Database, Heads, Runs
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.errors import HostAccessError, HostError, HostMissingError
from reviewbot.hosts.github.auth.access import Access
from reviewbot.hosts.github.auth.app import AppTokens
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha

logger = logging.getLogger("reviewbot.app.worker")

DAY_S = 86_400.0

ROUND_S = 600.0
"""For all calls of one round of each kind."""

MOST_DELIVERIES = 1_000
"""Of the newest, that are looked through in a round."""

MOST_AGAIN = 100
"""Deliveries that are asked for again in a round."""

MOST_TRIES = 3
"""Of one delivery; what fails so often is not going to be taken."""

MOST_REPOSITORIES = 200
"""Of one installation that are looked through in a round: those that were pushed to last."""

MOST_ORDERS = 50
"""Reviews that one round orders."""

Json = dict[str, Any]


@dataclass(frozen=True)
class CatchUp:
    """One round of catching up, as a periodic task."""

    tokens: AppTokens
    window_s: float = DAY_S
    """How far back: what was not touched for longer is no open question any more."""

    def deliveries(self, desk: Scheduler, database: Database) -> None:
        """Have GitHub deliver again what failed, where no later try of the same delivery went well."""
        del desk
        since = database.now() - self.window_s
        with self._client() as client:
            tried: dict[str, list[Json]] = {}
            for each in _some(client.items("/app/hook/deliveries"), MOST_DELIVERIES):
                if _seconds(each.get("delivered_at")) < since:
                    break  # the newest come first
                if isinstance(each.get("guid"), str) and isinstance(each.get("id"), int):
                    tried.setdefault(each["guid"], []).append(each)
            failed = [tries for tries in tried.values() if not any(_went_well(each) for each in tries)]
            for tries in failed[:MOST_AGAIN]:
                if len(tries) < MOST_TRIES:
                    client.request("POST", f"/app/hook/deliveries/{tries[0]['id']}/attempts", repeatable=True)
        if failed:
            logger.warning("GitHub failed to hand over %d deliveries; they were asked for again", len(failed))

    def heads(self, desk: Scheduler, database: Database) -> None:
        """Order a review of each open pull request that was touched lately and whose head has no run."""
        runs, heads, ordered = Runs(database), Heads(database), 0
        now = database.now()
        with self._client() as client:
            installations = [each for each in client.items("/app/installations") if isinstance(each.get("id"), int)]
        for installation in installations:
            if installation.get("suspended_at"):
                self.tokens.forget(int(installation["id"]))
                continue
            since = max(now - self.window_s, _seconds(installation.get("created_at")))
            try:
                for order in self._open_heads(int(installation["id"]), since):
                    if ordered >= MOST_ORDERS:
                        break
                    if _is_left_out(order, runs, heads):
                        desk.submit(order)
                        ordered += 1
            except HostError as error:
                if isinstance(error, HostAccessError | HostMissingError):
                    self.tokens.forget(int(installation["id"]))
                logger.warning("an installation could not be looked through: %s", error)
        if ordered:
            logger.warning("%d open pull requests had no review of their head; they were ordered", ordered)

    def _open_heads(self, installation: int, since: float) -> Iterator[ReviewRequest]:
        with GithubClient(self.tokens.reading_all(installation), deadline_s=ROUND_S) as client:
            listed = client.items("/installation/repositories", key="repositories")
            lately = [each for each in listed if _seconds(each.get("pushed_at")) >= since]
            lately.sort(key=lambda each: _seconds(each.get("pushed_at")), reverse=True)
            for repository in lately[:MOST_REPOSITORIES]:
                path = f"/repos/{check_repository(str(repository.get('full_name')))}/pulls"
                query = {"state": "open", "sort": "updated", "direction": "desc"}
                for pull in client.items(path, query=query):
                    if _seconds(pull.get("updated_at")) < since:
                        break
                    if (order := _order(installation, repository, pull)) is not None:
                        yield order

    def _client(self) -> GithubClient:
        refused = HostAccessError("the App has no private key")
        for access in self.tokens.app():
            try:
                return _working(access)
            except HostAccessError as error:
                refused = error
        raise refused


def _working(access: Access) -> GithubClient:
    """A client with a key that is taken; of two keys, one may be revoked already."""
    client = GithubClient(access, deadline_s=ROUND_S)
    try:
        client.request("GET", "/app")
    except BaseException:
        client.close()
        raise
    return client


def _is_left_out(order: ReviewRequest, runs: Runs, heads: Heads) -> bool:
    """Whether a head has no run. One that was listed a moment ago may be older than what is under way."""
    if runs.on_head(order.pull, order.head_sha):
        return False
    wanted = heads.wanted(order.pull)
    found = None if wanted is None else runs.get(wanted)
    return found is None or found.state not in OPEN


def _order(installation: int, repository: Mapping[str, Any], pull: Mapping[str, Any]) -> ReviewRequest | None:
    head, number, repository_id = pull.get("head"), pull.get("number"), repository.get("id")
    sha = head.get("sha") if isinstance(head, dict) else None
    if not isinstance(number, int) or not isinstance(repository_id, int) or not isinstance(sha, str):
        return None
    return ReviewRequest(
        installation=installation,
        repository=str(repository["full_name"]),
        repository_id=repository_id,
        number=number,
        head_sha=check_sha(sha),
        cause="catch-up",
    )


def _went_well(delivery: Mapping[str, Any]) -> bool:
    code = delivery.get("status_code")
    return isinstance(code, int) and 200 <= code < 400  # noqa: PLR2004 - HTTP


def _some(items: Iterator[Json], most: int) -> Iterator[Json]:
    for _, item in zip(range(most), items, strict=False):
        yield item


def _seconds(text: object) -> float:
    """Seconds since 1970; 0 for what is no time."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
