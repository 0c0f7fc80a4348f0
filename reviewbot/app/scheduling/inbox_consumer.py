"""Move deliveries from the inbox to the scheduler, as commands, at least once: no crash loses an accepted one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event
from typing import Literal, NamedTuple

from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.triggers.values import Delivery, trigger_values
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.errors import ReviewbotError

logger = logging.getLogger("reviewbot.app.worker")

BATCH = 50
"""Deliveries that are claimed at once."""

LEASE_S = 30.0
"""How long claimed ones are ours. They take milliseconds; after a crash, another worker gets them."""

REST_S = 0.2
"""Between two looks into an empty inbox."""

TROUBLE_S = 2.0
"""Before the next look, where the inbox or the queue could not be used."""


class InboxCommand(NamedTuple):
    """A delivery's command to the scheduler."""

    key: int
    """Of the delivery, in the inbox."""
    kind: Literal["review", "cancel", "delete_installation", "revoke_tokens", "nothing"]
    request: ReviewRequest
    """For "cancel" its pull request counts, for "delete_installation" and "revoke_tokens" its installation."""


class Deliveries:
    """The inbox, as one worker reads it."""

    def __init__(self, inbox: Inbox, holder: str) -> None:
        self._inbox = inbox
        self._holder = holder

    def claim(self, limit: int, lease_s: float) -> Sequence[InboxCommand]:
        """Take the oldest ones that no consumer holds, for so long. They come again unless they are done."""
        return [command_of(each) for each in self._inbox.claim(limit, lease_s, self._holder)]

    def mark_done(self, key: int) -> None:
        """Mark a delivery as done."""
        self._inbox.mark_done(key)

    def mark_failed(self, key: int, reason: str) -> None:
        """Mark a delivery as not understood; it is kept and shown, and does not come again."""
        self._inbox.mark_failed(key, reason)

    def release(self, key: int) -> None:
        """Give back a delivery that failed by no fault of its own: it comes again, and this time does not count."""
        self._inbox.release(key)


class InboxConsumer:
    """Moves commands from the inbox to the scheduler. One is done when the queue has it durably, and not before."""

    def __init__(
        self, inbox: Deliveries, scheduler: Scheduler, revoke_tokens: Callable[[int], None] | None = None
    ) -> None:
        """`revoke_tokens` is called with each installation whose tokens are not to be given out again."""
        self._inbox = inbox
        self._scheduler = scheduler
        self._revoke_tokens = revoke_tokens or (lambda _: None)

    def once(self) -> int:
        """Move the waiting deliveries; how many. Raises ReviewbotError where the inbox or the queue cannot be used."""
        commands = self._inbox.claim(BATCH, LEASE_S)
        for number, command in enumerate(commands):
            try:
                self._take(command)
            except ReviewbotError:
                # The queue is away, and not for this one alone: without this, all of them would soon be given up.
                for each in commands[number:]:
                    self._inbox.release(each.key)
                raise
            except Exception as error:  # noqa: BLE001 - one delivery that trips us up must not hold up all others
                logger.error("a delivery was set aside (%s)", type(error).__name__)  # noqa: TRY400 - it may quote it
                self._inbox.mark_failed(command.key, f"internal fault ({type(error).__name__})")
            else:
                self._inbox.mark_done(command.key)
        return len(commands)

    def run(self, stop: Event) -> None:
        """Consume until `stop`, also through outages of the databases."""
        while not stop.is_set():
            try:
                rest = 0.0 if self.once() else REST_S
            except Exception as error:  # noqa: BLE001 - a door: without this thread nothing would be begun any more
                logger.warning("the inbox waits (%s)", type(error).__name__)
                rest = TROUBLE_S
            stop.wait(rest)

    def _take(self, command: InboxCommand) -> None:
        if command.kind == "review":
            self._scheduler.submit(command.request)
        elif command.kind == "cancel":
            self._scheduler.cancel(command.request)
        elif command.kind == "delete_installation":
            self._revoke_tokens(command.request.installation)
            self._scheduler.delete_installation(command.request.installation)
        elif command.kind == "revoke_tokens":
            self._revoke_tokens(command.request.installation)


def command_of(delivery: Delivery) -> InboxCommand:
    """The command that a delivery asks for."""
    trigger = delivery.trigger
    request = ReviewRequest(
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
            return InboxCommand(delivery.id, "cancel", request)
        case "uninstalled":
            return InboxCommand(delivery.id, "delete_installation", request)
        case "narrowed":
            return InboxCommand(delivery.id, "revoke_tokens", request)
        case "command" | "rerun" | "group" if trigger.number or trigger.kind == "group":
            # The head of a comment is that of its moment, and a check may be one of long ago: the host tells which one
            # it is now, and who may command.
            return InboxCommand(delivery.id, "review", ReviewRequest.from_json({**request.as_json(), "head_sha": ""}))
        case _:
            return InboxCommand(delivery.id, "review", request)
