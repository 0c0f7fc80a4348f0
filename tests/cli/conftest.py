"""What tests of several commands need."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def process_as_it_was() -> Iterator[None]:
    """Put back afterwards what a process of the App changes in itself: its log and its signals."""
    root = logging.getLogger()
    handlers, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    signals = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raising
    for number, handler in signals.items():
        signal.signal(number, handler)
