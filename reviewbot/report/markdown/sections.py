"""The sections of the Markdown comment. `reviewbot.report.text` escapes every text; only our template is not escaped.

A section is a list of Markdown blocks, which stand apart by blank lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from reviewbot import __version__
from reviewbot.coverage.verdict import issues_of, verdict_words
from reviewbot.domain.contracts import Finding, HumanItem, Review, Withheld
from reviewbot.report.costs import asked_models, bill, cost_line, seconds
from reviewbot.report.findings.agent import open_findings, prompt_of_all
from reviewbot.report.findings.links import SourceLinks
from reviewbot.report.findings.view import title_of
from reviewbot.report.markdown.finding import (
    INDENT,
    TAG_CHARS,
    DetailLevel,
    finding_blocks,
    fold_section,
    linked_place,
    name_of,
    names_of,
    one_line_of,
    prose,
)
from reviewbot.report.text import md, md_block, md_cell, md_code, md_prose_cell, one_line, short_label, short_line
from reviewbot.report.view_model import (
    SEVERITY_WORDS,
    WITHHELD_WORDS,
    Unseen,
    by_severity,
    coverage_groups,
    failures,
    models_of,
    suppression_groups,
    withheld_counts,
)
from reviewbot.wording import with_count

_MIN_NAMES, _SIDES, _SUMMARIES = 3, 5, 3
"""Names that every reason shows; sides of a contradiction, and readers' summaries, of which no review needs more."""
MAX_PROMPTED = 100
"""Findings of one prompt for an agent; `--format agent` has all."""
THEMES_FROM = 200
"""Changed lines from which on the files are listed by theme."""
_REASON_CHARS = 300
ASK_AGAIN = (
    "- Ask again, where the App reviews: `/reviewbot review`. Dismiss: `# reviewbot: ignore[RULE] reason` at the "
    "line, or `rules` in `.reviewbot.toml`."
)


class CommentParts(NamedTuple):
    """What a comment is made of beside the review."""

    review: Review
    links: SourceLinks | None = None
    inline: Mapping[Finding, str] = {}
    """Findings that comments or earlier reports have said, and where; empty: at their lines. The body has a line of
    each."""
    names: Mapping[Finding, str] = {}
    """Fingerprints, where commands can name findings by them."""


def heading(review: Review) -> str:
    """The verdict in a few words."""
    words = verdict_words(review.verdict, issues_of(review), len(review.human), review.withheld)
    return f"## reviewbot: {words}"


def about_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """What the change does, in the words of the models that read it; of a large change also its files by theme."""
    review = page.review
    if texts := [prose(text, detail.prose) for text in review.about[:_SUMMARIES] if one_line(text)]:
        yield f"**What it does:** {' '.join(texts)}"
    if changed_lines(review) < THEMES_FROM or not review.themes or not detail.folds:
        return
    rows = ["| Theme | Files |", "| --- | --- |"]
    for theme in review.themes[: detail.items]:
        names = ", ".join(md_cell(short_label(path)) for path in theme.files[:_MIN_NAMES])
        more = f" and {len(theme.files) - _MIN_NAMES:,} more" if len(theme.files) > _MIN_NAMES else ""
        rows.append(f"| {md_prose_cell(short_line(theme.title, TAG_CHARS))} | {names}{more} |")
    yield "\n".join([*rows, *_more(len(review.themes) - detail.items, "theme")])


def changed_lines(review: Review) -> int:
    """How many lines the change adds and removes."""
    return sum(entry.added + entry.removed for entry in review.coverage)


def finding_sections(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """The findings under a heading per severity; a last line says how many are left out."""
    ranked = open_ranked(page.review)
    totals = Counter(finding.severity for finding in ranked)
    for severity, group in groupby(ranked[: detail.findings], key=lambda finding: finding.severity):
        yield f"### {SEVERITY_WORDS[severity]} ({totals[severity]:,})"
        for at_line, some in groupby(group, key=lambda finding: finding in page.inline):
            blocks = (text for finding in some for text in entry_of(finding, page, detail))
            yield from ["\n".join(blocks)] if at_line else blocks
    if (left := len(ranked) - detail.findings) > 0:
        yield f"**{with_count(left, 'finding')} of least weight left out here** to stay within GitHub's limit."


def open_ranked(review: Review) -> list[Finding]:
    """The findings that stand open in the body: all but notes."""
    return [finding for finding in by_severity(review.findings) if finding.severity != "info"]


def entry_of(finding: Finding, page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """A finding in the body: on one line where it stands at its lines as a comment."""
    if finding in page.inline:
        yield one_line_of(finding, page.links, detail, page.inline[finding])
    else:
        yield from finding_blocks(finding, detail, page.links, name=page.names.get(finding, ""))


def conflict_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """Contradictions, with all sides."""
    conflicts = page.review.conflicts
    if conflicts:
        yield f"### Contradictions, all sides shown ({len(conflicts):,})"
    for conflict in conflicts[: detail.items]:
        yield f"*Reason:* {prose(conflict.reason, detail.prose)}"
        shown: set[tuple[str, int, str]] = set()
        for finding in conflict.findings[:_SIDES]:
            code = (finding.path, finding.line, finding.evidence)
            name, is_new = page.names.get(finding, ""), code not in shown
            yield from finding_blocks(finding, detail, page.links, name=name, level=finding.severity, evidence=is_new)
            shown.add(code)
        yield from _more(len(conflict.findings) - _SIDES, "side")
    yield from _more(len(conflicts) - detail.items, "contradiction")


def human_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """What a person must look at: what was said before is on one line, and folded in full."""
    human = page.review.human
    if human:
        yield f"### Needs a person ({len(human):,})"
    shown = human[: detail.items]
    for item in shown:
        if item.finding not in page.inline:
            yield from _human_item(item, page, detail)
    known = [item for item in shown if item.finding in page.inline]
    if known:
        lines = (one_line_of(item.finding, page.links, detail, "") for item in known if item.finding)
        yield "\n".join(lines)
    if known and detail.folds:
        blocks = (block for item in known for block in _human_item(item, page, detail))
        yield from fold_section(f"Reported before, in full ({len(known):,})", blocks)
    yield from _more(len(human) - detail.items, "item")


def _human_item(item: HumanItem, page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    reason = prose(item.reason, detail.prose)
    if item.finding:
        name = page.names.get(item.finding, "")
        yield from finding_blocks(item.finding, detail, page.links, name=name, level=item.finding.severity)
        yield f"{INDENT}*Why a person:* {reason}"
    else:
        yield f"- **{_human_place(item)}** {reason}"


def _human_place(item: HumanItem) -> str:
    return md_code(f"{short_label(item.path)}:{item.line}") if item.line else name_of(item.path)


def failure_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """What failed: one list item per reason, with the first of its files."""
    groups = failures(page.review)
    if groups:
        yield "### Not looked at"
    yield from _list([_unseen(group, detail) for group in groups[: detail.items]])
    yield from _more(len(groups) - detail.items, "reason")


def _unseen(group: Unseen, detail: DetailLevel) -> str:
    reason = f": {prose(group.reason, detail.prose)}" if one_line(group.reason) else ""
    what = prose(group.what, _REASON_CHARS) or "unnamed"
    names = names_of(group.paths, max(_MIN_NAMES, detail.items // 5))
    return f"- **{what}**{reason} ({len(group.paths):,}: {names})"


def suppression_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """What settings and comments did to findings: open what a reader must see, the rest as a fold."""
    groups = suppression_groups(page.review)
    items = []
    for group in groups[: detail.items]:
        names = [md_code(f"{short_label(path)}:{line}") for path, line in group.places]
        shown = max(_MIN_NAMES, detail.items // 5)
        more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
        items.append(f"- {prose(group.text, detail.prose)} ({', '.join(names[:shown])}{more})")
    important = sum(group.important for group in groups[: detail.items])
    if items[:important]:
        yield "### Suppressed"
        yield from _list(items[:important])
    rest = [*_list(items[important:]), *_more(len(groups) - detail.items, "suppression")]
    if rest and detail.folds:
        yield from fold_section(f"Suppressed by settings and comments ({len(groups) - important:,})", rest)
    else:
        yield from rest


def minor_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """Findings of severity info: true, and no reason to hold a change up."""
    notes = [finding for finding in page.review.findings if finding.severity == "info"]
    room = max(0, detail.findings - len(open_ranked(page.review)))
    if not notes or (not detail.folds and not room):
        return
    blocks = (text for finding in notes[:room] for text in entry_of(finding, page, detail))
    left = len(notes) - room
    lost = [f"**{with_count(left, 'finding')} of least weight left out here** to stay within GitHub's limit."]
    yield from fold_section(f"{SEVERITY_WORDS['info']} ({len(notes):,})", [*blocks, *(lost if left > 0 else [])])


def withheld_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """How many findings are withheld, by reason, always; where there is room a folded list, equal ones on one line."""
    withheld = page.review.withheld
    if not withheld:
        return
    title = f"Withheld: {withheld_counts(page.review)}"
    if not detail.folds:
        yield f"{title}. They are not listed here to stay within GitHub's limit."
        return
    places: dict[str, list[str]] = {}
    for item in withheld[: detail.items]:
        places.setdefault(_withheld(item, detail), []).append(linked_place(item.finding, page.links))
    items = [f"- {', '.join(where)} {text}" for text, where in places.items()]
    yield from fold_section(title, [*_list(items), *_more(len(withheld) - detail.items, "finding")])


def _withheld(item: Withheld, detail: DetailLevel) -> str:
    finding = item.finding
    why = prose(item.message, detail.prose) or WITHHELD_WORDS[item.reason]
    return f"{prose(title_of(finding), detail.prose)} ({finding.severity}; {why})"


def coverage_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """Every file in a fold, by state and reason; then parts of the review that were planned out."""
    if not detail.folds or not page.review.coverage:
        return
    groups = coverage_groups(page.review)
    items = [_unseen(group, detail) for group in groups[: detail.items]]
    title = f"Coverage of {with_count(len(page.review.coverage), 'file')}"
    yield from fold_section(title, [*_list(items), *_more(len(groups) - detail.items, "reason")])


def making_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """How the review was made: readers, calls, tokens and dollars, notes, and how to ask again or dismiss."""
    review = page.review
    readers = f"static analyzers without a model, {seconds(review.timings.wall_ms)}."
    if asked_models(review) or review.effort:
        names = ", ".join(md_code(short_line(name, TAG_CHARS)) for name in models_of(review)) or "no model to the end"
        effort = f" at effort {review.effort}" if review.effort else ""
        readers = f"read by {names}{effort}. {prose(cost_line(review, chains=False), detail.prose)}"
    items = [
        f"- reviewbot {__version__}, {readers}",
        *(f"- {prose(note, detail.prose)}" for note in review.notes[: detail.items]),
        *_more(len(review.notes) - detail.items, "note"),
        ASK_AGAIN,
    ]
    costs = _bill(review, detail) if asked_models(review) else []
    if detail.folds:
        yield from fold_section("How this review was made", ["\n".join(items), *(["\n".join(costs)] if costs else [])])
    else:
        yield "\n".join(items)


def _bill(review: Review, detail: DetailLevel) -> list[str]:
    """What each worker and role cost, and the sum."""
    costs = bill(review)
    rows = [
        "| Worker | Tasks | Findings | Calls | In | Cache read | Cache written | Out | Dollars | Time |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for cost in (*costs[:-1][: detail.items], *costs[-1:]):
        numbers = " | ".join(cost._replace(dollars=md(cost.dollars))[1:])
        rows.append(f"| {md_cell(short_line(cost.who, TAG_CHARS))} | {numbers} |")
    return rows if costs else []


def agent_blocks(page: CommentParts, detail: DetailLevel) -> Iterator[str]:
    """A prompt for a coding agent, about all findings, ready to be copied."""
    findings = [finding for _, finding in open_findings(page.review)]
    if findings and detail.folds:
        left = _more(len(findings) - MAX_PROMPTED, "finding")
        yield from fold_section(
            "Prompt for an agent", [md_block(prompt_of_all(findings[:MAX_PROMPTED]), "text"), *left]
        )


def _list(items: list[str]) -> list[str]:
    return ["\n".join(items)] if items else []


def _more(left: int, noun: str) -> list[str]:
    return [f"... and {with_count(left, f'more {noun}')}."] if left > 0 else []
