"""The App's databases: a SQLite file, or Postgres, with `?` for each value. Blocking; from any thread."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from reviewbot.domain.errors import ConfigError
from reviewbot.tables import packaged_text

if TYPE_CHECKING:
    import psycopg

Value = str | int | float | bytes | None
Row = tuple[Any, ...]
Execute = Callable[..., list[Row]]
"""One statement and its values; the rows that it gives."""

PREFIXES = ("postgresql://", "postgres://")
"""How the address of a server begins; anything else is the path of a file."""

LOCK_SEED = 0x52764962
"""Of Postgres' locks by name, which are needed to make tables as well: IF NOT EXISTS is no help against another."""

_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
"""Errors of SQLite that may pass by themselves."""

MAX_IDLE = 8
"""Connections to a server that one process keeps open; more are opened while more threads ask at once."""


def marks_of(values: Collection[object]) -> str:
    """A `?` for each value of a list."""
    return ", ".join("?" * len(values))


def open_file(path: Path, wait_s: float, *, durable: bool) -> sqlite3.Connection:
    """Open a file for our user alone, and make it where there is none. Raises OSError and sqlite3.Error.

    Args:
        path: of the file; a link is not followed.
        wait_s: how long a statement waits while another process writes.
        durable: wait for the disk with each transaction, so that a power cut loses nothing. Without that a kill loses
            nothing; a power cut can lose the last moments, and never tears the file.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    with suppress(sqlite3.OperationalError):  # another process does the same; the mode stays in the file
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    return connection


class SqliteFile:
    """A file, for the processes of one machine. One connection, one transaction at a time."""

    name: str
    """For messages."""
    one_writer = True
    """Whether only one transaction writes at a time."""
    skipping = ""
    """How a SELECT for an UPDATE passes over rows that another transaction holds."""
    identity = "INTEGER"
    """The type of a column that counts by itself."""
    errors: type[Exception] = sqlite3.Error
    """The errors of its driver."""

    def __init__(self, path: Path, wait_s: float, *, durable: bool) -> None:
        """As `open_file`. Raises ConfigError."""
        self.name = str(path)
        self._lock = Lock()
        try:
            self._connection = open_file(path, wait_s, durable=durable)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(self.describe(error)) from None

    def run(self, statement: str, *values: Value) -> list[Row]:
        """Carry out one statement in a transaction of its own; the rows that it gives. Raises `errors`."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Begin a transaction that may write. Threads of this process take turns by a lock: SQLite sleeps and tries."""
        with self._lock:
            connection = self._connection
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield lambda statement, *values: connection.execute(statement, values).fetchall()
                connection.execute("COMMIT")
            finally:
                with suppress(sqlite3.ProgrammingError):  # it is closed, and that has been said
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")

    def lock(self, execute: Execute, name: str) -> None:
        """Let no other transaction that names the same be inside at the same time: the file has one writer anyway."""

    def may_pass(self, error: Exception) -> bool:
        """Whether an error may pass by itself."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING

    def describe(self, error: Exception) -> str:
        """An error in words."""
        return f"the database {self.name} cannot be used: {error}"

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._connection.close()


class PostgresServer:
    """A server, for any number of machines. A connection on which something failed is not used again."""

    name = "of the server"
    one_writer = False
    skipping = "FOR UPDATE SKIP LOCKED"
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY"

    def __init__(self, url: str, connect_s: int, *, checked: bool) -> None:
        """`checked`: ask a connection whether it answers before it is used; a server that restarted has closed it."""
        import psycopg  # noqa: PLC0415 - who stays with a file need not load it

        self.errors: type[Exception] = psycopg.Error
        self._driver = psycopg
        # Not prepared: behind a pooler, the next statement may meet another session.
        self._connect = partial(
            psycopg.connect, url, autocommit=True, prepare_threshold=None, connect_timeout=connect_s
        )
        self._checked = checked
        self._lock = Lock()
        self._idle: list[psycopg.Connection[Row]] = []

    def run(self, statement: str, *values: Value) -> list[Row]:
        """As of a file."""
        with self._connection() as connection:
            return _rows_of(connection, statement, values)

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """As of a file."""
        with self._connection() as connection, connection.transaction():
            yield lambda statement, *values: _rows_of(connection, statement, values)

    def lock(self, execute: Execute, name: str) -> None:
        """As of a file; until the transaction ends."""
        execute("SELECT pg_advisory_xact_lock(hashtextextended(CAST(? AS TEXT), ?))", name, LOCK_SEED)

    def may_pass(self, error: Exception) -> bool:
        """As of a file."""
        return isinstance(error, self._driver.OperationalError)

    def describe(self, error: Exception) -> str:
        """As of a file. The error's own text names the host and the user; the URL may hold a password."""
        if self.may_pass(error):
            return "the database server does not answer"
        return f"the database server refused a statement ({type(error).__name__})"

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Row]]:
        """One for the caller alone. Raises psycopg.Error, and ConfigError where the address is not valid."""
        connection = (self._answering() if self._checked else self._take_idle()) or self._new()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if not connection.closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """End all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take_idle(self) -> psycopg.Connection[Row] | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _answering(self) -> psycopg.Connection[Row] | None:
        while (kept := self._take_idle()) is not None:
            with suppress(self.errors):
                kept.execute("SELECT 1")
                return kept
            kept.close()
        return None

    def _new(self) -> psycopg.Connection[Row]:
        try:
            return self._connect()
        except self._driver.ProgrammingError:
            raise ConfigError("REVIEWBOT_DATABASE_URL is no address of a database") from None


Server = SqliteFile | PostgresServer


def open_server(url: str, wait_s: float, connect_s: int, *, durable: bool, checked: bool) -> Server:
    """Open `postgresql://...` or the path of a file; the server itself is asked for nothing yet. Raises ConfigError."""
    if url.startswith(PREFIXES):
        return PostgresServer(url, connect_s, checked=checked)
    return SqliteFile(Path(url), wait_s, durable=durable)


def make_tables(server: Server, name: str, schema: str, version: int) -> None:
    """Make the tables of `data/sql/NAME.sql` where there are none, one process at a time.

    `schema` is the table with the version; a database of a newer one is refused and left as it is. Raises ConfigError,
    and the server's `errors`.
    """
    with server.transaction() as execute:
        server.lock(execute, schema)
        for statement in _statements_in(name):
            execute(statement.replace("{identity}", server.identity))
        execute(
            f"INSERT INTO {schema} (version) SELECT CAST(? AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM {schema})",  # noqa: S608 - our own names
            version,
        )
        newest = execute(f"SELECT max(version) FROM {schema}")[0][0]  # noqa: S608 - as above
    if newest > version:
        server.close()
        raise ConfigError(f"the database {server.name} comes from a newer version of reviewbot")


def _rows_of(connection: psycopg.Connection[Row], statement: str, values: tuple[Value, ...]) -> list[Row]:
    """Carry out one statement with `?` for each value; the rows that it gives."""
    cursor = connection.execute(statement.replace("?", "%s").encode(), values or None)
    return cursor.fetchall() if cursor.description else []


def _statements_in(name: str) -> tuple[str, ...]:
    """The statements of `data/sql/NAME.sql`: each ends with a semicolon, at which no line goes on."""
    code = "\n".join(line for line in packaged_text(f"sql/{name}.sql").split("\n") if not line.startswith("--"))
    return tuple(statement.strip() for statement in code.split(";\n") if statement.strip())
