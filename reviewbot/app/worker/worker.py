"""Run a worker from start to stop: the durable engine, the inbox consumer, heartbeat and periodic tasks."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Thread

from reviewbot.app.scheduling.inbox_consumer import InboxConsumer
from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.worker.engine import DurableEngine
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.periodic_tasks import MEND_S, TIDY_S, Heartbeat, PeriodicTasks, Reconciler, Retention
from reviewbot.app.worker.runner import RetryTimings, Runner
from reviewbot.app.worker.work import RunSteps
from reviewbot.domain.errors import ConfigError

logger = logging.getLogger("reviewbot.app.worker")

LOCK = "worker.lock"
LOCK_LOOK_S = 0.2
"""Between two tries for it."""

START_S = 30.0
"""How long a worker that starts waits for its database: its address may be wrong."""

OUTAGE_S = 86_400.0
"""How long a worker that has begun waits for it."""

REPLACED = 4
"""The exit code of a worker that was taken for dead: whatever started it starts a new one."""


@dataclass(frozen=True)
class Chore:
    """Something to do now and then."""

    name: str
    every_s: float
    act: Callable[[Scheduler, Database], None]


@dataclass(frozen=True)
class Parts:
    """The dependencies of a worker."""

    steps: RunSteps
    inbox: Inbox | None = None
    chores: tuple[Chore, ...] = ()
    timings: RetryTimings = field(default_factory=RetryTimings)


class Worker:
    """One worker of this process. `run` returns when it was asked to stop."""

    def __init__(self, options: JobOptions) -> None:
        self._options = options
        self._lock: int | None = None
        self._threads: list[Thread] = []
        self._closing = Event()
        self._drained = Event()
        self._replaced = Event()
        self.executor = options.executor()

    def run(self, stop: Event, parts: Parts) -> int:
        """Work until `stop`; the exit code. Raises ConfigError where it cannot begin."""
        self._parts = parts
        self._take_lock(stop)
        open_database(self._options.database, outage_s=START_S).close()
        # From then on a run waits for its database as the engine waits for its own: it must not fail for that.
        self.database = open_database(self._options.database, outage_s=OUTAGE_S)
        self.engine = DurableEngine(self._options, self.executor)
        self.scheduler = Scheduler(self.database, self.engine, self._parts.steps.policy)
        self.runner = Runner(self.database, self._parts.steps, self.scheduler, self.executor, self._parts.timings)
        self.pulse = Heartbeat(self.database, self.engine, self.executor, self._options)
        self.pulse.join()
        self.engine.start(
            {
                "review": self.runner.review,
                "ask": self.runner.ask,
                "close": lambda _, request, durable: self.runner.close(request, durable),
                "decide": self.runner.decide,
            }
        )
        self._start_threads()
        logger.info("worker %s began", self.executor)
        while not stop.wait(0.1) and not self._replaced.is_set():
            pass
        return self._stop()

    def _start_threads(self) -> None:
        if self._parts.inbox is not None:
            consumer = InboxConsumer(self._parts.inbox, self.executor, self.scheduler, self._parts.steps.forget)
            self._begin("intake", lambda: consumer.run(self._closing))
        self._begin("pulse", self._beat)
        tidy = Retention(self.database, self.engine, self._options.keep_s)
        chores: dict[str, tuple[float, Callable[[], None]]] = {
            "tidying up": (TIDY_S, tidy.once),
            "mending": (MEND_S, Reconciler(self.database, self.engine).once),
        }
        for chore in self._parts.chores:
            chores[chore.name] = (chore.every_s, partial(chore.act, self.scheduler, self.database))
        self._begin("rounds", lambda: PeriodicTasks(self.database, chores).run(self._closing))

    def _begin(self, name: str, act: Callable[[], None]) -> None:
        thread = Thread(target=act, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _beat(self) -> None:
        while not self._drained.wait(self._options.beat_s):
            try:
                alive = self.pulse.beat()
            except Exception as error:  # noqa: BLE001 - a door: a worker without signs of life is soon taken for dead
                logger.warning("no sign of life could be given (%s)", type(error).__name__)
                continue
            if not alive:
                logger.error("this worker was silent, and others have taken over: it ends")
                self._replaced.set()
                return

    def _stop(self) -> int:
        """Stop taking work, give what runs a while, and leave the rest to the next worker."""
        logger.info("worker %s stops", self.executor)
        self._closing.set()  # the pulse goes on: a worker that finishes its runs is not dead
        if self._replaced.is_set():
            return REPLACED  # nothing here is ours any more
        self.engine.drain(self._options.stop_s)
        self._drained.set()
        # What still runs may write no more from here on: its place was given back.
        Runs(self.database).give_back(self.executor)
        self.pulse.leave()
        self.engine.stop()
        for thread in self._threads:
            thread.join(timeout=5.0)
        self.database.close()
        if self._lock is not None:
            os.close(self._lock)
        return 0

    def _take_lock(self, stop: Event) -> None:
        """Be the only worker on this machine's files: two with one name would each do the other's work."""
        if self._options.several:
            return
        self._options.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = take_lock(self._options.state / LOCK, self._options.lock_s, stop)


def take_lock(path: Path, wait_s: float = 0.0, stop: Event | None = None) -> int:
    """A lock that ends with this process, however it ends. Raises ConfigError where another one keeps it so long."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() < until and not (stop or Event()).wait(LOCK_LOOK_S):
                continue
            os.close(descriptor)
            raise ConfigError(
                f"another worker has {path.parent}; for several workers set REVIEWBOT_DATABASE_URL to a Postgres"
            ) from None
        return descriptor
