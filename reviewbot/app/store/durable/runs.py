"""Records of the runs (outcome, reason, cost and trace), and which run of a pull request is the wanted one.

A new head supersedes the run on the old one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from reviewbot.app.store.durable.database import DatabaseTable
from reviewbot.app.store.sql import Row, Value
from reviewbot.domain.errors import InputError


class HeadClaim(NamedTuple):
    """What the table says after a run was claimed."""

    run: str
    """The wanted run from now on: the claimed one, or the one that stays."""
    sequence: int
    """Of that run: runs of this pull request with a smaller one are superseded."""
    head: str
    """That it is about."""


class Heads(DatabaseTable):
    """One row for each pull request."""

    def claim(
        self, pull: tuple[int, int], head: str, run: str, *, as_of: float = 0.0, again: bool = False
    ) -> HeadClaim:
        """Want `run` on `head` of a pull request (repository's id, number).

        For the same head once more, the run that is wanted already stays, unless another is asked for `again`. What
        was said earlier (`as_of` grows from word to word; 0: not known) than what is here changes nothing.
        """
        now = self._database.now()
        self._database.run(
            "INSERT INTO reviewbot_heads (repository, number, head, run, sequence, as_of, written) "
            "VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (repository, number) DO UPDATE SET "
            "head = excluded.head, run = excluded.run, sequence = reviewbot_heads.sequence + 1, "
            "as_of = CASE WHEN excluded.as_of > reviewbot_heads.as_of THEN excluded.as_of "
            "ELSE reviewbot_heads.as_of END, written = excluded.written "
            "WHERE (excluded.as_of = 0 OR excluded.as_of >= reviewbot_heads.as_of) "
            "AND reviewbot_heads.run <> excluded.run "
            "AND (reviewbot_heads.head <> excluded.head OR CAST(? AS BIGINT) = 1)",
            *pull,
            head,
            run,
            as_of,
            now,
            int(again),
        )
        return self._read(pull) or HeadClaim(run, 0, head)

    def wanted_run(self, pull: tuple[int, int]) -> str | None:
        """The run that may write; None where none may."""
        found = self._read(pull)
        return None if found is None or not found.run else found.run

    def withdraw(self, pull: tuple[int, int], as_of: float = 0.0) -> bool:
        """Want no run of this pull request until the next head. False where a later state of it is recorded."""
        rows = self._database.run(
            "UPDATE reviewbot_heads SET run = '', head = '', sequence = sequence + 1, "
            "as_of = CASE WHEN CAST(? AS DOUBLE PRECISION) > as_of THEN ? ELSE as_of END "
            "WHERE repository = ? AND number = ? AND (CAST(? AS DOUBLE PRECISION) = 0 OR as_of <= ?) RETURNING 1",
            as_of,
            as_of,
            *pull,
            as_of,
            as_of,
        )
        return bool(rows)

    def _read(self, pull: tuple[int, int]) -> HeadClaim | None:
        rows = self._database.run(
            "SELECT run, sequence, head FROM reviewbot_heads WHERE repository = ? AND number = ?", *pull
        )
        return HeadClaim(str(rows[0][0]), int(rows[0][1]), str(rows[0][2])) if rows else None


State = Literal["waiting", "running", "posted", "refused", "superseded", "failed", "parked"]
STATES: tuple[State, ...] = get_args(State)

MAX_REASON = 500
"""Characters of a reason that are kept: it is a line for people."""

_COLUMNS = (
    "run, installation, name, repository, number, head, sequence, state, reason, owner, executor, attempts, dollars, "
    "tokens, url, created, started, ended"
)
_OPEN = "state IN ('waiting', 'running')"
_OWNED = "run = ? AND owner = ?"
"""The run, and the execution that may write."""


class RunRecord(NamedTuple):
    """One run. Times are seconds since 1970."""

    run: str
    installation: int
    name: str
    """Of the repository, as "owner/name"."""
    repository: int
    number: int
    head: str
    sequence: int
    state: State = "waiting"
    reason: str = ""
    owner: str = ""
    """The execution that may write; a new one with each attempt."""
    executor: str = ""
    attempts: int = 0
    """How often it was begun, further tries of a step counted too."""
    dollars: float = 0.0
    tokens: int = 0
    url: str = ""
    created: float = 0.0
    started: float | None = None
    ended: float | None = None


class WorkerCost(NamedTuple):
    """What one worker or role cost in a run."""

    worker: str
    dollars: float
    tokens: int


class Runs(DatabaseTable):
    """All runs of this database."""

    def add(self, record: RunRecord) -> None:
        """Add a waiting run. One that is there keeps its outcome, unless it was superseded and is wanted again."""
        self._database.run(
            f"INSERT INTO reviewbot_runs ({_COLUMNS}) "  # noqa: S608 - our own names
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', '', '', '', 0, 0, 0, '', ?, NULL, NULL) "
            "ON CONFLICT (run) DO UPDATE SET sequence = excluded.sequence, state = 'waiting', reason = '', "
            "ended = NULL WHERE reviewbot_runs.state = 'superseded'",
            *(*record[:7], self._database.now()),
        )

    def begin(self, run: str, owner: str, executor: str) -> int | None:
        """Begin an execution, which from now on is the one that may write.

        How many there were since one came further than all before, this one counted; None where the run has ended.
        """
        begun = "state = 'running', owner = ?, executor = ?, attempts = attempts + 1, barren = barren + 1"
        values = (owner, executor, self._database.now(), run)
        where = f"run = ? AND {_OPEN} RETURNING barren"
        rows = self._update(f"{begun}, started = COALESCE(started, ?)", where, *values)
        return int(rows[0][0]) if rows else None

    def try_again(self, run: str, owner: str) -> None:
        """Record that this execution tries a step once more."""
        self._update("attempts = attempts + 1", _OWNED, run, owner)

    def wait(self, run: str, owner: str, reason: str) -> None:
        """Record why this execution has to try a step again; empty: it went on."""
        self._update("reason = ?", f"{_OWNED} AND state = 'running'", _plain(reason)[:MAX_REASON], run, owner)

    def never_began(self, run: str, owner: str) -> None:
        """Record that this execution ended before it tried anything: it is no attempt."""
        self._update("attempts = attempts - 1", _OWNED, run, owner)

    def came_further(self, run: str, owner: str) -> None:
        """Record that this execution has done something that no later one has to do again."""
        self._update("barren = 0", _OWNED, run, owner)

    def give_back(self, executor: str) -> None:
        """Give back a worker's runs when it stops in good order: they wait again, and this attempt does not count."""
        given = "state = 'waiting', owner = '', reason = 'its worker stopped; it goes on'"
        fewer = "barren = CASE WHEN barren > 0 THEN barren - 1 ELSE 0 END"
        self._update(f"{given}, {fewer}", "state = 'running' AND executor = ?", executor)

    def end(self, run: str, state: State, reason: str = "", url: str = "", *, owner: str | None = None) -> bool:
        """End an open run; False where it was no longer open, or is another owner's."""
        where = f"run = ? AND {_OPEN} AND (CAST(? AS TEXT) IS NULL OR owner = ?) RETURNING 1"
        ended = (state, _plain(reason)[:MAX_REASON], _plain(url), self._database.now())
        return bool(self._update("state = ?, reason = ?, url = ?, ended = ?", where, *ended, run, owner, owner))

    def cost(self, run: str, dollars: float, tokens: int, trace: str, workers: Iterable[WorkerCost] = ()) -> None:
        """Record a review's cost so far, by worker too, and its masked trace, of which the last attempt's is kept."""
        self._update("dollars = ?, tokens = ?", "run = ?", float(dollars), int(tokens), run)
        # Nothing of a run that was forgotten meanwhile: it would never be found and removed.
        known = "WHERE EXISTS (SELECT 1 FROM reviewbot_runs WHERE run = ?)"
        for cost in workers:
            self._database.run(
                "INSERT INTO reviewbot_worker_costs (run, worker, dollars, tokens) "
                f"SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS DOUBLE PRECISION), CAST(? AS BIGINT) {known} "
                "ON CONFLICT (run, worker) DO UPDATE SET dollars = excluded.dollars, tokens = excluded.tokens",
                run,
                *cost,
                run,
            )
        if trace:
            self._database.run(
                "INSERT INTO reviewbot_traces (run, trace) "
                f"SELECT CAST(? AS TEXT), ? {known} ON CONFLICT (run) DO UPDATE SET trace = excluded.trace",
                run,
                zlib.compress(trace.encode("utf-8", "surrogatepass")),
                run,
            )

    def owner(self, run: str) -> str | None:
        """The execution that may write; None where the run has ended or is not known."""
        return next(iter(self._texts("owner", f"run = ? AND {_OPEN}", run)), None)

    def get(self, run: str) -> RunRecord | None:
        """One run."""
        return next(iter(self.select("run = ?", run)), None)

    def beginning(self, prefix: str, limit: int = 2) -> tuple[RunRecord, ...]:
        """Runs whose name, or whose head's name, begins like this; one that is called just so comes first."""
        begins = "substr(run, 1, ?) = ? OR substr(head, 1, ?) = ?"
        exact_first = "ORDER BY CASE WHEN run = ? THEN 0 ELSE 1 END, created DESC LIMIT ?"
        return self.select(f"{begins} {exact_first}", *(len(prefix), prefix) * 2, prefix, limit)

    def of_pull(self, number: int, name: str | None, limit: int) -> tuple[RunRecord, ...]:
        """The runs of a pull request, newest first; `name`: "owner/name" in any case, None: of every repository."""
        where = "number = ? AND (CAST(? AS TEXT) IS NULL OR lower(name) = ?) ORDER BY created DESC, run LIMIT ?"
        return self.select(where, number, name, None if name is None else name.lower(), limit)

    def older(self, pull: tuple[int, int], sequence: int) -> tuple[str, ...]:
        """Open runs of a pull request that are superseded by what stands at `sequence`."""
        return self._texts("run", f"repository = ? AND number = ? AND sequence < ? AND {_OPEN}", *pull, sequence)

    def on_head(self, pull: tuple[int, int], head: str) -> tuple[RunRecord, ...]:
        """All runs on one head, oldest first."""
        return self.select("repository = ? AND number = ? AND head = ? ORDER BY created", *pull, head)

    def list_unposted(self, pull: tuple[int, int], most: int) -> tuple[str, ...]:
        """The newest heads of which a run has ended without a review, and none has posted one; oldest first."""
        posted = "SELECT head FROM reviewbot_runs WHERE repository = ? AND number = ? AND state = 'posted'"
        where = (
            "repository = ? AND number = ? AND state IN ('superseded', 'failed', 'parked') "
            f"AND head NOT IN ({posted}) ORDER BY created DESC LIMIT ?"
        )
        return tuple(reversed(self._texts("head", where, *pull, *pull, most)))

    def at_work(self, repository: int, head: str, besides: str) -> bool:
        """Whether there is an open run on a commit, of whichever pull request, besides this one."""
        where = f"repository = ? AND head = ? AND run <> ? AND {_OPEN} LIMIT 1"
        return bool(self._texts("run", where, repository, head, besides))

    def open_of(self, installation: int) -> tuple[str, ...]:
        """The open runs of an installation."""
        return self._texts("run", f"installation = ? AND {_OPEN}", installation)

    def list_ended(self, installation: int) -> tuple[str, ...]:
        """The runs of an installation that have ended."""
        return self._texts("run", f"installation = ? AND NOT {_OPEN}", installation)

    def latest(self, limit: int) -> tuple[RunRecord, ...]:
        """The newest runs, newest first."""
        return self.select("TRUE ORDER BY created DESC, run LIMIT ?", limit)

    def open_since(self, older_s: float, limit: int) -> tuple[RunRecord, ...]:
        """Open runs that were ordered longer ago, oldest first."""
        where = f"{_OPEN} AND created < ? ORDER BY created LIMIT ?"
        return self.select(where, self._database.now() - older_s, limit)

    def counts(self) -> dict[State, int]:
        """How many runs there are in each state."""
        rows = self._database.run("SELECT state, count(*) FROM reviewbot_runs GROUP BY state")
        found = {str(row[0]): int(row[1]) for row in rows}
        return {state: found.get(state, 0) for state in STATES}

    def trace(self, run: str, max_bytes: int = 2**40) -> str | None:
        """The trace of a run, masked; None where there is none. Raises InputError where it is larger."""
        rows = self._database.run("SELECT trace FROM reviewbot_traces WHERE run = ?", run)
        if not rows:
            return None
        data = zlib.decompressobj().decompress(bytes(rows[0][0]), max_bytes + 1)
        if len(data) > max_bytes:
            raise InputError(f"it has more than {max_bytes // 2**20} MiB; `reviewbot runs ID --trace` prints it")
        return str(data, "utf-8", "surrogatepass")

    def find_expired(self, older_s: float, limit: int) -> tuple[str, ...]:
        """Runs that ended longer ago."""
        return self._texts("run", "ended < ? ORDER BY ended LIMIT ?", self._database.now() - older_s, limit)

    def forget(self, run: str) -> None:
        """Remove a run and its trace."""
        self._database.run("DELETE FROM reviewbot_traces WHERE run = ?", run)
        self._database.run("DELETE FROM reviewbot_worker_costs WHERE run = ?", run)
        self._database.run("DELETE FROM reviewbot_runs WHERE run = ?", run)

    def _update(self, changes: str, where: str, *values: Value) -> list[Row]:
        """Change runs, by constant SQL with `?` for each value; the rows that RETURNING gives."""
        return self._database.run(f"UPDATE reviewbot_runs SET {changes} WHERE {where}", *values)  # noqa: S608 - as above

    def select(self, where: str, *values: Value) -> tuple[RunRecord, ...]:
        """The runs that a condition selects: constant SQL with `?` for each value, all that follows WHERE."""
        rows = self._database.run(f"SELECT {_COLUMNS} FROM reviewbot_runs WHERE {where}", *values)  # noqa: S608 - as above
        return tuple(map(RunRecord._make, rows))

    def _texts(self, column: str, where: str, *values: Value) -> tuple[str, ...]:
        rows = self._database.run(f"SELECT {column} FROM reviewbot_runs WHERE {where}", *values)  # noqa: S608 - as above
        return tuple(str(row[0]) for row in rows)


def _plain(text: str) -> str:
    """One line that every database takes."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
