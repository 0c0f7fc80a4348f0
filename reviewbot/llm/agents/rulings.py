"""Apply a judge's rulings to findings, and find which findings it holds to contradict each other. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewbot.domain.contracts import SURE, Conflict, Finding
from reviewbot.domain.contracts.answers import JudgeRuling
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
    against = f" Against it: {ruling.argument_against}" if ruling.argument_against.strip() else ""
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
    """Conflicts of which one side was refuted are none: their findings by themselves, and the other conflicts."""
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
