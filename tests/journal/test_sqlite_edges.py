"""The journal's file, where one byte, one key or one error more decides."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.errors import ConfigError
from reviewbot.journal.sqlite import SCHEMA_VERSION, SqliteJournal, SteadyJournal

WAITS_S = 0.05
"""How long a writer is watched waiting; what it waits for ends right after."""


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture(name="other")
def _other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process at the same journal."""
    SqliteJournal(path).close()
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    yield connection
    connection.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def held(path: Path) -> list[str]:
    """The files beside `path`, and itself, that this process has open."""
    links = (link for link in Path("/dev/fd").iterdir() if link.is_symlink())
    found = (str(link.readlink()) for link in links if link.exists())
    return [target for target in found if target.startswith(str(path.parent))]


# --- keys and entries


KEYS = st.text(st.sampled_from("ab/%_\x7f\x80\uffff\U0010ffff\ud800"), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.sets(KEYS, max_size=8), prefix=KEYS)
def test_forgetting_a_prefix_takes_exactly_the_keys_that_begin_with_it(
    tmp_path: Path, keys: set[str], prefix: str
) -> None:
    with closing(SqliteJournal(tmp_path / "any.sqlite")) as journal:
        journal.forget("")
        for key in keys:
            journal.put(key, "x")
        begin = {key for key in keys if key.startswith(prefix)}

        assert journal.forget(prefix) == len(begin)
        assert {key for key in keys if journal.get(key) is not None} == keys - begin


def test_an_entry_that_is_put_again_is_as_young_as_a_new_one(path: Path, other: sqlite3.Connection) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("again", "1")
        journal.put("once", "1")
        other.execute("UPDATE entries SET written = written - 1000")
        journal.put("again", "1")

        assert journal.expire(500) == 1
        assert (journal.get("again"), journal.get("once")) == ("1", None)


def test_what_is_not_yet_old_enough_does_not_expire(path: Path, other: sqlite3.Connection) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "1")
        other.execute("UPDATE entries SET written = written - 1000")

        assert (journal.expire(2000), journal.get("key")) == (0, "1")


def test_a_checksum_of_the_same_bytes_parted_otherwise_does_not_count(path: Path, other: sqlite3.Connection) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("ab", "c")
        other.execute("UPDATE entries SET key = CAST('a' AS BLOB), value = CAST('bc' AS BLOB)")

        assert journal.get("a") is None


@pytest.mark.parametrize("digest", ["X''", "zeroblob(32)", "substr(digest, 1, 31)"])
def test_an_entry_whose_checksum_is_damaged_is_absent_until_it_is_put_again(
    digest: str, path: Path, other: sqlite3.Connection
) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        other.execute(f"UPDATE entries SET digest = {digest}")
        assert journal.get("key") is None

        journal.put("key", "value")
        assert journal.get("key") == "value"


# --- other processes


def test_a_journal_is_read_while_another_process_writes(path: Path, other: sqlite3.Connection) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        other.execute("BEGIN EXCLUSIVE")

        assert journal.get("key") == "value"
        other.execute("ROLLBACK")


def test_whoever_puts_waits_for_another_process_that_writes(path: Path, other: sqlite3.Connection) -> None:
    with closing(SqliteJournal(path)) as journal, ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN IMMEDIATE")
        putting = pool.submit(journal.put, "key", "value")
        with pytest.raises(TimeoutError):
            putting.exception(WAITS_S)
        other.execute("ROLLBACK")
        putting.result()

        assert journal.get("key") == "value"


def test_a_second_journal_of_one_file_sees_what_the_first_puts_and_forgets(path: Path) -> None:
    with closing(SqliteJournal(path)) as one, closing(SqliteJournal(path)) as two:
        one.put("key", "value")
        assert two.get("key") == "value"
        two.forget("k")
        assert one.get("key") is None


# --- the end


def test_a_journal_that_is_closed_says_that_it_cannot_be_used(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.close()

        with pytest.raises(ConfigError, match=r"cannot be used: .*closed.*--no-cache") as caught:
            journal.get("key")
        assert str(path) in str(caught.value)


def broken_off(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        assert held(path)
        raise ZeroDivisionError


def test_leaving_a_journal_lets_go_of_its_files_also_after_an_error(path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        broken_off(path)
    assert held(path) == []
    with SteadyJournal(SqliteJournal(path)) as steady:
        assert steady.get("key") == "value"
    assert held(path) == []


def test_a_steady_journal_that_failed_once_is_not_asked_again(path: Path, other: sqlite3.Connection) -> None:
    with SteadyJournal(SqliteJournal(path)) as journal:
        journal.put("before", "1")
        other.execute("ALTER TABLE entries RENAME TO lost")
        journal.put("during", "2")
        told = journal.trouble
        other.execute("ALTER TABLE lost RENAME TO entries")
        journal.put("after", "3")

        assert told is not None
        assert str(path) in told
        assert (journal.get("before"), journal.trouble) == (None, told)
    with closing(SqliteJournal(path)) as later:
        assert [later.get(key) for key in ("before", "during", "after")] == ["1", None, None]


def test_a_steady_journal_that_could_not_be_read_is_not_written_either(path: Path, other: sqlite3.Connection) -> None:
    with SteadyJournal(SqliteJournal(path)) as journal:
        other.execute("ALTER TABLE entries RENAME TO lost")
        journal.get("key")
        other.execute("ALTER TABLE lost RENAME TO entries")
        journal.put("key", "value")
    with closing(SqliteJournal(path)) as later:
        assert later.get("key") is None


def test_a_steady_journal_that_works_has_no_trouble(path: Path) -> None:
    with SteadyJournal(SqliteJournal(path)) as journal:
        assert (journal.get("key"), journal.trouble) == (None, None)


# --- what lies there already


@pytest.mark.parametrize(
    "content",
    [b"S", b"SQLite format 3", b"SQLite format 4\0", b"\0SQLite format 3\0", bytes(15) + b"x"],
    ids=["a letter", "one byte less", "another format", "one byte later", "the last byte that is looked at"],
)
def test_a_file_that_begins_almost_like_a_journal_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o644)

    with pytest.raises(ConfigError, match="exists and is no journal"):
        SqliteJournal(path)
    assert (path.read_bytes(), mode(path), list(path.parent.iterdir())) == (content, 0o644, [path])


@pytest.mark.parametrize("size", [1, 15, 16, 4096])
def test_a_file_of_nuls_of_any_size_becomes_a_journal(path: Path, size: int) -> None:
    path.write_bytes(bytes(size))

    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        assert journal.get("key") == "value"


@pytest.mark.parametrize("statement", ["CREATE TABLE entries (url)", f"PRAGMA user_version = {SCHEMA_VERSION + 1}"])
def test_a_refused_database_keeps_its_mode_and_nobody_holds_it_open(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()
    path.chmod(0o644)

    with pytest.raises(ConfigError) as caught:
        SqliteJournal(path)

    assert (mode(path), held(path)) == (0o644, []), caught.value


def test_a_folder_that_is_there_keeps_its_mode(path: Path) -> None:
    path.parent.chmod(0o755)
    SqliteJournal(path).close()

    assert mode(path.parent) == 0o755


def test_the_folders_above_are_made(path: Path) -> None:
    deep = path.parent / "a" / "b" / "journal.sqlite"
    SqliteJournal(deep).close()

    assert (mode(deep), mode(deep.parent)) == (0o600, 0o700)


def test_a_damaged_journal_leaves_its_new_one_no_old_index(path: Path) -> None:
    SqliteJournal(path).close()
    torn = path.read_bytes()[:4097]
    path.write_bytes(torn)
    Path(f"{path}-shm").write_bytes(b"an old index")

    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        assert journal.set_aside is not None
        assert journal.set_aside.read_bytes() == torn
        assert held(journal.set_aside / "below") == []
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, f"{path.name}.damaged-1"]


@pytest.mark.parametrize("column", ["value", "digest"])
@pytest.mark.parametrize("change", ["CAST({} AS TEXT)", "NULL", "7", "CAST(X'ff' AS TEXT)"])
def test_an_entry_whose_kind_was_changed_in_the_file_is_absent_and_nobody_fails(
    column: str, change: str, path: Path, other: sqlite3.Connection
) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        other.execute("CREATE TABLE loose AS SELECT * FROM entries")  # without the rules of the table
        other.execute("DROP TABLE entries")
        other.execute("ALTER TABLE loose RENAME TO entries")
        other.execute(f"UPDATE entries SET {column} = {change.format(column)}")

        assert journal.get("key") in (None, "value"), "its bytes may still be right"
