"""Review -> the page that a person reads in a terminal: the verdict, the findings, and what was not reviewed."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.domain.contracts import Finding, HumanItem, Review, Severity, Verdict
from reviewbot.report.costs import bill, cost_line, in_words
from reviewbot.report.findings.links import cwe_url, rule_url
from reviewbot.report.findings.view import details_of, fix_of, title_of
from reviewbot.report.formats import ReportInput
from reviewbot.report.terminal.page import LABEL, PLACE, PLAIN, Page
from reviewbot.report.text import block, label, one_line, short_line
from reviewbot.report.view_model import (
    Unseen,
    by_severity,
    readers_line,
    suppression_groups,
    tags,
    unseen,
    withheld_counts,
)
from reviewbot.tables import packaged_table
from reviewbot.wording import with_count

_SEVERITY_STYLES: dict[Severity, str] = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
_VERDICT_STYLES: Mapping[Verdict, str] = packaged_table("report_words")["verdict_styles"]
_LEAD = 7
"""Columns of the word in front of what a finding says of itself."""
_PROSE_CHARS = 2_000
"""The longest message that the contracts let a candidate carry."""
_ITEMS = 50
"""Items for a person, or suppressions; a change can cause thousands, and no reader scrolls to the first of them."""
_PATHS = 8
"""Names per reason; the JSON report has them all."""


def render(report: ReportInput) -> str:
    """The report as text with a last LF. No line breaks inside "path:line"; with `colour` it holds SGR sequences.

    With `verbose` it ends with the names of the tools that ran, and what the tasks took together. With `address_of`
    findings, their rules and weaknesses are links.
    """
    review = report.review
    page = Page(width=report.width, colour=report.colour, address_of=report.address_of)
    page.paragraph(one_line(review.headline), _VERDICT_STYLES[review.verdict])
    if about := _prose(" ".join(review.about)):
        page.paragraph(about)
    if summary := _prose(review.summary):
        page.paragraph(summary)
    for finding in by_severity(review.findings):
        page.blank()
        _finding(page, finding)
    _conflicts(page, review)
    _human(page, review)
    missed = unseen(review)
    if missed:
        page.heading("Not reviewed in full")
        write_unseen(page, missed)
    _suppressed(page, review)
    if review.notes:
        page.heading("About this run")
        for note in review.notes:
            page.paragraph(_prose(note), indent=2, lead="- ")
    _bill(page, review)
    _closing(page, review, verbose=report.verbose)
    return page.render()


def write_unseen(page: Page, groups: list[Unseen]) -> None:
    """One entry per reason, with the files that it holds for."""
    for group in groups:
        why = f": {group.reason}" if group.reason else ""
        _entry(page, f"{group.what}{why}", [label(path) for path in group.paths])


def _entry(page: Page, text: str, names: list[str]) -> None:
    page.paragraph(_prose(text), indent=2, lead="- ")
    more = len(names) - _PATHS
    page.paragraph(", ".join(names[:_PATHS]) + (f" and {more:,} more" if more > 0 else ""), LABEL, indent=4)


def _finding(page: Page, finding: Finding, *, reason: str = "", evidence: bool = True) -> None:
    _head(page, finding)
    if evidence and block(finding.evidence):
        whole = block(finding.evidence).count("\n") == finding.end_line - finding.line
        page.code(finding.evidence, indent=4, first_line=finding.line if whole else None)
    for detail in details_of(finding):
        page.paragraph(_prose(detail.text), indent=2, lead=detail.lead.ljust(_LEAD))
    fix = fix_of(finding)
    if fix.words:
        page.paragraph(_prose(fix.words), indent=2, lead="fix".ljust(_LEAD))
    if fix.code:
        page.code(fix.code, indent=2, lead="fix".ljust(_LEAD))
    if reason:
        page.paragraph(_prose(reason), indent=2, lead="person".ljust(_LEAD))
    about = _prose(f"{', '.join(tags(finding))}; {finding.confidence}% sure, by {', '.join(finding.sources)}")
    word, url = finding.rule, rule_url(finding)
    if not url and finding.cwe:
        word, url = f"CWE-{finding.cwe}", cwe_url(finding.cwe)
    page.paragraph(about, LABEL, indent=2, word=word, url=url)


def _head(page: Page, finding: Finding) -> None:
    """Place, severity and title on one line; the title below where there is no room for it."""
    place = f"{label(finding.path)}:{finding.line}"
    rest, title = (("  ", PLAIN), (finding.severity, _SEVERITY_STYLES[finding.severity])), title_of(finding)
    linked = (page.link(place, page.address_of(finding) if page.address_of else ""), PLACE)
    if page.fits((place, PLACE), *rest, ("  ", PLAIN), (title, PLAIN)):
        page.line(linked, *rest, ("  ", PLAIN), (title, PLAIN))
    else:
        page.line(linked, *rest)
        page.paragraph(title, indent=2)


def _conflicts(page: Page, review: Review) -> None:
    if review.conflicts:
        page.heading("Contradictions, both sides shown")
    for number, conflict in enumerate(review.conflicts):
        if number:
            page.blank()
        page.paragraph(_prose(conflict.reason), indent=2)
        shown: set[tuple[str, int, str]] = set()
        for finding in conflict.findings:
            code = (finding.path, finding.line, finding.evidence)
            _finding(page, finding, evidence=code not in shown)
            shown.add(code)


def _human(page: Page, review: Review) -> None:
    if review.human:
        page.heading("Needs a person")
    for number, item in enumerate(review.human[:_ITEMS]):
        if number:
            page.blank()
        if item.finding:
            _finding(page, item.finding, reason=item.reason)
        else:
            page.line((_human_place(item), PLACE))
            page.paragraph(_prose(item.reason), indent=2)
    if (more := len(review.human) - _ITEMS) > 0:
        page.paragraph(f"... and {more:,} more; --format json lists them.")


def _suppressed(page: Page, review: Review) -> None:
    """What settings and comments did to findings, and where."""
    groups = suppression_groups(review)
    if groups:
        page.heading("Suppressed")
    for group in groups[:_ITEMS]:
        _entry(page, group.text, [f"{label(path)}:{line}" for path, line in group.places])
    if (left := len(groups) - _ITEMS) > 0:
        page.paragraph(f"... and {left:,} more; --format json lists them.")


def _human_place(item: HumanItem) -> str:
    return f"{label(item.path)}:{item.line}" if item.line else label(item.path)


def _bill(page: Page, review: Review) -> None:
    """What each worker and each role cost; nothing without a model."""
    if costs := bill(review):
        page.heading("Cost")
    for cost in costs:
        page.paragraph(in_words(cost), LABEL, indent=2, lead=f"{_prose(cost.who)}: ")


def _closing(page: Page, review: Review, *, verbose: bool) -> None:
    page.blank()
    if review.withheld:
        counts = f"{with_count(len(review.withheld), 'finding')} withheld: {withheld_counts(review)}."
        page.paragraph(f"{counts} --format json lists {'it' if len(review.withheld) == 1 else 'them'}.")
    page.paragraph(one_line(readers_line(review, names=verbose)), PLACE)
    page.paragraph(one_line(cost_line(review, chains=verbose)), LABEL)


def _prose(text: str) -> str:
    return short_line(text, _PROSE_CHARS)
