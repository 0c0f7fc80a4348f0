"""Register live workers, find dead ones to take over from, and give each periodic task to one worker."""

from __future__ import annotations

from reviewbot.app.store.durable.database import DatabaseTable

TAKEOVER_S = 30.0
"""How long one who takes over has for it; after that another one may."""


class Workers(DatabaseTable):
    """One row for each worker that has not stopped in good order."""

    def join(self, executor: str) -> None:
        """Register a worker that begins."""
        self._database.run(
            "INSERT INTO reviewbot_workers (executor, beat, reaper, reaped) VALUES (?, ?, '', 0) "
            "ON CONFLICT (executor) DO UPDATE SET beat = excluded.beat, reaper = '', reaped = 0",
            executor,
            self._database.now(),
        )

    def beat(self, executor: str) -> bool:
        """Record a worker's heartbeat. False where it was taken for dead: others do its work, and it must not go on."""
        rows = self._database.run(
            "UPDATE reviewbot_workers SET beat = ? WHERE executor = ? AND reaper = '' RETURNING 1",
            self._database.now(),
            executor,
        )
        return bool(rows)

    def leave(self, executor: str) -> None:
        """Remove a worker that is gone, whose work has been given back or taken over."""
        self._database.run("DELETE FROM reviewbot_workers WHERE executor = ?", executor)

    def dead(self, reaper: str, silent_s: float) -> tuple[str, ...]:
        """Workers that were silent for so long, for `reaper` to take over from; no other reaper gets these meanwhile.

        They stay in the table until `leave`: a reaper that dies over it is followed by another one.
        """
        now = self._database.now()
        rows = self._database.run(
            "UPDATE reviewbot_workers SET reaper = ?, reaped = ? "
            "WHERE executor <> ? AND beat < ? AND reaped < ? RETURNING executor",
            reaper,
            now,
            reaper,
            now - silent_s,
            now - TAKEOVER_S,
        )
        return tuple(str(row[0]) for row in rows)

    def alive(self, silent_s: float) -> int:
        """How many have given a sign of life."""
        since = self._database.now() - silent_s
        return int(self._database.run("SELECT count(*) FROM reviewbot_workers WHERE beat >= ?", since)[0][0])


class Chores(DatabaseTable):
    """Periodic tasks, each done by one of the workers."""

    def due(self, name: str, every_s: float) -> bool:
        """Whether the caller is to do a task now; the first time at once."""
        now = self._database.now()
        rows = self._database.run(
            "INSERT INTO reviewbot_chores (name, due) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET due = excluded.due WHERE reviewbot_chores.due <= ? RETURNING 1",
            name,
            now + every_s,
            now,
        )
        return bool(rows)
