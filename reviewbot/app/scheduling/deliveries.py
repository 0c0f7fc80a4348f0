"""Read the inbox's deliveries as commands for the scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from reviewbot.app.scheduling.inbox_consumer import InboxCommand
from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.triggers.values import Delivery, trigger_values
from reviewbot.app.worker.work import ReviewRequest


class Deliveries:
    """The inbox, for the intake of one worker."""

    def __init__(self, inbox: Inbox, holder: str) -> None:
        self._inbox = inbox
        self._holder = holder

    def claim(self, limit: int, lease_s: float) -> Sequence[InboxCommand]:
        """As `Incoming.claim`."""
        return [wish_of(each) for each in self._inbox.claim(limit, lease_s, self._holder)]

    def done(self, key: int) -> None:
        """As `Incoming.done`."""
        self._inbox.done(key)

    def failed(self, key: int, reason: str) -> None:
        """As `Incoming.failed`."""
        self._inbox.failed(key, reason)

    def release(self, key: int) -> None:
        """As `Incoming.release`."""
        self._inbox.release(key)


def wish_of(delivery: Delivery) -> InboxCommand:
    """The command that a delivery asks for."""
    trigger = delivery.trigger
    order = ReviewRequest(
        installation=trigger.installation_id,
        repository=trigger.repository,
        repository_id=trigger.repository_id,
        number=trigger.number or 0,
        head_sha=trigger.head_sha or "",
        cause=trigger.reason,
        again=f"d{delivery.id}" if trigger.kind in ("rerun", "command") else "",
        as_of=delivery.id if trigger.kind in ("head", "closed") else 0,
        refusal=trigger.refusal,
        trigger=trigger_values(trigger),
    )
    match trigger.kind:
        case "closed":
            return InboxCommand(delivery.id, "withdraw", order)
        case "uninstalled":
            return InboxCommand(delivery.id, "forget", order)
        case "narrowed":
            return InboxCommand(delivery.id, "let go", order)
        case "command" | "rerun" if trigger.number:
            # The head of a comment is that of its moment, and a check may be one of long ago: the host tells which one
            # it is now, and who may command.
            return InboxCommand(delivery.id, "review", ReviewRequest.from_json({**order.as_json(), "head_sha": ""}))
        case _:
            return InboxCommand(delivery.id, "review", order)
