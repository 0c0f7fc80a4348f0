"""The moments and the numbers at which an inbox decides otherwise, on both kinds of database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.app.store.inbox.counters import BUCKETS, Counters
from reviewbot.app.store.inbox.inbox import MAX_TRIES, Inbox
from reviewbot.app.store.inbox.store import Store
from reviewbot.app.triggers.values import Delivery
from tests.inbox_rows import counts, failed

Maker = Callable[..., Delivery]


def test_a_claim_holds_to_the_last_moment_of_its_lease(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    inbox.put(a_delivery("one"))
    inbox.claim(1, 60.0, "first")
    moment.now += 60

    assert (inbox.claim(1, 60.0, "second"), inbox.lag()) == ((), (0, 0.0))
    moment.now += 0.5
    assert inbox.lag() == (1, 60.5)
    assert [each.tries for each in inbox.claim(1, 60.0, "second")] == [2]


def test_deliveries_are_taken_oldest_first_and_no_more_than_wanted(inbox: Inbox, a_delivery: Maker) -> None:
    for number in range(5):
        inbox.put(a_delivery(f"{number}", number=number))
    taken = [[each.body_sha256 for each in inbox.claim(2, 60.0, "w")] for _ in range(4)]

    assert taken == [["0", "1"], ["2", "3"], ["4"], []]


def test_the_last_try_is_a_try_and_one_given_back_is_none(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    inbox.put(a_delivery("one"))
    number = 0
    for tries in range(1, MAX_TRIES + 1):
        moment.now += 61
        (taken,) = inbox.claim(1, 60.0, "w")
        assert taken.tries == tries
        number = taken.id
    inbox.release(number)
    (again,) = inbox.claim(1, 60.0, "w")

    assert again.tries == MAX_TRIES
    moment.now += 61
    assert inbox.claim(1, 60.0, "w") == ()
    assert [each.reason for each in failed(inbox)] == ["taken up too often and never finished"]


@pytest.mark.parametrize("end", ["done", "failed"])
def test_what_ended_is_ended_whatever_its_worker_says_later(end: str, inbox: Inbox, a_delivery: Maker) -> None:
    inbox.put(a_delivery("one"))
    (taken,) = inbox.claim(1, 60.0, "w")
    _ended(inbox, end, taken.id)
    for later in ("done", "failed"):
        _ended(inbox, later, taken.id)
    inbox.release(taken.id)

    assert {state: count for state, count in counts(inbox).items() if count} == {end: 1}


def _ended(inbox: Inbox, end: str, number: int) -> None:
    if end == "done":
        inbox.mark_done(number)
    else:
        inbox.mark_failed(number, "r")


def test_of_what_failed_the_newest_is_shown_first(inbox: Inbox, a_delivery: Maker) -> None:
    for number in range(3):
        inbox.put(a_delivery(f"{number}", number=number))
    for taken in inbox.claim(3, 60.0, "w"):
        inbox.mark_failed(taken.id, f"no {taken.body_sha256}")

    assert [each.reason for each in failed(inbox)[:2]] == ["no 2", "no 1"]


def test_everything_that_ended_is_forgotten_and_nothing_that_is_under_way(
    inbox: Inbox, a_delivery: Maker, moment: Any
) -> None:
    for body, number in (("old", 1), ("newer", 1), ("failed", 2), ("claimed", 3)):
        inbox.put(a_delivery(body, body[0].replace("o", "a").replace("n", "b"), number=number))
    newer, failed, _ = inbox.claim(10, 1_000.0, "w")
    inbox.mark_done(newer.id)
    inbox.mark_failed(failed.id, "r")
    inbox.put(a_delivery("waiting", number=4))
    moment.now += 100

    assert (inbox.forget(100), inbox.forget(99)) == (0, 3)
    assert {state for state, count in counts(inbox).items() if count} == {"claimed", "waiting"}


def test_a_clock_that_was_put_back_makes_no_negative_wait(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    inbox.put(a_delivery("one"))
    moment.now -= 1_000

    assert inbox.lag() == (1, 0.0)


@pytest.mark.parametrize("seconds", [BUCKETS[0], BUCKETS[-1], BUCKETS[-1] + 1, -3.0])
def test_a_run_is_in_every_bucket_that_it_fits_into(seconds: float, store: Store) -> None:
    tallies = Counters(store)
    tallies.observe_run(seconds)
    found = {each.labels["le"] for each in tallies.read() if each.name == "run_seconds"}

    assert found == {"+Inf", *(f"{end:g}" for end in BUCKETS if seconds <= end)}
    assert [each.value for each in tallies.read() if each.name == "run_seconds_sum"] == [max(0.0, seconds)]
