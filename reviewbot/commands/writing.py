"""Standard output, whose reader may go away at any time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reviewbot.errors import InputError


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Write to standard output; where the reader has gone (`| head`), the rest is dropped and the work goes on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
    except OSError as error:
        _forget()
        raise InputError(f"cannot write to standard output: {error.strerror}") from None


def _forget() -> None:
    """Python would complain once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
