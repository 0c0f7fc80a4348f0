"""Render a report in the format that was asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reviewbot.delivery import DeliveredReview
from reviewbot.report.formats import FORMATS, ReportInput
from reviewbot.report.terminal_style import style_of


def render(form: str, delivered: DeliveredReview, output: Path | None, *, verbose: bool) -> str:
    """Render a review in one of `FORMATS`, with a last LF: for a file, or for standard output if that is None."""
    style = style_of(sys.stdout, os.environ)
    colour = style.colour and output is None
    return FORMATS[form].render(ReportInput(delivered.review, delivered.fingerprints, style.width, colour, verbose))
