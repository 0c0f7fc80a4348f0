"""A review in one format of the report, as the registry of formats asks for it."""

from __future__ import annotations

from collections.abc import Callable

from reviewbot.domain.contracts import Finding, Review
from reviewbot.report.annotations import render
from reviewbot.report.formats import ReportInput
from reviewbot.report.terminal import report


def render_annotations(review: Review) -> str:
    """The marks of a review."""
    return render(ReportInput(review, {}))


def render_terminal(
    review: Review,
    *,
    width: int,
    colour: bool,
    verbose: bool = False,
    address_of: Callable[[Finding], str] | None = None,
) -> str:
    """The page of a review."""
    return report.render(ReportInput(review, {}, width, colour, verbose, address_of))
