"""The journal in the App's database: progress of reviews, each key in the name of its installation and repository.

Intents to post a review, with a lease, so that two posters or a crash do not make two reviews of one.
"""

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


def forget_old_entries(database: Database, older_s: float) -> None:
    """Remove entries that were put longer ago: no caller resumes a run of last month."""
    database.run("DELETE FROM reviewbot_journal WHERE written < ?", database.now() - older_s)


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


class DurableIntents:
    """`Intents` of one installation. A lease ends by the database's clock, which all workers share."""

    def __init__(self, database: Database, installation: int) -> None:
        self._database = database
        self._prefix = f"{installation}/"

    def begin(self, key: str, holder: str, lease_s: float) -> bool:
        """Take the intent. False where another holder has it and its lease has not run out."""
        now = self._database.now()
        # One statement: of two that come at the same moment, the second one sees the row of the first.
        rows = self._database.run(
            "INSERT INTO reviewbot_intents (key, holder, until, written) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until "
            "WHERE reviewbot_intents.holder = excluded.holder OR reviewbot_intents.until <= ? RETURNING 1",
            self._prefix + key,
            holder,
            now + lease_s,
            now,
            now,
        )
        return bool(rows)

    def record_posted(self, key: str, review_id: int) -> None:
        """Record the review as posted, and release the intent."""
        self._database.run(
            "INSERT INTO reviewbot_intents (key, holder, until, review, written) VALUES (?, '', 0, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET review = excluded.review, until = 0",
            self._prefix + key,
            review_id,
            self._database.now(),
        )

    def find_posted(self, key: str) -> int | None:
        """The id of the posted review; None where none is recorded."""
        rows = self._database.run("SELECT review FROM reviewbot_intents WHERE key = ?", self._prefix + key)
        return None if not rows or rows[0][0] is None else int(rows[0][0])


def forget_old_intents(database: Database, older_s: float) -> None:
    """Remove intents of long ago; what was posted then is found on the host."""
    database.run("DELETE FROM reviewbot_intents WHERE written < ?", database.now() - older_s)
