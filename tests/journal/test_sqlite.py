from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.errors import ConfigError
from reviewbot.domain.ports import Journal
from reviewbot.journal.sqlite import APPLICATION_ID, SCHEMA_VERSION, SqliteJournal, SteadyJournal, default_path

ROOT = str(Path(__file__).parents[2])


def refusal(path: Path) -> str:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ConfigError) as caught:
        SqliteJournal(path)
    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    return str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "journal.sqlite"


# --- the place ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/reviewbot/journal.sqlite"),
        ({"HOME": "/h"}, "/h/.cache/reviewbot/journal.sqlite"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/reviewbot/journal.sqlite"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/reviewbot/journal.sqlite"),
    ],
)
def test_the_default_place_follows_the_environment(environ: dict[str, str], expected: str) -> None:
    assert default_path(environ) == Path(expected)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "here", "XDG_CACHE_HOME": "there"}])
def test_without_a_home_a_person_is_told_what_to_do(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="set HOME or XDG_CACHE_HOME, or use --no-cache"):
        default_path(environ)


def test_only_the_owner_may_read_the_file_and_its_folder(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(SqliteJournal(path)) as journal:
            journal.put("key", "value")
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(before)

    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_journal_that_others_may_read_is_closed_to_them(path: Path) -> None:
    SqliteJournal(path).close()
    path.chmod(0o644)

    SqliteJournal(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- another user of the machine ----------------------------------------------------------------------------------

OTHER_USER = 12_345
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
FORGED = "answer:of a model"


@pytest.fixture
def forged(path: Path) -> Path:
    """A journal with an answer that nobody's model gave."""
    with closing(SqliteJournal(path)) as journal:
        journal.put(FORGED, '{"findings": []}')
    return path


@AS_ROOT
@pytest.mark.parametrize("what", ["file", "folder", "link to the folder"])
def test_a_journal_of_another_user_is_not_believed(what: str, forged: Path, tmp_path: Path) -> None:
    used = forged
    if what == "link to the folder":
        link = tmp_path / "link"
        link.symlink_to(forged.parent)
        os.chown(link, OTHER_USER, OTHER_USER, follow_symlinks=False)
        used = link / forged.name
    else:
        os.chown(forged if what == "file" else forged.parent, OTHER_USER, OTHER_USER)

    assert "belongs to another user of this machine" in refusal(used)


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666])
def test_a_journal_that_others_may_write_to_is_not_believed(mode: int, forged: Path) -> None:
    forged.chmod(mode)

    assert f"other users of this machine may write to {forged}; remove it" in refusal(forged)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_journal_in_a_folder_that_others_may_write_to_is_not_believed(mode: int, forged: Path) -> None:
    """They could put another file in its place, or a log of SQLite's beside it."""
    forged.parent.chmod(mode)

    assert f"may write to {forged.parent}; remove it, set XDG_CACHE_HOME to" in refusal(forged)


def test_a_journal_that_is_a_link_is_not_followed(forged: Path) -> None:
    (forged.parent / "link.sqlite").symlink_to(forged)

    assert "cannot be used" in refusal(forged.parent / "link.sqlite")


def test_a_folder_that_we_ourselves_have_linked_is_used(forged: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(forged.parent)

    with closing(SqliteJournal(tmp_path / "link" / forged.name)) as journal:
        assert journal.get(FORGED) is not None


# --- keys and values ----------------------------------------------------------------------------------------------


def test_what_was_put_is_got_also_by_the_next_process(path: Path) -> None:
    with closing(SqliteJournal(path)) as first:
        first.put("key", "old")
        first.put("key", "new")
    with closing(SqliteJournal(path)) as second:
        journal: Journal = second
        assert journal.get("key") == "new"
        assert journal.get("other") is None


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_any_text_is_a_key_and_a_value(tmp_path: Path, key: str, value: str) -> None:
    with closing(SqliteJournal(tmp_path / "any.sqlite")) as journal:
        journal.put(key, value)
        assert journal.get(key) == value


@pytest.mark.parametrize("odd", ["\ud800", "a\0b", "", "\U0010ffff", "x" * 2_000_000])
def test_an_odd_text_comes_back_as_it_was(path: Path, odd: str) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put(odd, odd)
        assert journal.get(odd) == odd


def test_forgetting_takes_the_keys_of_a_prefix_and_no_other(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        for key in ("run1:a", "run1:", "run1:\U0010ffff", "run1", "run2:a", "run1%", "\ud800"):
            journal.put(key, "x")

        assert journal.forget("run1:") == 3
        assert [journal.get(key) for key in ("run1:a", "run1:\U0010ffff")] == [None, None]
        assert [journal.get(key) for key in ("run1", "run2:a", "run1%")] == ["x", "x", "x"]
        assert journal.forget("\ud800") == 1
        assert journal.forget("") == 3
        assert journal.forget("") == 0


# --- several at once ----------------------------------------------------------------------------------------------


def test_what_is_old_expires_and_what_is_new_stays(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("old", "1")
        journal._connection.execute("UPDATE entries SET written = written - 100")
        journal.put("new", "2")

        assert journal.expire(99) == 1
        assert (journal.get("old"), journal.get("new")) == (None, "2")


def test_threads_share_a_journal(path: Path) -> None:
    def work(number: int) -> str | None:
        journal.put(f"key{number}", str(number))
        return journal.get(f"key{number}")

    with closing(SqliteJournal(path)) as journal, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(200))) == [str(number) for number in range(200)]


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from reviewbot.journal.sqlite import SqliteJournal
journal = SqliteJournal(Path(sys.argv[2]))
for number in range(int(sys.argv[4])):
    journal.put(f"{sys.argv[3]}:{number}", "x" * 1000)
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, ROOT, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_processes_that_begin_at_once_share_a_journal(path: Path) -> None:
    children = [writer(path, name, 50) for name in "abcd"]
    for child in children:
        child.communicate()

    assert [child.returncode for child in children] == [0, 0, 0, 0]
    with closing(SqliteJournal(path)) as journal:
        assert all(journal.get(f"{name}:{number}") for name in "abcd" for number in range(50))


@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_killed_process_loses_nothing_that_it_had_put(path: Path, after: int) -> None:
    with writer(path, "a", 100_000) as child:
        assert child.stdout is not None
        said = [int(child.stdout.readline()) for _ in range(after)]
        child.send_signal(signal.SIGKILL)
        said += [int(line) for line in child.stdout.read().split(b"\n") if line]

    with closing(SqliteJournal(path)) as journal:
        assert journal.set_aside is None
        assert all(journal.get(f"a:{number}") == "x" * 1000 for number in said)


def test_a_journal_that_another_process_locks_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal._connection.execute("PRAGMA busy_timeout = 0")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConfigError, match="cannot be used: database is locked; go without it by --no-cache"):
            journal.put("key", "value")
        other.execute("ROLLBACK")
        other.close()
        journal.put("key", "value")
        assert journal.get("key") == "value"


# --- damage -------------------------------------------------------------------------------------------------------


def filled(path: Path) -> bytes:
    with closing(SqliteJournal(path)) as journal:
        for number in range(200):
            journal.put(f"key{number}", "value" * 50)
    return path.read_bytes()


@pytest.mark.parametrize("keep", [100, 4096, 4097, 20_000])
def test_a_torn_journal_is_set_aside_and_a_new_one_begun(path: Path, keep: int) -> None:
    torn = filled(path)[:keep]
    path.write_bytes(torn)

    with closing(SqliteJournal(path)) as journal:
        assert journal.set_aside == path.with_name("journal.sqlite.damaged-1")
        assert journal.get("key1") is None
        journal.put("key1", "again")

    assert (path.parent / "journal.sqlite.damaged-1").read_bytes() == torn
    with closing(SqliteJournal(path)) as journal:
        assert journal.get("key1") == "again"
        assert journal.set_aside is None


def test_an_earlier_damaged_journal_is_not_overwritten(path: Path) -> None:
    for _ in range(2):
        path.unlink(missing_ok=True)
        path.write_bytes(filled(path)[:4097])
        SqliteJournal(path).close()

    names = sorted(each.name for each in path.parent.iterdir())
    assert names == ["journal.sqlite", "journal.sqlite.damaged-1", "journal.sqlite.damaged-2"]


def test_a_journal_of_nuls_alone_is_set_aside(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(bytes(8192))

    with closing(SqliteJournal(path)) as journal:
        assert journal.set_aside is not None


def test_the_log_of_a_damaged_journal_goes_with_it(path: Path) -> None:
    with closing(SqliteJournal(path)) as old:
        old.put("key", "value")
        old._connection.execute("PRAGMA wal_checkpoint")
        log = Path(f"{path}-wal").read_bytes()
        with path.open("r+b") as stream:
            stream.write(b"SQLite format 3\0" + b"\xff" * 84)

        with closing(SqliteJournal(path)) as journal:
            journal.put("key", "new")
            assert journal.set_aside is not None
            assert Path(f"{journal.set_aside}-wal").read_bytes() == log
            assert journal.get("key") == "new"


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_is_never_taken_for_a_value(path: Path, seed: int) -> None:
    content = bytearray(filled(path))
    place = (seed * 7919 + 100) % len(content)
    content[place] ^= 1 << seed % 8
    path.write_bytes(content)

    with closing(SqliteJournal(path)) as journal:
        values = set()
        for number in range(200):
            try:
                values.add(journal.get(f"key{number}"))
            except ConfigError:
                values.add(None)

    assert values <= {"value" * 50, None}


def test_a_value_without_its_checksum_counts_as_absent(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        journal._connection.execute("UPDATE entries SET value = X'00'")

        assert journal.get("key") is None


def test_a_value_that_was_put_under_another_key_counts_as_absent(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")
        journal._connection.execute("UPDATE entries SET key = CAST('other' AS BLOB)")

        assert journal.get("other") is None


# --- files of others ----------------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("my notes")

    assert "exists and is no journal; move it away, or name another file" in refusal(path)


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()

    assert "is a database of another program; name another file" in refusal(path)


def test_a_journal_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    SqliteJournal(path).close()
    with sqlite3.connect(path) as newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()

    assert "comes from a newer version" in refusal(path)


def test_an_empty_file_and_an_empty_database_become_a_journal(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    SqliteJournal(path).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        connection.execute("DROP TABLE entries")
    connection.close()

    with closing(SqliteJournal(path)) as journal:
        journal.put("key", "value")


def test_a_journal_that_cannot_be_written_says_how_to_go_without(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    Path(f"{path}-journal").mkdir()

    assert "cannot be used: unable to open database file; go without it by --no-cache" in refusal(path)


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "below a file", "device"])
def test_what_is_no_regular_file_is_refused(path: Path, kind: str) -> None:
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(path.parent / "target")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "below a file":
        path.touch()
        path = path / "journal"
    else:
        path = Path("/dev/null")

    assert "journal" in refusal(path)
    assert not (path.parent / "target").exists()


def test_a_journal_that_fails_is_done_without_and_says_why(path: Path) -> None:
    with SteadyJournal(SqliteJournal(path)) as journal:
        journal.put("a", "1")
        assert journal.get("a") == "1"
        journal.inner._connection.execute("DROP TABLE entries")

        journal.put("b", "2")
        assert journal.get("a") is None

        assert journal.trouble is not None
        assert journal.trouble.startswith("this run cannot be resumed: ")


def test_a_journal_that_cannot_be_read_is_done_without_as_well(path: Path) -> None:
    with SteadyJournal(SqliteJournal(path)) as journal:
        journal.inner._connection.execute("DROP TABLE entries")

        assert journal.get("a") is None
        assert journal.trouble is not None


def test_of_what_begins_with_a_prefix_the_oldest_goes_until_the_rest_is_small_enough(path: Path) -> None:
    with closing(SqliteJournal(path)) as journal:
        for at, key in enumerate(("report/old", "report/middle", "report/new", "run/old")):
            journal.put(key, "x" * 40)
            journal._run("UPDATE entries SET written = ? WHERE key = ?", 100 + at, key.encode())

        assert journal.shrink("report/", 120) == 0
        assert journal.shrink("report/", 100) == 1
        assert [journal.get(key) is None for key in ("report/old", "report/middle", "report/new", "run/old")] == [
            True, False, False, False,
        ]  # fmt: skip
        assert journal.shrink("", 0) == 3
