from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.store.durable.intents import DurableIntents
from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.store.durable.runs import Heads, RunRecord
from reviewbot.app.store.durable.workers import Workers
from reviewbot.app.worker.options import ONLY, JobOptions
from reviewbot.app.worker.periodic_tasks import TIDY_BATCH, Heartbeat, PeriodicTasks, Reconciler, Retention
from reviewbot.domain.errors import ConfigError
from tests.app.conftest import order

if TYPE_CHECKING:
    from tests.app.conftest import Stage
    from tests.still_clock import Moment

OPTIONS = JobOptions(Path("/none"), "postgresql://host/name", beat_s=5.0, silent_s=30.0)


def pulse(stage: Stage, moment: Moment, name: str = "me") -> Heartbeat:
    found = Heartbeat(stage.database, stage.shelf, name, OPTIONS, moment)
    found.join()
    return found


def beats(found: Heartbeat, moment: Moment, seconds: float) -> bool:
    alive = True
    for _ in range(int(seconds / OPTIONS.beat_s)):
        moment.now += OPTIONS.beat_s
        alive = found.beat()
    return alive


def test_the_runs_of_a_silent_worker_are_taken_over_within_a_minute(stage: Stage, moment: Moment) -> None:
    mine = pulse(stage, moment)
    beats(mine, moment, 60)
    Workers(stage.database).join("dead")

    beats(mine, moment, 25)
    assert stage.shelf.taken == []
    beats(mine, moment, 10)
    assert stage.shelf.taken == ["dead"]
    beats(mine, moment, 60)
    assert stage.shelf.taken == ["dead"]


def test_who_was_away_takes_over_from_nobody_at_once(stage: Stage, moment: Moment) -> None:
    """After an outage of the database everybody seems silent, and nobody is dead."""
    one, two = pulse(stage, moment, "one"), pulse(stage, moment, "two")
    beats(one, moment, 60)
    assert two.beat() is False  # silent for a minute: taken over
    stage.shelf.taken.clear()
    two.join()
    moment.now += 100
    one.beat()
    assert stage.shelf.taken == []
    assert two.beat()
    for _ in range(10):
        beats(one, moment, 5)
        two.beat()
    assert stage.shelf.taken == []


def test_who_leaves_in_good_order_gives_back_at_once(stage: Stage, moment: Moment) -> None:
    pulse(stage, moment).leave()

    assert (stage.shelf.taken, Workers(stage.database).alive(30)) == (["me"], 0)


def test_what_is_old_goes_everywhere(stage: Stage, moment: Moment) -> None:
    run = stage.submit(order())
    stage.runs.end(run, "posted")
    DurableJournal(stage.database, 1, 5).put("key", "x")
    DurableIntents(stage.database, 1).record_posted("key", 1)
    moment.now += 1_000
    new = stage.submit(order(number=8))
    Retention(stage.database, stage.shelf, 500).once()

    assert (stage.shelf.forgotten, stage.state(run), stage.state(new)) == ([run, "ask:old"], "none", "waiting")
    assert DurableJournal(stage.database, 1, 5).get("key") is None
    assert DurableIntents(stage.database, 1).find_posted("key") is None
    assert Heads(stage.database).wanted_run((5, 7)) is None


def test_what_is_old_goes_however_much_of_it_there_is(stage: Stage, moment: Moment) -> None:
    """More than one batch an hour: else a busy place would only ever grow."""
    count = 2 * TIDY_BATCH + 1
    for number in range(count):
        stage.runs.add(RunRecord._make((f"run-{number}", 1, "o/n", 5, 7, "a" * 40, 1, "waiting", *[""] * 10)))
        stage.runs.end(f"run-{number}", "posted")
    moment.now += 1_000
    Retention(stage.database, stage.shelf, 500).once()

    assert stage.runs.latest(1) == ()
    assert len(stage.shelf.forgotten) == count + 1


def test_a_worker_alone_gives_signs_of_life_and_takes_over_from_nobody(stage: Stage, moment: Moment) -> None:
    alone = Heartbeat(stage.database, stage.shelf, ONLY, JobOptions(Path("/none")), moment)
    alone.join()
    beats(alone, moment, 60)
    Workers(stage.database).leave(ONLY)

    assert (beats(alone, moment, 60), Workers(stage.database).alive(30)) == (True, 1)
    alone.leave()
    assert (stage.shelf.taken, Workers(stage.database).alive(30)) == ([], 0)


def test_what_a_crash_left_between_the_books_is_mended(stage: Stage, moment: Moment) -> None:
    runs = {number: stage.submit(order(number=number)) for number in range(1, 6)}
    del stage.shelf.waiting[runs[1]]  # we died between the two
    stage.shelf.delivered = {runs[2]: "CANCELLED", runs[3]: "ERROR", runs[4]: "PENDING"}
    Reconciler(stage.database, stage.shelf).once()
    assert stage.runs.counts()["waiting"] == 5
    moment.now += 1_000
    Reconciler(stage.database, stage.shelf).once()

    assert stage.shelf.waiting[runs[1]][2]["head_sha"] == order().head_sha
    assert [stage.state(run) for run in runs.values()] == ["waiting", "superseded", "parked", "waiting", "waiting"]


def test_nothing_is_asked_where_nothing_is_open(stage: Stage) -> None:
    Reconciler(stage.database, stage.shelf).once()

    assert stage.shelf.waiting == {}


def test_a_chore_that_fails_is_in_no_others_way(stage: Stage, moment: Moment) -> None:
    done: list[str] = []

    def failing() -> None:
        done.append("failing")
        raise ConfigError("no")

    def broken() -> None:
        done.append("broken")
        raise ValueError("canary")

    chores = {"failing": (60.0, failing), "broken": (60.0, broken), "good": (10.0, lambda: done.append("good"))}
    rounds = PeriodicTasks(stage.database, chores)
    rounds.once()
    moment.now += 20
    rounds.once()

    assert done == ["failing", "broken", "good", "good"]


def test_rounds_go_on_until_they_are_stopped(stage: Stage) -> None:
    stop = Event()
    PeriodicTasks(stage.database, {"one": (0.0, stop.set)}).run(stop, 0.001)

    assert stop.is_set()


# --- options ---


def test_one_machine_has_files_and_one_name(tmp_path: Path) -> None:
    options = JobOptions.of({"REVIEWBOT_STATE_DIR": str(tmp_path), "REVIEWBOT_RUNS_AT_ONCE": "64"})

    assert (options.database, options.queue) == (str(tmp_path / "app.sqlite"), str(tmp_path / "runs.sqlite"))
    assert (options.several, options.executor(), options.concurrency) == (False, ONLY, 64)
    assert (options.global_concurrency, options.keep_s) == (64, 30 * 86_400.0)


def test_several_machines_have_a_server_and_names_that_nobody_else_has() -> None:
    environ = {"REVIEWBOT_DATABASE_URL": "postgresql://user:hunter2@host/name", "HOME": "/home/me"}
    options = JobOptions.of(environ)

    assert options.several
    assert options.executor() != options.executor()
    assert options.database == options.queue == environ["REVIEWBOT_DATABASE_URL"]
    assert "hunter2" not in repr(options)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "65", "many", "1" * 5_000, "٣"])
def test_a_number_that_cannot_be_is_refused_by_its_name(tmp_path: Path, value: str) -> None:
    environ = {"REVIEWBOT_STATE_DIR": str(tmp_path), "REVIEWBOT_RUNS_AT_ONCE": value}

    with pytest.raises(ConfigError, match="REVIEWBOT_RUNS_AT_ONCE must be a whole number from 1 to 64"):
        JobOptions.of(environ)
