"""The journal in the App's database: progress of reviews, each key in the name of its installation and repository."""

from __future__ import annotations

from reviewbot.app.store.durable.database import Database


class DurableJournal:
    """A `Journal` that sees the entries of one repository of one installation, and no others."""

    def __init__(self, database: Database, installation: int, repository: int) -> None:
        self._database = database
        self._installation = installation
        self._prefix = f"{installation}/{repository}/"

    def get(self, key: str) -> str | None:
        """The value, or None."""
        rows = self._database.run("SELECT value FROM reviewbot_journal WHERE key = ?", self._stored(key))
        return str(bytes(rows[0][0]), "utf-8", "surrogatepass") if rows else None

    def put(self, key: str, value: str) -> None:
        """Store before returning, so that a kill of this process cannot undo it."""
        self._database.run(
            "INSERT INTO reviewbot_journal (key, value, installation, written) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, written = excluded.written",
            self._stored(key),
            value.encode("utf-8", "surrogatepass"),
            self._installation,
            self._database.now(),
        )

    def _stored(self, key: str) -> str:
        return self._prefix + key.encode("unicode_escape").decode("ascii")


def forget_old_rows(database: Database, older_s: float) -> None:
    """Remove progress, intents, heads and commands that were written longer ago.

    No caller resumes a run of last month, what was posted then is found on the host, and a dismissal stays in the
    ledger of its pull request.
    """
    for table in ("reviewbot_journal", "reviewbot_intents", "reviewbot_heads", "reviewbot_commands"):
        database.run(f"DELETE FROM {table} WHERE written < ?", database.now() - older_s)  # noqa: S608 - our own names


def forget_installation(database: Database, installation: int) -> None:
    """Remove all that is kept for an installation, which has ended."""
    for statement in (
        "DELETE FROM reviewbot_journal WHERE installation = ?",
        "DELETE FROM reviewbot_commands WHERE installation = ?",
        "DELETE FROM reviewbot_queue_log WHERE item IN (SELECT item FROM reviewbot_queue_items WHERE installation = ?)",
        "DELETE FROM reviewbot_queue_items WHERE installation = ?",
        "DELETE FROM reviewbot_worker_costs WHERE run IN (SELECT run FROM reviewbot_runs WHERE installation = ?)",
        "DELETE FROM reviewbot_labels WHERE installation = ?",
        "DELETE FROM reviewbot_traces WHERE run IN (SELECT run FROM reviewbot_runs WHERE installation = ?)",
        "DELETE FROM reviewbot_runs WHERE installation = ?",
    ):
        database.run(statement, installation)
