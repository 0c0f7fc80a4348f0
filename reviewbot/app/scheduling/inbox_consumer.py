"""Move deliveries from the inbox to the scheduler, at least once: no crash loses an accepted one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

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


class InboxConsumer:
    """Moves deliveries from the inbox to the scheduler. One is done when the queue has it durably, and not before."""

    def __init__(
        self, inbox: Inbox, holder: str, scheduler: Scheduler, revoke_tokens: Callable[[int], None] | None = None
    ) -> None:
        """`revoke_tokens` is called with each installation whose tokens are not to be given out again."""
        self._inbox = inbox
        self._holder = holder
        self._scheduler = scheduler
        self._revoke_tokens = revoke_tokens or (lambda _: None)

    def once(self) -> int:
        """Move the waiting deliveries; how many. Raises ReviewbotError where the inbox or the queue cannot be used."""
        deliveries = self._inbox.claim(BATCH, LEASE_S, self._holder)
        for number, delivery in enumerate(deliveries):
            try:
                self._take(delivery)
            except ReviewbotError:
                # The queue is away, and not for this one alone: without this, all of them would soon be given up.
                for each in deliveries[number:]:
                    self._inbox.release(each.id)
                raise
            except Exception as error:  # noqa: BLE001 - one delivery that trips us up must not hold up all others
                logger.error("a delivery was set aside (%s)", type(error).__name__)  # noqa: TRY400 - it may quote it
                self._inbox.mark_failed(delivery.id, f"internal fault ({type(error).__name__})")
            else:
                self._inbox.mark_done(delivery.id)
        return len(deliveries)

    def run(self, stop: Event) -> None:
        """Consume until `stop`, also through outages of the databases."""
        while not stop.is_set():
            try:
                rest = 0.0 if self.once() else REST_S
            except Exception as error:  # noqa: BLE001 - a door: without this thread nothing would be begun any more
                logger.warning("the inbox waits (%s)", type(error).__name__)
                rest = TROUBLE_S
            stop.wait(rest)

    def _take(self, delivery: Delivery) -> None:
        installation = delivery.trigger.installation_id
        match delivery.trigger.kind:
            case "closed":
                self._scheduler.cancel(requested_review(delivery))
            case "uninstalled":
                self._revoke_tokens(installation)
                self._scheduler.delete_installation(installation)
            case "narrowed":
                self._revoke_tokens(installation)
            case _:
                self._scheduler.submit(requested_review(delivery))


def requested_review(delivery: Delivery) -> ReviewRequest:
    """The review that a delivery is about."""
    trigger = delivery.trigger
    # The head of a comment is that of its moment, and a check may be one of long ago: the host tells which one it is
    # now, and who may command.
    asks_host = trigger.kind == "group" or (trigger.kind in ("command", "rerun") and trigger.number)
    return ReviewRequest(
        installation=trigger.installation_id,
        repository=trigger.repository,
        repository_id=trigger.repository_id,
        number=trigger.number or 0,
        head_sha="" if asks_host else trigger.head_sha or "",
        cause=trigger.reason,
        again=f"d{delivery.id}" if trigger.kind in ("rerun", "command") else "",
        as_of=delivery.id if trigger.kind in ("head", "closed") else 0,
        refusal=trigger.refusal,
        trigger=trigger_values(trigger),
    )
