"""Labels of findings in the App's database: what became known of each one, in names, numbers and states.

A row is written by several hands: the ledger of a review, the threads and reactions on the host, the human queue, the
end of the pull request. Each writes its own columns, and writing the same once more changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from reviewbot.app.store.durable.database import DatabaseTable
from reviewbot.domain.contracts.feedback import Label, Outcome
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.feedback import label_of

KEEP_LABELS_S = 400 * 86_400.0
"""How long labels are kept: longer than runs, since few of them come in a week, and no text is in them."""

_OF_LEDGER = ("worker", "rule", "kind", "source", "severity", "state", "origin", "dismissed_as")
"""Columns that each ledger writes anew."""
_COLUMNS = (
    "repository, pull, finding, worker, rule, kind, source, by_model, severity, stated, state, origin, dismissed_as, "
    "queue, up, down, resolved, outcome"
)
_FLAGS = frozenset({"by_model", "resolved"})


class Labels(DatabaseTable):
    """The labels of all installations. Blocking; every function may be repeated."""

    def put(self, installation: int, repository: int, pull: int, records: Iterable[Record]) -> None:
        """Write what a ledger knows of the findings of a pull request. The first known confidence stays."""
        known = self._known(repository, pull)
        fields = list(Label.model_fields)
        for record in records:
            label = label_of(record, repository, str(pull))
            key = next((known[name] for name in record.names if name in known), label.finding)
            label = label.model_copy(update={"finding": key})
            values = [getattr(label, name) for name in fields]
            self._database.run(
                f"INSERT INTO reviewbot_labels ({_COLUMNS}, latest, installation, written) "  # noqa: S608 - our own names
                f"VALUES ({', '.join('?' * (len(fields) + 3))}) ON CONFLICT (repository, pull, finding) DO UPDATE SET "
                f"{', '.join(f'{name} = excluded.{name}' for name in _OF_LEDGER)}, "
                "stated = COALESCE(reviewbot_labels.stated, excluded.stated), latest = excluded.latest, "
                "written = excluded.written",
                *(int(value) if isinstance(value, bool) else value for value in values),
                record.name,
                installation,
                self._database.now(),
            )

    def observe(self, repository: int, pull: int, name: str, seen: tuple[int, int, bool]) -> None:
        """Write what people did in the thread of a finding: thumbs up and down, and whether one resolved it."""
        self._set(repository, pull, name, "up = ?, down = ?, resolved = ?", *map(int, seen))

    def decide(self, repository: int, pull: int, name: str, decision: Literal["confirmed", "dismissed"]) -> None:
        """Write what a person decided in the human queue."""
        self._set(repository, pull, name, "queue = ?", decision)

    def close(self, repository: int, pull: int, outcome: Outcome) -> None:
        """Write how a pull request ended; "open" where it was opened again."""
        self._database.run(
            "UPDATE reviewbot_labels SET outcome = ? WHERE repository = ? AND pull = ?", outcome, repository, str(pull)
        )

    def has(self, repository: int, pull: int) -> bool:
        """Whether a pull request has any label."""
        return bool(self._known(repository, pull))

    def list_labels(self, installation: int | None = None, limit: int = 20_000) -> tuple[Label, ...]:
        """The labels of one installation, or of all of them, the newest first."""
        rows = self._database.run(
            f"SELECT {_COLUMNS} FROM reviewbot_labels WHERE CAST(? AS BIGINT) IS NULL OR installation = ? "  # noqa: S608
            "ORDER BY written DESC, repository, pull, finding LIMIT ?",
            installation,
            installation,
            limit,
        )
        names = list(Label.model_fields)
        return tuple(
            Label.model_validate(
                {name: bool(value) if name in _FLAGS else value for name, value in zip(names, row, strict=True)}
            )
            for row in rows
        )

    def forget(self, older_s: float) -> None:
        """Remove labels of which nothing was heard for so long."""
        self._database.run("DELETE FROM reviewbot_labels WHERE written < ?", self._database.now() - older_s)

    def _set(self, repository: int, pull: int, name: str, what: str, *values: int | str) -> None:
        self._database.run(
            f"UPDATE reviewbot_labels SET {what} WHERE repository = ? AND pull = ? AND (finding = ? OR latest = ?)",  # noqa: S608
            *values,
            repository,
            str(pull),
            name,
            name,
        )

    def _known(self, repository: int, pull: int) -> dict[str, str]:
        """By each name that a finding has or had first, the name under which its label is kept: the first one."""
        rows = self._database.run(
            "SELECT finding, latest FROM reviewbot_labels WHERE repository = ? AND pull = ?", repository, str(pull)
        )
        return {name: str(row[0]) for row in rows for name in (str(row[1]), str(row[0]))}
