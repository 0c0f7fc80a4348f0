"""`reviewbot explain`: why a finding of a recorded run was shown or withheld, or why there is none at a line."""

from __future__ import annotations

import argparse
import os
import sys

from reviewbot.cli.commands.traces.replay import events_of
from reviewbot.cli.output.writing import reader_may_leave
from reviewbot.delivery.explain_place import account_of
from reviewbot.domain.errors import ExitCode
from reviewbot.report.terminal.explanation import render_explanation
from reviewbot.report.terminal_style import style_of, write


def explain_command(arguments: argparse.Namespace) -> int:
    """Print the account. Raises InputError for what is no trace of a whole review, and for a place it does not know."""
    accounts = account_of(events_of(arguments.trace), arguments.place)
    style = style_of(sys.stdout, os.environ)
    with reader_may_leave():
        write(sys.stdout, render_explanation(accounts, width=style.width, colour=style.colour))
    return ExitCode.REVIEWED
