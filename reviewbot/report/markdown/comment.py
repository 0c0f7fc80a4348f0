"""Review -> the one comment, complete in itself, as GitHub shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.report.costs import cost_line
from reviewbot.report.markdown.sections import (
    Detail,
    conflict_blocks,
    finding_blocks,
    finding_size,
    human_blocks,
    note_blocks,
    suppression_blocks,
    table_blocks,
    unseen_blocks,
    withheld_blocks,
)
from reviewbot.report.text import escape_runner_commands, md, short_line
from reviewbot.report.view_model import by_severity, readers_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reviewbot.domain.contracts import Review
    from reviewbot.report.formats import ReportInput

MAX_CHARS = 60_000
"""GitHub takes 65,536 characters. The rest is for what a publisher adds, and for doubt about how they are counted."""
_TITLE_CHARS = 300
_GAP = "\n\n"
_SECTIONS = (
    finding_blocks,
    conflict_blocks,
    human_blocks,
    unseen_blocks,
    suppression_blocks,
    note_blocks,
    withheld_blocks,
    table_blocks,
)
_HEADINGS_CHARS = 200
"""At least what the headings of the three severities take."""


def render(report: ReportInput) -> str:
    """The comment for a file or a log, where code in it may stand at the start of a line."""
    return escape_runner_commands(render_markdown(report.review))


def render_markdown(review: Review, *, max_chars: int = MAX_CHARS) -> str:
    """The comment, with a last LF, at most `max_chars` (at least 30,000) long.

    Where all of it is too long, first the folded lists go, then the code, then the findings of least weight. What was
    left out is always counted.
    """
    total = len(review.findings)
    for detail in (Detail(total), Detail(total, tables=False), Detail(total, tables=False, code_lines=0)):
        if text := _within(_blocks(review, detail), max_chars):
            return text
    short = Detail(0, items=5, prose=200, tables=False, code_lines=0, proofs=False)
    if not _within(_blocks(review, short), max_chars - _HEADINGS_CHARS):
        short = short._replace(items=0)
    room = max_chars - len(_join(_blocks(review, short))) - _HEADINGS_CHARS
    for count, finding in enumerate(by_severity(review.findings)):
        room -= finding_size(finding, short)
        if room < 0:
            return _join(_blocks(review, short._replace(findings=count)))
    return _join(_blocks(review, short._replace(findings=total)))


def _within(blocks: Iterator[str], max_chars: int) -> str | None:
    """The comment, or None as soon as it is too long: what a long review costs depends on the limit, not on it."""
    kept: list[str] = []
    for text in blocks:
        kept.append(text)
        max_chars -= len(text) + len(_GAP)
        if max_chars < 0:
            return None
    return _join(kept)


def _join(blocks: Iterable[str]) -> str:
    return _GAP.join(blocks) + "\n"


def _blocks(review: Review, detail: Detail) -> Iterator[str]:
    yield f"## reviewbot: {md(short_line(review.headline, _TITLE_CHARS))}"
    if summary := md(short_line(review.summary, 2 * detail.prose)):
        yield f"**Summary:** {summary}"
    yield f"**Readers:** {md(short_line(readers_line(review), detail.prose))}"
    for section in _SECTIONS:
        yield from section(review, detail)
    if lost := _omissions(detail):
        yield f"Left out to stay within GitHub's limit: {', '.join(lost)}."
    yield f"*{md(short_line(cost_line(review), detail.prose))}*"


def _omissions(detail: Detail) -> list[str]:
    """What the shorter forms do without, in words."""
    full = Detail(0)
    return [
        *(["the table of files"] if not detail.tables else []),
        *(["all code"] if not detail.code_lines else []),
        *(["what findings violate and rest on"] if not detail.proofs else []),
        *(["long texts and lists beyond their start"] if detail.prose < full.prose else []),
    ]
