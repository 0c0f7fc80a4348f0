"""What happened in one run, as a list of events that can be written out as JSON and listened to while it grows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from reviewbot.ports import Clock

TRACE_VERSION = "1"

Event = dict[str, Any]


class Trace:
    """Collects events. Each has `event` (its kind) and `at_ms` since the trace began; the rest depends on the kind."""

    def __init__(self, clock: Clock, listener: Callable[[Event], None] | None = None) -> None:
        self._clock = clock
        self._start = clock.monotonic()
        self._listener = listener
        self.events: list[Event] = []

    def elapsed_ms(self) -> int:
        """Milliseconds since the trace began."""
        return round((self._clock.monotonic() - self._start) * 1000)

    def record(self, event: str, **fields: object) -> None:
        """Append one event; `fields` must be JSON values."""
        entry: Event = {"event": event, "at_ms": self.elapsed_ms(), **fields}
        self.events.append(entry)
        if self._listener is not None:
            self._listener(entry)

    def as_json(self) -> str:
        """The whole trace, ending in a newline; ASCII only, so that no name in it can spoil a terminal."""
        return json.dumps({"trace_version": TRACE_VERSION, "events": self.events}, indent=1) + "\n"
