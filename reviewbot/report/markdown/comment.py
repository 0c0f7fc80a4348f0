"""Review -> the one comment, as GitHub shows it: verdict, what the change does, findings by weight, and folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reviewbot.coverage.verdict import coverage_words
from reviewbot.domain.contracts import Finding, Review
from reviewbot.report.findings.links import SourceLinks
from reviewbot.report.formats import ReportInput
from reviewbot.report.markdown.finding import DetailLevel
from reviewbot.report.markdown.sections import (
    CommentParts,
    about_blocks,
    agent_blocks,
    conflict_blocks,
    coverage_blocks,
    entry_of,
    failure_blocks,
    finding_sections,
    heading,
    human_blocks,
    making_blocks,
    minor_blocks,
    open_ranked,
    suppression_blocks,
    withheld_blocks,
)
from reviewbot.report.text import escape_runner_commands
from reviewbot.report.view_model import line_counts

MAX_CHARS = 60_000
"""GitHub takes 65,536 characters. The rest is for what a publisher adds, and for doubt about how they are counted."""
_GAP = "\n\n"
_SECTIONS = (
    finding_sections,
    conflict_blocks,
    human_blocks,
    failure_blocks,
    suppression_blocks,
    minor_blocks,
    withheld_blocks,
    coverage_blocks,
    agent_blocks,
    making_blocks,
)
_HEADINGS_CHARS = 200
"""At least what the headings of the three severities take."""


def render(report: ReportInput) -> str:
    """The comment for a file or a log, where code in it may stand at the start of a line."""
    return escape_runner_commands(render_markdown(report.review))


def render_markdown(
    review: Review,
    *,
    links: SourceLinks | None = None,
    inline: Mapping[Finding, str] | None = None,
    names: Mapping[Finding, str] | None = None,
    max_chars: int = MAX_CHARS,
) -> str:
    """The comment, with a last LF, at most `max_chars` (at least 30,000) long.

    Where all of it is too long, first the folded lists go, then the code, then the findings of least weight. What was
    left out is always counted. `inline` are findings that comments have said, and where; `names` the
    fingerprints by which commands can name findings.
    """
    page, total = CommentParts(review, links, inline or {}, names or {}), len(review.findings)
    for detail in (DetailLevel(total), DetailLevel(total, folds=False), DetailLevel(total, folds=False, code_lines=0)):
        if text := _within(_blocks(page, detail), max_chars):
            return text
    short = DetailLevel(0, items=5, prose=200, folds=False, code_lines=0, proofs=False)
    if not _within(_blocks(page, short), max_chars - _HEADINGS_CHARS):
        short = short._replace(items=0)
    room = max_chars - len(_joined(_blocks(page, short))) - _HEADINGS_CHARS
    for count, finding in enumerate(open_ranked(review)):
        room -= sum(len(text) + len(_GAP) for text in entry_of(finding, page, short))
        if room < 0:
            return _joined(_blocks(page, short._replace(findings=count)))
    return _joined(_blocks(page, short._replace(findings=len(open_ranked(review)))))


def _within(blocks: Iterator[str], max_chars: int) -> str | None:
    """The comment, or None as soon as it is too long: what a long review costs depends on the limit, not on it."""
    kept: list[str] = []
    for text in blocks:
        kept.append(text)
        max_chars -= len(text) + len(_GAP)
        if max_chars < 0:
            return None
    return _joined(kept)


def _joined(blocks: Iterable[str]) -> str:
    return _GAP.join(blocks) + "\n"


def _blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    yield heading(page.review)
    yield from about_blocks(page, detail)
    yield f"{coverage_words(page.review.coverage)}, {line_counts(page.review)}."
    for section in _SECTIONS:
        yield from section(page, detail)
    if lost := _lost(detail):
        yield f"Left out to stay within GitHub's limit: {', '.join(lost)}."


def _lost(detail: DetailLevel) -> list[str]:
    """What the shorter forms do without, in words."""
    full = DetailLevel(0)
    return [
        *(["the folded lists"] if not detail.folds else []),
        *(["all code"] if not detail.code_lines else []),
        *(["what findings violate and rest on"] if not detail.proofs else []),
        *(["long texts and lists beyond their start"] if detail.prose < full.prose else []),
    ]
