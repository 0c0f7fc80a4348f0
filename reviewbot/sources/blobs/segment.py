"""A segment: many files by their hash in one SQLite file, written once and never changed.

SQLite is the format alone: no segment is ever locked, has a journal, or is written to by a second process. A reader
has it open, so that it stays whole after it was removed, and believes of it only what fits its hash.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import weakref
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha1, sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from reviewbot.domain.repository_files import MAX_FILE_BYTES, Expression, is_binary
from reviewbot.threads import check_stopped

_SCHEMA = """
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
CREATE TABLE blobs (sha TEXT PRIMARY KEY, content BLOB NOT NULL);
"""
"""A file that is not finished is thrown away, so that nothing has to be rolled back."""

_SHA1_DIGITS = 40

ROWS_PER_TURN = 256
"""Files that one thread reads before the next thread may."""

_TURN = Lock()
"""Of the threads that read: between two rows SQLite lets another thread run, and to change threads takes longer than a
row does."""

_NEXT = Lock()
"""Held by the thread that has the turn after this one: else one that ends its turn would take the next one, too."""


class DamagedError(Exception):
    """A file is not a whole segment."""


class Segment:
    """A segment that is open for reading; safe to use from several threads, also after its file was removed."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, and DamagedError."""
        self.path = path
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise DamagedError("not ours")
        self.size = status.st_size
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        weakref.finalize(self, self._database.close)
        if not any(self._rows("SELECT count(*) FROM blobs")):
            raise DamagedError("no table of files")

    def hashes(self) -> Iterator[str]:
        """Yield the hash of each file."""
        yield from (sha for (sha,) in self._rows("SELECT sha FROM blobs"))

    def read(self, sha: str) -> bytes | None:
        """A file; None where it is not in here, or the segment was cut short."""
        with _turn():
            found = self._rows("SELECT content FROM blobs WHERE sha = ?", sha)
            return next((content for (content,) in found if hash_of(content, [sha]) == sha), None)

    def scan(self, expression: Expression, wanted: Collection[str], *, crlf: bool) -> Iterator[str]:
        """Yield the hashes of those wanted text files that match.

        `crlf`: whether a file with CR LF counts in any case, since the expression may take it for LF.
        Other threads read in between. Raises Stopped.
        """

        def is_hit(sha: str, content: bytes) -> bool:
            matches = expression.search(content) or (crlf and b"\r\n" in content)
            return bool(matches) and sha in wanted and not is_binary(content)

        rows = self._rows("SELECT sha, content FROM blobs")
        read = [""]
        while read:
            check_stopped()
            with _turn():
                read = [sha if is_hit(sha, content) else "" for sha, content in islice(rows, ROWS_PER_TURN)]
            yield from filter(None, read)

    def _rows(self, statement: str, *values: str) -> Iterator[tuple[Any, ...]]:
        """Yield what is selected; fewer rows, or none, where the file is no whole segment."""
        with suppress(sqlite3.Error):
            yield from self._database.execute(statement, values)


class SegmentWriter:
    """Writes a new segment. All that it raises is OSError."""

    def __init__(self, path: Path) -> None:
        with _errors_of_the_disk():
            self._database = sqlite3.connect(path)
            self._database.executescript(_SCHEMA)

    def add(self, sha: str, content: bytes) -> None:
        """Add a file, once."""
        with _errors_of_the_disk():
            self._database.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (sha, content))

    def finish(self) -> bool:
        """Write everything down to the disk; False where nothing was added."""
        with _errors_of_the_disk(), closing(self._database):
            self._database.commit()
            return self._database.total_changes > 0


@contextmanager
def _turn() -> Iterator[None]:
    with _NEXT:
        _TURN.acquire()
    try:
        yield
    finally:
        _TURN.release()


@contextmanager
def _errors_of_the_disk() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from None


def hash_of(content: bytes, like: Collection[str]) -> str:
    """What git calls a file of these bytes, in a repository whose objects are named like these."""
    if len(content) > MAX_FILE_BYTES:
        return ""
    whole = b"blob %d\0" % len(content) + content
    # Git's own names of objects. A server that wanted to deceive could as well answer wrongly by name.
    if len(next(iter(like), "")) > _SHA1_DIGITS:
        return sha256(whole).hexdigest()
    return sha1(whole, usedforsecurity=False).hexdigest()
