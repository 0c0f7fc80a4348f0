"""Lists of runs, costs and sessions, on a file and on a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.journal import forget_installation
from reviewbot.app.store.durable.listing import RunFilter, RunListing
from reviewbot.app.store.durable.runs import RunRecord, Runs, State, WorkerCost
from reviewbot.app.store.durable.sessions import SessionRow, SessionTable


@pytest.fixture(params=["file", "server"])
def either(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of each kind."""
    if request.param == "file":
        yield request.getfixturevalue("database")
        return
    opened = open_database(request.getfixturevalue("server"))
    for table in ("runs", "worker_costs", "sessions"):
        opened.run(f"DELETE FROM reviewbot_{table}")
    yield opened
    opened.close()


def add(database: Database, number: int, repository: int = 1, state: State = "posted", created: float = 0.0) -> str:
    runs, name = Runs(database), f"review:{repository}:{number}"
    runs.add(RunRecord(name, 3, f"o/r{repository}", repository, number, f"{number:040x}", 1, "waiting", "", "", "", 0,
                       0.0, 0, "", 0.0, None, None))  # fmt: skip
    if state != "waiting":
        runs.end(name, state)
    database.run("UPDATE reviewbot_runs SET created = ? WHERE run = ?", created, name)
    runs.cost(name, 0.5, 10, "", [WorkerCost("reader", 0.5, 10)])
    return name


def test_a_scope_hides_what_is_outside_of_it_from_every_list(either: Database) -> None:
    mine, other = add(either, 1), add(either, 2, repository=2)
    listing = RunListing(either)

    assert [each.run for each in listing.runs((1,), RunFilter())] == [mine]
    assert [each.run for each in listing.runs((), RunFilter())] == []
    assert {each.run for each in listing.runs(None, RunFilter())} == {mine, other}
    assert listing.run((1,), other) is None
    assert listing.run(None, other) is not None
    assert [(each.repository, each.runs, each.dollars) for each in listing.repositories((1,))] == [(1, 1, 0.5)]
    assert [(each.worker, each.runs) for each in listing.worker_costs((1,), 0.0)] == [("reader", 1)]
    assert listing.worker_costs((), 0.0) == ()


def test_a_key_divides_runs_of_one_moment_too(either: Database) -> None:
    names = [add(either, number, created=float(number // 3)) for number in range(9)]
    listing = RunListing(either)
    seen: list[str] = []
    page = listing.runs(None, RunFilter(), limit=2)
    while page:
        seen += [each.run for each in page]
        page = listing.runs(None, RunFilter(), (page[-1].created, page[-1].run), 2)

    assert sorted(seen) == sorted(names)
    assert [each.created for each in (listing.run(None, name) for name in seen) if each] == sorted(
        (float(number // 3) for number in range(9)), reverse=True
    )


def test_lists_can_be_narrowed_to_states_and_pull_requests(either: Database) -> None:
    add(either, 1)
    failed = add(either, 2, state="failed", created=5.0)
    listing = RunListing(either)

    assert [each.run for each in listing.runs(None, RunFilter(states=("failed", "parked")))] == [failed]
    assert [each.run for each in listing.runs(None, RunFilter(1, 2))] == [failed]
    assert [(each.number, each.newest) for each in listing.pulls(1, (1e18, 2**62), 10)] == [(2, 5.0), (1, 0.0)]
    assert [each.number for each in listing.pulls(1, (5.0, 2), 10)] == [1]


def test_what_an_installation_cost_goes_with_it(either: Database) -> None:
    add(either, 1)

    forget_installation(either, 3)

    assert RunListing(either).worker_costs(None, 0.0) == ()
    assert either.run("SELECT 1 FROM reviewbot_worker_costs") == []


def test_a_session_is_found_until_it_ends(either: Database) -> None:
    table, now = SessionTable(either), either.now()
    table.add(SessionRow("old", "github", "a", b"s", b"r", now, now - 1))
    table.add(SessionRow("new", "github", "octocat", b"\x00sealed", b"\xff", now, now + 60))

    found = table.find("new")

    assert found == SessionRow("new", "github", "octocat", b"\x00sealed", b"\xff", now, now + 60)
    assert table.find("old") is None
    table.refresh("new", b"other")
    assert (again := table.find("new")) is not None
    assert again.repositories == b"other"
    table.end("new")
    assert table.find("new") is None
