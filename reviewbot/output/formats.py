"""One table of the forms that a report can have on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reviewbot.output.annotations import render_annotations
from reviewbot.output.json_report import render_json
from reviewbot.output.look import Look
from reviewbot.output.markdown import render_markdown
from reviewbot.output.sarif import render_sarif_named
from reviewbot.output.terminal import render_terminal
from reviewbot.output.text import escape_runner_commands

if TYPE_CHECKING:
    from reviewbot.contracts import Finding, Review

_SIMPLE: dict[str, Callable[[Review], str]] = {
    "json": render_json,
    # Code in it stands at the start of a line. What is posted goes into no log, and shows the code as it is.
    "markdown": lambda review: escape_runner_commands(render_markdown(review)),
    # The one form that is made of commands for a runner; everything in them is escaped.
    "annotations": render_annotations,
}
"""Forms that need the review alone."""


def render_report(form: str, review: Review, fingerprints: Mapping[Finding, str], look: Look) -> str:
    """The report in a form of `cli.FORMATS`, with a last LF; `look` is for the terminal's."""
    if form == "sarif":
        return render_sarif_named(review, fingerprints)
    if form in _SIMPLE:
        return _SIMPLE[form](review)
    return render_terminal(review, width=look.width, colour=look.colour, verbose=look.verbose)
