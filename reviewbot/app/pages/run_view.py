"""What a run's trace says, as values for its page: lanes of a timeline, findings with their path, and the bill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from reviewbot.delivery.explain_place import explained_run
from reviewbot.domain.errors import ReviewbotError
from reviewbot.report.costs import Cost, bill, seconds
from reviewbot.report.explain import Outcome, outcomes
from reviewbot.report.timeline import Timeline, TimelineRow, timeline_of
from reviewbot.review.trace import Event, read_trace
from reviewbot.wording import with_count

MAX_STEPS: Final = 400
"""Steps of a timeline that a page shows; the trace has all of them."""

MAX_OUTCOMES: Final = 300
"""Findings that a page explains."""

MAX_LANES: Final = 40
MAX_LEVELS: Final = 4
MIN_BAR: Final = 3
MAX_KEPT: Final = 4
"""Views that are kept, with their traces: a page that is loaded again costs no second reading."""

WIDTH: Final = 1_000
"""Of a lane, in units of its picture."""


class Bar(NamedTuple):
    """A stretch of a lane, in units of `WIDTH`."""

    x: int
    width: int
    kind: str
    """"task", "call", "failed" or "running"."""
    level: int
    """Bars that overlap stand below each other."""


class Lane(NamedTuple):
    """What one worker or role did."""

    who: str
    words: str
    """How many steps, and how long its calls took together, or its tasks where it made no call."""
    bars: tuple[Bar, ...]
    levels: int


class RunView(NamedTuple):
    """What can be shown of a run beside its record. `missing` says why there is less; empty where there is all."""

    missing: str = ""
    timeline: Timeline | None = None
    lanes: tuple[Lane, ...] = ()
    steps: tuple[TimelineRow, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    more_outcomes: bool = False
    unexplained: str = ""
    """Why findings cannot be shown: the review broke off, or another version wrote its trace."""
    verdict: str = ""
    bill: Sequence[Cost] = ()
    settings: tuple[Mapping[str, object], ...] = ()
    """Those that are not the default: name, value and origin."""


@lru_cache(maxsize=MAX_KEPT)
def view_of_trace(trace: str | None, *, running: bool = False) -> RunView:
    """The view of a written trace; of None, of a run that has none. `running`: of one that goes on."""
    if trace is None:
        return RunView(missing="There is no trace of this run: it has not come to its review, or it was removed.")
    try:
        events = read_trace(trace)
    except ReviewbotError as error:
        return RunView(missing=f"The trace cannot be shown: {error}.")
    timeline = timeline_of(events, running=running)
    view = RunView(
        timeline=timeline,
        lanes=tuple(islice(_lanes(timeline), MAX_LANES)),
        steps=timeline.rows[:MAX_STEPS],
        settings=tuple(_settings(events)),
    )
    return view if running else _with_findings(view, events)


def _with_findings(view: RunView, events: Sequence[Event]) -> RunView:
    try:
        run = explained_run(events)
        found = tuple(islice(outcomes(run), MAX_OUTCOMES + 1))
    except ReviewbotError as error:
        return view._replace(unexplained=f"The findings cannot be shown: {error}.")
    return view._replace(
        outcomes=found[:MAX_OUTCOMES],
        more_outcomes=len(found) > MAX_OUTCOMES,
        verdict=run.review.headline,
        bill=bill(run.review),
    )


def _settings(events: Sequence[Event]) -> Iterator[Mapping[str, object]]:
    """The rows of a trace that have all three texts; a trace may come from another version."""
    recorded = next((event.get("settings") for event in events if event["event"] == "settings"), None)
    for row in recorded if isinstance(recorded, list) else []:
        if isinstance(row, dict) and {"name", "value", "origin"} <= row.keys():
            yield row


def _lanes(timeline: Timeline) -> Iterator[Lane]:
    """One lane for each worker or role, in the order in which they began."""
    rows: dict[str, list[TimelineRow]] = {}
    for row in timeline.rows:
        rows.setdefault(row.who, []).append(row)
    whole = max(1, timeline.wall_ms)
    for who, own in rows.items():
        calls = [row for row in own if row.call]
        busy = sum(row.end_ms - row.start_ms for row in calls or own)
        words = f"{with_count(len(calls or own), 'call' if calls else 'step')}, {seconds(busy)}"
        bars = tuple(_bars(own, whole))
        yield Lane(who, words, bars, max(bar.level for bar in bars) + 1)


def _bars(rows: Iterable[TimelineRow], whole_ms: int) -> Iterator[Bar]:
    """Each on the first level that is free; beyond `MAX_LEVELS` they share the last one. Drawn alike, they are one."""
    ends = [0] * MAX_LEVELS
    drawn = set()
    for row in rows:
        x = min(WIDTH - MIN_BAR, row.start_ms * WIDTH // whole_ms)
        width = min(WIDTH - x, max(MIN_BAR, (row.end_ms - row.start_ms) * WIDTH // whole_ms))
        level = next((each for each, end in enumerate(ends) if end <= x), MAX_LEVELS - 1)
        ends[level] = max(ends[level], x + width)
        kind = "failed" if row.failed else "running" if row.running else "call" if row.call else "task"
        bar = Bar(x, width, kind, level)
        if bar not in drawn:
            drawn.add(bar)
            yield bar
