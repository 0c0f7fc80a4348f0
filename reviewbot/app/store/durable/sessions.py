"""Sessions of people who signed in to the pages.

A row is found by the hash of the browser's cookie, so that a copy of the database lets no reader in.
"""

from __future__ import annotations

from typing import NamedTuple

from reviewbot.app.store.durable.database import DatabaseTable


class SessionRow(NamedTuple):
    """One session. Times are seconds since 1970."""

    name: str
    """The hash of the cookie."""
    kind: str
    """How its person signed in."""
    login: str
    sealed: bytes
    """A secret that only the cookie opens; what it is depends on the kind."""
    repositories: bytes
    """What the host said that its person may read, packed."""
    checked: float
    """When the host said so."""
    until: float
    """When the session ends."""


class SessionTable(DatabaseTable):
    """The sessions of one database."""

    def add(self, row: SessionRow) -> None:
        """Add a session, and remove those that have ended."""
        self._database.run("DELETE FROM reviewbot_sessions WHERE until < ?", self.now())
        self._database.run(
            "INSERT INTO reviewbot_sessions (name, kind, login, sealed, repositories, checked, until) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
            *row,
        )

    def find(self, name: str) -> SessionRow | None:
        """A session that has not ended."""
        rows = self._database.run(
            "SELECT name, kind, login, sealed, repositories, checked, until FROM reviewbot_sessions "
            "WHERE name = ? AND until >= ?",
            name,
            self.now(),
        )
        if not rows:
            return None
        found = SessionRow._make(rows[0])
        return found._replace(sealed=bytes(found.sealed), repositories=bytes(found.repositories))

    def refresh(self, name: str, repositories: bytes) -> None:
        """Keep what the host said just now."""
        self._database.run(
            "UPDATE reviewbot_sessions SET repositories = ?, checked = ? WHERE name = ?",
            repositories,
            self.now(),
            name,
        )

    def end(self, name: str) -> None:
        """Remove a session."""
        self._database.run("DELETE FROM reviewbot_sessions WHERE name = ?", name)
