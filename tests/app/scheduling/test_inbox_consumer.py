from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.scheduling.inbox_consumer import Deliveries, InboxCommand, InboxConsumer, command_of
from reviewbot.app.store.inbox.inbox import MAX_TRIES, open_inbox
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.domain.errors import ConfigError
from tests.app.conftest import A, B, order
from tests.inbox_rows import counts, failed

if TYPE_CHECKING:
    from tests.app.conftest import Stage


class Pile(Deliveries):
    """An inbox in memory."""

    def __init__(self, *commands: InboxCommand) -> None:
        self.commands = list(commands)
        self.ended: dict[int, str] = {}
        self.released: list[int] = []
        self.trouble: list[Exception] = []
        self.stop = Event()

    def claim(self, limit: int, lease_s: float) -> Sequence[InboxCommand]:
        if self.trouble:
            raise self.trouble.pop()
        open_ones = [each for each in self.commands if each.key not in self.ended]
        if not open_ones:
            self.stop.set()
        return open_ones[:limit]

    def mark_done(self, key: int) -> None:
        self.ended[key] = "done"

    def mark_failed(self, key: int, reason: str) -> None:
        self.ended[key] = reason

    def release(self, key: int) -> None:
        self.released.append(key)


def test_each_wish_reaches_the_desk_and_is_done_then(stage: Stage) -> None:
    pile = Pile(
        InboxCommand(1, "review", order(A)),
        InboxCommand(2, "review", order(A, number=8)),
        InboxCommand(3, "cancel", order("", number=8)),
        InboxCommand(4, "nothing", order("")),
    )

    assert (InboxConsumer(pile, stage.scheduler).once(), InboxConsumer(pile, stage.scheduler).once()) == (4, 0)
    assert set(pile.ended.values()) == {"done"}
    assert [stage.state(order(A, number=n).run_id("p")) for n in (7, 8)] == ["waiting", "superseded"]


def test_an_installation_that_ended_is_forgotten_and_so_are_its_tokens(stage: Stage) -> None:
    run, forgotten = stage.submit(order()), list[int]()
    InboxConsumer(Pile(InboxCommand(1, "delete_installation", order(""))), stage.scheduler, forgotten.append).once()

    assert (stage.state(run), forgotten) == ("none", [1])


def test_of_an_installation_that_may_less_than_before_only_the_tokens_are_forgotten(stage: Stage) -> None:
    run, forgotten = stage.submit(order()), list[int]()
    InboxConsumer(Pile(InboxCommand(1, "revoke_tokens", order(""))), stage.scheduler, forgotten.append).once()

    assert (stage.state(run), forgotten) == ("waiting", [1])


def test_a_wish_that_the_queue_could_not_take_comes_again(stage: Stage) -> None:
    pile = Pile(InboxCommand(1, "review", order()))
    stage.shelf.trouble = ConfigError("the queue cannot be used")
    with pytest.raises(ConfigError):
        InboxConsumer(pile, stage.scheduler).once()
    stage.shelf.trouble = None

    assert (pile.ended, pile.released) == ({}, [1])
    assert (InboxConsumer(pile, stage.scheduler).once(), pile.ended) == (1, {1: "done"})


def test_an_outage_of_the_queue_is_the_fault_of_no_delivery(stage: Stage, tmp_path: Path) -> None:
    """However long it takes: none of those that were claimed meanwhile is given up."""
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False)
    for number in range(3):
        trigger = replace(HEAD, number=number + 1)
        inbox.put(Delivery(f"guid-{number}", "pull_request", f"{number:064x}", trigger))
    intake = InboxConsumer(Deliveries(inbox, "me"), stage.scheduler)
    stage.shelf.trouble = ConfigError("the queue cannot be used")
    for _ in range(MAX_TRIES + 2):
        with pytest.raises(ConfigError):
            intake.once()
    stage.shelf.trouble = None

    assert (intake.once(), counts(inbox)["done"], failed(inbox)) == (3, 3, [])
    inbox.close()


def test_one_that_trips_us_up_holds_up_no_other(stage: Stage) -> None:
    pile = Pile(InboxCommand(1, "review", order(A)), InboxCommand(2, "review", order(B, number=8)))
    stage.shelf.trouble = ValueError("canary")
    InboxConsumer(pile, stage.scheduler).once()

    assert pile.ended == dict.fromkeys((1, 2), "internal fault (ValueError)")


def test_it_goes_on_through_trouble_until_it_is_stopped(stage: Stage) -> None:
    pile = Pile(InboxCommand(1, "review", order()))
    pile.trouble = [OSError("away")]
    stop = Quick(pile.stop)
    InboxConsumer(pile, stage.scheduler).run(stop)

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

HEAD = Trigger("head", 1, 5, "o/n", 7, A, "opened", "guid")


def delivered(trigger: Trigger) -> InboxCommand:
    return command_of(Delivery("guid", "pull_request", "0" * 64, trigger, id=12))


def test_a_head_is_ordered_in_the_order_of_the_deliveries() -> None:
    command = delivered(HEAD)

    assert (command.key, command.kind, command.request.head_sha, command.request.as_of, command.request.again) == (
        12,
        "review",
        A,
        12,
        "",
    )
    assert command.request.trigger["kind"] == "head"


def test_a_refusal_is_ordered_with_its_reason() -> None:
    assert delivered(replace(HEAD, refusal="it is a draft")).request.refusal == "it is a draft"


def test_a_check_asked_for_again_is_another_run_of_its_head() -> None:
    command = delivered(replace(HEAD, kind="rerun", number=None, target_id=3))

    assert (command.request.again, command.request.number, command.request.head_sha, command.request.as_of) == (
        "d12",
        0,
        A,
        0,
    )


def test_the_host_is_asked_whether_a_check_asked_for_again_is_that_of_the_head() -> None:
    command = delivered(replace(HEAD, kind="rerun", target_id=3))

    assert (command.request.number, command.request.head_sha, command.request.trigger["head_sha"]) == (7, "", A)


def test_the_host_is_asked_which_head_a_command_is_about() -> None:
    command = delivered(replace(HEAD, kind="command", comment_id=3, actor="me"))

    assert (command.kind, command.request.head_sha, command.request.again) == ("review", "", "d12")


def test_the_end_of_a_pull_request_and_of_an_installation_are_told_apart() -> None:
    gone = Trigger("uninstalled", 1, 0, "", None, None, "the App was removed", "guid")

    assert (delivered(replace(HEAD, kind="closed")).kind, delivered(gone).kind) == ("cancel", "delete_installation")
    assert delivered(replace(gone, kind="narrowed")).kind == "revoke_tokens"


def test_the_inbox_gives_its_deliveries_and_hears_what_came_of_them(tmp_path: Path) -> None:
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False)
    for number, head in ((7, A), (8, B)):
        trigger = replace(HEAD, number=number, head_sha=head)
        inbox.put(Delivery(f"guid-{number}", "pull_request", f"{number:064x}", trigger))
    deliveries = Deliveries(inbox, "me")
    first, second = deliveries.claim(9, 60.0)
    deliveries.mark_done(first.key)
    deliveries.mark_failed(second.key, "internal fault")

    assert (first.request.number, second.request.number, deliveries.claim(9, 60.0)) == (7, 8, [])
    assert (counts(inbox)["done"], [each.reason for each in failed(inbox)]) == (1, ["internal fault"])
    inbox.close()
