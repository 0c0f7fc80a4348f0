"""The sections of the Markdown comment. `reviewbot.report.text` escapes every text; only our template is not escaped.

A section is a list of Markdown blocks, which stand apart by blank lines. Texts are never at the start of a line: other
bots read commands there, also inside code. So findings are list items, and all that belongs to them is indented.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.report.costs import bill, seconds
from reviewbot.report.text import block, clip_block, label, md, md_block, md_cell, md_code, one_line, short_line
from reviewbot.report.view_model import (
    SEVERITY_WORDS,
    WITHHELD_WORDS,
    advice,
    by_severity,
    state_words,
    suppression_groups,
    tags,
    unseen,
    withheld_counts,
)
from reviewbot.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reviewbot.domain.contracts import Finding, HumanItem, Review, Withheld

_INDENT = "  "
_NAME_CHARS = 300
"""Longer names lose their middle: their end tells most."""
_CODE_CHARS = 400
"""Of one line: a minified file has lines of thousands."""
_MIN_NAMES, _ROWS_PER_ITEM = 3, 4
"""Names that every reason shows; and rows of the folded table of files for each entry of an open list."""
_TAG_CHARS, _SOURCES, _SIDES = 80, 10, 5
"""Caps on what no review needs more of: characters of a rule's name, sources of a finding, sides of a contradiction."""
_INFOS = {"py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "rb": "ruby"}
_INFOS |= {"rs": "rust", "cs": "csharp", "kt": "kotlin", "sh": "bash", "yml": "yaml", "md": "markdown", "h": "c"}
_INFOS |= {"cc": "cpp", "hpp": "cpp"}
"""The end of a name to the info string of a fence, where they differ: for colours only."""


class Detail(NamedTuple):
    """How much of a review is shown; a comment that is too long is written again with less."""

    findings: int
    """How many, the most important first."""
    items: int = 50
    """How many entries of every other list."""
    prose: int = 1_000
    """Characters of one message, reason or suggestion."""
    code_lines: int = 20
    """Lines of one block of code; with 0 no code is shown."""
    tables: bool = True
    """Whether the folded lists (withheld findings, coverage) are there."""
    proofs: bool = True
    """Whether a finding tells what it violates, what is seen, and why it is believed."""


def finding_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """The findings under a heading per severity; a last line says how many are left out."""
    ranked = by_severity(review.findings)
    totals = Counter(finding.severity for finding in ranked)
    for severity, group in groupby(ranked[: detail.findings], key=lambda finding: finding.severity):
        yield f"### {SEVERITY_WORDS[severity]} ({totals[severity]:,})"
        for finding in group:
            yield from _finding(finding, detail)
    if (left := len(ranked) - detail.findings) > 0:
        yield f"**{counted(left, 'finding')} of least weight left out here** to stay within GitHub's limit."


def finding_size(finding: Finding, detail: Detail) -> int:
    """How many characters a finding adds to the comment."""
    return sum(len(text) + 2 for text in _finding(finding, detail))


def conflict_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """Contradictions, with all sides."""
    if review.conflicts:
        yield "### Contradictions, all sides shown"
    for conflict in review.conflicts[: detail.items]:
        yield f"**Reason:** {_prose(conflict.reason, detail.prose)}"
        shown: set[tuple[str, int, str]] = set()
        for finding in conflict.findings[:_SIDES]:
            code = (finding.path, finding.line, finding.evidence)
            yield from _finding(finding, detail, level=finding.severity, evidence=code not in shown)
            shown.add(code)
        yield from _more(len(conflict.findings) - _SIDES, "side")
    yield from _more(len(review.conflicts) - detail.items, "contradiction")


def human_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """What a person must look at."""
    if review.human:
        yield "### Needs a person"
    for item in review.human[: detail.items]:
        reason = _prose(item.reason, detail.prose)
        if item.finding:
            yield from _finding(item.finding, detail, level=item.finding.severity)
            yield f"{_INDENT}*Why a person:* {reason}"
        else:
            yield f"- **{_human_place(item)}** {reason}"
    yield from _more(len(review.human) - detail.items, "item")


def unseen_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """What was not reviewed in full: one list item per reason, with the first of its files."""
    groups = unseen(review)
    if groups:
        yield "### Not reviewed in full"
    items = []
    for group in groups[: detail.items]:
        reason = f": {_prose(group.reason, detail.prose)}" if one_line(group.reason) else ""
        what = _prose(group.what, _NAME_CHARS) or "unnamed"
        items.append(f"- **{what}**{reason} ({_first_of([_name(path) for path in group.paths], detail)})")
    yield from _list(items)
    yield from _more(len(groups) - detail.items, "reason")


def _first_of(names: Sequence[str], detail: Detail) -> str:
    shown = max(_MIN_NAMES, detail.items // 5)
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more" if more > 0 else "")


def suppression_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """What settings and comments did to findings, one list item for each, with the first of its places."""
    groups = suppression_groups(review)
    if groups:
        yield "### Suppressed"
    items = []
    for group in groups[: detail.items]:
        names = [md_code(f"{_shorten(path)}:{line}") for path, line in group.places]
        items.append(f"- {_prose(group.text, detail.prose)} ({_first_of(names, detail)})")
    yield from _list(items)
    yield from _more(len(groups) - detail.items, "suppression")


def note_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """What a reader should know of the run."""
    if review.notes:
        yield "### About this run"
    yield from _list([f"- {_prose(note, detail.prose)}" for note in review.notes[: detail.items]])
    yield from _more(len(review.notes) - detail.items, "note")


def withheld_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """How many findings are withheld, by reason, always; each of them in a folded list where there is room."""
    if not review.withheld:
        return
    title = f"{counted(len(review.withheld), 'finding')} withheld: {withheld_counts(review)}"
    if not detail.tables:
        yield f"{title}. They are not listed here to stay within GitHub's limit."
        return
    items = [f"- {_withheld(item, detail)}" for item in review.withheld[: detail.items]]
    yield from _fold(title, [*_list(items), *_more(len(review.withheld) - detail.items, "finding")])


def _withheld(item: Withheld, detail: Detail) -> str:
    finding = item.finding
    return (
        f"{_place(finding)} {_prose(finding.message, detail.prose)} "
        f"({finding.severity}, confidence {finding.confidence}, {WITHHELD_WORDS[item.reason]})"
    )


def table_blocks(review: Review, detail: Detail) -> Iterator[str]:
    """The folded tables: every file with its state and who saw it, every worker with what it cost."""
    if not detail.tables or not review.coverage:
        return
    rows = ["| File | State | Seen by |", "| --- | --- | --- |"]
    for entry in review.coverage[: detail.items * _ROWS_PER_ITEM]:
        seen = ", ".join(md_cell(short_line(name, _TAG_CHARS)) for name in entry.readers) or "no reader"
        rows.append(f"| {md_cell(_shorten(entry.path))} | {state_words(entry)} | {seen} |")
    blocks = ["\n".join(rows), *_more(len(review.coverage) - detail.items * _ROWS_PER_ITEM, "file")]
    if review.workers:
        blocks.append("\n".join(_bill(review, detail)))
    yield from _fold(f"Coverage: {counted(len(review.coverage), 'file')}", blocks)


def _bill(review: Review, detail: Detail) -> Iterator[str]:
    """What each worker did and cost: without a model its time is all there is to tell."""
    costs = bill(review)
    if not costs:
        yield "| Worker | Tasks | Findings | Time | Dollars |"
        yield "| --- | ---: | ---: | ---: | ---: |"
        for row in review.workers[: detail.items]:
            name, time = md_cell(short_line(row.worker, _TAG_CHARS)), seconds(row.duration_ms)
            yield f"| {name} | {row.tasks} | {row.findings} | {time} | {row.usage.cost_usd:.2f} |"
        return
    yield "| Worker | Tasks | Findings | Calls | In | Cache read | Cache written | Out | Dollars | Time |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for cost in (*costs[:-1][: detail.items], costs[-1]):
        numbers = " | ".join(cost._replace(dollars=md(cost.dollars))[1:])
        yield f"| {md_cell(short_line(cost.who, _TAG_CHARS))} | {numbers} |"


def _finding(finding: Finding, detail: Detail, *, level: str = "", evidence: bool = True) -> Iterator[str]:
    """A list item and what belongs to it. Also the shortest form has place, message, and who says so how surely."""
    suffix = PurePosixPath(finding.path).suffix[1:].lower()
    info = _INFOS.get(suffix, suffix)
    word = f" {level}:" if level else ""
    yield f"- **{_place(finding)}**{word} {_prose(finding.message, detail.prose)}"
    if evidence and detail.code_lines:
        yield from _code(finding.evidence, info, detail)
    for title, text in _labelled_fields(finding, proofs=detail.proofs):
        if prose := _prose(text, detail.prose):
            yield f"{_INDENT}*{title}:* {prose}"
    if "\n" in block(advice(finding)):
        if detail.code_lines:
            yield f"{_INDENT}*Suggestion:*"
            yield from _code(advice(finding), info, detail)
    elif suggestion := _prose(advice(finding), detail.prose):
        yield f"{_INDENT}*Suggestion:* {suggestion}"
    about = ", ".join(_tag(tag) for tag in tags(finding))
    sources = ", ".join(_tag(source) for source in finding.sources[:_SOURCES])
    yield f"{_INDENT}{about}; confidence {finding.confidence} of 100, by {sources}"


def _labelled_fields(finding: Finding, *, proofs: bool) -> Iterator[tuple[str, str]]:
    """The fields of a finding beside its message. A doubt is shown even where there is room for nothing else."""
    yield "When it bites", finding.trigger
    if proofs:
        yield "What it violates", finding.contract
        yield "What is seen", finding.symptom
        yield "Why it is believed", finding.judgement
    yield "A model disputes it", finding.disputed


def _code(text: str, info: str, detail: Detail) -> Iterator[str]:
    if code := clip_block(text, lines=detail.code_lines, chars=_CODE_CHARS):
        yield md_block(code, info, indent=_INDENT)


def _human_place(item: HumanItem) -> str:
    return md_code(f"{_shorten(item.path)}:{item.line}") if item.line else _name(item.path)


def _place(finding: Finding) -> str:
    return md_code(f"{_shorten(finding.path)}:{finding.line}")


def _name(path: str) -> str:
    return md_code(_shorten(path))


def _shorten(path: str) -> str:
    half = _NAME_CHARS // 2
    if len(path) > _NAME_CHARS:
        path = f"{path[:half]}...{path[-half:]}"
    return label(path)


def _prose(text: str, chars: int) -> str:
    return md(short_line(text, chars))


def _tag(text: str) -> str:
    return md_code(short_line(text, _TAG_CHARS))


def _list(items: list[str]) -> list[str]:
    return ["\n".join(items)] if items else []


def _more(left: int, noun: str) -> list[str]:
    return [f"... and {counted(left, f'more {noun}')}."] if left > 0 else []


def _fold(title: str, blocks: Iterable[str]) -> Iterator[str]:
    """A folded section of our own; `title` holds no text of others."""
    yield f"<details><summary>{title}</summary>"
    yield from blocks
    yield "</details>"
