"""Two tenants with canaries in code, keys and findings, run by one worker at the same time: none crosses."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from reviewbot.app.runtime.logs import LineFormatter
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.journal import DurableJournal, forget_installation
from reviewbot.app.worker.runner import Runner
from reviewbot.app.worker.work import Json, Posted, ReviewRequest, RunContext, RunSteps, StoredReview
from tests.app.conftest import Stage, Straight

TENANTS = (1, 2)


def canaries(tenant: int) -> dict[str, str]:
    return {name: f"canary-{name}-of-{tenant}" for name in ("code", "finding", "answer", "trace")}


def order(tenant: int) -> ReviewRequest:
    """The same pull request number and head in two repositories, as forks have them."""
    return ReviewRequest(tenant, f"tenant-{tenant}/shop", 100 + tenant, 7, "a" * 40)


@pytest.fixture
def lines() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def posts(stage: Stage, lines: io.StringIO) -> dict[int, Json]:
    """Both runs carried out at once, step by step side by side."""
    posted: dict[int, Json] = {}
    meet = Barrier(2, timeout=60)
    logger = logging.getLogger("reviewbot.test")
    handler = logging.StreamHandler(lines)
    handler.setFormatter(LineFormatter())
    logger.addHandler(handler)
    logger.setLevel("INFO")

    def fetch(run: RunContext) -> Json:
        meet.wait()
        return {"code": canaries(run.request.installation)["code"]}

    async def review(run: RunContext, fetched: Json) -> StoredReview:
        mine = canaries(run.request.installation)
        await asyncio.to_thread(meet.wait)
        # The same question of both: each has to ask for itself.
        assert run.journal.get("model/same-question") is None
        run.journal.put("model/same-question", mine["answer"])
        logger.info("reviewed %s", fetched["code"])
        return StoredReview({**fetched, "finding": mine["finding"]}, 0.0, 0, mine["trace"])

    def post(run: RunContext, reviewed: Json) -> Posted:
        meet.wait()
        assert run.intents.begin("7/same", run.owner, 60.0)
        assert run.journal.get("model/same-question") == canaries(run.request.installation)["answer"]
        posted[run.request.installation] = reviewed
        return Posted(run.request.installation)

    runner = Runner(stage.database, RunSteps("p", fetch, review, post), stage.scheduler, "worker")
    runs = {tenant: stage.submit(order(tenant)) for tenant in TENANTS}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: runner.review(runs[each], order(each).as_json(), Straight()), TENANTS))
    logger.removeHandler(handler)
    return posted


@pytest.mark.parametrize("tenant", TENANTS)
def test_nothing_of_one_tenant_is_in_what_is_posted_for_another(posts: dict[int, Json], tenant: int) -> None:
    text = json.dumps(posts[tenant])

    assert canaries(tenant)["finding"] in text
    assert not any(canary in text for canary in canaries(3 - tenant).values())


def test_every_line_of_the_log_belongs_to_the_run_that_it_names(posts: dict[int, Json], lines: io.StringIO) -> None:
    result = [json.loads(line) for line in lines.getvalue().splitlines()]

    assert len(result) == len(TENANTS)
    for line in result:
        tenant = 1 if ":101:" in line["run"] else 2
        assert canaries(tenant)["code"] in line["message"]


def test_traces_and_runs_are_apart(posts: dict[int, Json], stage: Stage) -> None:
    for record in stage.runs.latest(9):
        assert stage.runs.trace(record.run) == canaries(record.installation)["trace"]
        assert not any(canary in repr(record) for canary in canaries(3 - record.installation).values())


def test_the_journal_gives_each_repository_its_own(posts: dict[int, Json], database: Database) -> None:
    for tenant in TENANTS:
        assert DurableJournal(database, tenant, 100 + tenant).get("model/same-question") == canaries(tenant)["answer"]
        assert DurableJournal(database, tenant, 103 - tenant).get("model/same-question") is None


def test_a_tenant_that_leaves_leaves_nothing(posts: dict[int, Json], database: Database, tmp_path: Path) -> None:
    forget_installation(database, 1)
    with sqlite3.connect(tmp_path / "app.sqlite") as connection:
        rows = [repr(connection.execute(f"SELECT * FROM {table}").fetchall()) for table in ("reviewbot_journal",
                "reviewbot_runs", "reviewbot_traces")]  # fmt: skip
    connection.close()

    assert not any("canary-answer-of-1" in row or "tenant-1" in row for row in rows)
    assert any("canary-answer-of-2" in row for row in rows)
