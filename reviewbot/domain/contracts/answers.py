"""The schemas of models' answers. No answer is trusted before `reviewbot.llm.client.answers` has read it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import (
    Cause,
    Confidence,
    Contract,
    EscalationReason,
    Name,
    Severity,
    Side,
    Text,
    Tier,
    Worth,
)
from reviewbot.domain.contracts.change import Theme

Words = Annotated[str, Field(max_length=2_000)]
Mark = Annotated[str, Field(max_length=40)]
"""A handle that we gave to something, such as "h3", as a model writes it; one that is not known is ignored."""


class Judged(Contract):
    """What a model makes of an analyzer's result."""

    hint: Mark
    verdict: Literal["confirmed", "refuted", "unsure"]
    reason: Annotated[str, Field(max_length=1_000)]


class Escalating(Contract):
    """Why a worker's model cannot finish."""

    reason: EscalationReason
    message: Text
    better_worker: Text | None


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


class ProofQuote(Contract):
    """Lines that a reader says decide a claim; they count only where the program finds them."""

    path: Text
    side: Side
    quote: Text
    why: Text


class Claim(Contract):
    """A defect as a reader writes it down. The bounds are wide: one odd field must not cost the whole answer."""

    id: Mark
    task: Mark
    """The name of the task that it belongs to."""
    file: Text
    side: Side
    quote: Text
    """The code of the change, word for word; its place is looked up by the program."""
    line: int | None
    """The number in front of the quote's first line; it only tells equal lines apart."""
    title: Text
    message: Text
    impact: Text
    proof: Annotated[tuple[ProofQuote, ...], Field(max_length=50)]
    severity: Severity
    cause: Cause
    category: Text
    confidence: Confidence
    worth: Worth
    suggestion: Text
    replacement: Text | None
    cwe: int | None


class TaskEnd(Contract):
    """How a reader ends one of its tasks."""

    task: Mark
    escalation: Escalating | None


class JudgeRuling(Contract):
    """What the judge makes of one claim."""

    claim: Mark
    argument_against: Text
    """The best case that the claim is wrong, made first."""
    reason: Text
    """What in the code decides."""
    confidence: Confidence
    severity: Severity
    worth: Worth
    contradicts: Annotated[tuple[Mark, ...], Field(max_length=50)]
    """Claims that cannot be true, or be followed, together with this one."""


class ReviewAnswer(Contract):
    """What readers and judge answer in: a reader for all of its tasks, a judge in `rulings` alone.

    One schema for both: a provider's cache holds what they are shown in common once, as long as the schema is the same.
    """

    summary: Text
    """What the change does, in two sentences."""
    themes: Annotated[tuple[Theme, ...], Field(max_length=200)]
    findings: Annotated[tuple[Claim, ...], Field(max_length=1_000)]
    hints: Annotated[tuple[Judged, ...], Field(max_length=1_000)]
    tasks: Annotated[tuple[TaskEnd, ...], Field(max_length=200)]
    rulings: Annotated[tuple[JudgeRuling, ...], Field(max_length=50)] = ()
    """Of a judge: one for each claim of a batch."""
