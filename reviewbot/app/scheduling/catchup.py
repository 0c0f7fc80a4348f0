"""Catch up on webhook deliveries that failed: GitHub never delivers them again by itself.

Failed deliveries are asked for once more, and open pull requests whose head has no run get one. Both are bounded; what
is left over comes with the next round. Source:
https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from reviewbot.app.scheduling.scheduler import OPEN, Scheduler
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.runs import Heads, Runs
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.errors import HostAccessError, HostError, HostMissingError
from reviewbot.hosts.github.app_api import installations, open_heads, redeliver_failed
from reviewbot.hosts.github.auth.app import AppTokens

logger = logging.getLogger("reviewbot.app.worker")

DAY_S = 86_400.0

MAX_ORDERS = 50
"""The most reviews that one round requests."""


@dataclass(frozen=True)
class CatchUp:
    """One round of catching up, as a periodic task."""

    tokens: AppTokens
    window_s: float = DAY_S
    """How far back: what was not touched for longer is no open question any more."""

    def deliveries(self, _scheduler: Scheduler, database: Database) -> None:
        """Have GitHub deliver again what failed, where no later try of the same delivery went well."""
        if failed := redeliver_failed(self.tokens, database.now() - self.window_s):
            logger.warning("GitHub failed to hand over %d deliveries; they were asked for again", failed)

    def heads(self, scheduler: Scheduler, database: Database) -> None:
        """Order a review of each open pull request that was touched lately and whose head has no run."""
        runs, heads, ordered = Runs(database), Heads(database), 0
        now = database.now()
        for installation in installations(self.tokens):
            number = installation.installation_id
            if installation.suspended:
                self.tokens.forget(number)
                continue
            since = max(now - self.window_s, installation.created_s)
            try:
                for head in open_heads(self.tokens, number, since):
                    request = ReviewRequest(number, *head, cause="catch-up")
                    if ordered >= MAX_ORDERS:
                        break
                    if _is_left_out(request, runs, heads):
                        scheduler.submit(request)
                        ordered += 1
            except HostError as error:
                if isinstance(error, HostAccessError | HostMissingError):
                    self.tokens.forget(number)
                logger.warning("an installation could not be looked through: %s", error)
        if ordered:
            logger.warning("%d open pull requests had no review of their head; they were ordered", ordered)


def _is_left_out(request: ReviewRequest, runs: Runs, heads: Heads) -> bool:
    """Whether a head has no run. One that was listed a moment ago may be older than what is under way."""
    if runs.on_head(request.pull, request.head_sha):
        return False
    wanted = heads.wanted_run(request.pull)
    found = None if wanted is None else runs.get(wanted)
    return found is None or found.state not in OPEN
