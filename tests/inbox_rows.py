"""What stands in an inbox, as tests look at it."""

from __future__ import annotations

from typing import NamedTuple, get_args

from reviewbot.app.store.inbox.inbox import Inbox, State


class Failed(NamedTuple):
    """A delivery of which no run could be made."""

    delivery_id: str
    event: str
    reason: str


def counts(inbox: Inbox) -> dict[State, int]:
    """How many deliveries there are in each state."""
    rows = inbox._store.read("SELECT state, count(*) FROM reviewbot_inbox GROUP BY state")
    found = {str(row[0]): int(row[1]) for row in rows}
    return {state: found.get(state, 0) for state in get_args(State)}


def failed(inbox: Inbox) -> list[Failed]:
    """The deliveries that were given up, newest first."""
    statement = "SELECT delivery, event, reason FROM reviewbot_inbox WHERE state = 'failed' ORDER BY id DESC"
    return [Failed(*row) for row in inbox._store.read(statement)]
