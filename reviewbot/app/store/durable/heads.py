"""Which run of a pull request is the wanted one. A new head supersedes the run on the old one."""

from __future__ import annotations

from typing import NamedTuple

from reviewbot.app.store.durable.database import Database


class Claim(NamedTuple):
    """What the table says after a run was claimed."""

    run: str
    """The wanted run from now on: the claimed one, or the one that stays."""
    sequence: int
    """Of that run: runs of this pull request with a smaller one are superseded."""
    head: str
    """That it is about."""


class Heads:
    """One row for each pull request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, pull: tuple[int, int], head: str, run: str, *, as_of: float = 0.0, again: bool = False) -> Claim:
        """Want `run` on `head` of a pull request (repository's id, number).

        For the same head once more, the run that is wanted already stays, unless another is asked for `again`. What
        was said earlier (`as_of` grows from word to word; 0: not known) than what is here changes nothing.
        """
        now = self._database.now()
        self._database.run(
            "INSERT INTO reviewbot_heads (repository, number, head, run, sequence, as_of, written) "
            "VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (repository, number) DO UPDATE SET "
            "head = excluded.head, run = excluded.run, sequence = reviewbot_heads.sequence + 1, "
            "as_of = CASE WHEN excluded.as_of > reviewbot_heads.as_of THEN excluded.as_of "
            "ELSE reviewbot_heads.as_of END, written = excluded.written "
            "WHERE (excluded.as_of = 0 OR excluded.as_of >= reviewbot_heads.as_of) "
            "AND reviewbot_heads.run <> excluded.run "
            "AND (reviewbot_heads.head <> excluded.head OR CAST(? AS BIGINT) = 1)",
            *pull,
            head,
            run,
            as_of,
            now,
            int(again),
        )
        return self._read(pull) or Claim(run, 0, head)

    def wanted(self, pull: tuple[int, int]) -> str | None:
        """The run that may write; None where none may."""
        found = self._read(pull)
        return None if found is None or not found.run else found.run

    def withdraw(self, pull: tuple[int, int], as_of: float = 0.0) -> bool:
        """Want no run of this pull request until the next head. False where a later state of it is recorded."""
        rows = self._database.run(
            "UPDATE reviewbot_heads SET run = '', head = '', sequence = sequence + 1, "
            "as_of = CASE WHEN CAST(? AS DOUBLE PRECISION) > as_of THEN ? ELSE as_of END "
            "WHERE repository = ? AND number = ? AND (CAST(? AS DOUBLE PRECISION) = 0 OR as_of <= ?) RETURNING 1",
            as_of,
            as_of,
            *pull,
            as_of,
            as_of,
        )
        return bool(rows)

    def forget(self, older_s: float) -> None:
        """Remove what was written longer ago."""
        self._database.run("DELETE FROM reviewbot_heads WHERE written < ?", self._database.now() - older_s)

    def _read(self, pull: tuple[int, int]) -> Claim | None:
        rows = self._database.run(
            "SELECT run, sequence, head FROM reviewbot_heads WHERE repository = ? AND number = ?", *pull
        )
        return Claim(str(rows[0][0]), int(rows[0][1]), str(rows[0][2])) if rows else None
