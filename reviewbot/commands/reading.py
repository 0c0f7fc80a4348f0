"""The bytes of a diff, from a file or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from reviewbot.errors import InputError

MAX_INPUT_BYTES = 256 * 1024 * 1024
"""Of a diff; more would not fit into memory a few times over, and nobody reviews it."""


def read_diff(name: str) -> bytes:
    """The bytes of a diff. Raises InputError in one line."""
    try:
        if name == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed; give a diff file")
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            with Path(name).open("rb") as stream:
                data = stream.read(MAX_INPUT_BYTES + 1)
    except IsADirectoryError:
        raise InputError(f"{name!r} is a folder; give a diff file, or use --git RANGE --repo {name}") from None
    except OSError as error:
        raise InputError(f"cannot read {name!r}: {error.strerror}") from None
    except ValueError:
        raise InputError("the name of the diff file holds a NUL character") from None
    if len(data) > MAX_INPUT_BYTES:
        raise InputError(f"the diff is larger than {MAX_INPUT_BYTES >> 20} MiB; review it in parts")
    return data
