"""The registry of report formats: one row each. A renderer is imported when it is first asked for, not before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reviewbot.domain.contracts import Finding, Review


class ReportInput(NamedTuple):
    """Everything that a renderer may need. Most of them read the review alone."""

    review: Review
    """Masked, see `reviewbot.delivery`."""
    fingerprints: Mapping[Finding, str]
    """Of each finding that the review has anywhere."""
    width: int = 80
    """Columns of the terminal."""
    colour: bool = False
    verbose: bool = False
    address_of: Callable[[Finding], str] | None = None
    """Where the lines of a finding are, empty if nowhere; None where the terminal shows no links."""


class OutputFormat(NamedTuple):
    """One format of the report."""

    name: str
    """As `--format` takes it; of a file that the Action writes, also the name of the output that has its path."""
    suffix: str
    """How the names of its files end, with the dot."""
    module: str
    """Where its `render(ReportInput) -> str` is. The text ends with LF."""
    for_terminals: bool = True
    """Whether a person can read it in a terminal."""
    action_file: bool = False
    """Whether the Action writes it as a file beside the review that it posts."""

    def render(self, report: ReportInput) -> str:
        """The report as text with a last LF."""
        text: str = import_module(self.module).render(report)
        return text


FORMATS: Mapping[str, OutputFormat] = {
    each.name: each
    for each in (
        OutputFormat("terminal", ".txt", "reviewbot.report.terminal.report"),
        OutputFormat("json", ".json", "reviewbot.report.json_report"),
        OutputFormat("markdown", ".md", "reviewbot.report.markdown.comment"),
        OutputFormat("sarif", ".sarif", "reviewbot.report.sarif.log", action_file=True),
        OutputFormat("html", ".html", "reviewbot.report.html.page", for_terminals=False, action_file=True),
        OutputFormat("agent", ".jsonl", "reviewbot.report.findings.agent"),
        OutputFormat("annotations", ".log", "reviewbot.report.annotations"),
    )
}
"""By name, in the order in which `--help` lists them."""
