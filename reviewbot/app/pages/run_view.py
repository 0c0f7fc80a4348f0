"""What a run's trace says, as values for its page: lanes of a timeline, findings with their path, and the bill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from reviewbot.delivery.explain_place import explained_run
from reviewbot.domain.errors import ReviewbotError
from reviewbot.report.costs import Cost, bill
from reviewbot.report.explain import Outcome, outcomes
from reviewbot.report.timeline import Timeline, TimelineRow, timeline_of
from reviewbot.review.trace import Event, read_trace

MAX_STEPS: Final = 400
"""Steps of a timeline that a page shows; the trace has all of them."""

MAX_OUTCOMES: Final = 300
"""Findings that a page explains."""

MAX_LANES: Final = 40
WIDTH: Final = 1_000
"""Of a lane, in units of its picture."""


class Bar(NamedTuple):
    """A stretch of a lane, in units of `WIDTH`."""

    x: int
    width: int
    kind: str
    """"task", "call" or "failed"."""


class Lane(NamedTuple):
    """What one worker or role did."""

    who: str
    steps: int
    busy_ms: int
    """The sum of its calls, or of its tasks where it made no call."""
    bars: tuple[Bar, ...]


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


def view_of_trace(trace: str | None) -> RunView:
    """The view of a written trace; of None, of a run that has none."""
    if trace is None:
        return RunView(missing="There is no trace of this run: it has not come to its review, or it was removed.")
    try:
        events = read_trace(trace)
    except ReviewbotError as error:
        return RunView(missing=f"The trace cannot be shown: {error}.")
    timeline = timeline_of(events)
    return _with_findings(
        RunView(
            timeline=timeline,
            lanes=tuple(islice(_lanes(timeline), MAX_LANES)),
            steps=timeline.rows[:MAX_STEPS],
        ),
        events,
    )


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


def _lanes(timeline: Timeline) -> Iterable[Lane]:
    """One lane for each worker or role, in the order in which they began."""
    rows: dict[str, list[TimelineRow]] = {}
    for row in timeline.rows:
        rows.setdefault(row.who, []).append(row)
    whole = max(1, timeline.wall_ms)
    for who, own in rows.items():
        calls = [row for row in own if row.call]
        busy = sum(row.end_ms - row.start_ms for row in calls or own)
        bars = dict.fromkeys(_bar(row, whole) for row in own)
        yield Lane(who, len(own), busy, tuple(bars))


def _bar(row: TimelineRow, whole_ms: int) -> Bar:
    x = min(WIDTH - 3, row.start_ms * WIDTH // whole_ms)
    width = max(3, (row.end_ms - row.start_ms) * WIDTH // whole_ms)
    kind = "failed" if row.failed else "call" if row.call else "task"
    return Bar(x, min(width, WIDTH - x), kind)
