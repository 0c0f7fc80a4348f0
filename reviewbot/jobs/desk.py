"""Where orders are taken: each becomes at most one run, and supersedes the runs on older heads."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from reviewbot.adapters.durable import Database, Heads, RunRecord, Runs, forget_installation
from reviewbot.jobs.work import REFUSED, Json, Order

logger = logging.getLogger("reviewbot.jobs")

OPEN = ("waiting", "running")

BATCH = 500
"""Runs that are forgotten at once: a database takes only so many values in a statement."""

SUPERSEDED = "a newer head of the pull request took its place"
WITHDRAWN = "the pull request was closed, or the App was removed"


class Queue(Protocol):
    """The durable queue."""

    def enqueue(self, kind: str, name: str, lane: str, told: Json) -> None:
        """Have it done once; known by its name. One that was cancelled goes on."""

    def cancel(self, names: Sequence[str]) -> None:
        """Do not begin these, or no further step of them."""

    def forget(self, names: list[str]) -> None:
        """Remove those that have ended, with what their steps gave."""


class Desk:
    """Takes orders. Everything here may be done again after a crash: what was done already stays as it is."""

    def __init__(self, database: Database, queue: Queue, policy: str) -> None:
        self._database = database
        self._queue = queue
        self._policy = policy
        self._heads = Heads(database)
        self._runs = Runs(database)

    def submit(self, order: Order) -> str:
        """Have it reviewed; the name of the run that does, or of the question which head it is about."""
        if not order.head_sha or not order.number:
            return self._ask(order)
        order = self._round(order)
        run = order.run_id(self._policy)
        anew = bool(order.again) or (not order.refusal and self._refusing(order.pull))
        claim = self._heads.claim(order.pull, order.head_sha, run, as_of=order.as_of, again=anew)
        if claim.head != order.head_sha:
            return claim.run  # a newer one is known
        run = claim.run  # this one, or the one that this head has: whoever claimed that may have died right after
        self._runs.add(_record(run, order, claim.sequence))
        self._queue.enqueue("review", run, str(order.installation), order.as_json())
        self._supersede(order.pull, claim.sequence, SUPERSEDED)
        logger.info("ordered %s (%s)", run, order.cause)
        return run

    def withdraw(self, pull: tuple[int, int], as_of: int = 0) -> None:
        """No review of this pull request (repository's id, number) is wanted any more; see `Order.as_of`."""
        if not self._heads.withdraw(pull, as_of):
            return  # it was opened again since, or we never heard of it
        for run in self._runs.older(pull, _ALL):
            self._stop(run, WITHDRAWN)

    def forget(self, installation: int) -> None:
        """An installation has ended: stop its runs and remove what is kept for it.

        What the steps of a run under way gave goes with the next round of tidying up that finds it old enough.
        """
        ended = self._runs.ended_of(installation)
        for run in self._runs.open_of(installation):
            self._stop(run, WITHDRAWN)
        # Our own books last: without them nobody would find the others', were we to die in between.
        for start in range(0, len(ended), BATCH):
            self._queue.forget(list(ended[start : start + BATCH]))
        forget_installation(self._database, installation)

    def _ask(self, order: Order) -> str:
        """A question has a name of its own, for its answer takes a call of the host."""
        what = json.dumps(order.as_json(), sort_keys=True)
        name = f"ask:{order.repository_id}:{order.number}:{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        self._queue.enqueue("ask", name, str(order.installation), order.as_json())
        return name

    def _round(self, order: Order) -> Order:
        """The order as another run of its head where that is wanted, and none is under way."""
        runs = self._runs.on_head(order.pull, order.head_sha)
        own = order.run_id(self._policy)
        if order.again and any(each.state in OPEN and each.run != own for each in runs):
            return replace(order, again="")  # whoever wishes another one gets this
        if not order.again and not order.refusal and runs and runs[-1].state == "refused":
            return replace(order, again=f"r{len(runs)}")  # what was in the way then, a draft say, no longer is
        return order

    def _refusing(self, pull: tuple[int, int]) -> bool:
        """Whether the wanted run only says why there is no review."""
        return (self._heads.wanted(pull) or "").endswith(f":{REFUSED}")

    def _supersede(self, pull: tuple[int, int], sequence: int, why: str) -> None:
        for run in self._runs.older(pull, sequence):
            self._stop(run, why)

    def _stop(self, run: str, why: str) -> None:
        # In this order: a run that ends as superseded would not be found again, were we to die before the cancel.
        self._queue.cancel([run])
        if self._runs.end(run, "superseded", why):
            logger.info("superseded %s", run)


_ALL = 2**62
"""A sequence behind all others."""


def _record(run: str, order: Order, sequence: int) -> RunRecord:
    return RunRecord(
        run=run,
        installation=order.installation,
        name=order.repository,
        repository=order.repository_id,
        number=order.number,
        head=order.head_sha,
        sequence=sequence,
        state="waiting",
        reason="",
        owner="",
        executor="",
        attempts=0,
        dollars=0.0,
        tokens=0,
        url="",
        created=0.0,
        started=None,
        ended=None,
    )
