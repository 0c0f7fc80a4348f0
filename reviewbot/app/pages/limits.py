"""Bounds on requests: attempts to sign in, and pages that are made at the same time."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from typing import Final

ATTEMPTS: Final = 10
"""To sign in, of one address in `WINDOW_S`."""

ALL_ATTEMPTS: Final = 120
"""Of all addresses together: behind a proxy they are one."""

WINDOW_S: Final = 60.0
MAX_ADDRESSES: Final = 1_000


class AttemptLimit:
    """Counts attempts in a sliding window, by address and in all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._all: deque[float] = deque()
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """Count an attempt; False where there were too many."""
        now = self._clock()
        with self._lock:
            own = self._by_address.setdefault(address, deque())
            self._by_address.move_to_end(address)
            while len(self._by_address) > MAX_ADDRESSES:
                self._by_address.popitem(last=False)
            for times, most in ((self._all, ALL_ATTEMPTS), (own, ATTEMPTS)):
                while times and times[0] <= now - WINDOW_S:
                    times.popleft()
                if len(times) >= most:
                    return False
            self._all.append(now)
            own.append(now)
            return True
