"""Progress of a review: live lines on a terminal, plain lines elsewhere, nothing where none is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from reviewbot.report.text import escape_runner_commands, label
from reviewbot.wording import with_count

if TYPE_CHECKING:
    from reviewbot.report.terminal.live import LiveLines

Event = Mapping[str, object]


@dataclass
class _Reader:
    """A model that reads a part of the change."""

    since: float
    about: str
    tasks: set[str]
    calls: int = 0
    dollars: float = 0.0
    tool: str = ""


@dataclass
class ProgressState:
    """What is known of a running review from its events. Pure: the time is handed in, in seconds."""

    since: float
    total: int = 0
    ended: int = 0
    failed: int = 0
    dollars: float = 0.0
    running: dict[str, None] = field(default_factory=dict)
    readers: dict[str, _Reader] = field(default_factory=dict)

    def take(self, event: Event, now: float) -> str:
        """Take an event of the trace. Gives a line for a log that shows no live lines; empty for most events."""
        name, task_id = event.get("event"), str(event.get("task_id", ""))
        match event:
            case {"event": "plan_made", "total": int(total)}:
                self.total = total
            case {"event": "task_started"}:
                self.running[task_id] = None
            case {"event": "task_finished" | "task_failed"}:
                self.running.pop(task_id, None)
                self.ended += 1
                self.failed += name == "task_failed"
                for reader in [name for name, each in self.readers.items() if task_id in each.tasks]:
                    self.readers[reader].tasks.discard(task_id)
                    if not self.readers[reader].tasks:
                        return self._end(reader, now)
            case {"event": "reader_started", "reader": str(reader), "tasks": list(tasks)}:
                about = f"{label(reader)}, {label(str(tasks[0]))}{_others(len(tasks))}" if tasks else label(reader)
                self.readers[reader] = _Reader(now, about, set(tasks))
                return f"{self._head(now)}; {about} starts"
            case {"event": "call", "subject": subject, "usage": {"cost_usd": float(dollars)}}:
                self.dollars += dollars
                if (known := self.readers.get(str(subject))) is not None:
                    known.calls, known.dollars, known.tool = known.calls + 1, known.dollars + dollars, ""
            case {"event": "tool_call", "tool": tool} if task_id in self.readers:
                self.readers[task_id].tool = str(tool)
        return ""

    def lines(self, now: float) -> Iterator[str]:
        """The review on one line, and each of its readers on one below it."""
        newest = [*self.running][-1:] if not self.readers else []
        others = _others(len(self.running)) if newest else ""
        yield f"{self._head(now)}{''.join(f'  {label(name)}' for name in newest)}{others}"
        for reader in [*self.readers.values()]:
            yield f"  {reader.about}  {_of(reader, now)}{f'  {label(reader.tool)}' if reader.tool else ''}"

    def _head(self, now: float) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        dollars = f"  ${self.dollars:.2f}" if self.dollars else ""
        return f"reviewing {self.ended}/{max(self.total, self.ended)}{failed}  {_clock(now - self.since)}{dollars}"

    def _end(self, name: str, now: float) -> str:
        reader = self.readers.pop(name)
        return f"{self._head(now)}; {reader.about} ends after {_of(reader, now)}"


def _of(reader: _Reader, now: float) -> str:
    dollars = f"  ${reader.dollars:.2f}" if reader.dollars else ""
    return f"{_clock(now - reader.since)}  {with_count(reader.calls, 'call')}{dollars}"


def _others(number: int) -> str:
    return f" and {number - 1} more" if number > 1 else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{rest:02}"


class Progress:
    """Shows the progress of a review on a stream; `close` clears what is live, so that a report can follow.

    Live on a terminal that can move its cursor. Elsewhere each reader has a line when it starts and when it ends:
    a review without models, which takes seconds, writes none. With `CI` set, or `quiet`, nothing is written.
    """

    def __init__(
        self,
        stream: TextIO,
        environ: Mapping[str, str],
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._clock = stream, clock
        self._quiet = quiet or bool(environ.get("CI"))
        self._can_move = stream.isatty() and environ.get("TERM") != "dumb"
        self._state = ProgressState(clock())
        self._live: LiveLines | None = None

    def on_event(self, event: Event) -> None:
        """Take an event of the trace."""
        if self._quiet:
            return
        line = self._state.take(event, self._clock())
        if not self._can_move:
            if line:
                self._stream.write(escape_runner_commands(f"reviewbot: {line}\n"))
        elif self._live is None:
            # Loads rich, which a report in colour needs as well.
            from reviewbot.report.terminal.live import LiveLines  # noqa: PLC0415

            self._live = LiveLines(self._stream, self._lines)

    def close(self) -> None:
        """Clear the live lines, so that what follows starts in the first column. Nothing is shown any more."""
        self._quiet = True
        if self._live is not None:
            self._live.close()
            self._live = None

    def _lines(self) -> list[str]:
        return [escape_runner_commands(line) for line in self._state.lines(self._clock())]
