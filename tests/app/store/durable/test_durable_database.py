from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.intents import DurableIntents
from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import Heads, RunRecord, Runs
from reviewbot.app.store.durable.workers import Chores, Workers
from reviewbot.domain.errors import ConfigError


def test_a_file_is_its_owners_alone_and_waits_for_no_disk(tmp_path: Path) -> None:
    path = tmp_path / "state" / "app.sqlite"
    database = open_database(str(path))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert database.run("PRAGMA journal_mode") == [("wal",)]
    assert database.run("PRAGMA synchronous") == [(1,)]
    database.close()


def test_a_file_is_opened_again_with_what_was_in_it(tmp_path: Path) -> None:
    path = str(tmp_path / "app.sqlite")
    first = open_database(path)
    DurableJournal(first, 1, 2).put("key", "value")
    first.close()
    second = open_database(path)

    assert DurableJournal(second, 1, 2).get("key") == "value"
    second.close()


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    open_database(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE reviewbot_schema SET version = 99")
    connection.close()

    with pytest.raises(ConfigError, match="newer version"):
        open_database(str(path))


def test_what_is_no_database_is_an_error_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    path.write_text("this is no database, and long enough to be seen as none" * 20)

    with pytest.raises(ConfigError, match="cannot be used"):
        open_database(str(path))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "app.sqlite").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match="cannot be used"):
        open_database(str(tmp_path / "app.sqlite"))


def test_a_statement_that_fails_is_an_error_of_ours(database: Database) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        database.run("SELECT * FROM nowhere")


def test_a_file_that_is_locked_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    database = open_database(str(path), outage_s=0.0)
    database.run("PRAGMA busy_timeout = 0")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConfigError, match="locked"):
            Heads(database).claim((1, 2), "a", "r")
        other.execute("ROLLBACK")
    other.close()

    assert Heads(database).claim((1, 2), "a", "r").run == "r"
    database.close()


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError) as caught:
        open_database("postgresql://user:hunter2@host:port/name?what=else")

    assert "hunter2" not in str(caught.value)


def test_a_server_that_does_not_answer_is_given_up_without_its_address() -> None:
    with pytest.raises(ConfigError, match="does not answer") as caught:
        open_database("postgresql://user:hunter2@127.0.0.1:1/none", outage_s=0.0)

    assert "hunter2" not in str(caught.value)


@pytest.mark.slow
def test_a_server_keeps_the_same_things_in_the_same_way(server: str) -> None:
    with ThreadPoolExecutor(4) as pool:  # whoever starts at the same moment makes the tables too
        opened = list(pool.map(open_database, [server] * 4))
    database = opened[0]
    journal, other = DurableJournal(database, 1, 2), DurableJournal(database, 2, 2)
    journal.put("a\0b", '{"text": "\ud800"}')
    heads, runs = Heads(database), Runs(database)
    claim = heads.claim((5, 7), "a" * 40, "run-1", as_of=3)
    runs.add(_record("run-1", claim.sequence))
    intents = DurableIntents(database, 1)
    rate = SharedRate(database, "provider", 60, None)

    assert (journal.get("a\0b"), other.get("a\0b")) == ('{"text": "\ud800"}', None)
    assert heads.claim((5, 7), "b" * 40, "run-2", as_of=2).run == "run-1"
    assert (runs.begin("run-1", "me", "worker"), runs.owner("run-1")) == (1, "me")
    assert runs.end("run-1", "posted", "", "https://host.test", owner="me")
    assert (intents.begin("k", "me", 60), intents.begin("k", "you", 60)) == (True, False)
    intents.record_posted("k", 9)
    assert (intents.find_posted("k"), intents.begin("k", "you", 60)) == (9, True)
    assert [rate.take(1) > 0 for _ in range(4)] == [False, False, True, True]
    Workers(database).join("w1")
    assert (Workers(database).beat("w1"), Workers(database).dead("w2", -1.0)) == (True, ("w1",))
    assert (Chores(database).due("tidy", 60), Chores(database).due("tidy", 60)) == (True, False)
    runs.cost("run-1", 0.5, 10, "trace")
    assert runs.trace("run-1") == "trace"
    for each in opened:
        each.close()


@pytest.mark.slow
def test_a_connection_that_broke_is_made_anew(server: str) -> None:
    database = open_database(server)
    with psycopg.connect(server, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    assert database.run("SELECT 1") == [(1,)]
    with pytest.raises(ConfigError, match="refused a statement"):
        database.run("SELECT nothing FROM nowhere")
    database.close()


def _record(run: str, sequence: int) -> RunRecord:
    return RunRecord(run, 1, "o/n", 5, 7, "a" * 40, sequence, "waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
