"""The whole answer, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import SCHEMA_VERSION, Contract, Count, Effort, LineNumber, Verdict
from reviewbot.domain.contracts.change import Theme
from reviewbot.domain.contracts.coverage import FileCoverage
from reviewbot.domain.contracts.results import Finding, Gap, Usage
from reviewbot.domain.contracts.suppression import Suppression
from reviewbot.domain.contracts.work import SkippedWorkers


class Withheld(Contract):
    """A finding that is counted and not shown among the others, with the reason."""

    finding: Finding
    reason: Literal["below_threshold", "minor", "over_cap", "dismissed", "refuted", "late"]
    """"minor": true and not worth a comment; the gate counts it. Of the memory across pushes: a person "dismissed" it,
    our judge "refuted" it at an earlier head, or it is new and "late", on code that was reviewed before."""
    message: str


class Conflict(Contract):
    """Findings about one place that contradict each other; all are shown."""

    findings: Annotated[tuple[Finding, ...], Field(min_length=2)]
    reason: str


class HumanItem(Contract):
    """Something that a person must look at, because the review could neither settle nor drop it."""

    path: str
    line: LineNumber | None = None
    reason: str
    finding: Finding | None = None


class WorkerUsage(Contract):
    """What one worker did and cost, over all of its tasks; also what planner and judge cost."""

    worker: str
    tasks: Count
    findings: Count
    duration_ms: Count
    usage: Usage


class Timings(Contract):
    """Wall time; the longest chain of dependent tasks; and what the tasks would have taken one after the other."""

    wall_ms: Count
    critical_path_ms: Count
    sequential_ms: Count


class Review(Contract):
    """The whole answer; every output is made from this and nothing else."""

    schema_version: str = SCHEMA_VERSION
    engine: str
    verdict: Verdict
    headline: str
    """The verdict in words, from a table keyed by coverage."""
    incomplete: bool = False
    """Something that should have been reviewed was not, or no file that needs a review got one: exit code 4."""
    summary: str
    """The counts in words: files, changed lines, findings by severity."""
    about: tuple[str, ...] = ()
    """What the change does, in the words of the models that read it; none without a model."""
    themes: tuple[Theme, ...] = ()
    """Files of the change that belong together, as those models group them; each file once."""
    findings: tuple[Finding, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    suppressed: tuple[Suppression, ...] = ()
    """What settings and comments of the base side did to findings, and comments that do not count; by place."""
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[Gap, ...] = ()
    human: tuple[HumanItem, ...] = ()
    coverage: tuple[FileCoverage, ...] = ()
    unlooked: tuple[SkippedWorkers, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know of this run: settings or cards that were ignored, a rule that was left out."""
    workers: tuple[WorkerUsage, ...] = ()
    usage: Usage = Usage()
    effort: Effort | None = None
    """How much models were asked; None: not at all."""
    timings: Timings

    @property
    def provider_failure(self) -> str:
        """Why the model provider answered no more calls of this run; empty where it did."""
        return provider_failure(self.gaps)


def provider_failure(gaps: Iterable[Gap]) -> str:
    """The cause that a worker's gap names; empty where none is about the provider."""
    return next((gap.message for gap in gaps if gap.reason == "provider" and gap.tool is None), "")
