"""`reviewbot trace`: show the run of a trace as a timeline."""

from __future__ import annotations

import argparse
import os
import sys

from reviewbot.cli.commands.traces.replay import events_of
from reviewbot.cli.output.writing import reader_may_leave
from reviewbot.domain.errors import ExitCode
from reviewbot.report.terminal.timeline import render_timeline
from reviewbot.report.terminal_style import style_of, write
from reviewbot.report.timeline import timeline_of


def trace_command(arguments: argparse.Namespace) -> int:
    """Print the timeline. Raises InputError for what is no trace; one that was cut short is shown as far as it goes."""
    events = events_of(arguments.trace)
    style = style_of(sys.stdout, os.environ)
    with reader_may_leave():
        write(sys.stdout, render_timeline(timeline_of(events), width=style.width, colour=style.colour))
    return ExitCode.REVIEWED
