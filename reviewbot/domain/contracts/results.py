"""What workers answer: candidates, findings, gaps, usage, and how a task ended."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import (
    Cause,
    Confidence,
    Contract,
    Count,
    EscalationReason,
    GapReason,
    LineNumber,
    Name,
    Severity,
    Side,
    Slug,
    Worth,
)
from reviewbot.domain.contracts.change import Theme
from reviewbot.domain.contracts.coverage import Reading
from reviewbot.domain.contracts.suppression import Suppression


class Proof(Contract):
    """Code that decides whether a claim is true, as the program found it in the repository."""

    path: str
    side: Side = "new"
    line: LineNumber
    end_line: LineNumber
    quote: str
    """The lines as they stand there; a secret in them is masked."""
    why: str = ""


class Candidate(Contract):
    """A finding as an engine returns it. A program that counted lines gives `line`; a model's quote is looked for."""

    severity: Severity
    path: str
    quote: Annotated[str, Field(max_length=4_000)]
    message: Annotated[str, Field(min_length=1, max_length=2_000)]
    confidence: Confidence
    source: Slug
    category: Slug
    rule: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/@-]{0,80}$")] = ""
    line: LineNumber | None = None
    end_line: LineNumber | None = None
    near: LineNumber | None = None
    """Which of several places of `quote` is meant; it decides nothing else."""
    also: tuple[LineNumber, ...] = ()
    trigger: Annotated[str, Field(max_length=1_000)] = ""
    contract: Annotated[str, Field(max_length=1_000)] = ""
    symptom: Annotated[str, Field(max_length=1_000)] = ""
    suggestion: Annotated[str, Field(max_length=4_000)] = ""
    replacement: Annotated[str, Field(max_length=4_000)] | None = None
    disputed: Annotated[str, Field(max_length=1_000)] = ""
    cwe: Annotated[int, Field(ge=1)] | None = None
    cause: Cause | None = None
    side: Side = "new"
    """The side that `quote` is looked for on; a removed line stands on the old one."""
    worth: Worth | None = None
    proof: tuple[Proof, ...] = ()
    title: Annotated[str, Field(max_length=200)] = ""
    token: Annotated[str, Field(exclude=True, repr=False)] = ""
    """What a tool holds against the other side of the file to know the same flaw again; it never leaves the process."""
    at: Annotated[LineNumber | None, Field(exclude=True, repr=False)] = None
    """The line on which the code at fault begins, where that is not `line`; the same holds for this and the next."""
    brought: Annotated[bool, Field(exclude=True, repr=False)] = True
    """A part of the code at fault, or the place where its value comes in, stands on an added line."""


MODEL_SOURCE = "model:"
"""How the source of a finding begins that a model made, followed by the model's name."""


class Finding(Contract):
    """One defect at one place of the new side of the change. `line` to `end_line` lie inside its hunks."""

    type: Name
    """The task type of the worker that found it."""
    severity: Severity
    path: str
    symbol: str = ""
    """The function or class around it, with dots, where that is known."""
    line: LineNumber
    end_line: LineNumber
    also: tuple[LineNumber, ...] = ()
    """Other lines of the new side that belong to it, such as the way of a value from its source to here."""
    title: str = ""
    """The defect in a few words; empty where only `message` says it."""
    message: str
    evidence: str
    """The code at that place, as it stands in the change; a secret in it is masked."""
    trigger: str = ""
    """The impact: the input, the state or the order of events with which it fails."""
    contract: str = ""
    """What it violates: the promise of an interface, a comment, a test or a rule."""
    symptom: str = ""
    """What a user or operator sees when it fails."""
    suggestion: str = ""
    replacement: str | None = None
    """What takes the place of `line` to `end_line`: whole lines joined by LF, "" deletes them. Not yet proven."""
    confidence: Confidence
    claimed: Confidence | None = None
    """What the model that found it said of its own certainty."""
    uncounted: Confidence | None = None
    """Its confidence before feedback of this installation was counted; None: feedback did not change it."""
    judgement: str = ""
    """Why the confidence is what it is, in the words of the judge, which did not find it."""
    disputed: str = ""
    """Why a model holds that what a program, or a reader that is sure of it, found is wrong; it deletes nothing."""
    category: str
    rule: str = ""
    cwe: Annotated[int, Field(ge=1)] | None = None
    cause: Cause | None = None
    side: Side = "new"
    """"old": `evidence` quotes removed lines, and `line` is the place on the new side where they stood."""
    worth: Worth | None = None
    """None: no model said."""
    proof: tuple[Proof, ...] = ()
    """Code elsewhere that decides it."""
    sources: tuple[str, ...]


NOT_RUN = "not run"
"""In place of the version of a program that had nothing to look at."""


class ToolRun(Contract):
    """One run of a program, confined by what `isolation` names, or of a scan inside our own process, which has none."""

    tool: str
    version: str
    duration_ms: Count
    exit_code: int | None = None
    isolation: tuple[str, ...] = ()
    preexisting: Count = 0
    """Findings that were left out: the old side of the file has them as well."""
    parsed: bool = True
    """False: it could not make sense of all added lines, so that this run is no reading of the file."""


class Gap(Contract):
    """Something that should have been looked at and was not."""

    path: str
    worker: str
    reason: GapReason
    message: str
    task_id: str | None = None
    tool: str | None = None


class Dropped(Contract):
    """A candidate that never became a finding: its quote or line is not in the change, for instance."""

    candidate: Candidate
    reason: str


class Usage(Contract):
    """What model calls consumed. `input_tokens` leaves out what was read from a cache or written to it."""

    calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    """Read from the provider's cache."""
    cache_write_tokens: Count = 0
    cost_usd: Annotated[float, Field(ge=0)] = 0.0
    unpriced_calls: Count = 0
    """Calls of models whose price is not known; `cost_usd` leaves them out."""
    estimated_calls: Count = 0
    """Calls whose tokens were estimated, since the provider's counts were missing or cannot be right."""

    @property
    def tokens(self) -> int:
        """All that were read or written, from a cache or not."""
        return self.input_tokens + self.cached_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class Metadata(Contract):
    """How a result came about."""

    usage: Usage = Usage()
    duration_ms: Count = 0
    model_used: str | None = None
    summary: str = ""
    """What the change does, in the words of the reader that did the task; empty without one."""
    themes: tuple[Theme, ...] = ()
    """How that reader groups the files."""
    tool_runs: tuple[ToolRun, ...] = ()
    readings: tuple[Reading, ...] = ()
    """What of the task's files was read to the end, and by whom; `reviewbot.coverage.readings.reading_of` makes one."""

    @property
    def readers(self) -> tuple[str, ...]:
        """Everyone who read something to its end, in alphabetical order."""
        each = (name for reading in self.readings for name in (*reading.models, *reading.analyzers, *reading.scans))
        return tuple(sorted(set(each)))


class WorkerResult(Contract):
    """A worker's answer in the schema. `gaps` are tools that failed while the others answered."""

    kind: Literal["result"] = "result"
    task_id: str
    paths: tuple[str, ...] = ()
    """The files that it is about; empty: those of its task."""
    findings: tuple[Finding, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    gaps: tuple[Gap, ...] = ()
    suppressed: tuple[Suppression, ...] = ()
    """Findings that settings or comments of the base side silenced, or whose severity they changed."""
    metadata: Metadata = Metadata()


class Escalation(Contract):
    """Why a worker cannot finish the task as it stands; with out_of_scope, `better_worker` says whose job it is."""

    kind: Literal["escalation"] = "escalation"
    task_id: str
    reason: EscalationReason
    message: str
    partial_result: WorkerResult | None = None
    better_worker: str | None = None


class Failure(Contract):
    """What the worker boundary makes of an error: no answer came, or none that fits the schema."""

    kind: Literal["failure"] = "failure"
    task_id: str
    reason: GapReason
    message: str


Outcome = Annotated[WorkerResult | Escalation | Failure, Field(discriminator="kind")]
