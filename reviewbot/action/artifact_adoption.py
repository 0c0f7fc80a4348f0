"""What stage one's report adds to the review that stage two has made, and how the review speaks of it.

It is added when everything has been judged. Among the findings that are weighed against each other it would make ours
surer, graver or contradicted, and a stranger could do that on purpose. So it changes no finding, no verdict and no
gate: what we have found as well is counted, the rest is listed among what is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reviewbot.action.artifact_check import Checked
from reviewbot.contracts import Finding, Review, Withheld
from reviewbot.output.fingerprints import all_of
from reviewbot.wording import counted

MAX_ADOPTED = 50
"""Findings that are listed; a reader of the review stops before."""

_WHY = "the fork's own report names it, and nothing here confirms it"
_OURS = "Report of the fork's own run"


def adopted(review: Review, report: Checked) -> Review:
    """The review with what the report adds, and with notes that name what was refused of it."""
    alone = _unconfirmed(review, report.findings)
    listed = tuple(Withheld(finding=finding, reason="below_threshold", message=_WHY) for finding in alone[:MAX_ADOPTED])
    confirmed = len(report.findings) - len(alone)
    notes = (*review.notes, *_notes(report, confirmed, len(alone)))
    return review.model_copy(update={"withheld": (*review.withheld, *listed), "notes": notes})


def refused(review: Review, why: str) -> Review:
    """The review with a note that nothing of the report was used. `why` is ours."""
    note = f"{_OURS}: not used, because {why}. The review is made without it, from GitHub's own data."
    return review.model_copy(update={"notes": (*review.notes, note)})


def _unconfirmed(review: Review, findings: Iterable[Finding]) -> list[Finding]:
    """Findings that the review has nowhere: it names no such rule, nor such a weakness, on these lines."""
    ours: dict[str, list[Finding]] = {}
    for finding in all_of(review):
        ours.setdefault(finding.path, []).append(finding)
    return [finding for finding in findings if not any(_says(known, finding) for known in ours.get(finding.path, ()))]


def _says(ours: Finding, theirs: Finding) -> bool:
    if ours.line > theirs.end_line or theirs.line > ours.end_line:
        return False
    return ours.rule == theirs.rule or ours.category == theirs.category


def _notes(report: Checked, confirmed: int, alone: int) -> list[str]:
    told = f"{confirmed} found here as well, {alone} by nothing here"
    shown = f" ({MAX_ADOPTED} of them listed)" if alone > MAX_ADOPTED else ""
    notes = [f"{_OURS}: {counted(len(report.findings), 'finding')} taken: {told}{shown}; it decides nothing."]
    if report.refused:
        number = sum(report.refused.values())
        notes.append(f"{_OURS}: {number} {'entry' if number == 1 else 'entries'} refused: {_reasons(report.refused)}.")
    if report.left_out:
        notes.append(f"{_OURS}: {counted(report.left_out, 'finding')} left out by itself.")
    return notes


def _reasons(refused_by: Mapping[str, int]) -> str:
    return "; ".join(f"{reason} ({number})" for reason, number in refused_by.items())
