"""Intents to post a review in the App's database, with a lease: neither two posters nor a crash make two reviews."""

from __future__ import annotations

from reviewbot.app.store.durable.database import Database


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
