"""What models are asked to answer in. Nothing here is believed before `reviewbot.llm.client.answers` has read it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.contracts.base import (
    Cause,
    Confidence,
    Contract,
    EscalationReason,
    Name,
    Severity,
    Side,
    Slug,
    Tier,
    Worth,
)

Words = Annotated[str, Field(max_length=2_000)]
Handle = Annotated[str, Field(pattern=r"^[a-z][0-9]{1,4}$")]
"""A short name that we gave to a hint or a candidate, such as "h3"."""


class Reported(Contract):
    """A finding as a worker's model writes it down."""

    file: Annotated[str, Field(min_length=1, max_length=4_096)]
    quote: Annotated[str, Field(min_length=1, max_length=4_000)]
    """The code, word for word; the line is found by it."""
    message: Annotated[str, Field(min_length=1, max_length=2_000)]
    trigger: Annotated[str, Field(min_length=1, max_length=1_000)]
    contract: Annotated[str, Field(max_length=1_000)]
    symptom: Annotated[str, Field(max_length=1_000)]
    severity: Severity
    category: Slug
    confidence: Confidence
    suggestion: Annotated[str, Field(max_length=4_000)]
    replacement: Annotated[str, Field(max_length=4_000)] | None = None
    """What takes the place of the quoted lines, whole lines; "" deletes them. An answer may leave it out."""
    cwe: Annotated[int, Field(ge=1, le=10_000)] | None


class Judged(Contract):
    """What a worker's model makes of a tool's hit."""

    hint: Handle
    verdict: Literal["confirmed", "refuted", "unsure"]
    reason: Annotated[str, Field(max_length=1_000)]


class Escalating(Contract):
    """Why a worker's model cannot finish."""

    reason: EscalationReason
    message: Annotated[str, Field(min_length=1, max_length=1_000)]
    better_worker: Name | None


class WorkerAnswer(Contract):
    """All of a worker's answer. With `escalation`, the findings are what it has so far."""

    findings: Annotated[tuple[Reported, ...], Field(max_length=1_000)]
    hints: Annotated[tuple[Judged, ...], Field(max_length=1_000)]
    escalation: Escalating | None


class Ruling(Contract):
    """What the verifier's model makes of one candidate."""

    candidate: Handle
    argument_against: Words
    """The best case that the finding is wrong, made first."""
    evidence: Words
    """What in the code decides, quoted."""
    confidence: Confidence
    """That the finding is true."""
    severity: Severity
    """How much it matters if it is; whoever found it has no say in that."""


class Rulings(Contract):
    """One for each candidate that was asked about."""

    rulings: Annotated[tuple[Ruling, ...], Field(max_length=50)]


class ProposedTask(Contract):
    """A task as the planner's model proposes it."""

    task_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    worker: Name
    files: Annotated[tuple[str, ...], Field(max_length=500)]
    instruction: Words
    success_criterion: Words
    max_tokens: Annotated[int, Field(ge=256, le=64_000)]
    depends_on: Annotated[tuple[str, ...], Field(max_length=20)]


class ProposedWorker(Contract):
    """A worker that no card describes."""

    name: Name
    focus: Annotated[str, Field(min_length=10, max_length=500)]
    instruction: Annotated[str, Field(min_length=10, max_length=4_000)]
    tools: Annotated[tuple[Name, ...], Field(max_length=5)]
    tier: Tier


class ProposedPlan(Contract):
    """A plan as the planner's model proposes it."""

    reason: Words
    strategy: Literal["merge", "select", "reduce"]
    tasks: Annotated[tuple[ProposedTask, ...], Field(max_length=1_000)]
    workers: Annotated[tuple[ProposedWorker, ...], Field(max_length=5)]


class Settlement(Contract):
    """What the synthesizer's model makes of one cluster of findings, by their handles."""

    cluster: Handle
    same_cause: bool
    """Whether all of them are one defect, told in different words."""
    keep: Annotated[tuple[Handle, ...], Field(max_length=50)]
    """The findings whose advice stands; the others say it again, or are in conflict with it."""
    severity: Severity
    reason: Words
    resolved: bool
    """Whether the contradiction, if there is one, could be settled from the code."""


class Settlements(Contract):
    """One for each cluster that was asked about."""

    settlements: Annotated[tuple[Settlement, ...], Field(max_length=50)]


class Compared(Contract):
    """What the synthesizer's model makes of one finding beside the others."""

    finding: Handle
    same_as: Handle | None
    """The finding that tells of the same defect, where it is mended; None: it stands for itself."""
    severity: Severity
    reason: Annotated[str, Field(max_length=1_000)]


class Comparison(Contract):
    """All findings against each other."""

    findings: Annotated[tuple[Compared, ...], Field(max_length=100)]


class Remark(Contract):
    """What the critic holds against a finding of the finished review."""

    finding: Handle
    action: Literal["drop", "demote"]
    reason: Annotated[str, Field(min_length=1, max_length=1_000)]


class Critique(Contract):
    """What the critic has to say; it can add nothing."""

    remarks: Annotated[tuple[Remark, ...], Field(max_length=100)]


class ProofQuote(Contract):
    """Lines that a reader says decide a claim; they count only where the program finds them."""

    path: Annotated[str, Field(min_length=1, max_length=4_096)]
    side: Side
    quote: Annotated[str, Field(min_length=1, max_length=2_000)]
    why: Annotated[str, Field(max_length=500)]


class Claim(Contract):
    """A defect as a reader writes it down."""

    id: Handle
    task: Annotated[str, Field(min_length=1, max_length=40)]
    """The name of the task that it belongs to."""
    file: Annotated[str, Field(min_length=1, max_length=4_096)]
    side: Side
    quote: Annotated[str, Field(min_length=1, max_length=4_000)]
    """The code of the change, word for word; its place is looked up by the program."""
    title: Annotated[str, Field(min_length=1, max_length=200)]
    message: Annotated[str, Field(min_length=1, max_length=2_000)]
    impact: Annotated[str, Field(min_length=1, max_length=1_000)]
    proof: Annotated[tuple[ProofQuote, ...], Field(max_length=8)]
    severity: Severity
    cause: Cause
    category: Slug
    confidence: Confidence
    worth: Worth
    suggestion: Annotated[str, Field(max_length=2_000)]
    replacement: Annotated[str, Field(max_length=4_000)] | None
    cwe: Annotated[int, Field(ge=1, le=10_000)] | None


class TaskEnd(Contract):
    """How a reader ends one of its tasks."""

    task: Annotated[str, Field(min_length=1, max_length=40)]
    escalation: Escalating | None


class Theme(Contract):
    """Files of the change that belong together, and what they do."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    files: Annotated[tuple[str, ...], Field(max_length=200)]


class ReaderAnswer(Contract):
    """All of a reader's answer, for all of its tasks."""

    summary: Words
    """What the change does, in two sentences."""
    themes: Annotated[tuple[Theme, ...], Field(max_length=20)]
    findings: Annotated[tuple[Claim, ...], Field(max_length=1_000)]
    hints: Annotated[tuple[Judged, ...], Field(max_length=1_000)]
    tasks: Annotated[tuple[TaskEnd, ...], Field(max_length=20)]


class JudgeRuling(Contract):
    """What the judge makes of one claim."""

    claim: Handle
    argument_against: Words
    """The best case that the claim is wrong, made first."""
    reason: Words
    """What in the code decides."""
    confidence: Confidence
    severity: Severity
    worth: Worth
    contradicts: Annotated[tuple[Handle, ...], Field(max_length=12)]
    """Claims that cannot be true, or be followed, together with this one."""


class JudgeAnswer(Contract):
    """One ruling for each claim of a batch."""

    rulings: Annotated[tuple[JudgeRuling, ...], Field(max_length=50)]
