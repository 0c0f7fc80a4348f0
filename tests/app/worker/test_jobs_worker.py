"""A whole worker with the real engine, on files; and killed ones, a few times. `tests.kill_jobs` does it at length."""

from __future__ import annotations

import logging
import os
import random
import signal
import time
from pathlib import Path
from threading import Event, Thread

import pytest
from dbos._error import DBOSAwaitedWorkflowCancelledError

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.store.durable.workers import Workers
from reviewbot.app.worker.engine import DurableEngine, JsonSerializer, _no_traces
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.runner import RetryTimings
from reviewbot.app.worker.worker import Chore, Parts, Worker, take_lock
from reviewbot.domain.errors import ConfigError
from tests.app.conftest import A, B, order
from tests.app_runs import LIMIT_S, Around, TestInbox, steps_of, until
from tests.kill_jobs import Scene, killed_after_post, killed_at_random, scene
from tests.kill_web import web_killed
from tests.postgres_server import postgres, program

QUICK = RetryTimings(first_wait_s=0.05, longest_wait_s=0.1, look_s=0.05)


def test_a_worker_posts_what_was_accepted_and_stops_in_good_order(tmp_path: Path) -> None:
    around = Around(tmp_path, call_s=(0.0, 0.01), post_s=0.0)
    inbox = TestInbox(tmp_path)
    for number in range(3):
        inbox.put(order(f"{number:040x}", number=number + 1, installation=number + 1))
    inbox.put(order(f"{0:040x}", number=1), "closed")
    inbox.put(order(A, number=1))
    chored, stop, codes = Event(), Event(), []
    options = JobOptions(tmp_path / "state", stop_s=5.0, lock_s=0.3)
    worker = Worker(options)
    deliveries = inbox.real
    parts = Parts(steps_of(around), deliveries, (Chore("one", 60.0, lambda *_: chored.set()),), QUICK)
    thread = Thread(target=lambda: codes.append(worker.run(stop, parts)))
    thread.start()
    until(lambda: len({post["head"] for post in around.posts} & {A, f"{1:040x}", f"{2:040x}"}) == 3)
    until(lambda: not inbox.left())
    until(lambda: len(worker.engine.list_ended_before(-60.0, time.time(), 9)) >= 3)
    ended = worker.engine.list_ended_before(-60.0, time.time(), 9)
    worker.engine.forget([])  # as each round of tidying up does that finds nothing old
    assert (set(worker.engine.list_ended_before(-60.0, time.time(), 9)), worker.engine.states([])) == (set(ended), {})
    worker.engine.forget(ended[:1])
    assert set(worker.engine.list_ended_before(-60.0, time.time(), 9)) == set(ended[1:])
    with pytest.raises(ConfigError, match="another worker has"):
        Worker(options).run(stop, parts)
    stop.set()
    thread.join(LIMIT_S)

    assert codes == [0]
    database = open_database(options.database)
    assert Runs(database).counts()["failed"] == 0
    database.close()


@pytest.mark.slow
def test_a_head_that_comes_back_is_reviewed_and_no_check_goes_on_for_ever(tmp_path: Path) -> None:
    """With the real queue, which keeps what a stopped run has recorded."""
    around, inbox, stop = Around(tmp_path, call_s=(0.4, 0.5), post_s=0.0), TestInbox(tmp_path), Event()
    worker = Worker(JobOptions(tmp_path / "state", stop_s=5.0))
    parts = Parts(steps_of(around), inbox.real, timings=QUICK)
    thread = Thread(target=lambda: worker.run(stop, parts))
    thread.start()
    for head in (A, B, A):
        seen = len(around.calls)
        around.push(5, 7, head)
        inbox.put(order(head))
        until(lambda seen=seen: len(around.calls) > seen)  # type: ignore[misc] # mypy knows no default of a lambda
    until(lambda: [post["head"] for post in around.posts] == [A])
    until(lambda: not around.spinning)
    stop.set()
    thread.join(LIMIT_S)


def test_a_lock_ends_with_whoever_has_it(tmp_path: Path) -> None:
    first = take_lock(tmp_path / "lock")
    with pytest.raises(ConfigError, match="REVIEWBOT_DATABASE_URL"):
        take_lock(tmp_path / "lock")
    os.close(first)
    os.close(take_lock(tmp_path / "lock"))


def test_nothing_but_json_goes_into_the_queue() -> None:
    serializer = JsonSerializer()
    result = serializer.serialize({"args": (1, "x"), "kwargs": {}})

    assert (serializer.deserialize(result), serializer.name()) == (
        {"args": [1, "x"], "kwargs": {}},
        "reviewbot_json",
    )
    assert str(serializer.deserialize(serializer.serialize(ValueError("canary")))) == "ValueError"
    with pytest.raises(TypeError):
        serializer.serialize({"args": object()})


@pytest.mark.slow
def test_workers_killed_at_random_lose_nothing_and_do_nothing_twice() -> None:
    assert killed_at_random(None, 1, 3, random.Random(7))["posts"] > 0


@pytest.mark.slow
def test_a_worker_killed_between_the_post_and_its_record_has_posted_one_review() -> None:
    assert killed_after_post(None, 1, 1, random.Random(7))["posts"] == 1


@pytest.mark.slow
def test_a_worker_that_is_stopped_with_work_in_hand_leaves_it_to_the_next_one() -> None:
    with scene(None, 1, ("--stop", "1", "--call", "4.0", "4.5")) as at:
        at.begin()
        at.push(1, random.Random(7))
        until(lambda: len(at.around.calls) > 0)
        at.workers[0].send_signal(signal.SIGTERM)
        assert at.workers[0].wait(LIMIT_S) == 0
        assert counted(at) == {"waiting": 1}
        at.wait(at.quiet)
        assert at.check()["posts"] == 1


def counted(at: Scene) -> dict[str, int]:
    return {state: count for state, count in at.counts().items() if count}


# --- the engine ---


def test_an_engine_that_was_not_started_says_so(tmp_path: Path) -> None:
    engine = DurableEngine(JobOptions(state=tmp_path), "me")
    try:
        with pytest.raises(ConfigError, match="has not been started"):
            engine.cancel(["x"])
    finally:
        engine.drain(1.0)
        engine.stop()


@pytest.mark.parametrize("error", [ValueError("canary"), DBOSAwaitedWorkflowCancelledError("x")])
def test_the_engine_logs_one_line_without_what_went_through_it(error: Exception) -> None:
    record = logging.makeLogRecord({"msg": "failed: %s", "args": ("canary",), "exc_info": (type(error), error, None)})

    assert _no_traces(record) is isinstance(error, ValueError)
    assert record.getMessage() == f"the durable engine: {type(error).__name__}"


@pytest.mark.slow
def test_on_a_server_a_worker_takes_over_what_a_dead_one_was_at(tmp_path: Path) -> None:
    if program("initdb") is None:
        pytest.skip("Postgres is not installed")
    around = Around(tmp_path, call_s=(0.0, 0.01), post_s=0.0)
    inbox = TestInbox(tmp_path)
    with postgres() as url:
        database = open_database(url)
        Workers(database).join("dead")
        options = JobOptions(tmp_path / "state", url, beat_s=0.1, silent_s=0.5, stop_s=1.0)
        worker, stop, codes = Worker(options), Event(), []
        parts = Parts(steps_of(around), inbox.real, timings=QUICK)
        thread = Thread(target=lambda: codes.append(worker.run(stop, parts)))
        thread.start()
        inbox.put(order(A))
        until(lambda: len(around.posts) == 1)
        until(lambda: not database.run("SELECT 1 FROM reviewbot_workers WHERE executor = 'dead'"))
        Workers(database).leave(worker.executor)  # as if another one had taken it for dead
        thread.join(LIMIT_S)
        worker.engine.drain(1.0)
        worker.engine.stop()
        worker.database.close()
        database.close()

    assert codes == [4]


@pytest.mark.slow
def test_a_web_process_killed_at_random_keeps_what_it_acknowledged() -> None:
    assert web_killed(None, 5, random.Random(7))["acknowledged"] > 0
