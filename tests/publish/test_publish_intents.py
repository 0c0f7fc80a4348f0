from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from reviewbot.domain.ports import Journal
from reviewbot.journal.sqlite import SqliteJournal
from reviewbot.publish.intents import MAX_LEASE_S, Intents, JournalIntents, MemoryIntents

Make = Callable[[Callable[[], float]], Intents]


@pytest.fixture(params=["memory", "journal"])
def make_intents(request: pytest.FixtureRequest, journal: Journal) -> Make:
    if request.param == "memory":
        return MemoryIntents
    return lambda now: JournalIntents(journal, now)


def test_one_holder_at_a_time(make_intents: Make) -> None:
    intents = make_intents(lambda: 100.0)

    assert intents.begin("key", "one", 60)
    assert not intents.begin("key", "other", 60)
    assert intents.begin("another key", "other", 60)


def test_a_holder_may_take_it_again(make_intents: Make) -> None:
    intents = make_intents(lambda: 100.0)

    assert intents.begin("key", "one", 60)
    assert intents.begin("key", "one", 60)


def test_a_lease_runs_out(make_intents: Make) -> None:
    times = iter([100.0, 159.0, 160.0])
    intents = make_intents(lambda: next(times))

    assert intents.begin("key", "one", 60)
    assert not intents.begin("key", "other", 60)
    assert intents.begin("key", "other", 60)


def test_a_lease_of_nothing_lets_it_go(make_intents: Make) -> None:
    intents = make_intents(lambda: 100.0)
    intents.begin("key", "one", 60)
    intents.begin("key", "one", 0)

    assert intents.begin("key", "other", 60)


def test_what_was_posted_is_remembered_and_held_by_nobody(make_intents: Make) -> None:
    intents = make_intents(lambda: 100.0)

    assert intents.find_posted("key") is None
    intents.begin("key", "one", 60)
    assert intents.find_posted("key") is None
    intents.record_posted("key", 12)
    assert intents.find_posted("key") == 12
    assert intents.begin("key", "other", 60)
    assert intents.find_posted("key") == 12


def test_intents_in_a_file_outlive_the_process(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path / "journal.sqlite")) as journal:
        JournalIntents(journal).begin("key", "one", 60)
        JournalIntents(journal).record_posted("posted", 12)
    with closing(SqliteJournal(tmp_path / "journal.sqlite")) as journal:
        again = JournalIntents(journal)

        assert not again.begin("key", "other", 60)
        assert again.find_posted("posted") == 12


@pytest.mark.parametrize("entry", ["", "nothing", "[]", "{}", '{"holder": "a", "until": "x", "review_id": 1}'])
def test_a_damaged_entry_counts_as_none(entry: str, journal: Journal) -> None:
    journal.put("publish/key", entry)
    intents = JournalIntents(journal)

    assert intents.find_posted("key") is None
    assert intents.begin("key", "one", 60)


def test_of_two_that_write_at_once_the_last_one_has_it() -> None:
    class Racing:
        """Somebody else writes right after each write of ours."""

        def get(self, key: str) -> str | None:
            return self.value

        value: str | None = None

        def put(self, key: str, value: str) -> None:
            self.value = value.replace("one", "other")

    assert not JournalIntents(Racing(), lambda: 100.0).begin("key", "one", 60)


def test_a_journal_that_keeps_nothing_stops_nobody() -> None:
    class Failed:
        def get(self, key: str) -> str | None:
            return None

        def put(self, key: str, value: str) -> None:
            """A full disk."""

    assert JournalIntents(Failed()).begin("key", "one", 60)


@pytest.mark.parametrize("until", ["1e12", "NaN", "Infinity"])
def test_a_lease_of_a_clock_that_was_wrong_holds_nobody_up(journal: Journal, until: str) -> None:
    journal.put("publish/key", f'{{"holder": "one", "until": {until}, "review_id": 0}}')

    assert JournalIntents(journal, lambda: 1_000.0).begin("key", "other", 60)


def test_an_intent_that_somebody_let_go_is_nobodys(make_intents: Make) -> None:
    """The review that it was posted as says nothing of who holds it."""
    intents = make_intents(lambda: 100.0)
    intents.record_posted("key", 12)

    assert intents.begin("key", "one", 60)
    assert not intents.begin("key", "other", 60)
    assert intents.find_posted("key") == 12


def test_a_lease_of_an_hour_is_believed_and_a_longer_one_is_not(make_intents: Make) -> None:
    intents = make_intents(lambda: 100.0)
    intents.begin("key", "one", MAX_LEASE_S)
    intents.begin("another key", "one", MAX_LEASE_S + 1)

    assert not intents.begin("key", "other", 60)
    assert intents.begin("another key", "other", 60)
