from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.scheduling.inbox_consumer import InboxConsumer, requested_review
from reviewbot.app.store.inbox.inbox import MAX_TRIES, Inbox, open_inbox
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.errors import ConfigError
from tests.app.conftest import A, B, order
from tests.inbox_rows import counts, failed

if TYPE_CHECKING:
    from tests.app.conftest import Stage


class Pile(Inbox):
    """An inbox in memory."""

    def __init__(self, *deliveries: Delivery) -> None:
        self.deliveries = deliveries
        self.ended: dict[int, str] = {}
        self.released: list[int] = []
        self.trouble: list[Exception] = []
        self.stop = Event()

    def claim(self, limit: int, lease_s: float, holder: str) -> tuple[Delivery, ...]:
        if self.trouble:
            raise self.trouble.pop()
        open_ones = tuple(each for each in self.deliveries if each.id not in self.ended)
        if not open_ones:
            self.stop.set()
        return open_ones[:limit]

    def mark_done(self, delivery: int) -> None:
        self.ended[delivery] = "done"

    def mark_failed(self, delivery: int, reason: str) -> None:
        self.ended[delivery] = reason

    def release(self, delivery: int) -> None:
        self.released.append(delivery)


HEAD = Trigger("head", 1, 5, "o/n", 7, A, "opened", "guid")
GONE = Trigger("uninstalled", 1, 0, "", None, None, "the App was removed", "guid")


def delivered(trigger: Trigger, number: int = 12) -> Delivery:
    return Delivery("guid", "pull_request", "0" * 64, trigger, id=number)


def consumer(inbox: Inbox, stage: Stage, forget: Callable[[int], None] | None = None) -> InboxConsumer:
    return InboxConsumer(inbox, "me", stage.scheduler, forget)


def test_each_wish_reaches_the_desk_and_is_done_then(stage: Stage) -> None:
    closed = replace(HEAD, kind="closed", number=8)
    pile = Pile(delivered(HEAD, 1), delivered(replace(HEAD, number=8), 2), delivered(closed, 3))

    assert (consumer(pile, stage).once(), consumer(pile, stage).once()) == (3, 0)
    assert set(pile.ended.values()) == {"done"}
    assert [stage.state(requested(replace(HEAD, number=n)).run_id("p")) for n in (7, 8)] == ["waiting", "superseded"]


def test_an_installation_that_ended_is_forgotten_and_so_are_its_tokens(stage: Stage) -> None:
    run, forgotten = stage.submit(order()), list[int]()
    consumer(Pile(delivered(GONE)), stage, forgotten.append).once()

    assert (stage.state(run), forgotten) == ("none", [1])


def test_of_an_installation_that_may_less_than_before_only_the_tokens_are_forgotten(stage: Stage) -> None:
    run, forgotten = stage.submit(order()), list[int]()
    consumer(Pile(delivered(replace(GONE, kind="narrowed"))), stage, forgotten.append).once()

    assert (stage.state(run), forgotten) == ("waiting", [1])


def test_a_wish_that_the_queue_could_not_take_comes_again(stage: Stage) -> None:
    pile = Pile(delivered(HEAD, 1))
    stage.shelf.trouble = ConfigError("the queue cannot be used")
    with pytest.raises(ConfigError):
        consumer(pile, stage).once()
    stage.shelf.trouble = None

    assert (pile.ended, pile.released) == ({}, [1])
    assert (consumer(pile, stage).once(), pile.ended) == (1, {1: "done"})


def test_an_outage_of_the_queue_is_the_fault_of_no_delivery(stage: Stage, tmp_path: Path) -> None:
    """However long it takes: none of those that were claimed meanwhile is given up."""
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False)
    for number in range(3):
        trigger = replace(HEAD, number=number + 1)
        inbox.put(Delivery(f"guid-{number}", "pull_request", f"{number:064x}", trigger))
    intake = consumer(inbox, stage)
    stage.shelf.trouble = ConfigError("the queue cannot be used")
    for _ in range(MAX_TRIES + 2):
        with pytest.raises(ConfigError):
            intake.once()
    stage.shelf.trouble = None

    assert (intake.once(), counts(inbox)["done"], failed(inbox)) == (3, 3, [])
    inbox.close()


def test_one_that_trips_us_up_holds_up_no_other(stage: Stage) -> None:
    pile = Pile(delivered(HEAD, 1), delivered(replace(HEAD, number=8, head_sha=B), 2))
    stage.shelf.trouble = ValueError("canary")
    consumer(pile, stage).once()

    assert pile.ended == dict.fromkeys((1, 2), "internal fault (ValueError)")


def test_it_goes_on_through_trouble_until_it_is_stopped(stage: Stage) -> None:
    pile = Pile(delivered(HEAD, 1))
    pile.trouble = [OSError("away")]
    stop = Quick(pile.stop)
    consumer(pile, stage).run(stop)

    assert (pile.ended, stop.waited) == ({1: "done"}, [2.0, 0.0, 0.2])


class Quick(Event):
    """A stop that nobody waits for."""

    def __init__(self, inner: Event) -> None:
        super().__init__()
        self.inner = inner
        self.waited: list[float] = []

    def is_set(self) -> bool:
        return self.inner.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0.0)
        return self.inner.is_set()


# --- what deliveries ask for ---


def requested(trigger: Trigger) -> ReviewRequest:
    return requested_review(delivered(trigger))


def test_a_head_is_ordered_in_the_order_of_the_deliveries() -> None:
    request = requested(HEAD)

    assert (request.head_sha, request.as_of, request.again, request.trigger["kind"]) == (A, 12, "", "head")


def test_a_refusal_is_ordered_with_its_reason() -> None:
    assert requested(replace(HEAD, refusal="it is a draft")).refusal == "it is a draft"


def test_a_check_asked_for_again_is_another_run_of_its_head() -> None:
    request = requested(replace(HEAD, kind="rerun", number=None, target_id=3))

    assert (request.again, request.number, request.head_sha, request.as_of) == ("d12", 0, A, 0)


def test_the_host_is_asked_whether_a_check_asked_for_again_is_that_of_the_head() -> None:
    request = requested(replace(HEAD, kind="rerun", target_id=3))

    assert (request.number, request.head_sha, request.trigger["head_sha"]) == (7, "", A)


def test_the_host_is_asked_which_head_a_command_is_about() -> None:
    request = requested(replace(HEAD, kind="command", comment_id=3, actor="me"))

    assert (request.head_sha, request.again) == ("", "d12")


def test_the_commit_of_a_merge_group_is_no_head_of_a_pull_request() -> None:
    assert requested(replace(HEAD, kind="group")).head_sha == ""
    assert requested(replace(HEAD, kind="group", number=None)).head_sha == ""


def test_an_inbox_hears_what_came_of_its_deliveries(stage: Stage, tmp_path: Path) -> None:
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False)
    inbox.put(Delivery("guid-7", "pull_request", f"{7:064x}", HEAD))
    assert (consumer(inbox, stage).once(), counts(inbox)["done"]) == (1, 1)
    inbox.put(Delivery("guid-8", "pull_request", f"{8:064x}", replace(HEAD, number=8)))
    stage.shelf.trouble = ValueError("canary")

    assert (consumer(inbox, stage).once(), consumer(inbox, stage).once()) == (1, 0)
    assert [each.reason for each in failed(inbox)] == ["internal fault (ValueError)"]
    inbox.close()
