"""Schedule review requests: each becomes at most one run, and supersedes the runs on older heads."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol

from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue
from reviewbot.app.store.durable.journal import forget_installation
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.store.durable.runs import Heads, RunRecord, Runs
from reviewbot.app.worker.work import REFUSED, Json, ReviewRequest

logger = logging.getLogger("reviewbot.app.worker")

OPEN = ("waiting", "running")

BATCH = 500
"""Runs that are forgotten at once: a database takes only so many values in a statement."""

SUPERSEDED = "superseded by {}, a newer head of the pull request"
WITHDRAWN = "the pull request was closed"
REMOVED = "the App was removed"


class Queue(Protocol):
    """The durable queue."""

    def enqueue(self, kind: str, name: str, lane: str, request: Json) -> None:
        """Enqueue work to be done once, known by its name. One that was cancelled goes on."""

    def cancel(self, names: Sequence[str]) -> None:
        """Cancel work: do not begin it, or no further step of it."""

    def forget(self, names: list[str]) -> None:
        """Remove work that has ended, with the results of its steps."""


class Scheduler:
    """Takes review requests. All methods may be repeated after a crash: what was done already stays as it is."""

    def __init__(self, database: Database, queue: Queue, policy: str) -> None:
        self._database = database
        self._queue = queue
        self._policy = policy
        self._heads = Heads(database)
        self._runs = Runs(database)

    def submit(self, request: ReviewRequest) -> str:
        """Submit a review request; the name of its run, or of the question which head it is about."""
        if not request.head_sha or not request.number:
            return self._ask(request)
        request = self._with_rerun_number(request)
        run = request.run_id(self._policy)
        anew = bool(request.again) or (not request.refusal and self._refusing(request.pull))
        claim = self._heads.claim(request.pull, request.head_sha, run, as_of=request.as_of, again=anew)
        if claim.head != request.head_sha:
            return claim.run  # a newer one is known
        run = claim.run  # this one, or the one that this head has: its claimant may have died right after
        self._runs.add(_record(run, request, claim.sequence))
        # Those before it first: what has to be said of their heads comes before this one begins.
        for older in self._runs.older(request.pull, claim.sequence):
            self._stop(older, SUPERSEDED.format(request.head_sha), closing=True)
        self._queue.enqueue("review", run, str(request.installation), request.as_json())
        logger.info("ordered %s (%s)", run, request.cause)
        return run

    def carry_out_decisions(self) -> None:
        """Have workers carry out what people decided in the human queue."""
        for item in HumanQueue(self._database).find_pending():
            name = f"decide:{item.item}:{item.last.position}"
            payload = {"item": item.item, "position": item.last.position}
            self._queue.enqueue("decide", name, str(item.installation), payload)

    def cancel(self, request: ReviewRequest) -> None:
        """Cancel the runs of a closed pull request; see `ReviewRequest.as_of`.

        The host delivers in any order. It is asked whether the pull request is still closed, for a review that it was
        opened for again may just have been stopped.
        """
        if not self._heads.withdraw(request.pull, request.as_of):
            # It was opened again since, or its head is forgotten; labels of it still want to know its end.
            if Labels(self._database).has(*request.pull):
                self._ask(replace(request, head_sha=""))
            return
        for run in self._runs.older(request.pull, _ALL):
            self._stop(run, WITHDRAWN, closing=True)
        self._ask(replace(request, head_sha=""))

    def clean_up(self, run: str, owner: str, installation: int) -> None:
        """Clean up after an execution that is over: what it did while it ended.

        It may have begun a check run after its run was stopped, or kept answers after its installation was forgotten.
        """
        record = self._runs.get(run)
        if record is None:
            forget_installation(self._database, installation)
        elif record.state == "superseded":
            self._close(record, record.reason, f":{owner}")

    def delete_installation(self, installation: int) -> None:
        """Stop the runs of an installation that has ended, and remove what is kept for it.

        What the steps of a run under way gave goes with the next round of tidying up that finds it old enough.
        """
        ended = self._runs.list_ended(installation)
        for run in self._runs.open_of(installation):
            self._stop(run, REMOVED)  # and we may not report it on the host any more
        # Our own records last: without them the queue's could not be found, were we to die in between.
        for start in range(0, len(ended), BATCH):
            self._queue.forget(list(ended[start : start + BATCH]))
        forget_installation(self._database, installation)

    def _ask(self, request: ReviewRequest) -> str:
        """A question has a name of its own, for its answer takes a call of the host."""
        what = json.dumps(request.as_json(), sort_keys=True)
        name = f"ask:{request.repository_id}:{request.number}:{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        self._queue.enqueue("ask", name, str(request.installation), request.as_json())
        return name

    def _with_rerun_number(self, request: ReviewRequest) -> ReviewRequest:
        """The request with a rerun number in `again`, where its head needs a further run; see `_is_over`.

        Without one where another run of the head is under way: the request then gets that run.
        """
        runs = self._runs.on_head(request.pull, request.head_sha)
        own = request.run_id(self._policy)
        if request.again and any(each.state in OPEN and each.run != own for each in runs):
            return replace(request, again="")  # a request for another run gets this one
        if not request.again and not request.refusal and runs and _is_over(runs[-1]):
            names = {each.run for each in runs}
            fresh = (replace(request, again=f"r{number}") for number in count(len(runs)))
            return next(each for each in fresh if each.run_id(self._policy) not in names)
        return request

    def _refusing(self, pull: tuple[int, int]) -> bool:
        """Whether the wanted run only says why there is no review."""
        return (self._heads.wanted_run(pull) or "").endswith(f":{REFUSED}")

    def _stop(self, run: str, why: str, *, closing: bool = False) -> None:
        # In this order: a run that ends as superseded would not be found again, were we to die before the others.
        self._queue.cancel([run])
        record = self._runs.get(run)
        if closing and record is not None and record.started is not None:
            self._close(record, why)
        if self._runs.end(run, "superseded", why):
            logger.info("superseded %s", run)

    def _close(self, record: RunRecord, why: str, execution: str = "") -> None:
        """Have the check run ended that it may have left in progress. In the queue, for it takes a call of the host."""
        payload = {**replace(request_of(record), cause="closing", refusal=why).as_json(), "run": record.run}
        self._queue.enqueue("close", f"close:{record.run}{execution}", str(record.installation), payload)


_ALL = 2**62
"""A sequence behind all others."""


def request_of(record: RunRecord) -> ReviewRequest:
    """The request that a run was made of, with the fields that are needed to carry it out."""
    refusal = REFUSED if record.run.endswith(f":{REFUSED}") else ""
    place = (record.installation, record.name, record.repository, record.number, record.head)
    return ReviewRequest(*place, cause="mended", refusal=refusal)


def _is_over(record: RunRecord) -> bool:
    """Whether a head that is reported again needs another run than the last one it had.

    What was in the way of a refused one, a draft say, may no longer be. And one that was stopped after it had begun has
    recorded how it was stopped: taken up again it would come to that end again.
    """
    return record.state == "refused" or (record.state == "superseded" and record.started is not None)


def _record(run: str, request: ReviewRequest, sequence: int) -> RunRecord:
    pull = (request.repository, request.repository_id, request.number)
    return RunRecord(run, request.installation, *pull, request.head_sha, sequence)
