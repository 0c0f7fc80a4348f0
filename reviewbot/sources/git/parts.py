"""Files of a git directory that are copied: real files alone, of bounded size, opened without following or waiting.

The author of the repository chose what lies there. A link would hand on a file of this machine, a device would fill
the disk, and a pipe would wait for ever.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from reviewbot.domain.errors import InputError

MAX_INDEX_BYTES = 512 * 1024 * 1024
"""Of an index and its shared parts together. The index of a million files has some hundred megabytes."""

MAX_SHALLOW_BYTES = 4 * 1024 * 1024
"""Of the list where history was cut off: sixty thousand commits."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1024 * 1024
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def copy_index(index: Path, beside: Path, copy: Path, private: Path) -> None:
    """Copy an index to a file, and the shared parts that lie in a folder into a private one.

    Raises:
        FileNotFoundError: there is no index.
        InputError: a part is no regular file, they are too large together, or one cannot be read or written.
    """
    try:
        left = MAX_INDEX_BYTES - _copied(index, copy, MAX_INDEX_BYTES)
        for shared in sorted(beside.glob("sharedindex.*")):
            left -= _copied(shared, private / shared.name, left)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"the index cannot be read: {error.strerror or type(error).__name__}") from None


def read_shallow(file: Path) -> bytes | None:
    """The commits where history was cut off, one on each line; None where it was not.

    A line that is no commit is left out: git would repeat it when it complains. Raises InputError.
    """
    try:
        descriptor = _opened(file)
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(MAX_SHALLOW_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or type(error).__name__}") from None
    if len(data) > MAX_SHALLOW_BYTES:
        raise InputError(f"{file} is larger than {MAX_SHALLOW_BYTES >> 20} MiB; clone the repository again")
    return b"".join(line + b"\n" for line in data.split(b"\n") if _COMMIT.fullmatch(line))


def _copied(source: Path, target: Path, most: int) -> int:
    """Copy a file of at most so many bytes, and give how many they were."""
    with os.fdopen(_opened(source), "rb") as given, target.open("wb") as taken:
        size = 0
        while piece := given.read(_PIECE):
            size += len(piece)
            if size > most:
                raise InputError(f"the index is larger than {MAX_INDEX_BYTES >> 20} MiB; name a range instead")
            taken.write(piece)
    return size


def _opened(file: Path) -> int:
    """A descriptor of a regular file. Raises OSError."""
    # Asked first, for some devices do something when they are opened; and once more of what was opened.
    if stat.S_ISREG(file.lstat().st_mode):
        descriptor = os.open(file, _FLAGS)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file")
