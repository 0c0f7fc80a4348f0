"""Apply a judge's rulings to findings, find contradictions, and join claims that are one defect. Pure functions.

`join_by_proof` joins claims at two places that the same lines prove and that have the same cause, such as two callers
of a function whose contract changed. `reviewbot.review.combine.dedupe` joins what overlaps in one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import SEVERITY_ORDER, SURE, Conflict, Finding, Proof
from reviewbot.domain.contracts.answers import JudgeRuling
from reviewbot.review.combine.dedupe import merge_words
from reviewbot.review.verify.verifier import HIGHEST_CONFIDENCE, by_a_model_alone

MAX_JUDGEMENT = 1_000
"""Characters of a ruling's words that a review keeps."""
REFUTED = 50
"""A claim that is ruled less likely than this contradicts nothing."""


def apply_ruling(finding: Finding, ruling: JudgeRuling | None) -> Finding:
    """The finding with the confidence, severity and worth that a ruling gives it, and why; unchanged without one.

    Where an analyzer stands behind the finding, a ruling cannot lower its confidence: it disputes it.
    """
    if ruling is None:
        return finding
    reason = _short(ruling.reason, MAX_JUDGEMENT * 2 // 3)
    stop = "" if reason.rstrip().endswith((".", "!", "?")) else "."
    against = f"{stop} Against it: {ruling.argument_against}" if ruling.argument_against.strip() else ""
    judged: dict[str, object] = {
        "judgement": _short(reason + against, MAX_JUDGEMENT),
        "worth": ruling.worth if finding.worth is None else round((finding.worth + ruling.worth) / 2),
    }
    confidence = min(ruling.confidence, HIGHEST_CONFIDENCE)
    if by_a_model_alone(finding):
        # What a reader holds to be critical is for a person, whatever weight the judge gives it, where the judge holds
        # it to be likely, and where both are far apart: hostile text may have talked one of them into its number.
        far_apart = finding.confidence >= SURE and confidence < REFUTED
        open_question = finding.severity == "critical" and (far_apart or REFUTED <= confidence < SURE)
        judged |= {"confidence": confidence, "severity": "critical" if open_question else ruling.severity}
        if open_question and far_apart:
            judged |= {"disputed": reason}
    elif confidence < REFUTED:
        judged |= {"disputed": finding.disputed or reason}
    else:
        judged |= {"confidence": max(confidence, finding.confidence)}
    return finding.model_copy(update=judged)


def contradictions(handles: Mapping[str, Finding], rulings: Mapping[str, JudgeRuling]) -> list[tuple[str, str]]:
    """Pairs of handles that cannot both be followed: each is likely, and the judge said so of at least one of them."""
    pairs: list[tuple[str, str]] = []
    taken: set[str] = set()
    for handle, ruling in rulings.items():
        for other in ruling.contradicts:
            likely = all(each in rulings and rulings[each].confidence >= REFUTED for each in (handle, other))
            apart = handle != other and other in handles and not taken & {handle, other}
            if likely and apart and handles[handle].path == handles[other].path:
                pairs.append((handle, other))
                taken |= {handle, other}
    return pairs


def settle_conflicts(conflicts: Sequence[Conflict]) -> tuple[list[Finding], list[Conflict]]:
    """The findings of conflicts of which at most one side was not refuted, and the conflicts that are left."""
    single: list[Finding] = []
    left: list[Conflict] = []
    for conflict in conflicts:
        if sum(finding.confidence >= REFUTED for finding in conflict.findings) > 1:
            left.append(conflict)
        else:
            single += conflict.findings
    return single, left


def _short(text: str, limit: int) -> str:
    plain = text.strip()
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


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
