"""Events of a trace -> rows of a timeline: who did what, from when to when, and with what outcome.

Pure, and forgiving: a trace is a file from anywhere, and what a record lacks is left blank. Nothing is escaped yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reviewbot.report.costs import seconds
from reviewbot.wording import with_count

_DECISIONS = {"retry": "tries again", "climb": "climbs a tier", "reassign": "moves on", "split": "is split",
              "human": "goes to a person", "give_up": "given up"}  # fmt: skip
"""What a step says beside "done"."""

_MOMENTS = {"planned": ("planner", "plans"), "part_finished": ("sub-supervisor", "sums up"),
            "part_failed": ("sub-supervisor", "failed"), "selected": ("supervisor", "selects an attempt"),
            "settled": ("synthesizer", "settles")}  # fmt: skip
"""Decisions that belong to no task: who takes them where the record does not say, and what they are."""

_MAX_VALUE = 10**12
"""Of milliseconds and of tokens: no run has more, and a bar is computed with floating numbers."""

Event = Mapping[str, Any]


@dataclass(frozen=True)
class TimelineRow:
    """One line: a stretch of time, or a moment where both ends are one. Times in milliseconds since the start."""

    start_ms: int
    end_ms: int
    who: str
    what: str
    notes: tuple[str, ...] = ()
    call: bool = False
    """A call of a model; else a task."""
    failed: bool = False
    running: bool = False
    """It has not ended, and its end is that of what is known."""


@dataclass(frozen=True)
class Timeline:
    """The whole run."""

    rows: tuple[TimelineRow, ...]
    wall_ms: int
    totals: tuple[str, ...]
    """The totals of the run, in words."""


@dataclass
class _Reading:
    """What is known while the events are read."""

    rows: list[TimelineRow] = field(default_factory=list)
    open: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Running tasks: since when, and by which worker."""
    waits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """What happened to a task since its line began."""
    totals: dict[str, float] = field(default_factory=dict)
    last_ms: int = 0

    def note(self, task_id: str, text: str) -> None:
        self.notes.setdefault(task_id, []).append(text)

    def count(self, name: str, number: float) -> None:
        self.totals[name] = self.totals.get(name, 0) + number


def timeline_of(events: Iterable[Event], *, running: bool = False) -> Timeline:
    """The rows in the order of their start; `running`: tasks without an end are at work, and not cut off."""
    reading = _Reading()
    for event in events:
        at, task_id = _number(event, "at_ms"), _text(event, "task_id")
        reading.last_ms = max(reading.last_ms, at)
        if event.get("event") in ("task_started", "resumed", "step", "task_failed"):
            _task_event(reading, event, task_id, at)
        elif event.get("event") in ("call", "call_failed"):
            _call(reading, event, at)
        elif event.get("event") in ("plan_made", "ruling", "tool_call", *_MOMENTS):
            _mention(reading, event, task_id, at)
    for task_id, (start, worker) in reading.open.items():
        notes = (*reading.notes.pop(task_id, ()), "at work" if running else "cut off")
        row = TimelineRow(start, reading.last_ms, worker, task_id, notes, failed=not running, running=running)
        reading.rows.append(row)
    rows = sorted(reading.rows, key=lambda row: (row.start_ms, row.end_ms, row.who, row.what))
    return Timeline(tuple(rows), reading.last_ms, _totals(reading.totals))


def _task_event(reading: _Reading, event: Event, task_id: str, at: int) -> None:
    kind = event.get("event")
    if kind == "task_started":
        attempt = _number(event, "attempt")
        reading.open[task_id] = (at, _text(event, "worker"))
        waits = reading.waits.get(task_id, ())
        if waits and attempt == 1:
            reading.notes.setdefault(task_id, []).insert(0, f"after {', '.join(waits)}")
        if attempt > 1:
            reading.note(task_id, f"attempt {attempt}")
    elif kind == "resumed":
        reading.open.setdefault(task_id, (at, task_id.partition(":")[0]))
        reading.note(task_id, "from the journal")
    elif kind == "step":
        _step(reading, event, task_id, at)
    elif "reason" in event:
        # Cut off from outside: it ends here, running or still waiting.
        start, worker = reading.open.pop(task_id, (at, task_id.partition(":")[0]))
        notes = (*reading.notes.pop(task_id, ()), f"{_text(event, 'reason')}: {_text(event, 'message')}")
        reading.rows.append(TimelineRow(start, at, worker, task_id, notes, failed=True))


def _step(reading: _Reading, event: Event, task_id: str, at: int) -> None:
    start, worker = reading.open.pop(task_id, (at, task_id.partition(":")[0]))
    action = _text(event, "action")
    if action in _DECISIONS:
        word = f"climbs to {_text(event, 'tier')}" if action == "climb" and event.get("tier") else _DECISIONS[action]
        reading.note(task_id, f"{word}: {_text(event, 'reason')}")
        reading.count(action, 1)
    notes = tuple(reading.notes.pop(task_id, ()))
    reading.rows.append(TimelineRow(start, at, worker, task_id, notes, failed=action in ("give_up", "human")))


def _call(reading: _Reading, event: Event, at: int) -> None:
    usage = event.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    model = _text(event, "model") or _text(event, "tier")
    notes = [f"{model} ({_text(event, 'tier')})" if event.get("model") and event.get("tier") else model]
    if event.get("stored"):
        notes.append("from the journal")
    sent = sum(_number(usage, name) for name in ("input_tokens", "cached_tokens", "cache_write_tokens"))
    if sent or _number(usage, "output_tokens"):
        cached = _number(usage, "cached_tokens")
        notes.append(f"{sent:,} in{f', {cached:,} of them cached' if cached else ''}")
        notes.append(f"{_number(usage, 'output_tokens'):,} out")
    if _number(usage, "unpriced_calls"):
        notes.append("price unknown")
    elif dollars := _dollars(usage):
        notes.append(f"${dollars:.4f}")
    failed = event.get("event") == "call_failed"
    if failed:
        notes.append(f"{_text(event, 'error')}: {_text(event, 'message')}")
    elif (stop := _text(event, "stop")) not in ("", "end", "tools"):
        notes.append(f"ended by {stop}")
    start = max(0, at - _number(event, "duration_ms"))
    who, what = _text(event, "purpose"), _text(event, "subject")
    reading.rows.append(TimelineRow(start, at, who, what, tuple(notes), call=True, failed=failed))
    for name, number in (("call", 1), ("in", sent), ("out", _number(usage, "output_tokens"))):
        reading.count(name, number)
    reading.count("dollars", _dollars(usage))
    reading.count("unpriced", _number(usage, "unpriced_calls"))


def _mention(reading: _Reading, event: Event, task_id: str, at: int) -> None:
    kind = event.get("event")
    if kind == "plan_made":
        plan = event.get("plan")
        given = plan.get("tasks") if isinstance(plan, dict) else None
        tasks = given if isinstance(given, list) else []
        for task in tasks:
            if isinstance(task, dict) and isinstance(waits := task.get("depends_on"), list):
                reading.waits[_text(task, "task_id")] = tuple(str(name) for name in waits)
        reading.rows.append(TimelineRow(at, at, "planner", f"plan of {with_count(len(tasks), 'task')}"))
    elif kind == "ruling":
        # Rulings are made while the task runs: they are shown on its line.
        reading.note(task_id, _ruling(event))
        reading.count("ruling", 1)
    elif kind == "tool_call":
        failed = " (failed)" if event.get("failed") else ""
        reading.note(task_id, f"calls {_text(event, 'tool')}{failed}")
        reading.count("tool call", 1)
    else:
        who, what = _MOMENTS[str(kind)]
        reading.rows.append(TimelineRow(at, at, _text(event, "by") or who, what, (_format_values(event),)))


def _ruling(event: Event) -> str:
    claimed = f" from {event['claimed']}" if type(event.get("claimed")) is int else ""
    place = f"{_text(event, 'path')}:{_number(event, 'line')}"
    return f"ruled on {place}:{claimed} to {_number(event, 'confidence')}, {_text(event, 'reason')}"


def _format_values(event: Event) -> str:
    """The plain values of a record, in their order."""
    shown = {key: value for key, value in event.items() if key not in ("event", "at_ms", "by")}
    return ", ".join(f"{key} {value}" for key, value in shown.items() if isinstance(value, str | int | float))


def _totals(totals: Mapping[str, float]) -> tuple[str, ...]:
    names = ("call", "tool call", "ruling", "retry", "climb", "reassign", "split")
    words = {"climb": "climb", "reassign": "move", "split": "split"}
    found = [_count(int(totals[name]), words.get(name, name)) for name in names if totals.get(name)]
    if totals.get("call"):
        found += [f"{int(totals['in']):,} tokens in", f"{int(totals['out']):,} out"]
        unknown = int(totals["unpriced"])
        found.append(
            f"${totals['dollars']:.2f}" + (f" and {with_count(unknown, 'call')} of unknown price" if unknown else "")
        )
    return tuple(found)


def _count(number: int, noun: str) -> str:
    return f"{number:,} retries" if noun == "retry" and number != 1 else with_count(number, noun)


def span(row: TimelineRow) -> str:
    """When it began and how long it took, in words."""
    return f"{seconds(row.start_ms)} +{seconds(row.end_ms - row.start_ms)}"


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    return "" if value is None else str(value)


def _number(event: Event, name: str) -> int:
    value = event.get(name)
    return value if type(value) is int and 0 <= value <= _MAX_VALUE else 0


def _dollars(usage: Event) -> float:
    value = usage.get("cost_usd")
    return value if isinstance(value, float) and 0 <= value <= _MAX_VALUE else 0.0
