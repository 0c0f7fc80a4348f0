"""Run statements on a SQLite file or on Postgres. Blocking; from any thread.

Every statement that is sent through here may be sent twice without harm: where the connection to the server breaks, a
statement is sent again on a new one for a while, so that a restart of the server costs no run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from reviewbot.app.store.sql import Row, Server, SqliteFile, Value, make_tables, open_server
from reviewbot.domain.errors import ConfigError

T = TypeVar("T")

SCHEMA_VERSION = 1
"""Stands in `reviewbot_schema`. A database of a newer version is refused and left as it is."""

BUSY_S = 30.0
"""How long to wait while another process writes. One write takes about a millisecond."""

OUTAGE_S = 5.0
"""How long a statement is tried again where the database cannot be used at the moment, unless set otherwise."""

CONNECT_S = 10

RETRY_S = 0.5
"""Between two tries."""


class Database:
    """A place for rows; tries again while the server does not answer, or the file is locked or full.

    Raises ConfigError where it cannot be used. `now` gives seconds since 1970 by one clock for all who share it,
    and `close` ends all connections.
    """

    def __init__(self, server: Server, clock: Callable[[], float], outage_s: float) -> None:
        self._server = server
        self._outage_s = outage_s
        self.now = clock if isinstance(server, SqliteFile) else self._server_time
        self.close = server.close
        self._try(lambda: make_tables(server, "app", "reviewbot_schema", SCHEMA_VERSION))

    def run(self, statement: str, *values: Value) -> list[Row]:
        """One statement with `?` for each value, in a transaction of its own; the rows that it gives."""
        return self._try(lambda: self._server.run(statement, *values))

    def _server_time(self) -> float:
        return float(self.run("SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)")[0][0])

    def _try(self, act: Callable[[], T]) -> T:
        until = time.monotonic() + self._outage_s
        while True:
            try:
                return act()
            except self._server.errors as error:
                if not self._server.may_pass(error) or time.monotonic() >= until:
                    raise ConfigError(self._server.describe(error)) from None
            time.sleep(RETRY_S)


class DatabaseTable:
    """A table, or some that belong together, in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.now = database.now


def open_database(url: str, clock: Callable[[], float] = time.time, outage_s: float = OUTAGE_S) -> Database:
    """Open a database and make its tables where there are none.

    `url` is `postgresql://...` or the path of a file; `clock` is for a file, a server has its own. `outage_s`: how long
    a statement is tried again while the server is away, the file is locked or the disk is full. Raises ConfigError.
    """
    # What has been accepted from outside is kept by the inbox, which waits for the disk.
    server = open_server(url, BUSY_S, CONNECT_S, durable=False, checked=False)
    return Database(server, clock, outage_s)
