"""Transactions on a SQLite file or on Postgres, with `?` for each value. Blocking; from any thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Protocol

from reviewbot.app.store.inbox.group_commit import Together
from reviewbot.app.store.sql import PREFIXES, Connections, Row, Value, open_file, rows_of, statements_in
from reviewbot.domain.errors import ConfigError, ReviewbotError

Execute = Callable[..., list[Row]]
"""One statement and its values; the rows that it gives."""

BUSY_S = 8.0
"""How long to wait while another process writes. GitHub waits ten seconds for its answer."""

CONNECT_S = 5
SETUP_LOCK = 0x52764962
"""Of Postgres, for the moment of making tables: there, IF NOT EXISTS is no help against another process."""


SCHEMA_VERSION = 1
"""A database of a newer version is refused and left as it is."""

TABLES = statements_in("inbox")
"""Each statement may run again. `identity` is how the database counts rows by itself."""


class InboxError(ReviewbotError):
    """The database does not do what was asked now; asking again later may help."""


class Store(Protocol):
    """A place for rows. Raises InboxError where it cannot be used now."""

    def transaction(self) -> AbstractContextManager[Execute]:
        """One transaction: everything inside happens, durably when it ends, or nothing of it does."""

    def read(self, statement: str, *values: Value) -> list[Row]:
        """One SELECT, without the right to write."""

    def alone(self, name: str | None, statement: str, *values: Value) -> list[Row]:
        """One statement that writes, with no other at the same time that names the same; durable when it returns."""

    def lock(self, execute: Execute, name: str) -> None:
        """Let no other transaction that names the same be inside at the same time."""

    @property
    def skipping(self) -> str:
        """How a SELECT for an UPDATE passes over rows that another transaction holds."""

    @property
    def identity(self) -> str:
        """The type of a column that counts by itself."""

    def close(self) -> None:
        """End all connections."""


def open_store(url: str, *, durable: bool = True) -> Store:
    """Open a database and make its tables where there are none.

    Args:
        url: `postgresql://...` or the path of a file.
        durable: wait for the disk with each transaction on a file, so that a power cut loses nothing. A server decides
            for itself.

    Raises ConfigError where it can never be used, InboxError where it cannot be now.
    """
    store: Store = PostgresStore(url) if url.startswith(PREFIXES) else SqliteStore(Path(url), durable=durable)
    with store.transaction() as execute:
        store.lock(execute, "reviewbot_inbox setup")
        for statement in TABLES:
            execute(statement.replace("{identity}", store.identity))
        execute(
            "INSERT INTO reviewbot_inbox_schema (version) SELECT CAST(? AS BIGINT) "
            "WHERE NOT EXISTS (SELECT 1 FROM reviewbot_inbox_schema)",
            SCHEMA_VERSION,
        )
        newest = execute("SELECT max(version) FROM reviewbot_inbox_schema")[0][0]
    if newest > SCHEMA_VERSION:
        store.close()
        raise ConfigError("the inbox's database comes from a newer version of reviewbot")
    return store


class SqliteStore:
    """A file, for the processes of one machine. One connection, one transaction at a time."""

    skipping = ""
    """Only one transaction writes at a time."""
    identity = "INTEGER"

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._lock = Lock()
        try:
            self._connection = open_file(path, BUSY_S, durable=durable)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"the inbox {path} cannot be used ({type(error).__name__})") from None
        self._together = Together(self._all_of)

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """As `Store.transaction`. Threads of this process take turns by a lock: SQLite itself sleeps and tries."""
        with self._lock:
            connection = self._connection
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield lambda statement, *values: connection.execute(statement, values).fetchall()
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise InboxError(f"the inbox cannot be used ({type(error).__name__})") from None
            finally:
                with suppress(sqlite3.ProgrammingError):  # it is closed, and that has been said
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")

    def read(self, statement: str, *values: Value) -> list[Row]:
        """As `Store.read`."""
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise InboxError(f"the inbox cannot be used ({type(error).__name__})") from None

    def alone(self, name: str | None, statement: str, *values: Value) -> list[Row]:
        """As `Store.alone`: the file has one writer, whatever it names. Threads share the wait for the disk."""
        del name
        return self._together.ask((statement, values))

    def lock(self, execute: Execute, name: str) -> None:
        """The file has one writer anyway."""

    def _all_of(self, asked: list[tuple[str, tuple[Value, ...]]]) -> list[list[Row]]:
        with self.transaction() as execute:
            return [execute(statement, *values) for statement, values in asked]

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._connection.close()


class PostgresStore:
    """A server, for any number of machines."""

    skipping = "FOR UPDATE SKIP LOCKED"
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY"

    def __init__(self, url: str) -> None:
        self._connections = Connections(url, CONNECT_S)
        self.close = self._connections.close

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """As `Store.transaction`."""
        import psycopg  # noqa: PLC0415 - who stays with a file need not load it

        try:
            with self._connections.connection(checked=True) as connection, connection.transaction():
                yield lambda statement, *values: rows_of(connection, statement, values)
        except psycopg.Error as error:
            # Its text names the host and the user, and the URL may hold a password.
            raise InboxError(f"the inbox cannot be used ({type(error).__name__})") from None

    def read(self, statement: str, *values: Value) -> list[Row]:
        """As `Store.read`."""
        with self.transaction() as execute:
            return execute(statement, *values)

    def alone(self, name: str | None, statement: str, *values: Value) -> list[Row]:
        """As `Store.alone`."""
        with self.transaction() as execute:
            if name is not None:
                self.lock(execute, name)
            return execute(statement, *values)

    def lock(self, execute: Execute, name: str) -> None:
        """Until the transaction ends."""
        execute("SELECT pg_advisory_xact_lock(hashtextextended(CAST(? AS TEXT), ?))", name, SETUP_LOCK)
