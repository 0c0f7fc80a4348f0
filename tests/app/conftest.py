from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.worker.runner import RetryTimings, Runner
from reviewbot.app.worker.work import End, Json, Posted, ReviewRequest, RunContext, RunSteps, StoredReview
from tests.github_api.apps import a_key
from tests.still_clock import Moment

A, B, C = ("a" * 40, "b" * 40, "c" * 40)


def order(head: str = A, **more: object) -> ReviewRequest:
    """An order of one pull request."""
    result = {"installation": 1, "repository": "o/n", "repository_id": 5, "number": 7, "head_sha": head, **more}
    return ReviewRequest.from_json(result)


class Shelf:
    """A queue that only remembers."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[str, str, Json]] = {}
        self.cancelled: list[str] = []
        self.forgotten: list[str] = []
        self.taken: list[str] = []
        self.delivered: dict[str, str] = {}
        self.trouble: Exception | None = None

    def enqueue(self, kind: str, name: str, lane: str, result: Json) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.waiting.setdefault(name, (kind, lane, result))

    def cancel(self, names: Sequence[str]) -> None:
        self.cancelled += names

    def take_over(self, executor: str) -> int:
        self.taken.append(executor)
        return 3

    def forget(self, names: Sequence[str]) -> None:
        self.forgotten += names

    def states(self, names: Sequence[str]) -> dict[str, str]:
        return {name: self.delivered.get(name, "ENQUEUED") for name in names if name in self.waiting}

    def list_ended_before(self, older_s: float, now: float, limit: int) -> list[str]:
        return ["ask:old"]


class Straight:
    """The engine's part for one run: records each step by its place, and can end the worker in the middle."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, Json]] = []
        self.slept: list[float] = []
        self.dies_before: str | None = None
        self.dies_after: str | None = None
        self.place = 0

    def again(self) -> Straight:
        """The same run, begun again."""
        self.place, self.dies_before, self.dies_after = 0, None, None
        return self

    def step(self, name: str, act: Callable[[], Json]) -> Json:
        if self.place < len(self.recorded):
            found = self.recorded[self.place]
            assert found[0] == name, "steps come in the same order each time"
            self.place += 1
            return found[1]
        if name == self.dies_before:
            raise KilledError
        value = act()
        if name == self.dies_after:
            raise KilledError
        self.recorded.append((name, value))
        self.place += 1
        return value

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


class KilledError(BaseException):
    """The worker is no more."""


def raising(error: Exception, times: int = 99) -> Callable[[RunContext], Json | End]:
    """A step that raises this so many times."""
    left = [times]

    def act(run: RunContext) -> Json | End:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return {}

    return act


class Play:
    """RunSteps that tests set, and what was called."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.runs: list[RunContext] = []
        self.on_fetch: Callable[[RunContext], Json | End] = lambda run: {"code": run.request.head_sha}
        self.on_review: Callable[[RunContext], StoredReview | End] = lambda run: StoredReview(
            {"found": 1}, 0.5, 100, "the trace"
        )
        self.on_post: Callable[[RunContext], Posted | End] = lambda run: Posted(42, "https://host.test/42")
        self.on_resolve: Callable[[ReviewRequest], ReviewRequest | None] = lambda result: None
        self.on_close: Callable[[ReviewRequest], None] = lambda result: None
        self.concluded: list[End] = []
        self.closed: list[tuple[str, str]] = []
        """Heads whose check run was ended, and why."""

    def steps(self) -> RunSteps:
        def fetch(run: RunContext) -> Json | End:
            self.called.append("fetch")
            self.runs.append(run)
            return self.on_fetch(run)

        async def review(run: RunContext, fetched: Json) -> StoredReview | End:
            self.called.append("review")
            return self.on_review(run)

        def post(run: RunContext, reviewed: Json) -> Posted | End:
            self.called.append("post")
            return self.on_post(run)

        def resolve(result: ReviewRequest) -> ReviewRequest | None:
            return self.on_resolve(result)

        def conclude(run: RunContext, end: End) -> None:
            self.concluded.append(end)

        def close(result: ReviewRequest) -> None:
            self.on_close(result)
            self.closed.append((result.head_sha, result.refusal))

        return RunSteps("p", fetch, review, post, resolve, conclude, close)


class Stage:
    """A desk and a runner, on a database of a test, without an engine."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.shelf = Shelf()
        self.play = Play()
        self.scheduler = Scheduler(database, self.shelf, "p")
        self.runs = Runs(database)
        self.durable = Straight()
        pace = RetryTimings(first_wait_s=1.0, longest_wait_s=10.0, look_s=0.01)
        self.runner = Runner(database, self.play.steps(), self.scheduler, "worker", pace)

    def submit(self, result: ReviewRequest) -> str:
        return self.scheduler.submit(result)

    def carry_out(self, run: str) -> End:
        """One execution of what waits under this name."""
        kind, _, result = self.shelf.waiting[run]
        if kind == "close":
            return self.close(run)
        act = self.runner.review if kind == "review" else self.runner.ask
        found = act(run, result, self.durable)
        return End(**found["end"]) if "end" in found else End("posted")

    def close(self, name: str) -> End:
        """End what a stopped run left behind."""
        found = self.runner.close(self.shelf.waiting[name][2], Straight())
        return End(**found["end"]) if "end" in found else End("superseded")

    def closings(self) -> list[str]:
        """What waits to be ended, by the names in the queue."""
        return [name for name, (kind, _, _) in self.shelf.waiting.items() if kind == "close"]

    def state(self, run: str) -> str:
        found = self.runs.get(run)
        return "none" if found is None else found.state


@pytest.fixture(scope="session")
def pem() -> str:
    """The key of an App: to make one takes a tenth of a second."""
    return a_key()


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def database(tmp_path: Path, moment: Moment) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "app.sqlite"), moment)
    yield opened
    opened.close()


@pytest.fixture
def stage(database: Database) -> Stage:
    return Stage(database)
