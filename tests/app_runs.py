"""A worker of the App with everything around it made of files: its host, its models, its inbox. For tests that kill it.

    python -m tests.app_runs FOLDER [--database URL] [--silent S] [--beat S]

A folder outlives every process: `posts.jsonl` is what the host has carried out, `checks.jsonl` which check runs were
begun there and ended, `calls.jsonl` what the models were asked and which answers were recorded, `heads.json` where the
branches stand now; `state` is what the App itself keeps where no server does, what was accepted among it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.store.inbox.store import open_store
from reviewbot.app.triggers.values import Delivery, Trigger, TriggerKind
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.runner import RetryTimings
from reviewbot.app.worker.work import End, Json, Posted, ReviewRequest, RunContext, RunSteps, StoredReview
from reviewbot.app.worker.worker import Parts, Worker
from tests.inbox_rows import counts

LEASE_S = 1.5
"""Of an intent. The real one is a minute; a test shall not wait so long."""

TASKS = 4
"""Of each review; each is one question to a model."""


def append(path: Path, value: Json) -> None:
    """One line, whole or not at all, whoever else writes."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, (json.dumps(value) + "\n").encode())
    finally:
        os.close(descriptor)


def lines(path: Path) -> list[Json]:
    """All lines so far."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


LIMIT_S = 240.0
"""For what a worker does in a moment, on a machine with much to do."""


def until(done: Callable[[], bool]) -> None:
    """Wait for it, and fail where it takes too long."""
    limit = time.monotonic() + LIMIT_S
    while not done():
        assert time.monotonic() < limit, "not done in time"
        time.sleep(0.02)


@dataclass(frozen=True)
class Around:
    """A folder, and how long things take."""

    folder: Path
    call_s: tuple[float, float] = (0.02, 0.15)
    post_s: float = 0.03
    lease_s: float = LEASE_S

    @property
    def posts(self) -> list[Json]:
        """What the host has carried out."""
        return lines(self.folder / "posts.jsonl")

    @property
    def calls(self) -> list[Json]:
        """What the models were asked."""
        return lines(self.folder / "calls.jsonl")

    @property
    def spinning(self) -> set[str]:
        """Heads whose check run is in progress."""
        open_ones: set[str] = set()
        for line in lines(self.folder / "checks.jsonl"):
            open_ones = open_ones | {line["begun"]} if "begun" in line else open_ones - {line["ended"]}
        return open_ones

    def push(self, repository: int, number: int, head: str) -> None:
        """The branch stands at `head` from now on."""
        path = self.folder / "heads.json"
        heads = json.loads(path.read_text("utf-8")) if path.exists() else {}
        heads[f"{repository}/{number}"] = head
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(heads), "utf-8")
        fresh.rename(path)

    def head(self, order: ReviewRequest) -> str:
        """Where the branch stands; what was ordered, where nobody has pushed."""
        path = self.folder / "heads.json"
        heads = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return str(heads.get(f"{order.repository_id}/{order.number}", order.head_sha))


# --- the steps ---


def steps_of(around: Around, policy: str = "p1") -> RunSteps:
    """RunSteps as the real ones are meant to be, against the folder."""

    def fetch(run: RunContext) -> Json | End:
        head = around.head(run.request)
        if head != run.request.head_sha:
            return End("moved", head_sha=head)
        return {"head": head, "code": f"canary-code-{run.request.installation}"}

    async def review(run: RunContext, fetched: Json) -> StoredReview:
        if run.wanted():
            append(around.folder / "checks.jsonl", {"begun": _key(run.request)})
        tasks = [f"{run.request.repository_id}/{run.request.number}/{fetched['head']}/task-{n}" for n in range(TASKS)]
        random.shuffle(tasks)  # nobody may rely on their order
        answers = await asyncio.gather(*(_ask(around, run, task) for task in tasks))
        _compare(around, tasks, answers)
        return StoredReview({"findings": sorted(answers), **fetched}, 0.25, 1000, json.dumps(sorted(tasks)))

    def post(run: RunContext, reviewed: Json) -> Posted | End:
        head = around.head(run.request)
        if head != reviewed["head"]:
            close(run.request)  # as the real one does
            return End("moved", head_sha=head)
        posted = _post(around, run, reviewed)
        if isinstance(posted, Posted):
            close(run.request)
        return posted

    def close(order: ReviewRequest) -> None:
        append(around.folder / "checks.jsonl", {"ended": _key(order)})

    return RunSteps(policy, fetch, review, post, close=close)


def _compare(around: Around, tasks: list[str], answers: list[str]) -> None:
    for task, answer in zip(tasks, answers, strict=True):
        if answer != _answer(task):
            append(around.folder / "calls.jsonl", {"wrong": task, "answer": answer, "pid": os.getpid()})


def _key(order: ReviewRequest) -> str:
    return f"{order.repository_id}/{order.number}/{order.head_sha}"


def _answer(task: str) -> str:
    return f"answer to {sha256(task.encode()).hexdigest()}"


async def _ask(around: Around, run: RunContext, task: str) -> str:
    """One model's answer, from the journal where it is there: as the discipline of real calls does."""
    key = f"model/{sha256(task.encode()).hexdigest()}"
    stored = await asyncio.to_thread(run.journal.get, key)
    if stored is not None:
        return stored
    log = around.folder / "calls.jsonl"
    append(log, {"asked": task, "pid": os.getpid()})
    await asyncio.sleep(random.uniform(*around.call_s))
    await asyncio.to_thread(run.journal.put, key, _answer(task))
    append(log, {"recorded": task, "pid": os.getpid()})
    return _answer(task)


def _post(around: Around, run: RunContext, reviewed: Json) -> Posted | End:
    """Exactly one: look, take the intent, look again, and send only while the lease is fresh."""
    order = run.request
    key = f"{order.repository_id}/{order.number}/{reviewed['head']}"
    while True:
        for number, post in enumerate(around.posts):
            if post["key"] == key:
                run.intents.record_posted(key, number + 1)
                return Posted(number + 1, f"https://host.test/{key}")
        if not run.wanted():
            return End("superseded", "no longer wanted")
        begun = time.monotonic()
        if not run.intents.begin(key, run.owner, around.lease_s):
            time.sleep(0.05)
            continue
        if any(post["key"] == key for post in around.posts):
            continue
        if run.wanted() and time.monotonic() - begun < around.lease_s / 2:
            told = {"key": key, "run": run.run_id, "pid": os.getpid(), "at": time.time(), **reviewed}
            append(around.folder / "posts.jsonl", told)
            time.sleep(around.post_s)  # the host has it, and we do not know yet


# --- the inbox ---


class ShortLeases(Inbox):
    """Leases that a test can wait for."""

    def claim(self, limit: int, lease_s: float, holder: str) -> tuple[Delivery, ...]:
        """As `Inbox.claim`."""
        return super().claim(limit, min(lease_s, 1.0), holder)


class TestInbox:
    """The App's own inbox, as tests fill it. On a server where there is one, else in the folder."""

    __test__ = False

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.real = ShortLeases(open_store(url or str(folder / "inbox.sqlite")))

    def put(self, order: ReviewRequest, kind: TriggerKind = "head") -> None:
        """Accept what asks for this."""
        trigger = Trigger(
            kind=kind,
            installation_id=order.installation,
            repository_id=order.repository_id,
            repository=order.repository,
            number=order.number,
            head_sha=order.head_sha,
            reason=order.cause,
            delivery_id="guid",
        )
        self.real.put(Delivery("guid", "pull_request", uuid4().hex, trigger))

    def left(self) -> int:
        """Accepted, and not yet seen to."""
        found = counts(self.real)
        return found["waiting"] + found["claimed"]

    def mark_failed(self) -> int:
        """Accepted, and given up."""
        return counts(self.real)["failed"]


# --- the process ---


def main(argv: Sequence[str] | None = None) -> int:
    """A worker until it is told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database")
    parser.add_argument("--silent", type=float, default=30.0)
    parser.add_argument("--beat", type=float, default=5.0)
    parser.add_argument("--stop", type=float, default=10.0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--installation", type=int, default=4)
    parser.add_argument("--call", type=float, nargs=2, default=(0.02, 0.15))
    arguments = parser.parse_args(argv)
    stop = Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    options = JobOptions(
        state=arguments.folder / "state",
        database_url=arguments.database,
        concurrency=arguments.concurrency,
        installation_concurrency=arguments.installation,
        stop_s=arguments.stop,
        beat_s=arguments.beat,
        silent_s=arguments.silent,
    )
    around = Around(arguments.folder, call_s=tuple(arguments.call))
    pace = RetryTimings(first_wait_s=0.1, longest_wait_s=0.5, look_s=0.1)
    worker = Worker(options)
    inbox = TestInbox(options.state, arguments.database)
    return worker.run(stop, Parts(steps_of(around), inbox.real, timings=pace))


def facts(around: Around) -> Any:
    """What went wrong, by the folder alone: posted twice, asked again although recorded, answers of another task."""
    posts = [post["key"] for post in around.posts]
    twice = sorted({key for key in posts if posts.count(key) > 1})
    recorded: set[str] = set()
    again, wrong = [], []
    for call in around.calls:
        if "recorded" in call:
            recorded.add(call["recorded"])
        elif "wrong" in call:
            wrong.append(call["wrong"])
        elif call["asked"] in recorded:
            again.append(call["asked"])
    return {"twice": twice, "again": again, "wrong": wrong}


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # as the program itself does
