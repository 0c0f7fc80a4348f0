"""Render a report in the format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from reviewbot.delivery import Delivered
from reviewbot.domain.contracts import Review
from reviewbot.report.annotations import render_annotations
from reviewbot.report.json_report import render_json
from reviewbot.report.look import look_of
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.sarif.log import render_sarif_named
from reviewbot.report.terminal import render_terminal
from reviewbot.report.text import escape_runner_commands

_SIMPLE: dict[str, Callable[[Review], str]] = {
    "json": render_json,
    # Code in it stands at the start of a line. What is posted goes into no log, and shows the code as it is.
    "markdown": lambda review: escape_runner_commands(render_markdown(review)),
    # The one form that is made of commands for a runner; everything in them is escaped.
    "annotations": render_annotations,
}
"""Forms that need the review alone."""


def rendered(form: str, told: Delivered, output: Path | None, *, verbose: bool) -> str:
    """Render a review in one of `cli.FORMATS`, with a last LF: for a file, or for standard output if that is None."""
    if form == "sarif":
        return render_sarif_named(told.review, told.fingerprints)
    if form in _SIMPLE:
        return _SIMPLE[form](told.review)
    look = look_of(sys.stdout, os.environ)
    return render_terminal(told.review, width=look.width, colour=look.colour and output is None, verbose=verbose)
