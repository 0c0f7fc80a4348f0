"""Commands that were followed: who paused a pull request, which findings were dismissed, and how many there were."""

from __future__ import annotations

from typing import NamedTuple

from reviewbot.app.store.durable.database import DatabaseTable


class CommandRecord(NamedTuple):
    """One command of one comment."""

    name: str
    """Of its comment: the same comment gives its command once."""
    installation: int
    pull: tuple[int, int]
    """The repository's id, and the number."""
    verb: str
    actor: str
    """The login of its writer."""
    finding: str = ""
    """Of a dismissal: the fingerprint."""
    reason: str = ""


class Commands(DatabaseTable):
    """The commands of all pull requests."""

    def add(self, record: CommandRecord) -> None:
        """Record a command; a second time changes nothing."""
        self._database.run(
            "INSERT INTO reviewbot_commands "
            "(name, installation, repository, number, verb, actor, finding, reason, written) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
            record.name,
            record.installation,
            *record.pull,
            record.verb,
            record.actor,
            record.finding,
            record.reason.encode("utf-8", "surrogatepass"),
            self._database.now(),
        )

    def count(self, pull: tuple[int, int], since_s: float, besides: str, actor: str | None = None) -> int:
        """How many commands of a pull request, or of one account there, came in the last seconds, besides this one."""
        rows = self._database.run(
            "SELECT count(*) FROM reviewbot_commands WHERE repository = ? AND number = ? AND written > ? "
            "AND name <> ? AND (CAST(? AS TEXT) IS NULL OR actor = ?)",
            *pull,
            self._database.now() - since_s,
            besides,
            actor,
            actor,
        )
        return int(rows[0][0])

    def paused_by(self, pull: tuple[int, int]) -> str:
        """Who has paused the automatic reviews of a pull request; empty where they are not paused."""
        rows = self._database.run(
            "SELECT verb, actor FROM reviewbot_commands WHERE repository = ? AND number = ? "
            "AND verb IN ('pause', 'resume') ORDER BY written DESC, name DESC LIMIT 1",
            *pull,
        )
        return str(rows[0][1]) if rows and rows[0][0] == "pause" else ""

    def dismissals(self, pull: tuple[int, int]) -> tuple[tuple[str, str, str], ...]:
        """The findings of a pull request that were dismissed, the oldest first: fingerprint, login and reason."""
        rows = self._database.run(
            "SELECT finding, actor, reason FROM reviewbot_commands WHERE repository = ? AND number = ? "
            "AND verb = 'dismiss' ORDER BY written, name",
            *pull,
        )
        return tuple((str(row[0]), str(row[1]), str(bytes(row[2]), "utf-8", "surrogatepass")) for row in rows)
