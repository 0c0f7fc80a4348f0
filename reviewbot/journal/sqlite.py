"""The journal in one SQLite file: progress that survives a killed process, shared by the processes of one machine."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import TracebackType

from reviewbot.domain.errors import ConfigError

SCHEMA_VERSION = 1
"""Stands in `user_version`. A file of a newer version is refused and left as it is."""

APPLICATION_ID = 0x52765742
"""Stands in `application_id` ("RvWB"), so that another program's database is known as such."""

BUSY_S = 10.0
"""How long to wait while another process writes. One write takes about a millisecond."""

_ROOT = 0
"""The user who may write everywhere."""

_MAGIC = b"SQLite format 3\0"
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SCHEMA = """CREATE TABLE entries (
    key BLOB PRIMARY KEY, written INTEGER NOT NULL, value BLOB NOT NULL, digest BLOB NOT NULL
)"""

_SHRINK = """DELETE FROM entries WHERE key IN (
    SELECT key FROM (
        SELECT key, sum(length(value)) OVER (ORDER BY written DESC, key) AS total FROM entries
        WHERE key >= ? AND key < ?
    ) WHERE total > ?
)"""

_GET = "SELECT CAST(value AS BLOB), CAST(digest AS BLOB) FROM entries WHERE key = ?"
_PUT = "REPLACE INTO entries (key, value, digest, written) VALUES (?, ?, ?, ?)"


def default_path(environ: Mapping[str, str]) -> Path:
    """The journal of the command line. Raises ConfigError where neither XDG_CACHE_HOME nor HOME is an absolute path."""
    for variable, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
        folder = Path(environ.get(variable, ""))
        if folder.is_absolute():  # a relative XDG_CACHE_HOME is to be ignored, by the XDG rules
            return folder / below / "reviewbot" / "journal.sqlite"
    raise ConfigError("no place for the journal: set HOME or XDG_CACHE_HOME, or use --no-cache")


def read_entry(path: Path, key: str) -> str | None:
    """One entry of a journal, which is neither made nor mended for that; None where it is not there to be read."""
    try:
        if not path.exists():
            return None
        _make_file(path)  # which checks whose it is
        with closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
            _check_kind(connection, path)
            return _value(key, connection.execute(_GET, (_stored(key),)).fetchone())
    except (ConfigError, OSError, sqlite3.Error):
        return None


class SqliteJournal:
    """A `Journal` in a file. Safe to use from several threads and processes; `close` ends it.

    A damaged journal is renamed, never deleted, and a new one begun: `set_aside` then says where the old one is. An
    entry that no longer has its checksum counts as absent. Raises ConfigError for a file that cannot be used, is no
    journal, comes from a newer version, or that another user of this machine may have written: finished answers of
    models stand in it, and are believed.
    """

    def __init__(self, path: Path) -> None:
        self.set_aside: Path | None = None
        self._path = path
        self._lock = Lock()
        self._connection = self._open()

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return _value(key, self._run(_GET, _stored(key))[1])

    def put(self, key: str, value: str) -> None:
        """Store before returning, so that a kill of this process cannot undo it."""
        entry = (_stored(key), _stored(value))
        self._run(_PUT, *entry, _digest(*entry), int(time.time()))

    def expire(self, seconds: int) -> int:
        """Remove all entries that were put longer ago; returns how many. No caller resumes a run of last month."""
        return self._run("DELETE FROM entries WHERE written < ?", int(time.time()) - seconds)[0]

    def shrink(self, prefix: str, most: int) -> int:
        """Remove the oldest entries whose key begins with a prefix until the others have at most `most` bytes."""
        start, end = _range(prefix)
        return self._run(_SHRINK, start, end, most)[0]

    def forget(self, prefix: str) -> int:
        """Remove all entries whose key begins with a prefix; returns how many."""
        start, end = _range(prefix)
        return self._run("DELETE FROM entries WHERE key >= ? AND key < ?", start, end)[0]

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._connection.close()

    def _run(self, statement: str, *values: bytes | int) -> tuple[int, tuple[object, ...] | None]:
        """How many rows were changed, and the first one that was found; a damaged file may raise when that is read."""
        try:
            with self._lock:
                cursor = self._connection.execute(statement, values)
                return cursor.rowcount, cursor.fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _open(self) -> sqlite3.Connection:
        try:
            _make_file(self._path)
            connection = _connect(self._path)
            if connection is None:
                self.set_aside = _move_away(self._path)
                _make_file(self._path)
                connection = _connect(self._path)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None
        if connection is None:
            raise self._unusable("it is damaged again as soon as it is made")
        return connection

    def _unusable(self, why: object) -> ConfigError:
        return ConfigError(f"the journal {self._path} cannot be used: {why}; go without it by --no-cache")


class SteadyJournal(AbstractContextManager["SteadyJournal"]):
    """A journal whose failure does not fail the review: after the first error (a full disk) it is not used any more.

    `trouble` then says why, for the reader of the review.
    """

    def __init__(self, inner: SqliteJournal) -> None:
        self.inner = inner
        self.trouble: str | None = None

    def get(self, key: str) -> str | None:
        """The value, or None."""
        try:
            return None if self.trouble else self.inner.get(key)
        except ConfigError as error:
            self.trouble = f"this run cannot be resumed: {error}"
            return None

    def put(self, key: str, value: str) -> None:
        """Store, as long as that works."""
        try:
            if not self.trouble:
                self.inner.put(key, value)
        except ConfigError as error:
            self.trouble = f"this run cannot be resumed: {error}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.inner.close()


def _make_file(path: Path) -> None:
    """Have a file that only its owner can read, in such a folder; what exists is left as it is.

    Raises ConfigError where it exists and is no journal, or not ours alone to write.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A user who can write to the folder can replace the file, or a log of SQLite's.
    _check_ours(path, path.parent, path.parent.lstat())
    _check_ours(path, path.parent, path.parent.stat())
    # Not blocking, for a FIFO; no link, for no other user shall choose the file.
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"the journal {path} is no regular file; name another one")
        _check_ours(path, path, status)
        start = os.pread(descriptor, len(_MAGIC), 0)
    finally:
        os.close(descriptor)
    if start.strip(b"\0") and start != _MAGIC:  # NULs alone are what a lost write leaves
        raise ConfigError(f"{path} exists and is no journal; move it away, or name another file")


def _check_ours(journal: Path, path: Path, status: os.stat_result) -> None:
    """Raise ConfigError where another user owns a file or folder, or may write to it. A link has no mode of its own."""
    if status.st_uid not in (os.geteuid(), _ROOT):
        why = f"{path} belongs to another user of this machine"
    elif not stat.S_ISLNK(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        why = f"other users of this machine may write to {path}"
    else:
        return
    how = "remove it, set XDG_CACHE_HOME to a folder of your own, or use --no-cache"
    raise ConfigError(f"the journal {journal} is not used: {why}; {how}")


def _connect(path: Path) -> sqlite3.Connection | None:
    """Open a journal; None where the file is damaged."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    usable = False
    try:
        _check_kind(connection, path)
        usable = _prepare(connection)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode not in _DAMAGED:
            raise
    finally:
        if not usable:
            connection.close()
    if usable:
        path.chmod(0o600)
    return connection if usable else None


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    # In one transaction, for another process may be making the journal right now.
    connection.execute("BEGIN")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute("ROLLBACK")
    if tables and owner != APPLICATION_ID:
        raise ConfigError(f"{path} is a database of another program; name another file")
    if version > SCHEMA_VERSION:
        raise ConfigError(
            f"the journal {path} comes from a newer version; name another file, or go without by --no-cache"
        )


def _prepare(connection: sqlite3.Connection) -> bool:
    """Make the table where there is none; whether the file is whole."""
    with suppress(sqlite3.OperationalError):  # another process is about to do the same; the mode stays in the file
        connection.execute("PRAGMA journal_mode = WAL")
    # `put` returns when the write is in the log, which the system then holds: killing us loses nothing. FULL would wait
    # for the disk each time as well; without that a power cut can lose the last entries, and never tears the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")
    return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")


def _move_away(path: Path) -> Path:
    """Rename a damaged journal and its log; an earlier one is not overwritten."""
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(target)
    with suppress(FileNotFoundError):
        Path(f"{path}-wal").rename(f"{target}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)  # only an index of the log, made anew from it
    return target


def _range(prefix: str) -> tuple[bytes, bytes]:
    """The first key that begins with a prefix, and the first behind all of these."""
    start = _stored(prefix)
    # UTF-8 holds no byte 0xff, so that there is always a next one.
    return start, start[:-1] + bytes((start[-1] + 1,)) if start else b"\xff"


def _value(key: str, row: tuple[object, ...] | None) -> str | None:
    """The value in a row of value and checksum; None where there is no row, or it no longer has its checksum."""
    if row is None or not isinstance(row[0], bytes) or row[1] != _digest(_stored(key), row[0]):
        return None
    return str(row[0], "utf-8", "surrogatepass")


def _stored(text: str) -> bytes:
    """Bytes, so that neither a NUL nor a lone surrogate is a special case."""
    return text.encode("utf-8", "surrogatepass")


def _digest(key: bytes, value: bytes) -> bytes:
    return sha256(len(key).to_bytes(8, "big") + key + value).digest()
