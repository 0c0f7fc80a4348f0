"""Record one run as a list of events that can be written out as JSON and listened to while it grows.

A written trace is a chain: each record carries the hash of the record before it and of itself, so that nothing can be
changed, left out or moved in it without notice. The chain is no signature: who can write a file can write all of it.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any

from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Clock
from reviewbot.redact.mask import mask_json
from reviewbot.strict_json import for_logs, strictly

TRACE_VERSION = "2"

FIRST = f"reviewbot trace {TRACE_VERSION}"
"""What stands for the hash before the first record."""

Event = dict[str, Any]

_BLOCK_CHARS = 250_000
"""Of the texts of events that are compressed together, which makes them twenty times smaller."""


class Trace:
    """Collects events. Each has `event` (its kind) and `at_ms` since the trace began; the rest depends on the kind.

    They are kept as JSON texts and read again where they are asked for: as objects, those of 5,000 files take 150 MB.
    """

    def __init__(
        self,
        clock: Clock,
        listener: Callable[[Event], None] | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        """`mask` takes the secrets that this run knows out of a text; None: nothing but their form is known."""
        self.mask = mask
        self._clock = clock
        self._start = clock.monotonic()
        self._listener = listener
        self._blocks: list[bytes] = []
        self._texts: list[str] = []
        """Of the events that are in no block yet."""
        self._chars = self._count = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """How many events there are."""
        return self._count

    def __iter__(self) -> Iterator[Event]:
        """Yield the events so far, each read anew. From any thread."""
        with self._lock:
            blocks, texts = self._blocks.copy(), self._texts.copy()
        for block in blocks:
            yield from map(json.loads, zlib.decompress(block).decode("ascii").split("\n"))
        yield from map(json.loads, texts)

    @property
    def events(self) -> list[Event]:
        """All events so far, as values of the caller's own."""
        return list(self)

    def record(self, event: str, **fields: object) -> None:
        """Append one event. Raises TypeError or ValueError where `fields` are no JSON values."""
        elapsed_ms = round((self._clock.monotonic() - self._start) * 1000)
        entry: Event = {"event": event, "at_ms": elapsed_ms, **fields}
        # What a model gave to a tool may be nested too deeply to be read again.
        self._keep(json.dumps(mask_json(entry, str) if "arguments" in fields else entry))
        if self._listener is not None:
            self._listener(entry)

    def _keep(self, text: str) -> None:
        with self._lock:
            self._texts.append(text)
            self._count += 1
            self._chars += len(text)
            if self._chars > _BLOCK_CHARS:
                self._blocks.append(zlib.compress("\n".join(self._texts).encode("ascii"), level=1))
                self._texts.clear()
                self._chars = 0


def write_trace(events: Iterable[Event]) -> str:
    """Events as a chain, one line each, ending in a newline; ASCII only, so that no name can spoil a terminal."""
    rows: list[str] = []
    last = FIRST
    for event in events:
        last = _hash(last, event)
        rows.append(for_logs(_canonical({**event, "hash": last})))
    body = "\n" + ",\n".join(rows) + "\n" if rows else ""
    return f'{{"trace_version":"{TRACE_VERSION}","events":[{body}]}}\n'


def read_trace(text: str) -> list[Event]:
    """Read the events of a written trace, without their hashes.

    Raises InputError for another version, for what is no trace, and with the first record that does not fit the chain.
    """
    try:
        whole = strictly(text)
    except ValueError:
        raise InputError("this is no trace: it is no JSON that can be read") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("events"), list):
        raise InputError("this is no trace: it has no list of events")
    if whole.get("trace_version") != TRACE_VERSION:
        raise InputError(f"this trace was not written in version {TRACE_VERSION}, the one that can be read here")
    events: list[Event] = []
    last = FIRST
    for number, record in enumerate(whole["events"], 1):
        try:
            event, last = _linked(number, record, last)
        except RecursionError:
            raise InputError(f"record {number} of the trace is nested too deeply") from None
        events.append(event)
    return events


def _linked(number: int, record: object, before: str) -> tuple[Event, str]:
    """One record without its hash, and that hash."""
    if not isinstance(record, dict) or not isinstance(kind := record.get("event"), str):
        raise InputError(f"record {number} of the trace is no event")
    event = {key: value for key, value in record.items() if key != "hash"}
    expected = _hash(before, event)
    if record.get("hash") != expected:
        raise InputError(
            f"record {number} of the trace ({kind[:40]}) does not fit the one before: the trace was changed"
        )
    return event, expected


def _hash(before: str, event: Event) -> str:
    return hashlib.sha256(f"{before}\n{_canonical(event)}".encode()).hexdigest()


def _canonical(event: Event) -> str:
    """One spelling for one event, whatever the order of its fields."""
    text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f")  # DEL is ASCII, and json leaves it as it is
