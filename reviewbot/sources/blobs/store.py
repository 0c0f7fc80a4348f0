"""Store the files of all repositories in one private folder of bounded size, shared by threads and processes.

A repository's folder holds segments, which never change, and a lock. A writer holds the lock; a reader needs none,
for a segment that is removed stays whole for the readers that have it open.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock

from reviewbot.domain.repository_files import Expression
from reviewbot.sources.blobs.segment import DamagedError, Segment, SegmentWriter, hash_of

MAX_STORE_BYTES = 2 * 2**30
"""Of all repositories. The one that was used longest ago goes first."""

MAX_AGE_S = 7 * 24 * 3_600
"""Since a repository was last opened; then its files go."""

MAX_SEGMENTS = 16
"""Of one repository; with more of them, what is wanted now is written into one."""

SPARE_BYTES = 256 * 2**20
"""Of the disk, left alone."""

_POLL_S = 0.05
_SEGMENT = ".sqlite"
_PART = ".part"
_LOCK = "lock"


class BusyError(OSError):
    """Another review is adding to the same repository, and did not end in time."""


class BlobStore:
    """All repositories. Raises OSError where the folder cannot be used, or is not ours alone."""

    def __init__(self, root: Path, max_bytes: int = MAX_STORE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._root = root
        _make_private(root)

    def repository(self, *names: object) -> BlobFolder:
        """The folder of the repository that these words name together. Raises OSError."""
        key = hashlib.sha256("\0".join(map(str, names)).encode("utf-8", "replace")).hexdigest()[:40]
        return BlobFolder(self._root / key, self)

    def check_space(self, size: int) -> None:
        """Raise OSError where so many bytes more would be too much for the folder or for the disk."""
        if size > self.max_bytes or size > shutil.disk_usage(self._root).free - SPARE_BYTES:
            raise OSError(errno.ENOSPC, f"{size >> 20} MiB more are too much for {self._root}")

    def evict(self, kept: Path) -> None:
        """Remove repositories that are not used any more, and others until the rest is small enough.

        Never `kept`, nor one that is being added to.
        """
        found = []
        with os.scandir(self._root) as entries:
            for entry in entries:
                with suppress(OSError):  # another process may be removing it as well
                    found.append((_used(Path(entry.path)), _size(Path(entry.path)), Path(entry.path)))
        left = sum(size for _, size, _ in found)
        oldest = time.time() - MAX_AGE_S
        for used, size, folder in sorted(found):
            if left <= self.max_bytes and used > oldest:
                return
            if folder != kept and _remove(folder):
                left -= size


class Addition:
    """What is added to a repository in one go."""

    def __init__(self, writer: SegmentWriter, left: set[str]) -> None:
        self.left = left
        """The hashes that are wanted and were not added so far."""
        self._writer = writer

    def keep(self, content: bytes) -> bool:
        """Take the bytes of a file, if it is one of those wanted: only its hash says so, and nothing else counts.

        Raises OSError.
        """
        sha = hash_of(content, self.left)
        if sha not in self.left:
            return False
        self.left.discard(sha)
        self._writer.add(sha, content)
        return True


class BlobFolder:
    """The files of one repository; safe to use from several threads."""

    def __init__(self, folder: Path, store: BlobStore) -> None:
        self._folder = folder
        self._store = store
        self._lock = Lock()
        _make_private(folder)
        self._segments = _load(folder)
        with suppress(FileNotFoundError):
            os.utime(folder / _LOCK)

    def missing(self, wanted: Iterable[str]) -> set[str]:
        """The hashes of files that are not kept here."""
        return set(wanted).difference(*(segment.hashes() for segment in self._segments))

    def read(self, sha: str) -> bytes | None:
        """A file by its hash; None where it is not kept here."""
        found = (segment.read(sha) for segment in self._segments)
        return next((content for content in found if content is not None), None)

    def check_space(self, size: int) -> None:
        """As of the store."""
        self._store.check_space(size)

    def scan(self, expression: Expression, wanted: Collection[str], *, crlf: bool) -> Iterator[str]:
        """Yield the hashes of those wanted text files that match; some that do not, and one twice, too."""
        for segment in self._segments:
            yield from segment.scan(expression, wanted, crlf=crlf)

    @contextmanager
    def adding(self, wanted: Collection[str], seconds: float) -> Iterator[Addition]:
        """Hold the repository for as long as the block takes, and look first what others have added meanwhile.

        What was added counts from the end of the block on, also where the block raises. Raises OSError, and BusyError
        where another one holds it for `seconds`.
        """
        _make_private(self._folder)
        with _locked(self._folder / _LOCK, seconds):
            self._reload()
            with self._new_segment() as writer:
                yield Addition(writer, self.missing(wanted))
            self._reload()
            if len(self._segments) > MAX_SEGMENTS:
                self._compact(wanted)
            self._store.evict(self._folder)

    @contextmanager
    def _new_segment(self) -> Iterator[SegmentWriter]:
        part = self._folder / f"{token_hex(8)}{_PART}"
        writer = SegmentWriter(part)
        try:
            yield writer
        finally:
            try:
                if writer.finish():
                    part.rename(part.with_suffix(_SEGMENT))
            finally:
                part.unlink(missing_ok=True)

    def _compact(self, wanted: Collection[str]) -> None:
        """Write what is wanted now into one segment and let go of the others. Only while holding the lock."""
        before = self._segments
        with self._new_segment() as writer:
            for sha in wanted:
                content = self.read(sha)
                if content is not None:
                    writer.add(sha, content)
        for segment in before:
            segment.path.unlink(missing_ok=True)
        self._reload()

    def _reload(self) -> None:
        """Look again which segments there are; remove what a killed process or an older version left.

        Only while holding the lock.
        """
        for path in self._folder.iterdir():
            if path.name != _LOCK and path.suffix != _SEGMENT:
                path.unlink(missing_ok=True)
        with self._lock:
            self._segments = _load(self._folder, {segment.path: segment for segment in self._segments})


def _load(folder: Path, known: dict[Path, Segment] | None = None) -> tuple[Segment, ...]:
    """The segments of a folder, the largest first. What is damaged is removed."""
    found = []
    for path in sorted(folder.glob(f"*{_SEGMENT}")):
        try:
            found.append((known or {}).get(path) or Segment(path))
        except FileNotFoundError:
            continue
        except DamagedError:
            path.unlink(missing_ok=True)
    return tuple(sorted(found, key=lambda segment: -segment.size))


def _make_private(folder: Path) -> None:
    """Make a folder that only we may enter. Raises OSError where it is another's, or a link."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not a folder of our own")
    if status.st_mode & 0o077:
        folder.chmod(0o700)


@contextmanager
def _locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold a lock file, which another process may remove with its folder. Raises OSError, and BusyError."""
    end = time.monotonic() + seconds
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if _is_held(descriptor, path):
                os.utime(descriptor)
                yield
                return
        finally:
            os.close(descriptor)
        if time.monotonic() >= end:
            raise BusyError("another review is fetching the same repository")
        time.sleep(_POLL_S)


def _is_held(descriptor: int, path: Path) -> bool:
    """Whether the lock is ours now, and still the one at its path."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _used(folder: Path) -> float:
    """When a repository was last opened. Raises OSError."""
    lock = folder / _LOCK
    return lock.stat().st_mtime if lock.exists() else folder.stat().st_mtime


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _remove(folder: Path) -> bool:
    """Remove a repository unless another thread or process holds its lock."""
    try:
        with _locked(folder / _LOCK, 0):
            shutil.rmtree(folder)
    except OSError:
        return False
    return True
