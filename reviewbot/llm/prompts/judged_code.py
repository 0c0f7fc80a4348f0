"""The code around the proofs of claims that a judge sees beside the change, each line once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from reviewbot.domain.contracts import Payload, Proof, Side
from reviewbot.llm.prompts.change_view import hunk_views, new_lines

MAX_ROW = 400
"""Characters of a line."""
PROOF_ROWS = 12
"""Lines around a proof."""
MAX_PROOF_CHARS = 30_000
"""Of the code around all proofs. What a proof quotes stands with its claim in any case."""
CUT = "[cut]"

LinesOfSide = Callable[[str, Side], Sequence[str]]


def proof_excerpts(proofs: Iterable[Proof], slices: Iterable[Payload], lines_of: LinesOfSide) -> Iterable[str]:
    """The lines around proofs, those of one side of one file together; without proofs that the change shows.

    `lines_of`: the masked lines of one side of a file, none where it has none. May block.
    """
    shown: defaultdict[str, set[int]] = defaultdict(set)
    for payload in slices:
        for rows in hunk_views(payload):
            shown[payload.file_path].update(new_lines(rows))
    wanted: defaultdict[tuple[str, Side], set[int]] = defaultdict(set)
    for proof in proofs:
        lines = set(range(proof.line, proof.end_line + 1))
        if proof.side == "old" or not lines <= shown[proof.path]:
            wanted[proof.path, proof.side] |= set(range(proof.line - PROOF_ROWS, proof.end_line + PROOF_ROWS + 1))
    left = MAX_PROOF_CHARS
    for (path, side), numbers in wanted.items():
        lines_there = [f"{number:5} {line}" for number, line in enumerate(lines_of(path, side), 1)]
        text = _with_cuts(sorted(number - 1 for number in numbers if 0 < number <= len(lines_there)), lines_there)
        left -= len(text)
        if text and left >= 0:
            yield f"{path} ({side} side)\n{text}"


def _with_cuts(kept: Sequence[int], rows: Sequence[str]) -> str:
    """The rows with these indexes, and a mark wherever others are left out."""
    parts: list[str] = []
    before = -1
    for index in kept:
        parts += [CUT] if index != before + 1 else []
        parts.append(rows[index][:MAX_ROW])
        before = index
    return "\n".join([*parts, CUT] if parts and before < len(rows) - 1 else parts)
