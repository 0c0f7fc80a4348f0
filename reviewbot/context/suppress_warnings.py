"""Parsing without warnings: what Python thinks of reviewed code is no news about us."""

from __future__ import annotations

import contextlib
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ONE_AT_A_TIME = threading.Lock()
"""The filters belong to the process: of two threads that save and restore them, one would leave the other's behind."""


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Within it nothing warns, in this thread and in others that come here as well. Keep it short."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
