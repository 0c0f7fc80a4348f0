from __future__ import annotations

import io

from reviewbot.report.progress import ProgressLine


class Terminal(io.StringIO):
    """A stream that says that it is a terminal, of 80 columns as it has no file."""

    def isatty(self) -> bool:
        return True

    def seen(self) -> str:
        """What stands on the line after every rewrite."""
        line = ""
        for part in self.getvalue().split("\r"):
            line = part + line[len(part) :]
        return line.rstrip()


def run(stream: Terminal, *events: tuple[str, str]) -> ProgressLine:
    progress = ProgressLine(stream)
    progress.on_event({"event": "plan_made", "total": 3})
    for name, task_id in events:
        progress.on_event({"event": name, "task_id": task_id})
    return progress


def test_the_plan_sets_the_total() -> None:
    stream = Terminal()

    run(stream)

    assert stream.seen() == "reviewing 0/3"


def test_running_ended_and_failed_tasks_are_counted_on_one_line() -> None:
    stream = Terminal()

    run(
        stream,
        ("task_started", "security:a.py"),
        ("task_started", "logic:a.py"),
        ("task_started", "style:a.py"),
        ("task_finished", "security:a.py"),
        ("task_failed", "style:a.py"),
    )

    assert stream.seen() == "reviewing 2/3, 1 failed  logic:a.py"
    assert "\n" not in stream.getvalue()
    assert "style:a.py and 2 more" in stream.getvalue()


def test_the_end_clears_the_line() -> None:
    stream = Terminal()

    progress = run(stream, ("task_started", "security:a.py"), ("done", ""))
    written = stream.getvalue()
    progress.close()

    assert stream.seen() == ""
    assert written.endswith(" \r")
    assert stream.getvalue() == written


def test_a_stream_that_is_no_terminal_gets_nothing() -> None:
    stream = io.StringIO()
    progress = ProgressLine(stream)

    for name in ("plan_made", "task_started", "task_finished", "done"):
        progress.on_event({"event": name, "task_id": "t", "total": 1})
    progress.close()

    assert stream.getvalue() == ""


def test_an_unknown_event_changes_nothing() -> None:
    stream = Terminal()

    ProgressLine(stream).on_event({"event": "tool_called", "task_id": "t"})

    assert stream.getvalue() == ""


def test_more_ends_than_planned_never_show_a_total_below_them() -> None:
    stream = Terminal()

    run(stream, *[("task_finished", str(number)) for number in range(5)])

    assert stream.seen() == "reviewing 5/5"


def test_names_are_escaped() -> None:
    stream = Terminal()

    run(stream, ("task_started", "a\x1b[2J\nb\u202e"))

    assert stream.seen() == "reviewing 0/3  a\\x1b[2J\\nb<U+202E>"


def test_a_long_line_is_cut_before_the_last_column() -> None:
    stream = Terminal()

    run(stream, ("task_started", "x" * 200))

    assert len(stream.seen()) == 79


def test_wide_and_combining_characters_are_measured_in_columns() -> None:
    stream = Terminal()

    run(stream, ("task_started", "漢" * 80 + "e\u0301"))
    wide = stream.seen()
    run(stream, ("task_started", "e\u0301" * 80))

    assert wide == "reviewing 0/3  " + "漢" * 32
    assert stream.seen().count("\u0301") == 64
