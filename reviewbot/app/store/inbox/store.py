"""Transactions on the inbox's database, with errors of its own. Blocking; from any thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reviewbot.app.store.inbox.group_commit import GroupCommit
from reviewbot.app.store.sql import Execute, Row, Server, Value, make_tables, open_server
from reviewbot.domain.errors import ReviewbotError

BUSY_S = 8.0
"""How long to wait while another process writes. GitHub waits ten seconds for its answer."""

CONNECT_S = 5

SCHEMA_VERSION = 1
"""A database of a newer version is refused and left as it is."""


class InboxError(ReviewbotError):
    """The database does not do what was asked now; asking again later may help."""


class Store:
    """A place for rows. Raises InboxError where it cannot be used now."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.skipping = server.skipping
        self.close = server.close
        self._group_commit = GroupCommit(self._all_of)

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """One transaction: everything inside happens, durably when it ends, or nothing of it does."""
        with self._usable(), self._server.transaction() as execute:
            yield execute

    def read(self, statement: str, *values: Value) -> list[Row]:
        """One SELECT, without the right to write."""
        with self._usable():
            return self._server.run(statement, *values)

    def alone(self, name: str | None, statement: str, *values: Value) -> list[Row]:
        """One statement that writes, with no other at the same time that names the same; durable when it returns."""
        if self._server.one_writer:  # whatever it names; threads share the wait for the disk
            return self._group_commit.ask((statement, values))
        with self.transaction() as execute:
            if name is not None:
                self._server.lock(execute, name)
            return execute(statement, *values)

    def prepare(self) -> None:
        """Make the tables. Raises ConfigError as well."""
        with self._usable():
            make_tables(self._server, "inbox", "reviewbot_inbox_schema", SCHEMA_VERSION)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except self._server.errors as error:
            # The text of a server's error names the host and the user, and the URL may hold a password.
            raise InboxError(f"the inbox cannot be used ({type(error).__name__})") from None

    def _all_of(self, asked: list[tuple[str, tuple[Value, ...]]]) -> list[list[Row]]:
        with self.transaction() as execute:
            return [execute(statement, *values) for statement, values in asked]


def open_store(url: str, *, durable: bool = True) -> Store:
    """Open a database and make its tables where there are none.

    Args:
        url: `postgresql://...` or the path of a file.
        durable: wait for the disk with each transaction on a file, so that a power cut loses nothing. A server decides
            for itself.

    Raises ConfigError where it can never be used, InboxError where it cannot be now.
    """
    store = Store(open_server(url, BUSY_S, CONNECT_S, durable=durable, checked=True))
    store.prepare()
    return store
