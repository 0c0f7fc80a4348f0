from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.intents import DurableIntents
from reviewbot.app.store.durable.journal import DurableJournal, forget_installation, forget_old_rows
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import Heads, RunRecord, Runs, State
from reviewbot.app.store.durable.workers import Chores, Workers

if TYPE_CHECKING:
    from tests.still_clock import Moment

PULL = (5, 7)


def record(run: str, sequence: int = 1, head: str = "a" * 40, installation: int = 1) -> RunRecord:
    empty = ("waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
    return RunRecord._make((run, installation, "o/n", *PULL, head, sequence, *empty))


# --- journal ---


@settings(max_examples=25)
@given(key=st.text(max_size=30), value=st.text(max_size=50))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, key: str, value: str) -> None:
    opened = open_database(str(tmp_path_factory.mktemp("any") / "app.sqlite"))
    journal = DurableJournal(opened, 1, 2)
    journal.put(key, value)

    assert journal.get(key) == value
    opened.close()


def test_an_entry_is_seen_by_its_own_repository_and_installation_alone(database: Database) -> None:
    DurableJournal(database, 1, 2).put("key", "secret")

    assert DurableJournal(database, 1, 3).get("key") is None
    assert DurableJournal(database, 2, 2).get("key") is None
    assert DurableJournal(database, 12, 0).get("key") is None


def test_the_last_value_counts(database: Database) -> None:
    journal = DurableJournal(database, 1, 2)
    journal.put("key", "one")
    journal.put("key", "two")

    assert journal.get("key") == "two"


def test_old_entries_go(database: Database, moment: Moment) -> None:
    journal = DurableJournal(database, 1, 2)
    journal.put("old", "x")
    moment.now += 100
    journal.put("new", "x")
    forget_old_rows(database, 50)

    assert (journal.get("old"), journal.get("new")) == (None, "x")


def test_an_installation_that_ended_leaves_nothing(database: Database) -> None:
    DurableJournal(database, 1, 2).put("key", "x")
    DurableJournal(database, 2, 2).put("key", "x")
    runs = Runs(database)
    runs.add(record("one"))
    runs.add(record("two", installation=2))
    runs.cost("one", 1.0, 5, "trace")
    forget_installation(database, 1)

    assert (DurableJournal(database, 1, 2).get("key"), DurableJournal(database, 2, 2).get("key")) == (None, "x")
    assert ([each.run for each in runs.latest(9)], runs.trace("one")) == (["two"], None)


# --- intents ---


def test_an_intent_has_one_holder_until_its_lease_ends(database: Database, moment: Moment) -> None:
    intents = DurableIntents(database, 1)

    assert intents.begin("k", "me", 60)
    assert intents.begin("k", "me", 60)
    assert not intents.begin("k", "you", 60)
    moment.now += 61
    assert intents.begin("k", "you", 60)
    assert not intents.begin("k", "me", 60)


def test_a_lease_of_nothing_lets_it_go(database: Database) -> None:
    intents = DurableIntents(database, 1)
    intents.begin("k", "me", 60)
    intents.begin("k", "me", 0)

    assert intents.begin("k", "you", 60)


def test_what_was_posted_is_known_and_nobody_holds_it(database: Database) -> None:
    intents = DurableIntents(database, 1)
    intents.begin("k", "me", 60)
    intents.record_posted("k", 42)
    intents.record_posted("other", 43)

    assert (intents.find_posted("k"), intents.find_posted("other"), intents.find_posted("none")) == (42, 43, None)
    assert intents.begin("k", "you", 60)
    assert intents.find_posted("k") == 42


def test_an_intent_is_of_one_installation(database: Database) -> None:
    DurableIntents(database, 1).record_posted("k", 42)

    assert DurableIntents(database, 2).find_posted("k") is None


def test_old_intents_go(database: Database, moment: Moment) -> None:
    DurableIntents(database, 1).record_posted("k", 42)
    moment.now += 100
    forget_old_rows(database, 50)

    assert DurableIntents(database, 1).find_posted("k") is None


# --- heads ---


def test_a_new_head_is_wanted_in_the_place_of_the_old_one(database: Database) -> None:
    heads = Heads(database)
    first = heads.claim(PULL, "a", "run-a")
    second = heads.claim(PULL, "b", "run-b")

    assert (first.sequence, second.sequence, heads.wanted_run(PULL)) == (1, 2, "run-b")


def test_the_same_word_twice_changes_nothing(database: Database) -> None:
    heads = Heads(database)

    assert heads.claim(PULL, "a", "run-a") == heads.claim(PULL, "a", "run-a") == heads.claim(PULL, "a", "other")


def test_another_run_of_the_same_head_must_be_asked_for(database: Database) -> None:
    heads = Heads(database)
    heads.claim(PULL, "a", "run-a")

    assert heads.claim(PULL, "a", "run-a2", again=True).run == "run-a2"
    assert heads.claim(PULL, "a", "run-a").run == "run-a2"


def test_what_was_said_earlier_comes_too_late(database: Database) -> None:
    heads = Heads(database)
    heads.claim(PULL, "b", "run-b", as_of=2)

    assert heads.claim(PULL, "a", "run-a", as_of=1).run == "run-b"
    assert heads.claim(PULL, "c", "run-c", as_of=0).run == "run-c"
    assert heads.claim(PULL, "a", "run-a", as_of=1).run == "run-c"


def test_a_head_that_comes_back_is_wanted_again(database: Database) -> None:
    heads = Heads(database)
    heads.claim(PULL, "a", "run-a")
    heads.claim(PULL, "b", "run-b")

    assert heads.claim(PULL, "a", "run-a").sequence == 3


def test_nothing_is_wanted_of_what_was_withdrawn_until_it_comes_again(database: Database) -> None:
    heads = Heads(database)
    assert heads.wanted_run(PULL) is None
    heads.claim(PULL, "a", "run-a")
    heads.withdraw(PULL)
    assert heads.wanted_run(PULL) is None

    assert heads.claim(PULL, "a", "run-a").run == heads.wanted_run(PULL) == "run-a"


def test_old_heads_go(database: Database, moment: Moment) -> None:
    heads = Heads(database)
    heads.claim(PULL, "a", "run-a")
    moment.now += 100
    forget_old_rows(database, 50)

    assert heads.wanted_run(PULL) is None


# --- runs ---


def test_a_run_from_its_order_to_its_end(database: Database, moment: Moment) -> None:
    runs = Runs(database)
    runs.add(record("r"))
    moment.now += 2
    assert runs.begin("r", "me", "w1") == 1
    assert runs.owner("r") == "me"
    assert runs.begin("r", "you", "w2") == 2
    assert not runs.end("r", "posted", owner="me")
    runs.cost("r", 0.5, 100, "the trace")
    assert runs.end("r", "failed", "a\x1b[31m\nreason\ud800" + "x" * 600, owner="you")
    assert not runs.end("r", "posted", owner="you")
    assert (runs.owner("r"), runs.begin("r", "me", "w1")) == (None, None)
    found = runs.get("r")

    assert found is not None
    assert (found.state, found.attempts, found.dollars, found.tokens) == ("failed", 2, 0.5, 100)
    assert found.reason.startswith("a [31m reason xxx")
    assert (len(found.reason), runs.trace("r"), runs.trace("none")) == (500, "the trace", None)
    assert (runs.counts()["failed"], runs.get("none")) == (1, None)


def test_only_what_was_superseded_waits_again(database: Database) -> None:
    runs = Runs(database)
    ends: dict[str, State] = {"s": "superseded", "p": "posted"}
    for run, state in ends.items():
        runs.add(record(run))
        runs.end(run, state)
        runs.add(record(run, sequence=9))

    assert [(each.run, each.state, each.sequence) for each in sorted(runs.latest(9))] == [
        ("p", "posted", 1),
        ("s", "waiting", 9),
    ]


def test_what_a_worker_gives_back_costs_no_attempt(database: Database) -> None:
    runs = Runs(database)
    for run, executor in (("mine", "w1"), ("other", "w2")):
        runs.add(record(run))
        runs.begin(run, "me", executor)
    runs.give_back("w1")

    assert (runs.begin("mine", "you", "w2"), runs.owner("other")) == (1, "me")


def test_runs_are_found_by_what_they_are_about(database: Database, moment: Moment) -> None:
    runs = Runs(database)
    for number, head in enumerate("abca"):
        moment.now += 1
        runs.add(record(f"run-{number}", sequence=number, head=head * 40))
    runs.end("run-1", "posted")

    assert runs.older(PULL, 3) == ("run-0", "run-2")
    assert [each.run for each in runs.on_head(PULL, "a" * 40)] == ["run-0", "run-3"]
    assert set(runs.open_of(1)) == {"run-0", "run-2", "run-3"}
    assert [each.run for each in runs.beginning("run-", 2)] == ["run-3", "run-2"]
    assert [each.run for each in runs.beginning("bbb")] == ["run-1"]
    assert runs.beginning("%") == ()


def test_old_runs_go_and_open_ones_stay(database: Database, moment: Moment) -> None:
    runs = Runs(database)
    runs.add(record("old"))
    runs.add(record("open"))
    runs.cost("old", 0.0, 0, "trace")
    runs.end("old", "posted")
    moment.now += 100

    assert (runs.find_expired(50, 9), runs.find_expired(500, 9)) == (("old",), ())
    runs.forget("old")
    assert ([each.run for each in runs.latest(9)], runs.trace("old")) == (["open"], None)


# --- workers and chores ---


def test_one_reaper_gets_a_silent_worker_and_another_one_only_after_a_while(database: Database, moment: Moment) -> None:
    workers = Workers(database)
    workers.join("dead")
    moment.now += 100
    for name in ("one", "two"):
        workers.join(name)

    assert (workers.alive(30), workers.dead("one", 30), workers.dead("two", 30)) == (2, ("dead",), ())
    assert not workers.beat("dead")
    moment.now += 31
    for name in ("one", "two"):
        workers.beat(name)
    assert workers.dead("two", 30) == ("dead",)
    workers.leave("dead")
    assert not workers.beat("dead")


def test_a_worker_that_begins_again_is_alive(database: Database, moment: Moment) -> None:
    workers = Workers(database)
    workers.join("w")
    moment.now += 100
    workers.dead("other", 30)
    workers.join("w")

    assert workers.beat("w")


def test_a_chore_is_due_for_one_and_then_not_for_a_while(database: Database, moment: Moment) -> None:
    chores = Chores(database)

    assert [chores.due("a", 60), chores.due("a", 60), chores.due("b", 60)] == [True, False, True]
    moment.now += 60
    assert chores.due("a", 60)


# --- rate ---


def test_two_workers_share_one_rate(database: Database, moment: Moment) -> None:
    one, two = (SharedRate(database, "p", requests_per_minute=60) for _ in range(2))

    assert [each.take(1) for each in (one, two, one, two)] == [0.0, 0.0, 1.0, 2.0]
    moment.now += 10
    assert two.take(1) == 0.0


def test_tokens_flow_off_at_their_own_rate(database: Database) -> None:
    rate = SharedRate(database, "p", tokens_per_minute=6_000)

    assert [rate.take(500), rate.take(100), rate.take(100)] == [0.0, 4.0, 5.0]


def test_everybody_waits_as_the_far_end_asked(database: Database, moment: Moment) -> None:
    SharedRate(database, "p").close(30)
    rate = SharedRate(database, "p", requests_per_minute=60)

    assert (rate.closed_s(), rate.take(1), SharedRate(database, "q").take(1)) == (30.0, 30.0, 0.0)
    rate.close(10)
    moment.now += 29
    assert (rate.closed_s(), SharedRate(database, "p").take(5)) == (1.0, 1.0)
    moment.now += 2
    assert rate.closed_s() == 0.0
