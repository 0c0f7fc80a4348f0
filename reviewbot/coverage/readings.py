"""Which lines of a file stood complete before a reader, as spans of hunks; and whether they add up to all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from reviewbot.diff.rows import SEPARATOR
from reviewbot.domain.contracts import FileChange, Payload, Reading, Span

Interval = tuple[int, int]
"""The first line, and the one behind the last."""


def reading_of(
    payload: Payload, *, models: Iterable[str] = (), analyzers: Iterable[str] = (), scans: Iterable[str] = ()
) -> Reading:
    """The statement of an engine that everything of a slice was read to the end by these."""
    return Reading(
        path=payload.file_path,
        spans=spans_of(payload),
        models=tuple(sorted(models)),
        analyzers=tuple(sorted(analyzers)),
        scans=tuple(sorted(scans)),
    )


def spans_of(payload: Payload) -> tuple[Span, ...]:
    """The hunks of a slice, or the pieces of hunks that it consists of."""
    counts: list[list[int]] = []
    for line in payload.code.split("\n"):
        if line.startswith(SEPARATOR):
            counts.append([0, 0])
        elif counts:
            counts[-1][0] += line[:1] in (" ", "-")
            counts[-1][1] += line[:1] in (" ", "+")
    starts = zip(payload.starts, counts, strict=False)
    return tuple(_span(old, lines[0], new, lines[1]) for (old, new), lines in starts)


def spans_of_file(file: FileChange) -> tuple[Span, ...]:
    """All hunks of a file."""
    return tuple(_span(each.old_start, each.old_count, each.new_start, each.new_count) for each in file.hunks)


@lru_cache(4_096)
def _span(old_start: int, old_count: int, new_start: int, new_count: int) -> Span:
    """A span; equal ones share one, since each worker of a file states the same."""
    return Span(old_start=old_start, old_count=old_count, new_start=new_start, new_count=new_count)


def covers(readings: Sequence[Reading], file: FileChange) -> bool:
    """Whether the readings together hold every hunk of a file; of one without hunks, whether there is a reading."""
    if not readings:
        return False
    spans = [span for reading in readings for span in reading.spans]
    wanted = spans_of_file(file)
    return _within(wanted, spans, _old) and _within(wanted, spans, _new)


def _old(span: Span) -> Interval:
    return span.old_start, span.old_start + span.old_count


def _new(span: Span) -> Interval:
    return span.new_start, span.new_start + span.new_count


def _within(wanted: Iterable[Span], spans: Iterable[Span], side: Callable[[Span], Interval]) -> bool:
    """Whether each wanted interval lies in the union of the others."""
    known = list(join_intervals(sorted(side(span) for span in spans)))
    starts = [start for start, _ in known]
    for start, end in map(side, wanted):
        at = bisect_right(starts, start) - 1
        if start < end and (at < 0 or known[at][1] < end):
            return False
    return True


def join_intervals(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """Intervals that touch or overlap as one; they come in order."""
    current: Interval | None = None
    for start, end in intervals:
        if current is None:
            current = start, end
        elif start <= current[1]:
            current = current[0], max(current[1], end)
        else:
            yield current
            current = start, end
    if current is not None:
        yield current
