"""Periodic tasks beside the runs: heartbeat, taking over from dead workers, retention, reconciliation."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event
from typing import Protocol

from reviewbot.app.scheduling.scheduler import Queue, request_of
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue
from reviewbot.app.store.durable.journal import forget_old_rows
from reviewbot.app.store.durable.labels import KEEP_LABELS_S, Labels
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.store.durable.workers import Chores, Workers
from reviewbot.app.worker.options import JobOptions
from reviewbot.domain.errors import ReviewbotError

logger = logging.getLogger("reviewbot.app.worker")

TIDY_S = 3_600.0
"""Between two rounds of tidying up."""

MEND_S = 600.0
"""Between two checks for runs that only one of run table and queue knows, and how old such a run must be."""

AT_WORK = frozenset({"PENDING", "ENQUEUED", "DELAYED"})
"""The engine's words for a run that goes on."""

TIDY_BATCH = 500
"""Runs that are removed at once: a database takes only so many values in a statement."""

TIDY_BATCHES = 100
"""In one round at most; the next one goes on."""


class Upkeep(Queue, Protocol):
    """The durable engine, as far as this needs it."""

    def take_over(self, executor: str) -> int:
        """Put the runs of a worker that is gone back into the queue."""

    def states(self, names: list[str]) -> dict[str, str]:
        """The states of runs, in the engine's own words."""

    def list_ended_before(self, older_s: float, now: float, limit: int) -> list[str]:
        """Runs that ended longer ago."""


class Heartbeat:
    """This worker's heartbeat, and the check of other workers' where there may be several."""

    def __init__(
        self,
        database: Database,
        engine: Upkeep,
        executor: str,
        options: JobOptions,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = Workers(database)
        self._engine = engine
        self._executor = executor
        self._options = options
        self._monotonic = monotonic
        self._steady_since = monotonic()
        self._last = monotonic()

    def join(self) -> None:
        """Register this worker."""
        self._workers.join(self._executor)

    def beat(self) -> bool:
        """Record a heartbeat and take over from silent workers. False: this worker was itself taken for dead."""
        now = self._monotonic()
        if not self._options.several:
            self._workers.join(self._executor)  # for queries of live workers: no other can take its place
            return True
        if not self._workers.beat(self._executor):
            return False
        if now - self._last > 2 * self._options.beat_s:
            # It was us that was away, or the database; other workers that seem silent may have met the same.
            self._steady_since = now
        self._last = now
        if now - self._steady_since >= self._options.silent_s:
            self._reap()
        return True

    def _reap(self) -> None:
        for executor in self._workers.dead(self._executor, self._options.silent_s):
            count = self._engine.take_over(executor)
            self._workers.leave(executor)
            logger.warning("took over %d runs of the worker %s, which is silent", count, executor)

    def leave(self) -> None:
        """Sign off at an orderly stop: no other worker needs to wait for the silence to be long enough."""
        if self._options.several:
            self._engine.take_over(self._executor)
        self._workers.leave(self._executor)


class Retention:
    """Removes what is older than it is to be kept."""

    def __init__(self, database: Database, engine: Upkeep, keep_s: float) -> None:
        self._database = database
        self._engine = engine
        self._keep_s = keep_s

    def once(self) -> None:
        """One round, bounded."""
        for act in (self._runs, self._forget_orphans):
            for _ in range(TIDY_BATCHES):
                if act() < TIDY_BATCH:
                    break
        forget_old_rows(self._database, self._keep_s)
        HumanQueue(self._database).forget(self._keep_s)
        Labels(self._database).forget(max(self._keep_s, KEEP_LABELS_S))

    def _runs(self) -> int:
        """Remove old runs and what their steps gave; how many."""
        runs = Runs(self._database)
        expired = runs.find_expired(self._keep_s, TIDY_BATCH)
        self._engine.forget(list(expired))
        for run in expired:
            runs.forget(run)
        return len(expired)

    def _forget_orphans(self) -> int:
        """Remove what else the engine has done long ago, and whose run is gone; how many."""
        names = self._engine.list_ended_before(self._keep_s, self._database.now(), TIDY_BATCH)
        self._engine.forget(names)
        return len(names)


class Reconciler:
    """Brings our own records in line with the engine's, where a crash or an outage has left them apart."""

    def __init__(self, database: Database, engine: Upkeep) -> None:
        self._runs = Runs(database)
        self._engine = engine

    def once(self) -> None:
        """One round, bounded. A run that is at work, or waits, in both run table and queue is left alone."""
        records = self._runs.open_since(MEND_S, TIDY_BATCH)
        states = self._engine.states([each.run for each in records]) if records else {}
        for record in records:
            state = states.get(record.run)
            if state is None:
                logger.warning("%s was never queued, and is now", record.run)
                self._engine.enqueue("review", record.run, str(record.installation), request_of(record).as_json())
            elif state == "CANCELLED":
                self._runs.end(record.run, "superseded", "it was cancelled")
            elif state not in AT_WORK:
                self._runs.end(record.run, "parked", "the durable engine gave it up")


class PeriodicTasks:
    """Tasks, each done by one worker at a time, as often as it says."""

    def __init__(self, database: Database, chores: dict[str, tuple[float, Callable[[], None]]]) -> None:
        self._due = Chores(database)
        self._chores = chores

    def once(self) -> None:
        """Do the tasks that are due. A failure is logged, and the task tried again when it is due again."""
        for name, (every_s, act) in self._chores.items():
            try:
                if self._due.due(name, every_s):
                    act()
            except ReviewbotError as error:
                logger.warning("%s failed: %s", name, error)
            except Exception as error:  # noqa: BLE001 - a door: a chore that fails must not end all others
                logger.error("%s failed (%s)", name, type(error).__name__)  # noqa: TRY400 - its text may quote code

    def run(self, stop: Event, every_s: float = 5.0) -> None:
        """Do due tasks until `stop`."""
        while not stop.wait(every_s):
            self.once()
