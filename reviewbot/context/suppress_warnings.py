"""Suppress Python's warnings while reviewed code is parsed: they are about that code and not about ours."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator

_ONE_AT_A_TIME = threading.Lock()
"""The filters belong to the process: of two threads that save and restore them, one would leave the other's behind."""


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings in the block; other threads wait to enter theirs, so keep it short."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
