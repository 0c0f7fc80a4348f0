"""The folder of a repository's pull requests: read through no link, written under a lock and at once.

Files are opened by name below the open folder; what is no regular file, or a link, is refused. A file is replaced as a
whole, so that a reader, or a writer that is killed, leaves the old one or the new one.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import HostAccessError, HostError, HostLimitError, HostMissingError
from reviewbot.hosts.local.records import Activity, PullRecord
from reviewbot.sources.folder.files import open_folder, read_at
from reviewbot.strict_json import mend_surrogates, strictly, write_json

FOLDER = "pulls"
"""Of the pull requests, in the git directory of their repository: git leaves it alone, and no branch reaches it."""

MAX_BYTES = 64 * 2**20
"""Of one file. A review and its check run take some 200 KB at most."""

MAX_PULLS = 10_000

LOCK_S = 10.0
"""How long to wait for another program that writes."""

_LOCK = ".lock"
_PULL_FILE = re.compile(r"([1-9][0-9]{0,9})\.json")
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCKING = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ACCOUNTS = TypeAdapter(dict[str, str])

Record = TypeVar("Record", bound=BaseModel)


class PullFolder:
    """The pull requests of one repository. Raises HostError and its kinds alone."""

    def __init__(self, git_dir: Path) -> None:
        self.path = git_dir / FOLDER
        self._git_dir = git_dir

    def numbers(self) -> list[int]:
        """The numbers of all pull requests, at most `MAX_PULLS`, sorted."""
        with self._opened() as folder:
            names = os.listdir(folder)  # noqa: PTH208 - a descriptor
        return sorted(int(found[1]) for name in names if (found := _PULL_FILE.fullmatch(name)))[:MAX_PULLS]

    def pull(self, number: int) -> PullRecord:
        """A pull request. Raises HostMissingError where there is none of this number."""
        name = f"{int(number)}.json"
        with self._opened() as folder:
            value = self._read(folder, name)
        if value is None:
            raise HostMissingError(f"there is no pull request {number}: {self.path / name} does not exist")
        found = self._valid(PullRecord, name, value)
        if found.number not in (None, number):
            raise HostError(f"{self.path / name} says that it is pull request {found.number}")
        return found

    def associations(self) -> dict[str, str]:
        """What each account is to the repository, such as OWNER, by `accounts.json`; empty where there is none."""
        name = "accounts.json"
        with self._opened() as folder:
            value = self._read(folder, name)
        try:
            return {} if value is None else _ACCOUNTS.validate_python(value, strict=True)
        except ValidationError:
            raise HostError(f"{self.path / name} must map the names of accounts to words such as OWNER") from None

    def activity(self, number: int) -> Activity:
        """What was written about a pull request."""
        with self._opened() as folder:
            return self._activity(folder, number)

    @contextmanager
    def editing(self, number: int) -> Iterator[Activity]:
        """What was written about a pull request, to be changed; stored at the end, unless that is an exception."""
        self.pull(number)
        with self._opened() as folder, self._locked(folder):
            found = self._activity(folder, number)
            yield found
            text = write_json(found.model_dump(mode="json"), indent=2) + "\n"
            if len(text) > MAX_BYTES:  # of ASCII
                raise HostLimitError(f"{self.path / _activity_name(number)} would have more than {MAX_BYTES >> 20} MiB")
            self._write(folder, _activity_name(number), text)

    def _activity(self, folder: int, number: int) -> Activity:
        name = _activity_name(number)
        value = self._read(folder, name)
        return Activity() if value is None else self._valid(Activity, name, value)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            with open_folder(self._git_dir, (FOLDER,), as_tracked=False) as folder:
                yield folder
        except PermissionError as error:
            raise HostAccessError(f"{self.path} cannot be used: {error.strerror}") from None
        except (FileNotFoundError, NotADirectoryError):
            raise HostMissingError(f"{self.path} is no folder: it should hold the pull requests, as 1.json") from None
        except OSError as error:
            raise HostError(f"{self.path} cannot be used: {error.strerror}") from None

    def _read(self, folder: int, name: str) -> object:
        """The JSON of a file; None where there is no such file. Raises HostError for invalid JSON."""
        try:
            text = read_at(folder, name, MAX_BYTES).text
        except FileNotFoundError:
            return None
        if text is None:
            raise HostError(f"{self.path / name} is no regular file of at most {MAX_BYTES >> 20} MiB")
        try:
            return mend_surrogates(strictly(text))
        except ValueError as error:
            raise HostError(f"{self.path / name} cannot be read as JSON: {error}") from None

    def _valid(self, record: type[Record], name: str, value: object) -> Record:
        try:
            return record.model_validate(value)
        except ValidationError as error:
            where, fault = first_fault(error, "it")
            raise HostError(f"{self.path / name} cannot be used: {where}: {fault.lower()}") from None

    @contextmanager
    def _locked(self, folder: int) -> Iterator[None]:
        descriptor = os.open(_LOCK, _LOCKING, 0o600, dir_fd=folder)
        try:
            until = time.monotonic() + LOCK_S
            while not _take(descriptor):
                if time.monotonic() > until:
                    raise HostLimitError(f"another program has kept {self.path / _LOCK} locked for {LOCK_S:.0f} s")
                time.sleep(0.02)
            yield
        finally:
            os.close(descriptor)

    @staticmethod
    def _write(folder: int, name: str, text: str) -> None:
        """Replace a file; the lock is held. What a killed writer left beside it goes. Raises OSError."""
        beside = f".{name}.new"
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        with os.fdopen(os.open(beside, _WRITING, 0o666, dir_fd=folder), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def _activity_name(number: int) -> str:
    return f"{int(number)}.activity.json"


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
