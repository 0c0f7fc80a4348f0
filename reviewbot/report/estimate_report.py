"""Render an estimate of what a review will cost as text for a terminal. The caller hands in the figures as words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewbot.report.terminal.page import LABEL, PLACE, Page
from reviewbot.report.text import one_line


def render_estimate(
    headline: str, parts: Mapping[str, str], assumptions: Sequence[str], *, width: int, colour: bool
) -> str:
    """The estimate as text with a last LF: the sum, then each worker's part by its name, then what they rest on."""
    page = Page(width=width, colour=colour)
    page.paragraph(one_line(headline), PLACE)
    if parts:
        page.blank()
    for name, text in parts.items():
        page.paragraph(one_line(text), indent=2, lead=f"{one_line(name)}: ")
    if assumptions:
        page.heading("What this rests on")
    for assumption in assumptions:
        page.paragraph(one_line(assumption), LABEL, indent=2, lead="- ")
    return page.render()
