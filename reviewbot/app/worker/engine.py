"""The durable engine on DBOS: one queue, three kinds of work, coarse steps. No other module knows DBOS."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions, Serializer, error
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.work import Json
from reviewbot.domain.errors import ConfigError

PROTOCOL = "1"
"""The version of our workflows. Changes when their steps do, in number, name or order; never with anything else, for a
run of another version is left alone (by default DBOS takes a hash of the source, and a comment strands all runs)."""

NAME = "reviewbot"
QUEUE = "reviews"

DEAD_LETTER = 25
"""Starts of one run, those after a stop in good order counted too. The net below our own, much smaller count."""

SPARE_THREADS = 8
"""Beyond those that carry out runs: the engine's own work needs some."""

GONE = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

Body = Callable[[str, Json, "DbosRun"], Json]


class JsonSerializer(Serializer):
    """JSON in place of pickle: who can write to the database shall not be able to run code in a worker."""

    def serialize(self, data: Any) -> str:  # noqa: ANN401 - whatever the engine has
        """JSON; an exception as its kind alone, for its text may quote code."""
        return json.dumps(data, default=_to_json)

    def deserialize(self, serialized_data: str) -> Any:  # noqa: ANN401 - as above
        """What was written; an exception as one that says which kind it was."""
        found = json.loads(serialized_data)
        return RuntimeError(found[_ERROR]) if isinstance(found, dict) and found.keys() == {_ERROR} else found

    def name(self) -> str:
        """Written beside each value."""
        return "reviewbot_json"


_ERROR = "reviewbot_error"


def _to_json(value: object) -> object:
    if isinstance(value, BaseException):
        return {_ERROR: type(value).__name__}
    raise TypeError(f"{type(value).__name__} is no JSON")


class DbosRun:
    """The engine's functions for a run."""

    def step(self, name: str, act: Callable[[], Json]) -> Json:
        """As `Durable.step`."""
        return DBOS.run_step({"name": name}, act)

    def sleep(self, seconds: float) -> None:
        """As `Durable.sleep`."""
        DBOS.sleep(seconds)


class DurableEngine:
    """The engine of this process, of which there can be one at a time. `start` begins to carry out runs."""

    def __init__(self, options: JobOptions, executor: str) -> None:
        self._options = options
        self._sql = None if options.several else _sqlite(Path(options.queue))
        DBOS(config=self._config(executor))
        _quieten(logging.getLogger("dbos"))
        self._client: DBOSClient | None = None

    def start(self, bodies: Mapping[str, Body]) -> None:
        """Make or check the tables, take up again what this executor was at, and begin to take from the queue."""
        options = self._options
        for kind, body in bodies.items():
            _register(kind, body)
        # Before the first run begins, which may want it. A client enqueues and cancels the same way whether or not a
        # run is what asks for it.
        self._client = self._client_of(options.queue)
        DBOS.listen_queues([QUEUE])
        DBOS.launch()
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=options.concurrency,
            global_concurrency=max(options.global_concurrency, options.concurrency),
            partition_concurrency=options.installation_concurrency,
            polling_interval_sec=options.poll_s,
            on_conflict="always_update",
        )

    def _client_of(self, url: str) -> DBOSClient:
        serializer = JsonSerializer()
        if self._sql is not None:
            return DBOSClient(system_database_engine=self._sql, serializer=serializer, application_name=NAME, lazy=True)
        return DBOSClient(system_database_url=url, serializer=serializer, application_name=NAME, lazy=True)

    def enqueue(self, kind: str, name: str, lane: str, request: Json) -> None:
        """As `Queue.enqueue`."""
        options: EnqueueOptions = {
            "workflow_name": kind,
            "queue_name": QUEUE,
            "workflow_id": name,
            "app_version": PROTOCOL,
            "queue_partition_key": lane,
        }
        with self._open_client() as client:
            client.enqueue(options, request)
            if self._workflow_ids(client, workflow_ids=[name], status="CANCELLED"):
                client.resume_workflows([name], queue_name=QUEUE)

    def cancel(self, names: Sequence[str]) -> None:
        """As `Queue.cancel`."""
        with self._open_client() as client:
            client.cancel_workflows(list(names))

    def take_over(self, executor: str) -> int:
        """Put the runs of a worker that is gone back into the queue; how many."""
        with self._open_client() as client:
            names = self._workflow_ids(client, status="PENDING", executor_id=executor)
            if names:
                client.resume_workflows(names, queue_name=QUEUE)
            return len(names)

    def states(self, names: Sequence[str]) -> dict[str, str]:
        """What the engine says of runs, in its own words: PENDING, ENQUEUED, SUCCESS, ERROR, CANCELLED ..."""
        if not names:
            return {}  # as in `forget`
        with self._open_client() as client:
            found = client.list_workflows(workflow_ids=list(names), load_input=False, load_output=False)
            return {each.workflow_id: str(each.status) for each in found}

    def forget(self, names: Sequence[str]) -> None:
        """Remove runs that have ended, with the records of their steps."""
        if not names:
            return  # an empty list of names is no filter to the engine: it would give all there are
        with self._open_client() as client:
            if ended := self._workflow_ids(client, workflow_ids=list(names), status=list(GONE)):
                client.delete_workflows(ended)

    def list_ended_before(self, older_s: float, now: float, limit: int) -> list[str]:
        """Runs that ended longer ago."""
        before = datetime.fromtimestamp(now - older_s, UTC).isoformat()
        with self._open_client() as client:
            return self._workflow_ids(client, completed_before=before, status=list(GONE), limit=limit)

    def drain(self, limit_s: float) -> None:
        """Begin no run any more, and wait for those under way, but not longer."""
        DBOS.destroy(workflow_completion_timeout_sec=max(1, round(limit_s)), destroy_registry=True)

    def stop(self) -> None:
        """End all connections; after `drain`."""
        if self._client is not None:
            self._client.destroy()
            self._client = None
        if self._sql is not None:
            self._sql.dispose()

    @staticmethod
    def _workflow_ids(client: DBOSClient, **which: Any) -> list[str]:  # noqa: ANN401 - the engine's own filters
        found = client.list_workflows(load_input=False, load_output=False, application_name=NAME, **which)
        return [each.workflow_id for each in found]

    @contextmanager
    def _open_client(self) -> Iterator[DBOSClient]:
        """The client; errors of its database become a ConfigError."""
        if self._client is None:
            raise ConfigError("the durable engine has not been started, or was stopped")
        try:
            yield self._client
        except SQLAlchemyError as fault:
            raise ConfigError(f"the queue's database cannot be used ({type(fault).__name__})") from None

    def _config(self, executor: str) -> DBOSConfig:
        options = self._options
        config: DBOSConfig = {
            "name": NAME,
            "application_version": PROTOCOL,
            "executor_id": executor,
            "serializer": JsonSerializer(),
            "max_executor_threads": options.concurrency + SPARE_THREADS,
            "log_level": "ERROR",
            "console_log_level": "ERROR",
            "enable_otlp": False,
        }
        if self._sql is not None:
            config["system_database_engine"] = self._sql
        else:
            config["system_database_url"] = options.queue
        return config


def _register(kind: str, body: Body) -> None:
    def workflow(request: Json) -> Json:
        return body(str(DBOS.workflow_id), request, DbosRun())

    DBOS.workflow(name=kind, max_recovery_attempts=DEAD_LETTER)(workflow)


def _sqlite(path: Path) -> sa.Engine:
    """An engine on a file that only its owner can read. DBOS itself sets neither WAL nor synchronous."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    engine = sa.create_engine(f"sqlite:///{path}", pool_size=20, max_overflow=20, pool_timeout=30)

    @event.listens_for(engine, "connect")
    def _set(connection: Any, _: object) -> None:  # noqa: ANN401 - what the driver has
        connection.isolation_level = "IMMEDIATE"  # as DBOS does on an engine of its own
        for pragma in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _quieten(logger: logging.Logger) -> None:
    """Send what the engine logs the way of all logs, as one line each, and not what is no news."""
    logger.handlers.clear()
    logger.propagate = True
    logger.addFilter(_no_traces)


def _no_traces(record: logging.LogRecord) -> bool:
    """A trace back may quote what went through a run. That a run was cancelled is said by who cancelled it."""
    kind = record.exc_info[0] if record.exc_info else None
    record.exc_info = record.exc_text = None
    if kind is not None:
        record.msg, record.args = "the durable engine: %s", (kind.__name__,)
    return kind is not error.DBOSAwaitedWorkflowCancelledError
