"""Join claims that are one defect at two places: the same lines prove them and the cause is the same. Pure functions.

What overlaps in one file is joined by `reviewbot.review.combine.dedupe`; this is for claims that lie apart, such as two
callers of the function whose contract changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import SEVERITY_ORDER, Finding, Proof
from reviewbot.review.combine.dedupe import merge_words
from reviewbot.review.verify.verifier import by_a_model_alone


class Joined(NamedTuple):
    """The defects that are left, and which finding was joined to which."""

    defects: list[Finding]
    pairs: list[tuple[Finding, Finding]]
    """(the one that speaks, the one that was joined to it)."""


def join_by_proof(defects: Sequence[Finding]) -> Joined:
    """Join claims of models alone. A claim is compared with the speaker's own proof only: joins do not chain."""
    order = sorted(range(len(defects)), key=lambda at: _weight(defects[at]))
    speakers: list[tuple[Finding, int]] = []
    gone: dict[int, int] = {}
    for at in order:
        finding = defects[at]
        speaker = next((known for own, known in speakers if _one_defect(own, finding)), None)
        if speaker is None:
            speakers.append((finding, at))
        else:
            gone[at] = speaker
    pairs = [(defects[speaker], defects[at]) for at, speaker in gone.items()]
    left: list[Finding] = []
    for at, defect in enumerate(defects):
        if at not in gone:
            others = [defects[each] for each, speaker in gone.items() if speaker == at]
            left.append(_speaking_for(defect, others))
    return Joined(left, pairs)


def _weight(finding: Finding) -> tuple[int, int, str, int, str]:
    return SEVERITY_ORDER[finding.severity], -finding.confidence, finding.path, finding.line, finding.message


def _one_defect(speaker: Finding, other: Finding) -> bool:
    if speaker.cause in (None, "other") or speaker.cause != other.cause:
        return False
    if not (by_a_model_alone(speaker) and by_a_model_alone(other)):
        return False
    # One line of several is not enough: two defects may break the same promise, or meet in the same function.
    fewer, more = sorted((speaker.proof, other.proof), key=len)
    return bool(fewer) and all(any(_overlap(one, two) for two in more) for one in fewer)


def _overlap(one: Proof, two: Proof) -> bool:
    same_file = (one.path, one.side) == (two.path, two.side)
    return same_file and one.line <= two.end_line and two.line <= one.end_line


def _speaking_for(finding: Finding, others: Sequence[Finding]) -> Finding:
    """The defect with the places of those that were joined to it: lines of the same file, and words for other files."""
    for other in others:
        finding = merge_words(finding, other)
    also = {*finding.also, *(other.line for other in others if other.path == finding.path)}
    elsewhere = sorted({f"{other.path}:{other.line}" for other in others if other.path != finding.path})
    message = f"{finding.message} The same at {', '.join(elsewhere)}." if elsewhere else finding.message
    changed = {"also": tuple(sorted(also - {finding.line})), "message": message}
    return finding.model_copy(update=changed) if others else finding
