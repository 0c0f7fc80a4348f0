"""Show the progress of a review as one live line on a terminal. Without a terminal nothing is written."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, TextIO

from reviewbot.report.terminal_style import terminal_width
from reviewbot.report.text import escape_runner_commands, label

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDS = frozenset({"task_finished", "task_failed"})


class ProgressLine:
    """Rewrites a single line with CR; `close` and the event "done" clear it. Unknown events are ignored."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._total = 0
        self._ended = 0
        self._failed = 0
        self._running: dict[str, None] = {}
        self._columns = 0

    def on_event(self, event: Mapping[str, object]) -> None:
        """Take `event` (plan_made, task_started, task_finished, task_failed or done), with `task_id` and `total`."""
        name, task_id, total = event.get("event"), str(event.get("task_id", "")), event.get("total")
        if isinstance(total, int):
            self._total = total
        if name == "done":
            self.close()
            return
        if name == "task_started":
            self._running[task_id] = None
        elif name in _ENDS:
            self._running.pop(task_id, None)
            self._ended += 1
            self._failed += name == "task_failed"
        elif name != "plan_made":
            return
        self._show(self._text())

    def close(self) -> None:
        """Clear the line, so that what follows starts in the first column."""
        if self._columns:
            self._show("")
            self._stream.write("\r")
            self._stream.flush()

    def _text(self) -> str:
        failed = f", {self._failed} failed" if self._failed else ""
        running = list(self._running)
        newest = f"  {label(running[-1])}" if running else ""
        others = f" and {len(running) - 1} more" if len(running) > 1 else ""
        text = f"reviewing {self._ended}/{max(self._total, self._ended)}{failed}{newest}{others}"
        return escape_runner_commands(text)

    def _show(self, text: str) -> None:
        if not self._live:
            return
        # The last column stays free: a terminal may wrap as soon as it is filled.
        shown, columns = _fit(text, terminal_width(self._stream) - 1)
        self._stream.write("\r" + shown + " " * (self._columns - columns))
        self._stream.flush()
        self._columns = columns


def _fit(text: str, room: int) -> tuple[str, int]:
    """The start of a text that fits, and how many columns it takes."""
    columns = 0
    for index, char in enumerate(text):
        width = _columns_of(char)
        if columns + width > room:
            return text[:index], columns
        columns += width
    return text, columns


def _columns_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
