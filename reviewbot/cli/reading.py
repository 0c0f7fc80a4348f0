"""Read the input of a command: a diff, or results of another program."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from reviewbot.domain.errors import InputError

MAX_INPUT_BYTES = 256 * 1024 * 1024
"""Of a diff; a larger one would not fit into memory a few times over, and is not reviewable."""

MAX_RESULT_BYTES = 32 * 1024 * 1024
"""Of a file of results of another program."""


def read_diff(name: str) -> bytes:
    """Read the bytes of a diff from a file or standard input ("-"). Raises InputError in one line."""
    if name != "-" and Path(name).is_dir():
        how = f"`reviewbot review` alone takes what this branch has, --git RANGE --repo {name} a range of commits there"
        raise InputError(f"{name!r} is a folder, and a diff is wanted; {how}")
    if name != "-":
        return read_input(name, MAX_INPUT_BYTES)
    if sys.stdin is None:
        raise InputError("standard input is closed; give a diff file")
    return _read_bounded(sys.stdin.buffer.read(MAX_INPUT_BYTES + 1), "the diff", MAX_INPUT_BYTES)


def is_piped() -> bool:
    """Whether standard input is a pipe, as behind `git diff |`. Nothing of it is read."""
    try:
        return sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):  # it is closed, or no file of the system
        return False


def read_input(name: str, most: int) -> bytes:
    """Read the bytes of a file of at most `most` of them. Raises InputError in one line."""
    try:
        with Path(name).open("rb") as stream:
            data = stream.read(most + 1)
    except IsADirectoryError:
        raise InputError(f"{name!r} is a folder, and a file is wanted") from None
    except OSError as error:
        raise InputError(f"cannot read {name!r}: {error.strerror}") from None
    except ValueError:
        raise InputError("the name of the file holds a NUL character") from None
    return _read_bounded(data, repr(name), most)


def _read_bounded(data: bytes, what: str, most: int) -> bytes:
    if len(data) > most:
        raise InputError(f"{what} is larger than {most >> 20} MiB; give it in parts")
    return data
