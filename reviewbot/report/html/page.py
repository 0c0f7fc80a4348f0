"""Review -> one HTML page that holds everything: verdict, findings, withheld ones, coverage of each file, and cost."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from textwrap import dedent

from reviewbot import __version__
from reviewbot.coverage.verdict import coverage_words, issues_of, verdict_words
from reviewbot.domain.contracts import Finding, HumanItem, Review
from reviewbot.report.costs import bill, cost_line
from reviewbot.report.findings.agent import prompt_of
from reviewbot.report.findings.links import cwe_url, rule_url
from reviewbot.report.findings.view import details_of, fix_of, title_of
from reviewbot.report.formats import ReportInput
from reviewbot.report.html.elements import Html, code_block, diff_block, element, fold, join, link, prose, table
from reviewbot.report.text import label
from reviewbot.report.view_model import (
    SEVERITY_WORDS,
    WITHHELD_WORDS,
    by_severity,
    failures,
    line_counts,
    state_words,
    suppression_groups,
)
from reviewbot.tables import packaged_text
from reviewbot.wording import with_count

MAX_OPEN = 30
"""Findings that stand open when the page is opened; of more, each is one line until a reader opens it."""
STYLE = packaged_text("report.css")
"""Light and dark by the reader's settings, narrow and wide, and on paper. It names no address: nothing is loaded."""

_DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"
"""What a browser allows the page: its own style, and nothing else."""
_COSTS = ("Worker", "Tasks", "Findings", "Calls", "In", "Cache read", "Cache written", "Out", "Dollars", "Time")


def render(report: ReportInput) -> str:
    """The page with a last LF. It loads nothing; its links lead to pages about rules and weaknesses."""
    review = report.review
    verdict = verdict_words(review.verdict, issues_of(review), len(review.human), review.withheld)
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        element("title", f"reviewbot: {verdict}"),
        Html(f"<style>{STYLE}</style>"),
    )
    body = element("body", element("main", *_sections(report, verdict)))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _sections(report: ReportInput, verdict: str) -> Iterator[Html]:
    review = report.review
    yield element("h1", verdict, class_=review.verdict)
    yield element("p", f"{coverage_words(review.coverage)}, {line_counts(review)}.")
    yield from (element("p", prose(text)) for text in review.about)
    if review.themes:
        names = [(prose(theme.title), join(map(_name, theme.files), ", ")) for theme in review.themes]
        yield table(("Theme", "Files"), names)
    is_open = len(review.findings) <= MAX_OPEN
    for severity, group in groupby(by_severity(review.findings), key=lambda finding: finding.severity):
        findings = list(group)
        yield element("h2", f"{SEVERITY_WORDS[severity]} ({len(findings):,})")
        yield from (_finding(each, report, is_open=is_open and severity != "info") for each in findings)
    yield from _unsettled(report)
    yield from _left_out(review)
    yield fold(f"Coverage of {with_count(len(review.coverage), 'file')}", _coverage(review), _skipped(review))
    yield fold("How this review was made", *_making(review))


def _finding(finding: Finding, report: ReportInput, *, why: str = "", is_open: bool = True) -> Html:
    place = f"{label(finding.path)}:{finding.line}"
    title = join(
        [
            element("b", finding.severity, class_=finding.severity),
            " ",
            prose(title_of(finding)),
            " ",
            element("code", place),
        ]
    )
    details = [(each.label, each.text) for each in details_of(finding)]
    fix = fix_of(finding)
    details += [("Fix", fix.words)] if fix.words else []
    details += [("Why a person", why)] if why else []
    words = [part for name, text in details for part in (element("dt", name), element("dd", prose(text)))]
    old = dedent(finding.evidence)
    code = diff_block(old, dedent(fix.code)) if fix.code else code_block(old)
    name = report.fingerprints.get(finding)
    return fold(
        title,
        code,
        element("dl", *words, *_proofs(finding)) if words or finding.proof else None,
        element("p", _small(finding), class_="small"),
        fold("Prompt for an agent", code_block(prompt_of(finding))),
        id_=f"finding-{name}" if name else None,
        class_="finding",
        is_open=is_open,
    )


def _proofs(finding: Finding) -> Iterator[Html]:
    for proof in finding.proof:
        side = "" if proof.side == "new" else " before the change"
        yield element("dt", "Proof")
        yield element(
            "dd",
            element("code", f"{label(proof.path)}:{proof.line}"),
            f"{side} ",
            prose(proof.why),
            code_block(proof.quote),
        )


def _small(finding: Finding) -> Html:
    rule = link(element("code", finding.rule or finding.category), rule_url(finding))
    cwe = link(f"CWE-{finding.cwe}", cwe_url(finding.cwe)) if finding.cwe else None
    sure = f"{finding.confidence}% sure, by {', '.join(finding.sources)}"
    return join([each for each in (finding.type, rule, cwe, sure) if each is not None], ", ")


def _unsettled(report: ReportInput) -> Iterator[Html]:
    """Contradictions, and what needs a person."""
    review = report.review
    if review.conflicts:
        yield element("h2", f"Contradictions, all sides shown ({len(review.conflicts):,})")
    for conflict in review.conflicts:
        yield element("p", prose(conflict.reason))
        yield from (_finding(finding, report) for finding in conflict.findings)
    if review.human:
        yield element("h2", f"Needs a person ({len(review.human):,})")
    yield from (_human(item, report) for item in review.human)


def _human(item: HumanItem, report: ReportInput) -> Html:
    if item.finding is not None:
        return _finding(item.finding, report, why=item.reason)
    place = f"{label(item.path)}:{item.line}" if item.line else label(item.path)
    return element("p", element("code", place), " ", prose(item.reason))


def _left_out(review: Review) -> Iterator[Html]:
    """What failed, what was silenced, and what is withheld."""
    if groups := failures(review):
        yield element("h2", "Not looked at")
        yield table(
            ("What", "Why", "Files"), ((each.what, prose(each.reason), _join_paths(each.paths)) for each in groups)
        )
    if silenced := suppression_groups(review):
        places = (", ".join(f"{label(path)}:{line}" for path, line in group.places) for group in silenced)
        rows = ((prose(group.text), element("code", place)) for group, place in zip(silenced, places, strict=True))
        important = any(group.important for group in silenced)
        yield fold(f"Suppressed ({len(silenced):,})", table(("What", "Where"), rows), is_open=important)
    if review.withheld:
        withheld = (
            (
                element("code", f"{label(item.finding.path)}:{item.finding.line}"),
                prose(title_of(item.finding)),
                item.finding.severity,
                prose(item.message or WITHHELD_WORDS[item.reason]),
            )
            for item in review.withheld
        )
        yield fold(f"Withheld ({len(review.withheld):,})", table(("Where", "What", "Severity", "Why"), withheld))


def _coverage(review: Review) -> Html:
    rows = (
        (_name(entry.path), state_words(entry), prose(entry.reason), f"+{entry.added} -{entry.removed}")
        for entry in review.coverage
    )
    return table(("File", "State", "Why", "Lines"), rows)


def _skipped(review: Review) -> Html | None:
    rows = [(_name(entry.path), ", ".join(entry.workers), prose(entry.reason)) for entry in review.unlooked]
    return table(("File", "Not looked at for", "Why"), rows) if rows else None


def _making(review: Review) -> Iterator[Html]:
    effort = f", effort {review.effort}" if review.effort else ""
    yield element("p", f"reviewbot {__version__}, engine {review.engine}{effort}. ", prose(cost_line(review)))
    if review.notes:
        yield element("ul", *(element("li", prose(note)) for note in review.notes))
    if costs := bill(review):
        yield table(_COSTS, costs)


def _name(path: str) -> Html:
    return element("code", label(path))


def _join_paths(paths: tuple[str, ...]) -> Html:
    return join(map(_name, paths), ", ")
