"""Intents to post a review, with a lease: in memory, and in the journal of the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple, Protocol

from reviewbot.domain.ports import Journal
from reviewbot.sources.memory import MemoryJournal

_PREFIX = "publish/"
"""How the names of intents begin in a journal; the progress of runs begins with their ids."""


MAX_LEASE_S = 3_600.0
"""A journal outlives the machine's clock: a lease that ends later than this was taken when that clock was wrong."""


class Intents(Protocol):
    """Intents to post, stored durably, so that two posters or a crash do not make two reviews of one."""

    def begin(self, key: str, holder: str, lease_s: float) -> bool:
        """Take the intent. False where another holder has it and its lease has not run out."""

    def record_posted(self, key: str, review_id: int) -> None:
        """Record that it was posted as this review."""

    def find_posted(self, key: str) -> int | None:
        """The review as which it was posted; None where none is recorded."""


class _Intent(NamedTuple):
    """The holder, the end of the lease, and the id of the posted review (0: not yet)."""

    holder: str = ""
    until: float = 0.0
    review_id: int = 0

    def open_to(self, holder: str, now: float) -> bool:
        held = now < self.until <= now + MAX_LEASE_S  # false also for what is no number
        return self.holder in ("", holder) or not held


class JournalIntents:
    """`Intents` in a journal, so that a crash and a second run on this machine know of each other.

    Of two threads one takes an intent. A journal puts and gets and does not swap: of two processes that take it in the
    same millisecond both may have it. The publisher looks once more after it has posted, for that and for posters on
    other machines.
    """

    def __init__(self, journal: Journal, now: Callable[[], float] = time.time) -> None:
        self._journal = journal
        self._now = now
        self._lock = Lock()

    def begin(self, key: str, holder: str, lease_s: float) -> bool:
        """Take the intent; it is read again, so that of two that write at once the last one has it."""
        with self._lock:
            now, found = self._now(), self._read(key)
            if not found.open_to(holder, now):
                return False
            self._write(key, _Intent(holder, now + lease_s, found.review_id))
            return self._read(key).holder in ("", holder)  # "": a journal that has failed keeps nothing

    def record_posted(self, key: str, review_id: int) -> None:
        """Record the review as posted, and release the intent."""
        self._write(key, _Intent(review_id=review_id))

    def find_posted(self, key: str) -> int | None:
        """The id of the posted review; None where none is recorded."""
        return self._read(key).review_id or None

    def _write(self, key: str, intent: _Intent) -> None:
        self._journal.put(_PREFIX + key, json.dumps(intent._asdict()))

    def _read(self, key: str) -> _Intent:
        """The entry; an empty one where nothing valid is stored."""
        try:
            found = json.loads(self._journal.get(_PREFIX + key) or "{}")
            return _Intent(str(found["holder"]), float(found["until"]), int(found["review_id"]))
        except (KeyError, TypeError, ValueError):
            return _Intent()


class MemoryIntents(JournalIntents):
    """`Intents` of one process: for a run that shares nothing with others."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(MemoryJournal(), now)
