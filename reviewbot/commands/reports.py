"""A report in the form that was asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reviewbot.outgoing import Delivered
from reviewbot.output.formats import render_report
from reviewbot.output.look import look_of


def rendered(form: str, told: Delivered, output: Path | None, *, verbose: bool) -> str:
    """A review as text for a file, or, where that is None, for standard output."""
    look = look_of(sys.stdout, os.environ)
    look = look._replace(colour=look.colour and output is None, verbose=verbose)
    return render_report(form, told.review, told.fingerprints, look)
