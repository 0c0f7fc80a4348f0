"""Lists of runs for the pages: by repository, pull request and state, the newest first, in pages by key.

A scope names the repositories that the reader may see; None stands for all. Every statement applies it itself, so that
a run outside of it is not there at all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from reviewbot.app.store.durable.database import Database, DatabaseTable
from reviewbot.app.store.durable.human_queue import EVER
from reviewbot.app.store.durable.runs import RunRecord, Runs, State
from reviewbot.app.store.sql import Value, marks_of

VisibleInstallations = Collection[int] | None
Key = tuple[float, str]
"""Where a page ends: when its last run was ordered, and that run."""

MAX_KEY = (EVER, "")
"""Before every run: the key of the first page."""


class RunFilter(NamedTuple):
    """Which runs a list has. None: any."""

    repository: int | None = None
    number: int | None = None
    states: tuple[State, ...] = ()


class RepositorySummary(NamedTuple):
    """What is known of the runs of one repository."""

    repository: int
    installation: int
    name: str
    runs: int
    unfinished: int
    failed: int
    """Failed or parked."""
    newest: float
    """When its newest run was ordered, in seconds since 1970."""
    dollars: float


class PullSummary(NamedTuple):
    """What is known of the runs of one pull request."""

    number: int
    runs: int
    newest: float
    dollars: float
    tokens: int


class WorkerTotal(NamedTuple):
    """What one worker or role cost."""

    worker: str
    runs: int
    dollars: float
    tokens: int


class CommandRow(NamedTuple):
    """A command that a person gave."""

    at: float
    actor: str
    verb: str
    repository: int
    number: int
    finding: str
    """Of a dismissal: the fingerprint."""
    reason: str


class RunListing(DatabaseTable):
    """The runs of one database, as lists."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._runs = Runs(database)

    def runs(
        self, scope: VisibleInstallations, which: RunFilter, before: Key = MAX_KEY, limit: int = 50
    ) -> tuple[RunRecord, ...]:
        """Runs that were ordered before a key."""
        where, values = _scoped(scope)
        if which.repository is not None:
            where, values = f"{where} AND repository = ?", [*values, which.repository]
        if which.number is not None:
            where, values = f"{where} AND number = ?", [*values, which.number]
        if which.states:
            where, values = f"{where} AND state IN ({marks_of(which.states)})", [*values, *which.states]
        where = f"{where} AND (created, run) < (?, ?) ORDER BY created DESC, run DESC LIMIT ?"
        return self._runs.select(where, *values, *before, limit)

    def run(self, scope: VisibleInstallations, run: str) -> RunRecord | None:
        """One run; None where there is none, or none that the reader may see: one statement looks for both."""
        where, values = _scoped(scope)
        return next(iter(self._runs.select(f"{where} AND run = ?", *values, run)), None)

    def trace(self, run: str, max_bytes: int) -> str | None:
        """The trace of a run, masked; None where there is none. Raises InputError where it is larger."""
        return self._runs.trace(run, max_bytes)

    def pulls(self, repository: int, before: tuple[float, int], limit: int) -> tuple[PullSummary, ...]:
        """The pull requests of a repository by their newest run; `before`: when that was ordered, and the number."""
        rows = self._database.run(
            "SELECT number, runs, newest, dollars, tokens FROM (SELECT number, count(*) AS runs, "
            "max(created) AS newest, sum(dollars) AS dollars, CAST(sum(tokens) AS BIGINT) AS tokens "
            "FROM reviewbot_runs WHERE repository = ? GROUP BY number) AS pulls "
            "WHERE (newest, number) < (?, ?) ORDER BY newest DESC, number DESC LIMIT ?",
            repository,
            *before,
            limit,
        )
        return tuple(PullSummary._make(row) for row in rows)

    def repositories(self, scope: VisibleInstallations, since: float = 0.0) -> tuple[RepositorySummary, ...]:
        """The repositories that have runs ordered since then, the one with the newest first."""
        where, values = _scoped(scope)
        rows = self._database.run(
            "SELECT repository, max(installation), max(name), count(*), "  # noqa: S608 - our own conditions
            "sum(CASE WHEN state IN ('waiting', 'running') THEN 1 ELSE 0 END), "
            "sum(CASE WHEN state IN ('failed', 'parked') THEN 1 ELSE 0 END), max(created) AS newest, sum(dollars) "
            f"FROM reviewbot_runs WHERE {where} AND created >= ? GROUP BY repository ORDER BY newest DESC",
            *values,
            since,
        )
        return tuple(RepositorySummary(*row[:3], *(int(cell) for cell in row[3:6]), *row[6:]) for row in rows)

    def worker_costs(self, scope: VisibleInstallations, since: float) -> tuple[WorkerTotal, ...]:
        """What workers and roles cost in runs that were ordered since then, the dearest first."""
        where, values = _scoped(scope)
        rows = self._database.run(
            "SELECT worker, count(*), sum(costs.dollars) AS dollars, CAST(sum(costs.tokens) AS BIGINT) "  # noqa: S608 - as above
            "FROM reviewbot_worker_costs costs JOIN reviewbot_runs runs ON runs.run = costs.run "
            f"WHERE {where} AND created >= ? GROUP BY worker ORDER BY dollars DESC, worker",
            *values,
            since,
        )
        return tuple(WorkerTotal._make(row) for row in rows)

    def worker_costs_of(self, repositories: Collection[int], since: float) -> dict[int, dict[str, float]]:
        """What each worker or role cost in each of these repositories, in dollars, in runs ordered since then."""
        where, values = _scoped(repositories)
        rows = self._database.run(
            "SELECT repository, worker, sum(costs.dollars) "  # noqa: S608 - as above
            "FROM reviewbot_worker_costs costs JOIN reviewbot_runs runs ON runs.run = costs.run "
            f"WHERE {where} AND created >= ? GROUP BY repository, worker",
            *values,
            since,
        )
        found: dict[int, dict[str, float]] = {}
        for repository, worker, dollars in rows:
            found.setdefault(int(repository), {})[str(worker)] = float(dollars)
        return found

    def commands(self, scope: VisibleInstallations, limit: int, before: float = EVER) -> tuple[CommandRow, ...]:
        """The commands that people gave in comments and on pages before a time, the newest first."""
        where, values = _scoped(scope)
        rows = self._database.run(
            "SELECT written, actor, verb, repository, number, finding, reason FROM reviewbot_commands "  # noqa: S608 - as above
            f"WHERE {where} AND written < ? ORDER BY written DESC LIMIT ?",
            *values,
            before,
            limit,
        )
        return tuple(CommandRow._make((*row[:6], str(bytes(row[6]), "utf-8", "replace"))) for row in rows)


def _scoped(scope: VisibleInstallations) -> tuple[str, list[Value]]:
    """A condition on the repositories, and its values."""
    if scope is None:
        return "1 = 1", []
    return (f"repository IN ({marks_of(tuple(scope))})", [*scope]) if scope else ("1 = 0", [])
