"""Counts that worker processes leave in the database for the metrics page. They only ever grow.

No label names a repository, a person or an installation: metrics are read by people who may see none of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from reviewbot.app.store.inbox.store import Store
from reviewbot.tables import packaged_table

COUNTERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    name: (row["meaning"], tuple(row["labels"])) for name, row in packaged_table("names/app")["counters"].items()
}
"""What is counted, what it means, and its labels."""

BUCKETS: Final = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0)
"""Upper ends, in seconds, of the buckets of `run_seconds`."""

ENDLESS = "+Inf"


class Tally(NamedTuple):
    """One count."""

    name: str
    labels: Mapping[str, str]
    value: float


class Counters:
    """The counts of one database. Raises InboxError where it cannot be used now."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add_all(self, tallies: list[Tally]) -> None:
        """Count several things at once, all or none."""
        rows = [(tally.name, _labels(tally), tally.value) for tally in tallies]
        if not rows:
            return
        with self._store.transaction() as execute:
            for row in sorted(rows):  # in one order, so that two who count the same do not wait for each other for ever
                execute(
                    "INSERT INTO reviewbot_tallies (name, labels, value) VALUES (?, ?, ?) ON CONFLICT (name, labels) "
                    "DO UPDATE SET value = reviewbot_tallies.value + excluded.value",
                    *row,
                )

    def observe_run(self, seconds: float) -> None:
        """Count the time of one run."""
        ends = [*(f"{end:g}" for end in BUCKETS if seconds <= end), ENDLESS]
        counted = [Tally("run_seconds", {"le": end}, 1.0) for end in ends]
        self.add_all([*counted, Tally("run_seconds_sum", {}, max(0.0, seconds))])

    def read(self) -> tuple[Tally, ...]:
        """All counts as they are now."""
        rows = self._store.read("SELECT name, labels, value FROM reviewbot_tallies ORDER BY name, labels")
        return tuple(Tally(name, json.loads(labels), float(value)) for name, labels, value in rows)


def _labels(tally: Tally) -> str:
    known = COUNTERS.get(tally.name)
    if known is None or set(known[1]) != set(tally.labels):
        raise ValueError(f"there is no counter {tally.name} with these labels")
    return json.dumps({key: tally.labels[key] for key in known[1]})
