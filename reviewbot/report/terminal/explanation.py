"""The account of a line as a page: a heading for each thing that is said of it, and its sentences below."""

from __future__ import annotations

from collections.abc import Sequence

from reviewbot.report.explain import Explanation
from reviewbot.report.terminal.page import PLACE, Page
from reviewbot.report.text import short_line

_HEADING_CHARS, _ROW_CHARS = 400, 2_000
_ACCOUNTS, _ROWS = 50, 60
"""More are not read; the trace has all of them."""


def render_explanation(accounts: Sequence[Explanation], *, width: int, colour: bool) -> str:
    """The page with a last LF. Every text in it is shown, and none of it obeyed."""
    page = Page(width=width, colour=colour)
    for number, account in enumerate(accounts[:_ACCOUNTS]):
        if number:
            page.blank()
        page.paragraph(short_line(account.heading, _HEADING_CHARS), PLACE)
        for row in account.rows[:_ROWS]:
            page.paragraph(short_line(row, _ROW_CHARS), indent=2, lead="- ")
    if (more := len(accounts) - _ACCOUNTS) > 0:
        page.paragraph(f"... and {more:,} more; the trace has all of them.")
    return page.render()
