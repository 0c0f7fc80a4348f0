"""A timeline as a page: a line for each task and call with a bar on the scale of the run, and its outcome below."""

from __future__ import annotations

from reviewbot.report.costs import seconds
from reviewbot.report.terminal.page import LABEL, PLACE, PLAIN, Page
from reviewbot.report.text import label, one_line, short_line
from reviewbot.report.timeline import Timeline, TimelineRow, span
from reviewbot.wording import with_count

_BAR_SHARE, _MIN_BAR, _MAX_BAR = 3, 8, 40
"""The bars take a third of the width, within these columns."""
_NOTE_CHARS, _NOTES = 300, 12
"""Of one note, and how many of a row; the trace itself has all."""
_ROWS = 2_000
"""More rows are not read; the largest reviews have thousands of tasks."""
_TASK, _CALL, _MOMENT, _EMPTY = "#", "=", "|", "."
"""Plain characters: they look the same in a terminal, in a log and in a file."""


def render_timeline(timeline: Timeline, *, width: int, colour: bool) -> str:
    """The page with a last LF. Every text in it is shown, and none of it obeyed."""
    page = Page(width=width, colour=colour)
    totals = f": {', '.join(timeline.totals)}" if timeline.totals else ""
    page.paragraph(one_line(f"{seconds(timeline.wall_ms)} in all{totals}"), PLACE)
    columns = min(_MAX_BAR, max(_MIN_BAR, width // _BAR_SHARE))
    if timeline.rows:
        page.paragraph(f"{_TASK} a task, {_CALL} a call of a model, {_MOMENT} a moment", LABEL)
        page.blank()
    for row in timeline.rows[:_ROWS]:
        _row(page, row, timeline.wall_ms, columns)
    if (more := len(timeline.rows) - _ROWS) > 0:
        page.paragraph(f"... and {with_count(more, 'more line')}; the trace has all of them.")
    return page.render()


def _row(page: Page, row: TimelineRow, wall_ms: int, columns: int) -> None:
    style = "red" if row.failed else PLAIN
    parts = [(f"[{_bar(row, wall_ms, columns)}] ", LABEL), (label(row.who), PLACE), ("  ", PLAIN)]
    what = label(row.what)
    if page.fits(*parts, (what, style), (f"  {span(row)}", LABEL)):
        page.line(*parts, (what, style), (f"  {span(row)}", LABEL))
    else:
        page.line(*parts, (span(row), LABEL))
        page.paragraph(short_line(row.what, _NOTE_CHARS), style, indent=4)
    for note in row.notes[:_NOTES]:
        page.paragraph(short_line(note, _NOTE_CHARS), LABEL, indent=6)
    if (more := len(row.notes) - _NOTES) > 0:
        page.paragraph(f"and {more:,} more", LABEL, indent=6)


def _bar(row: TimelineRow, wall_ms: int, columns: int) -> str:
    """Where in the run it was. Whatever is too short to be seen still takes one column."""
    scale = columns / max(wall_ms, 1)
    first = min(columns - 1, int(row.start_ms * scale))
    last = min(columns, max(first + 1, round(row.end_ms * scale)))
    mark = _MOMENT if row.start_ms == row.end_ms else _CALL if row.call else _TASK
    return _EMPTY * first + mark * (last - first) + _EMPTY * (columns - last)
