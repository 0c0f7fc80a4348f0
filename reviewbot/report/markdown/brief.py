"""Review without a finding -> the short comment of a posted review: every count, and names as far as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reviewbot import __version__
from reviewbot.coverage.states import READ
from reviewbot.coverage.verdict import coverage_words, is_sufficient
from reviewbot.domain.contracts import FileCoverage, Review
from reviewbot.report.costs import asked_models, dollars, seconds
from reviewbot.report.markdown.finding import prose
from reviewbot.report.markdown.sections import heading
from reviewbot.report.text import md, md_code, short_label
from reviewbot.report.view_model import (
    grouped_files,
    left_out,
    line_counts,
    suppression_groups,
    withheld_counts,
)
from reviewbot.wording import with_count

BRIEF_CHARS = 600
"""Of the comment on a clean change, with everything in it."""
_SUMMARY_CHARS = 150
"""Of what the change does."""
_NAMES, _REASONS = 20, 3
"""Files, and groups of files with a reason each, of which it is tried whether there is room."""
_TEXT_CHARS = 300
"""Of a reason, or of all notes."""
_WHERE = "each file: check run, `--format markdown`"

Forms = Sequence[str]
"""A part of the comment from its longest form to the one that is always there."""


def is_brief(review: Review) -> bool:
    """Whether no finding is shown, none waits for a person or was decided against, and nothing failed or was silenced.

    Of what was silenced only what is grave counts; who decided against a finding, and why, stands in the whole report.
    """
    said = (review.findings, review.conflicts, review.human, review.gaps)
    grave = any(group.important for group in suppression_groups(review))
    decided = any(each.reason in ("dismissed", "refuted") for each in review.withheld)
    return review.verdict != "issues" and not (any(said) or review.incomplete or grave or decided)


def render_brief(review: Review, max_chars: int = BRIEF_CHARS) -> str:
    """The comment, with a last LF, of at most `max_chars`, or of the shortest form of each part where that is longer.

    What has no room stands in `render_markdown`: in the check run, the summary of the Action and `--format markdown`.
    """
    title, counts = heading(review), f"{coverage_words(review.coverage)}, {line_counts(review)}."
    parts = [_lacking(review), *_others(review)]
    forms = [*parts, _how(review, explained=any(map(any, parts))), _about(review)]

    def comment(*chosen: str) -> str:
        *said, how, about = chosen
        blocks = (title, about, f"{counts} <sub>{how}</sub>", " ".join(filter(None, said)))
        return "\n\n".join(filter(None, blocks)) + "\n"

    chosen = [each[-1] for each in forms]
    for at, each in enumerate(forms):
        tried = (comment(*chosen[:at], form, *chosen[at + 1 :]) for form in each)
        chosen[at] = next((form for form, text in zip(each, tried, strict=True) if len(text) <= max_chars), each[-1])
    return comment(*chosen)


def _about(review: Review) -> Forms:
    about = prose(" ".join(review.about), _SUMMARY_CHARS)
    return (f"**What it does:** {about}", "") if about else ("",)


def _how(review: Review, *, explained: bool) -> Forms:
    cost = f"model use {dollars(review.usage)}" if asked_models(review) else "no model was asked"
    made = f"{cost}, {seconds(review.timings.wall_ms)}, reviewbot {__version__}"
    return tuple(map(md, (*([f"{made}; {_WHERE}", f"{cost}; {_WHERE}"] if explained else []), made, cost)))


def _lacking(review: Review) -> Forms:
    """The files that did not get what they need."""
    files = [entry for entry in review.coverage if not is_sufficient(entry)]
    return tuple(_forms_of_lacking(files)) if files else ("",)


def _forms_of_lacking(files: Sequence[FileCoverage]) -> Iterator[str]:
    title = f"**Not fully reviewed ({len(files):,})"
    groups = grouped_files(files)
    if len(files) <= _NAMES and len(groups) <= _REASONS:
        reasons = (
            f"{_named(group.paths)} ({prose(': '.join(filter(None, group[:2])), _TEXT_CHARS)})" for group in groups
        )
        yield f"{title}:** {'; '.join(reasons)}."
    for shown in range(min(_NAMES, len(files)), 0, -1):
        more = f" and {len(files) - shown:,} more" if shown < len(files) else ""
        yield f"{title}:** {_named(entry.path for entry in files[:shown])}{more}."
    yield f"{title}.**"


def _named(paths: Iterable[str]) -> str:
    return ", ".join(md_code(short_label(path)) for path in paths)


def _others(review: Review) -> Iterator[Forms]:
    """What else is not in the count of files; the shorter form counts."""
    if enough := sum(is_sufficient(entry) and entry.state not in (*READ, "removed") for entry in review.coverage):
        yield (f"No review is needed for {with_count(enough, 'file')}.",)
    if review.withheld:
        yield f"Withheld: {withheld_counts(review)}.", f"Withheld: {len(review.withheld):,}."
    if review.suppressed:
        yield (f"Suppressed by settings or comments: {len(review.suppressed):,}.",)
    if parts := left_out(review):
        yield (
            f"Left out: {prose('; '.join(each.what for each in parts), _TEXT_CHARS)}.",
            f"Left out: {with_count(len(parts), 'part')}.",
        )
    if review.notes:
        yield f"Notes: {prose('; '.join(review.notes), _TEXT_CHARS)}.", f"Notes: {len(review.notes):,}."
