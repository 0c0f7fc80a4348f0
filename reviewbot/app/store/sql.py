"""Connections to the App's databases: SQLite files, or Postgres. Blocking; from any thread."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from reviewbot.domain.errors import ConfigError
from reviewbot.tables import packaged_text

if TYPE_CHECKING:
    import psycopg

Value = str | int | float | bytes | None
Row = tuple[Any, ...]

PREFIXES = ("postgresql://", "postgres://")
"""How the address of a server begins; anything else is the path of a file."""

MAX_IDLE = 8
"""Connections to a server that one process keeps open; more are opened while more threads ask at once."""


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


class Connections:
    """Connections to a server. One on which something failed is not used again."""

    def __init__(self, url: str, connect_s: int) -> None:
        self._url = url
        self._connect_s = connect_s
        self._lock = Lock()
        self._idle: list[psycopg.Connection[Row]] = []

    @contextmanager
    def connection(self, *, checked: bool = False) -> Iterator[psycopg.Connection[Row]]:
        """One for the caller alone; `checked`: that it answers, for a server that was started again has closed it.

        Raises psycopg.Error, and ConfigError where the address is not valid.
        """
        connection = (self._answering() if checked else self._take_idle()) or self._new()
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
        import psycopg  # noqa: PLC0415 - who stays with a file need not load it

        while (kept := self._take_idle()) is not None:
            with suppress(psycopg.Error):
                kept.execute("SELECT 1")
                return kept
            kept.close()
        return None

    def _new(self) -> psycopg.Connection[Row]:
        import psycopg  # noqa: PLC0415 - as above

        try:
            # Not prepared: behind a pooler, the next statement may meet another session.
            return psycopg.connect(self._url, autocommit=True, prepare_threshold=None, connect_timeout=self._connect_s)
        except psycopg.ProgrammingError:
            raise ConfigError("REVIEWBOT_DATABASE_URL is no address of a database") from None


def rows_of(connection: psycopg.Connection[Row], statement: str, values: tuple[Value, ...]) -> list[Row]:
    """Carry out one statement with `?` for each value; the rows that it gives."""
    cursor = connection.execute(statement.replace("?", "%s").encode(), values or None)
    return cursor.fetchall() if cursor.description else []


def statements_in(name: str) -> tuple[str, ...]:
    """The statements of `data/sql/NAME.sql`: each ends with a semicolon, at which no line goes on."""
    code = "\n".join(line for line in packaged_text(f"sql/{name}.sql").split("\n") if not line.startswith("--"))
    return tuple(statement.strip() for statement in code.split(";\n") if statement.strip())
