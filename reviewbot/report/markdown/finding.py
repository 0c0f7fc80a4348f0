"""A finding in Markdown: as an entry of the review's body, on one line, and as a comment at its lines.

Texts are never at the start of a line: other bots read commands there, also inside code. So a finding is a list item,
and all that belongs to it is indented; at a line, each paragraph begins with a fixed word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from textwrap import dedent
from typing import NamedTuple

from reviewbot.domain.contracts import MODEL_SOURCE, Finding, Proof, Severity
from reviewbot.report.findings.agent import prompt_of
from reviewbot.report.findings.links import SourceLinks, cwe_url, rule_url
from reviewbot.report.findings.view import Fix, details_of, fix_of, title_of
from reviewbot.report.text import clip_block, md, md_block, md_code, one_line, short_label, short_line

INDENT = "  "
_CODE_CHARS = 400
"""Of one line: a minified file has lines of thousands."""
_SPAN_CHARS = 100
"""Of a single line of code that stands on its own without a fence."""
TAG_CHARS, _SOURCES, _PROOFS = 80, 10, 5
"""Caps on what no review needs more of: characters of a rule's name, sources and proofs of a finding."""
_WORDS: dict[Severity, str] = {"critical": "Critical", "warning": "Warning", "info": "Note"}
_COMMENT_CHARS = 1_000
NAME_DIGITS = 10
"""Of a fingerprint, by which commands name a finding."""
_INFOS = {"py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "rb": "ruby"}
_INFOS |= {"rs": "rust", "cs": "csharp", "kt": "kotlin", "sh": "bash", "yml": "yaml", "md": "markdown", "h": "c"}
_INFOS |= {"cc": "cpp", "hpp": "cpp"}
"""The end of a name to the info string of a fence, where they differ: for colours only."""


class DetailLevel(NamedTuple):
    """How much of a review is shown; a comment that is too long is written again with less."""

    findings: int
    """How many, the most important first."""
    items: int = 50
    """How many entries of every other list."""
    prose: int = 1_000
    """Characters of one message, reason or suggestion."""
    code_lines: int = 12
    """Lines of one block of code; with 0 no code is shown."""
    folds: bool = True
    """Whether the folded lists are there."""
    proofs: bool = True
    """Whether a finding tells what it violates, what is seen, and why it is believed."""


def finding_blocks(
    finding: Finding,
    detail: DetailLevel,
    links: SourceLinks | None,
    *,
    name: str = "",
    level: str = "",
    evidence: bool = True,
) -> Iterator[str]:
    """A list item and what belongs to it. Also the shortest form has title, place, and who says so how surely.

    `name`: its fingerprint, where a command can name it.
    """
    word = f"{level}: " if level else ""
    title = f"**{word}{prose(title_of(finding), detail.prose)}**"
    yield f"- {title} {linked_place(finding, links)} {small_line(finding, name)}"
    fix = fix_of(finding)
    if detail.code_lines:
        yield from _code(finding, fix if evidence else fix._replace(code=""), detail, evidence=evidence)
    yield from (INDENT + text for text in paragraphs(finding, links, detail.prose, backing=detail.proofs))
    if fix.words:
        yield f"{INDENT}*Fix:* {prose(fix.words, detail.prose)}"


def one_line_of(finding: Finding, links: SourceLinks | None, detail: DetailLevel, where: str) -> str:
    """A finding that a comment has said (`where`: "at an earlier head", or empty): its title, linked to its line."""
    title = prose(title_of(finding), detail.prose)
    place = md_code(f"{short_label(finding.path)}:{finding.line}")
    at = f"[{place}]({links.in_change(finding.path, finding.line)})" if links else place
    return f"- **{title}** {at}" + (f", commented {where}" if where else "")


def comment_blocks(finding: Finding, links: SourceLinks | None, proposal: str | None, name: str = "") -> Iterator[str]:
    """A finding as a comment at its lines: its code is right there, so that only what mends it is quoted.

    `proposal` is a block of lines that can be committed, `name` the finding's fingerprint. Each paragraph begins with a
    fixed word: text by others is never at the start of a line.
    """
    yield f"**{_WORDS[finding.severity]}: {prose(title_of(finding), _COMMENT_CHARS)}**"
    yield from paragraphs(finding, links, _COMMENT_CHARS)
    fix = fix_of(finding)
    if fix.words:
        yield f"*Fix:* {prose(fix.words, _COMMENT_CHARS)}"
    if proposal is not None:
        yield proposal
    elif fix.code:
        detail = DetailLevel(1)
        yield "- *Instead, not tried out:*"
        yield from _code(finding, fix, detail, evidence=False)
    yield from fold_section("Prompt for an agent", [md_block(prompt_of(finding), "text")])
    yield small_line(finding, name)


def fold_section(title: str, blocks: Iterable[str]) -> Iterator[str]:
    """A folded section of our own; `title` holds no text of others."""
    yield f"<details><summary>{title}</summary>"
    yield from blocks
    yield "</details>"


def paragraphs(finding: Finding, links: SourceLinks | None, chars: int, *, backing: bool = True) -> Iterator[str]:
    """What a finding says beside its title, each after a fixed word, and the places that prove it."""
    for each in details_of(finding, backing=backing):
        yield f"*{each.label}:* {prose(each.text, chars)}"
    if backing and finding.proof:
        proofs = (_proof(proof, links) for proof in finding.proof[:_PROOFS])
        yield f"*Proof:* {'; '.join(proofs)}"


def _proof(proof: Proof, links: SourceLinks | None) -> str:
    place = _linked(proof.path, proof.line, proof.end_line, links, proof.side)
    old = "" if proof.side == "new" else " before the change"
    why = f" ({prose(proof.why, _CODE_CHARS)})" if one_line(proof.why) else ""
    return f"{place}{old}{why}"


def small_line(finding: Finding, name: str = "") -> str:
    """Rule and weakness, how sure the review is, which models found it, and the start of its fingerprint (`name`).

    The page of the rule is linked where there is one, else that of the weakness.
    """
    url = rule_url(finding)
    about = [f"[{url.rpartition('/')[2]}]({url})" if url else _tag(finding.rule or finding.category)]
    if finding.cwe:
        about.append(f"CWE-{finding.cwe}" if url else f"[CWE-{finding.cwe}]({cwe_url(finding.cwe)})")
    models = [source.removeprefix(MODEL_SOURCE) for source in finding.sources if source.startswith(MODEL_SOURCE)]
    by = f", by {', '.join(_tag(name) for name in models[:_SOURCES])}" if models else ""
    called = f", ID {md_code(name[:NAME_DIGITS])}" if name else ""
    return f"<sub>{', '.join(about)}, {finding.confidence}% sure{by}{called}</sub>"


def linked_place(finding: Finding, links: SourceLinks | None) -> str:
    """The first line of a finding, linked to all of them."""
    return _linked(finding.path, finding.line, finding.end_line, links)


def _linked(path: str, first: int, last: int, links: SourceLinks | None, side: str = "new") -> str:
    place = md_code(f"{short_label(path)}:{first}")
    url = links.lines(path, first, last, "new" if side == "new" else "old") if links else ""
    return f"[{place}]({url})" if url else place


def name_of(path: str) -> str:
    """The name of a file as a code span."""
    return md_code(short_label(path))


def names_of(paths: Sequence[str], shown: int) -> str:
    """The first names, and how many more there are."""
    more = len(paths) - shown
    return ", ".join(name_of(path) for path in paths[:shown]) + (f" and {more:,} more" if more > 0 else "")


def prose(text: str, chars: int) -> str:
    """One line of escaped prose."""
    return md(short_line(text, chars))


def _tag(text: str) -> str:
    return md_code(short_line(text, TAG_CHARS))


def _code(finding: Finding, fix: Fix, detail: DetailLevel, *, evidence: bool) -> Iterator[str]:
    """The code at fault, and the lines that are to stand in its place: both together as a difference."""
    old = clip_block(dedent(finding.evidence), lines=detail.code_lines, chars=_CODE_CHARS) if evidence else ""
    new = clip_block(dedent(fix.code), lines=detail.code_lines, chars=_CODE_CHARS)
    if old and new:
        rows = [*(f"-{row}" for row in old.split("\n")), *(f"+{row}" for row in new.split("\n"))]
        yield md_block("\n".join(rows), "diff", indent=INDENT)
    elif old and "\n" not in old and len(old) <= _SPAN_CHARS:
        yield INDENT + md_code(old)
    elif code := old or new:
        suffix = PurePosixPath(finding.path).suffix[1:].lower()
        yield md_block(code, _INFOS.get(suffix, suffix), indent=INDENT)
