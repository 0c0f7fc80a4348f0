"""The code that a judge sees beside claims: rows of their hunks and the lines around their proofs, each line once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.contracts import Finding, Payload, Proof, Side
from reviewbot.llm.prompts.change_view import HunkRow, hunk_views, new_lines

MAX_HUNK_CHARS = 3_000
"""Of one hunk; of a longer one the rows around its claims are shown."""
HUNK_ROWS, MAX_ROW = 25, 400
"""Rows around a claim that are shown of a longer hunk, and characters of each."""
PROOF_ROWS = 8
"""Lines around a proof."""
MAX_PROOF_CHARS = 30_000
"""Of the code around all proofs. What a proof quotes stands with its claim in any case."""
CUT = "[cut]"

LinesOfSide = Callable[[str, Side], Sequence[str]]


class HunkExcerpts(NamedTuple):
    """Hunks as text, and by path which lines of the new side are seen in them."""

    texts: Sequence[str]
    shown: Mapping[str, Collection[int]]


def hunk_excerpts(findings: Sequence[Finding], slices: Sequence[Payload]) -> HunkExcerpts:
    """Each hunk that a finding stands in, once; of a long one the rows around its findings."""
    texts: list[str] = []
    shown: defaultdict[str, set[int]] = defaultdict(set)
    for payload in slices:
        path = payload.file_path
        lines = {each.line for each in findings if each.path == path}
        for rows in hunk_views(payload):
            if here := lines.intersection(new_lines(rows)) - shown[path]:
                kept = _around(rows, here)
                shown[path] |= {rows[index].number or 0 for index in kept}
                texts.append(f"{path}\n{_with_cuts(kept, [row.text for row in rows])}")
    return HunkExcerpts(texts, shown)


def proof_excerpts(
    proofs: Iterable[Proof], shown: Mapping[str, Collection[int]], lines_of: LinesOfSide
) -> Iterable[str]:
    """The lines around proofs, those of one side of one file together; without what is `shown` already."""
    wanted: defaultdict[tuple[str, Side], set[int]] = defaultdict(set)
    for proof in proofs:
        lines = set(range(proof.line, proof.end_line + 1))
        if proof.side == "old" or not lines <= set(shown.get(proof.path, ())):
            wanted[proof.path, proof.side] |= set(range(proof.line - PROOF_ROWS, proof.end_line + PROOF_ROWS + 1))
    left = MAX_PROOF_CHARS
    for (path, side), numbers in wanted.items():
        lines_there = [f"{number:5} {line}" for number, line in enumerate(lines_of(path, side), 1)]
        text = _with_cuts(sorted(number - 1 for number in numbers if 0 < number <= len(lines_there)), lines_there)
        left -= len(text)
        if text and left >= 0:
            yield f"{path} ({side} side)\n{text}"


def _around(rows: Sequence[HunkRow], lines: Collection[int]) -> Sequence[int]:
    """Indexes of the rows of a hunk, or of a long one of those around each line that a finding is about."""
    if sum(len(row.text) for row in rows) <= MAX_HUNK_CHARS:
        return range(len(rows))
    at = [index for index, row in enumerate(rows) if row.number in lines]
    near = {other for each in at for other in range(each - HUNK_ROWS, each + HUNK_ROWS + 1)}
    return sorted(near.intersection(range(len(rows))))


def _with_cuts(kept: Sequence[int], rows: Sequence[str]) -> str:
    """The rows with these indexes, and a mark wherever others are left out."""
    parts: list[str] = []
    before = -1
    for index in kept:
        parts += [CUT] if index != before + 1 else []
        parts.append(rows[index][:MAX_ROW])
        before = index
    return "\n".join([*parts, CUT] if parts and before < len(rows) - 1 else parts)
