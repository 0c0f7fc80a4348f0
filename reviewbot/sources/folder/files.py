"""Files of a folder that may be hostile: a checkout of the head of a pull request, for instance.

Names are opened part by part, below a folder that is already open; no link is ever followed, only regular files are
read, and git's own folder is out of reach.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from reviewbot.diff.parser.file_names import exact, label
from reviewbot.diff.policy import refusal
from reviewbot.domain.repository_files import MAX_FILE_BYTES

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Not blocking, so that a FIFO without a writer opens at once, and is then seen to be no regular file."""


class FoundFile(NamedTuple):
    """What stands at a path. `text` is None and `there` true for a regular file that is too large or not readable."""

    text: str | None
    there: bool
    identity: tuple[int, int] | None = None
    """Device and inode of a file that was opened: equal for two spellings of one file."""


ABSENT = FoundFile(None, there=False)
"""No regular file: nothing, a link, a folder, a device."""


def read_file(root: Path, path: str, *, as_tracked: bool = False) -> FoundFile:
    """Read a file by its label.

    Args:
        root: the folder; it is the operator's word and may itself be a link.
        path: a label as in `FileChange.path`; one that leaves the folder or reaches into `.git` is absent.
        as_tracked: whether only a file counts that git could track under this name in this repository: every part of
            the name is listed exactly so, even where the file system ignores case, and none is a nested repository.
    """
    name = exact(path)
    if refusal(name):
        return ABSENT
    *folders, last = name.split("/")
    try:
        with open_folder(root, folders, as_tracked=as_tracked) as folder:
            if as_tracked and last not in os.listdir(folder):  # noqa: PTH208 - a descriptor
                return ABSENT
            return read_at(folder, last)
    except PermissionError:
        return FoundFile(None, there=True)
    except OSError:
        return ABSENT


def list_files(root: Path, path: str) -> tuple[str, ...]:
    """The labels of the regular files directly in a folder below `root` that git could track there, sorted."""
    name = exact(path)
    if refusal(name):
        return ()
    try:
        with open_folder(root, name.split("/"), as_tracked=True) as folder, os.scandir(folder) as entries:
            names = [f"{name}/{entry.name}" for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return ()
    return tuple(sorted(label(os.fsencode(each)) for each in names))


def read_at(folder: int, name: str, limit: int = MAX_FILE_BYTES) -> FoundFile:
    """Read a file of at most `limit` bytes in an open folder. Raises OSError."""
    # Asked before it is opened, since opening a device can do something.
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return ABSENT
    with os.fdopen(os.open(name, _FILE_FLAGS, dir_fd=folder), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            return ABSENT
        content = stream.read(limit + 1)
    text = None if len(content) > limit else content.decode("utf-8", "replace")
    return FoundFile(text, there=True, identity=(status.st_dev, status.st_ino))


@contextmanager
def open_folder(root: Path, parts: Sequence[str], *, as_tracked: bool) -> Iterator[int]:
    """Open a folder part by part, as a descriptor. Raises OSError, also where a part is a link."""
    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for part in parts:
            if as_tracked and part not in os.listdir(folder):  # noqa: PTH208 - a descriptor
                raise FileNotFoundError(part)
            inner = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
            if as_tracked and ".git" in os.listdir(folder):  # noqa: PTH208 - a descriptor
                raise FileNotFoundError(part)
        yield folder
    finally:
        os.close(folder)
