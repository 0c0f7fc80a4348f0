"""A decision of the human queue through a whole worker with the real engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.human_queue import Decider, HumanQueue, LeavingReview, Left, QueueItem
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.runner import RetryTimings
from reviewbot.app.worker.work import Json
from reviewbot.app.worker.worker import Chore, Parts, Worker
from reviewbot.domain.contracts import Finding, HumanItem
from reviewbot.domain.errors import HostError
from tests.app_runs import Around, TestInbox, steps_of, until


@pytest.mark.slow
def test_a_worker_carries_a_decision_out_once_also_where_the_host_is_away_at_first(
    tmp_path: Path, a_finding: Callable[..., Finding]
) -> None:
    options = JobOptions(tmp_path / "state", stop_s=5.0)
    queue = HumanQueue(open_database(options.database))
    finding = a_finding(severity="critical")
    human = HumanItem(path=finding.path, line=1, reason="critical if true", finding=finding)
    queue.put(LeavingReview(1, 5, 7, "o/n", "a" * 40, "run"), [Left(("1" * 32,), human)])
    [item] = queue.list_items()
    queue.confirm(item.item, Decider("dev", "page"), "true")
    tries: list[str] = []

    def decide(found: QueueItem) -> Json:
        tries.append(found.item)
        if len(tries) == 1:
            raise HostError("away")
        return {"action": "posted", "reason": "posted", "url": "https://host.test/1"}

    steps = replace(steps_of(Around(tmp_path, call_s=(0.0, 0.01), post_s=0.0)), decide=decide)
    inbox, stop, worker = TestInbox(tmp_path), Event(), Worker(options)
    chores = (Chore("decisions", 0.1, lambda scheduler, _: scheduler.carry_out_decisions()),)
    quick = RetryTimings(first_wait_s=0.05, longest_wait_s=0.1, look_s=0.05)
    parts = Parts(steps, inbox.real, chores, quick)
    thread = Thread(target=lambda: worker.run(stop, parts))
    thread.start()
    until(lambda: queue.list_items()[0].last.action == "posted")
    stop.set()
    thread.join(60)

    assert tries == [item.item] * 2
    assert [entry.action for entry in queue.history(item.item)] == ["queued", "confirmed", "posted"]
    assert queue.list_items()[0].last.url == "https://host.test/1"
