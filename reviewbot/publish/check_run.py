"""Render the check run of a review: what was read, by which workers, what not and why, at what cost.

Its colour is `reviewbot.coverage.verdict.conclusion_of`: never green without a review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewbot.coverage.verdict import conclusion_of
from reviewbot.domain.contracts import ChangeSet, Finding, Review, Severity
from reviewbot.hosts.base import Annotation, CheckDraft, Level
from reviewbot.publish.places import Shown, api_path
from reviewbot.report.costs import cost_line
from reviewbot.report.findings.links import SourceLinks
from reviewbot.report.findings.view import mark_of
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.markdown.finding import DetailLevel, prose
from reviewbot.report.markdown.sections import CommentParts, coverage_blocks, failure_blocks, making_blocks
from reviewbot.report.text import clip, short_line
from reviewbot.report.view_model import by_severity

CHECK_NAME = "reviewbot"
"""What our check runs are called."""

MAX_TEXT_CHARS = 60_000
"""GitHub takes 65,535 characters of summary and as many of text. The rest is for doubt about how they are counted."""

_LEVELS: dict[Severity, Level] = {"critical": "failure", "warning": "warning", "info": "notice"}
_TITLE_CHARS, _ANNOTATION_TITLE_CHARS = 200, 250
"""GitHub cuts the title of an annotation at 255 characters."""
_PROSE_CHARS, _SHORT_CHARS = 1_000, 300
_GAP = "\n\n"


def check_of(
    review: Review,
    change: ChangeSet,
    *,
    gate_closed: bool,
    superseded: bool = False,
    links: SourceLinks | None = None,
) -> CheckDraft:
    """The check run of a masked review (see `reviewbot.delivery`).

    `superseded`: a newer head has taken its place, so that it proves nothing. `change` says which lines are shown.
    """
    return CheckDraft(
        title=_title(review, gate_closed=gate_closed, superseded=superseded),
        summary=_summary(review),
        text=render_markdown(review, links=links, max_chars=MAX_TEXT_CHARS),
        conclusion="cancelled" if superseded else conclusion_of(review, gate_reached=gate_closed),
        annotations=tuple(_annotations(review, Shown(change))),
    )


def _title(review: Review, *, gate_closed: bool, superseded: bool) -> str:
    if superseded:
        return "Superseded by a newer head"
    gate = "Gate closed: " if gate_closed else ""
    return clip(gate + short_line(review.headline, _TITLE_CHARS), _TITLE_CHARS)


def _summary(review: Review) -> str:
    """The count of files first: this is where a reader finds out whether the colour means anything."""
    for items in (50, 10):
        text = _GAP.join(_blocks(review, DetailLevel(0, items=items, prose=_PROSE_CHARS))) + "\n"
        if len(text) <= MAX_TEXT_CHARS:
            return text
    return _GAP.join(_blocks(review, DetailLevel(0, items=1, prose=_SHORT_CHARS))) + "\n"


def _blocks(review: Review, detail: DetailLevel) -> Iterator[str]:
    for title, text in (("Verdict", review.headline), ("Summary", review.summary), ("Cost", cost_line(review))):
        if shown := prose(text, _PROSE_CHARS):
            yield f"**{title}:** {shown}"
    for section in (failure_blocks, coverage_blocks, making_blocks):
        yield from section(CommentParts(review), detail)


def _annotations(review: Review, shown: Shown) -> Iterator[Annotation]:
    """Every finding that has a place in the change. What is uncertain is never more than a notice."""
    yield from _at(by_severity(review.findings), shown)
    for item in review.human:
        if item.finding is not None:
            yield from _at([item.finding], shown, f"needs a person: {item.reason}")
    for conflict in review.conflicts:
        yield from _at(conflict.findings, shown, f"contradicted: {conflict.reason}")


def _at(findings: Iterable[Finding], shown: Shown, doubt: str = "") -> Iterator[Annotation]:
    for finding in findings:
        span = shown.span(finding.path, finding.line, finding.end_line)
        path = api_path(finding.path)
        if span is None or path is None:
            continue
        title, message = mark_of(finding, doubt)
        yield Annotation(
            path=path,
            start_line=span.first,
            end_line=span.last,
            level="notice" if doubt else _LEVELS[finding.severity],
            title=clip(title, _ANNOTATION_TITLE_CHARS),
            message=message,
        )
