from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from reviewbot.app.store.inbox.counters import COUNTERS, Counters, Tally
from reviewbot.app.store.inbox.store import Store


def test_counts_grow_and_are_told_apart_by_their_labels(store: Store) -> None:
    tallies = Counters(store)
    tallies.add_all([Tally("tokens", {"worker": "logic", "model": "m", "direction": "in"}, 10)])
    tallies.add_all([Tally("tokens", {"direction": "in", "model": "m", "worker": "logic"}, 5)])
    tallies.add_all([Tally("tokens", {"worker": "style", "model": "m", "direction": "in"}, 1)])

    assert {(each.labels["worker"], each.value) for each in tallies.read()} == {("logic", 15.0), ("style", 1.0)}


def test_runs_are_counted_by_how_long_they_took(store: Store) -> None:
    tallies = Counters(store)
    tallies.observe_run(20.0)
    tallies.observe_run(7_200.0)
    found = {tuple(each.labels.values()): each.value for each in tallies.read() if each.name == "run_seconds"}

    assert (found[("30",)], found[("+Inf",)]) == (1.0, 2.0)
    assert ("15",) not in found
    assert Tally("run_seconds_sum", {}, 7_220.0) in tallies.read()


@pytest.mark.parametrize(
    ("name", "labels"), [("nothing", {}), ("tokens", {"worker": "logic"}), ("runs", {"repository": "x"})]
)
def test_what_is_not_a_counter_is_refused(name: str, labels: dict[str, str], store: Store) -> None:
    with pytest.raises(ValueError, match="no counter"):
        Counters(store).add_all([Tally(name, labels, 1.0)])


def test_two_who_count_the_same_count_both(store: Store) -> None:
    tallies = Counters(store)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: tallies.add_all([Tally("runs", {"outcome": "posted"}, 1.0)]), range(60)))

    assert [each.value for each in tallies.read()] == [60.0]


def test_nothing_is_counted_without_a_word_and_no_label_names_a_place(store: Store) -> None:
    Counters(store).add_all([])

    labels = {label for _, names in COUNTERS.values() for label in names}
    assert labels == {"outcome", "worker", "severity", "reason", "model", "direction", "kind", "le"}
    assert Counters(store).read() == ()
