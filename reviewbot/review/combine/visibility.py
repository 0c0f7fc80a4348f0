"""Which findings are shown, which are withheld, and which go to a person: by certainty and severity. Rules only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.domain.contracts import (
    MANDATORY_WORKER,
    SEVERITY_ORDER,
    SURE,
    Conflict,
    Finding,
    HumanItem,
    Withheld,
    WorkerCard,
)
from reviewbot.review.combine.dedupe import merge
from reviewbot.review.feedback import LISTED_FROM, NO_FEEDBACK, FeedbackTable
from reviewbot.review.verify.verifier import JointConfidence, by_a_model_alone, by_programs_alone

PERSON_FROM = LISTED_FROM
"""A critical finding at least this likely goes to a person where it stays below the threshold, or is disputed."""

WORTH_FROM = 50
"""Of models' findings. Below it, fewer than half of the people who maintain the code would act on one."""

_REASON_CHARS = 240
"""Of a verifier's words in the reason why a finding is withheld: enough to see what it doubts."""


@dataclass(frozen=True)
class Rules:
    """The thresholds, caps and tables that decide which findings are shown."""

    thresholds: Mapping[str, int]
    """By task type; a finding is shown at its type's confidence or above."""
    max_findings: int
    joint_confidence: JointConfidence = lambda _sources, _rules: None
    """How far several programs are trusted that speak of one place."""
    feedback: FeedbackTable = NO_FEEDBACK
    """What people and later pushes made of earlier findings."""
    prose_alone: bool = False
    """The change touches documents alone, so that what is wrong with them does not stand beside defects of code."""

    @classmethod
    def of(
        cls,
        cards: Iterable[WorkerCard],
        max_findings: int,
        joint_confidence: JointConfidence = lambda _sources, _rules: None,
        feedback: FeedbackTable = NO_FEEDBACK,
        *,
        prose_alone: bool = False,
    ) -> Rules:
        """The thresholds of the workers' cards; of two with one task type the lower."""
        by_type: dict[str, int] = {}
        for card in cards:
            by_type[card.task_type] = min(card.threshold, by_type.get(card.task_type, card.threshold))
        return cls(by_type, max_findings, joint_confidence, feedback, prose_alone)

    def reaches_threshold(self, finding: Finding) -> bool:
        """Whether a finding is certain enough to be shown."""
        # A type without a threshold is withheld and not let through.
        return finding.type in self.thresholds and finding.confidence >= self.thresholds[finding.type]

    def why_minor(self, finding: Finding) -> str:
        """Why a finding that is true stays out of the way of those that matter; empty where it does not.

        Never a critical one, and by its worth never a security finding that is this certain: text in the change may
        argue for low worth. A slip in documentation is minor beside code, whatever it is worth.
        """
        if finding.worth is None or finding.severity == "critical":
            return ""
        if finding.severity == "info" and finding.cause == "documentation" and not self.prose_alone:
            return "documentation"
        if finding.worth >= WORTH_FROM or (finding.type == MANDATORY_WORKER and finding.confidence >= SURE):
            return ""
        return f"worth {finding.worth}{self.feedback.why_minor(finding)}"


@dataclass(frozen=True)
class SortedFindings:
    """The findings, each in exactly one place."""

    shown: list[Finding]
    withheld: list[Withheld]
    human: list[HumanItem]
    conflicts: list[Conflict]

    @property
    def issues(self) -> int:
        """Number of certain findings, with those that the cap hides."""
        return len(self.shown) + len(self.conflicts) + sum(entry.reason == "over_cap" for entry in self.withheld)


def merge_and_sort(findings: Iterable[Finding], rules: Rules) -> SortedFindings:
    """Merge, then sort into shown, withheld, for a person, and in conflict."""
    single, conflicts = merge(findings, rules.joint_confidence)
    return sort_findings(single, conflicts, rules)


def sort_findings(single: Sequence[Finding], conflicts: Iterable[Conflict], rules: Rules) -> SortedFindings:
    """Sort what has been merged into shown, withheld, for a person, and in conflict."""
    shown: list[Finding] = []
    withheld: list[Withheld] = []
    human: list[HumanItem] = []
    certain: list[Conflict] = []
    weak: list[Finding] = []
    for conflict in conflicts:
        if any(rules.reaches_threshold(finding) for finding in conflict.findings):
            certain.append(conflict)
        else:
            weak += conflict.findings
    for finding in sorted(map(rules.feedback.apply, [*single, *weak]), key=rank):
        if reason := _why_a_person(finding, rules):
            human.append(HumanItem(path=finding.path, line=finding.line, reason=reason, finding=finding))
        elif rules.reaches_threshold(finding) and (why := rules.why_minor(finding)):
            withheld.append(Withheld(finding=finding, reason="minor", message=f"true and minor: {why}"))
        elif rules.reaches_threshold(finding):
            shown.append(finding)
        else:
            withheld.append(Withheld(finding=finding, reason="below_threshold", message=_why_not(finding, rules)))
    over = f"the review shows at most {rules.max_findings} findings"
    certain.sort(key=lambda conflict: rank(conflict.findings[0]))
    hidden = [*shown[rules.max_findings :], *(f for c in certain[rules.max_findings :] for f in c.findings)]
    withheld += [Withheld(finding=finding, reason="over_cap", message=over) for finding in hidden]
    return SortedFindings(shown[: rules.max_findings], withheld, human, certain[: rules.max_findings])


def rank(finding: Finding) -> tuple[int, int, str, int, str, str]:
    """The order of a review: by severity, then by certainty, then by place."""
    return (
        SEVERITY_ORDER[finding.severity], -finding.confidence, finding.path, finding.line, finding.rule, finding.message
    )  # fmt: skip


def _why_a_person(finding: Finding, rules: Rules) -> str | None:
    """Why neither showing nor withholding a finding would be right, or None."""
    if finding.severity == "critical" and finding.disputed and by_a_model_alone(finding):
        return f"critical if true: its reader is sure of it, and the judge holds that it is wrong: {finding.disputed}"
    if finding.severity != "critical" or finding.confidence < PERSON_FROM:
        return None
    if finding.disputed and by_programs_alone(finding):
        finders = " and ".join(finding.sources)
        return (
            f"critical if true: {finders} found it, {finding.confidence} of 100 certain; "
            f"a model that looked holds that it is wrong: {finding.disputed}"
        )
    if rules.reaches_threshold(finding):
        return None
    return f"critical if true, and below the threshold: {_why_not(finding, rules)}"


def _why_not(finding: Finding, rules: Rules) -> str:
    if finding.type not in rules.thresholds:
        return f"no worker of this run is there for {finding.type}"
    below = f"confidence {finding.confidence} is below {rules.thresholds[finding.type]}"
    doubt = _shortened(finding.judgement) if by_a_model_alone(finding) else ""
    return f"{below}: {doubt}" if doubt else below


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON_CHARS else line[:_REASON_CHARS].rstrip() + "..."
