"""A report in the form that was asked for, to a file or to standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reviewbot.commands.writing import reader_may_leave, write_file
from reviewbot.outgoing import Delivered
from reviewbot.output.formats import render_report
from reviewbot.output.terminal.look import look_of, write


def write_report(form: str, told: Delivered, output: Path | None, *, verbose: bool) -> None:
    """Write a review; `output` is a file, None is standard output. Raises InputError where it cannot be written."""
    look = look_of(sys.stdout, os.environ)
    with reader_may_leave():
        look = look._replace(colour=look.colour and output is None, verbose=verbose)
        text = render_report(form, told.review, told.fingerprints, look)
        if output is None:
            write(sys.stdout, text)
        else:
            write_file(output, text)
