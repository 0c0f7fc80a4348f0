"""Accepted deliveries, each once, until a worker has made a run of it.

waiting -> claimed -> done, or failed; superseded where a newer delivery asks for the same pull request's head.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Literal

from reviewbot.app.store.inbox.store import Store, open_store
from reviewbot.app.store.sql import Row
from reviewbot.app.triggers.values import Delivery, Trigger, trigger_values

State = Literal["waiting", "claimed", "done", "failed", "superseded"]
Outcome = Literal["new", "repeat"]

MAX_TRIES = 5
"""Claims of one delivery. What kills its worker so often will do so again: it is given up."""

MAX_REASON = 500
"""Characters: it is a line for people."""

_ABOUT_A_HEAD = frozenset({"head", "closed"})
"""Kinds that say how a pull request stands. Only how it stands last counts, and saying so twice is saying it once."""

_PUT = """
    INSERT INTO reviewbot_inbox (delivery, event, body, once, place, key, told, received, state, tries)
    SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT),
        CAST(? AS TEXT), CAST(? AS DOUBLE PRECISION), 'waiting', 0
    WHERE NOT EXISTS (
        SELECT 1 FROM (SELECT key FROM reviewbot_inbox WHERE place = CAST(? AS TEXT) ORDER BY id DESC LIMIT 1) AS latest
        WHERE key = CAST(? AS TEXT)
    )
    ON CONFLICT DO NOTHING RETURNING id
"""
"""Nothing where it is what was said of the pull request last. A head that comes back after another one is news."""

_SUPERSEDE = """
    UPDATE reviewbot_inbox SET state = 'superseded' WHERE state = 'waiting' AND place IS NOT NULL AND EXISTS (
        SELECT 1 FROM reviewbot_inbox AS newer
        WHERE newer.place = reviewbot_inbox.place AND newer.id > reviewbot_inbox.id
    )
"""

_COLUMNS = "id, delivery, event, body, told, received, tries"
_OPEN = "(state = 'waiting' OR (state = 'claimed' AND until < ?))"


def open_inbox(url: str, *, durable: bool = True, clock: Callable[[], float] = time.time) -> Inbox:
    """The inbox of a database (see `open_store`): `durable` for who accepts deliveries, not for who takes them."""
    return Inbox(open_store(url, durable=durable), clock)


class Inbox:
    """Deliveries. Blocking; from any thread. Raises InboxError where the database cannot be used now."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def put(self, delivery: Delivery) -> Outcome:
        """Accept a delivery; it is on the disk when this returns.

        A repeat is one whose body or whose command is known, or that says of a pull request what was said of it last
        (what may lift a refusal says something else each time: the settings that refused are not known here).
        The host's own id of a delivery is not signed, and decides nothing.
        """
        trigger = delivery.trigger
        place = trigger.place if trigger.kind in _ABOUT_A_HEAD else None
        key = f"{trigger.key}:{delivery.body_sha256}" if trigger.lifts else trigger.key
        row = (
            delivery.delivery_id,
            delivery.event,
            delivery.body_sha256,
            trigger.key if trigger.kind == "command" else None,
            place,
            key,
            json.dumps(trigger_values(trigger)),
            self._clock(),
        )
        # One statement and not three: between two of them other threads would be let in, and each time be waited for.
        made = self._store.alone(place, _PUT, *row, place, key)
        return "new" if made else "repeat"

    def claim(self, limit: int, lease_s: float, holder: str) -> tuple[Delivery, ...]:
        """Take up to `limit` deliveries, oldest first; a holder that does not finish in time loses them to another."""
        now = self._clock()
        if not self.lag()[0]:
            return ()  # without asking for the right to write, which the web process may need
        with self._store.transaction() as execute:
            execute(_SUPERSEDE)
            execute(
                "UPDATE reviewbot_inbox SET state = 'failed', reason = 'taken up too often and never finished' "
                "WHERE state = 'claimed' AND until < ? AND tries >= ?",
                now,
                MAX_TRIES,
            )
            rows = execute(
                "UPDATE reviewbot_inbox SET state = 'claimed', holder = ?, until = ?, tries = tries + 1 WHERE id IN "  # noqa: S608 - our own words
                f"(SELECT id FROM reviewbot_inbox WHERE {_OPEN} ORDER BY id LIMIT ? {self._store.skipping}) "
                f"RETURNING {_COLUMNS}",
                holder,
                now + lease_s,
                now,
                limit,
            )
        return tuple(_delivery(row) for row in sorted(rows))

    def mark_done(self, delivery: int) -> None:
        """Mark a delivery as done: a run was made of it (or was there already)."""
        self._end(delivery, "done", "")

    def mark_failed(self, delivery: int, reason: str) -> None:
        """Mark a delivery as failed: no run can be made of it."""
        self._end(delivery, "failed", reason)

    def release(self, delivery: int) -> None:
        """Give back a claimed delivery at an orderly stop: it waits again, and this claim does not count."""
        with self._store.transaction() as execute:
            execute(
                "UPDATE reviewbot_inbox SET state = 'waiting', tries = tries - 1, until = NULL "
                "WHERE id = ? AND state = 'claimed'",
                delivery,
            )

    def lag(self) -> tuple[int, float]:
        """How many deliveries wait, and for how many seconds the oldest has."""
        now = self._clock()
        rows = self._store.read(f"SELECT count(*), min(received) FROM reviewbot_inbox WHERE {_OPEN}", now)  # noqa: S608 - our own words
        count, oldest = rows[0]
        return int(count), max(0.0, now - float(oldest)) if oldest is not None else 0.0

    def forget(self, older_s: float) -> int:
        """Remove what ended and came longer ago; how many. Replays of them are no longer known as such."""
        with self._store.transaction() as execute:
            return len(
                execute(
                    "DELETE FROM reviewbot_inbox WHERE received < ? AND state IN ('done', 'failed', 'superseded') "
                    "RETURNING id",
                    self._clock() - older_s,
                )
            )

    def close(self) -> None:
        """End all connections."""
        self._store.close()

    def _end(self, delivery: int, state: State, reason: str) -> None:
        with self._store.transaction() as execute:
            execute(
                "UPDATE reviewbot_inbox SET state = ?, reason = ? WHERE id = ? AND state IN ('waiting', 'claimed')",
                state,
                reason.encode("ascii", "backslashreplace").decode().replace("\x00", "")[:MAX_REASON],
                delivery,
            )


def _delivery(row: Row) -> Delivery:
    number, delivery, event, body, told, received, tries = row
    trigger = Trigger(**json.loads(told))
    return Delivery(delivery, event, body, trigger, int(number), float(received), int(tries))
