"""Run statements on a SQLite file or on Postgres. Blocking; from any thread.

Every statement that is sent through here may be sent twice without harm: where the connection to the server breaks, a
statement is sent again on a new one for a while, so that a restart of the server costs no run.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Protocol

from reviewbot.app.store.sql import PREFIXES, Connections, Row, Value, open_file, rows_of, statements_in
from reviewbot.domain.errors import ConfigError

SCHEMA_VERSION = 1
"""Stands in `reviewbot_schema`. A database of a newer version is refused and left as it is."""

TABLES = statements_in("app")
"""Each statement may run again, also by two processes that start at the same moment."""


BUSY_S = 30.0
"""How long to wait while another process writes. One write takes about a millisecond."""

OUTAGE_S = 5.0
"""How long a statement is tried again where the database cannot be used at the moment, unless set otherwise."""

CONNECT_S = 10

RETRY_S = 0.5
"""Between two tries."""

SETUP_LOCK = 0x52765742
"""Of Postgres, for the moment of making tables: there, IF NOT EXISTS is no help against another process."""

_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
"""Errors of SQLite that may pass by themselves."""


class Database(Protocol):
    """A place for rows. Raises ConfigError where it cannot be used."""

    def run(self, statement: str, *values: Value) -> list[Row]:
        """One statement with `?` for each value, in a transaction of its own; the rows that it gives."""

    def now(self) -> float:
        """Seconds since 1970 by one clock for all who share this database."""

    def close(self) -> None:
        """End all connections."""


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
    opened = PostgresDatabase(url, outage_s) if url.startswith(PREFIXES) else SqliteDatabase(Path(url), clock, outage_s)
    opened.prepare()
    return opened


class SqliteDatabase:
    """A file, for the processes of one machine."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, outage_s: float = OUTAGE_S) -> None:
        self.now = clock
        self._path = path
        self._outage_s = outage_s
        self._lock = Lock()
        try:
            # What has been accepted from outside is kept by the inbox, which waits for the disk.
            self._connection = open_file(path, BUSY_S, durable=False)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"the database {path} cannot be used: {error}") from None

    def run(self, statement: str, *values: Value) -> list[Row]:
        """As `Database.run`; tried again while the file is locked or the disk is full."""
        until = time.monotonic() + self._outage_s
        while True:
            try:
                with self._lock:
                    return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                passing = getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING
                if not passing or time.monotonic() >= until:
                    raise ConfigError(f"the database {self._path} cannot be used: {error}") from None
            time.sleep(RETRY_S)

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._connection.close()

    def prepare(self) -> None:
        """Make the tables."""
        for statement in TABLES:
            self.run(statement)
        _check_version(self, str(self._path))


class PostgresDatabase:
    """A server, for any number of machines."""

    def __init__(self, url: str, outage_s: float = OUTAGE_S) -> None:
        self._outage_s = outage_s
        self._connections = Connections(url, CONNECT_S)
        self.close = self._connections.close

    def run(self, statement: str, *values: Value) -> list[Row]:
        """As `Database.run`; sent again, on a new connection, while the server does not answer."""
        import psycopg  # noqa: PLC0415 - who stays with a file need not load it

        until = time.monotonic() + self._outage_s
        while True:
            try:
                with self._connections.connection() as connection:
                    return rows_of(connection, statement, values)
            except psycopg.OperationalError:
                # Its text names the host and the user; the URL may hold a password.
                if time.monotonic() >= until:
                    raise ConfigError("the database server does not answer") from None
            except psycopg.Error as error:
                raise ConfigError(f"the database server refused a statement ({type(error).__name__})") from None
            time.sleep(RETRY_S)

    def now(self) -> float:
        """The server's clock."""
        return float(self.run("SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)")[0][0])

    def prepare(self) -> None:
        """Make the tables, one process at a time."""
        made = " ".join(f"{statement};" for statement in TABLES)
        # One statement, and so one transaction that holds the lock.
        self.run(f"DO $$ BEGIN PERFORM pg_advisory_xact_lock({SETUP_LOCK}); {made} END $$")
        _check_version(self, "of the server")


def _check_version(database: Database, name: str) -> None:
    database.run(
        "INSERT INTO reviewbot_schema (version) SELECT CAST(? AS BIGINT) "
        "WHERE NOT EXISTS (SELECT 1 FROM reviewbot_schema)",
        SCHEMA_VERSION,
    )
    if database.run("SELECT max(version) FROM reviewbot_schema")[0][0] > SCHEMA_VERSION:
        raise ConfigError(f"the database {name} comes from a newer version of reviewbot")
