"""The outside as the spine sees it: small protocols, and the plain values that pass through them.

Adapters and tools implement these; `reviewbot.wiring` is the only place that hands them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from reviewbot.contracts import (
    Candidate,
    EscalationReason,
    Gap,
    Metadata,
    Payload,
    ReviewTask,
    ToolRun,
    WorkerCard,
    WorkerResult,
)


@dataclass(frozen=True)
class Occurrence:
    """A line that holds a word."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Commit:
    """A commit of the history before a change."""

    sha: str
    date: str
    """Of the author, as YYYY-MM-DD."""
    subject: str


class Snapshot(Protocol):
    """The files around a change, read by name and never from a path that the change chose.

    Names are labels as in `FileChange.path`. A text has U+FFFD for bytes that are not UTF-8 and keeps its line ends.
    Everything may be asked from any thread.
    """

    def head(self, path: str) -> str | None:
        """The whole new side of a file; None where this snapshot does not have it or it is no regular text file."""

    def base(self, path: str) -> str | None:
        """The whole old side of a file, by its old name; None as above."""

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines of the new side, in all text files, with `word` as a whole word; by path and line, at most `limit`.

        None where only the changed files, or parts of them, are at hand: absence then means nothing.
        """

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        """The commits that last touched lines `first` to `last` of the old side, newest first; none without history."""


@dataclass(frozen=True)
class ToolReport:
    """What one tool says of one slice. `gap` is set where it could not look to the end; the candidates still count."""

    candidates: tuple[Candidate, ...]
    run: ToolRun
    gap: Gap | None = None


class Tool(Protocol):
    """One analyzer, read-only, confined to the slice and the snapshot. It reports a failure as a gap, never raises."""

    @property
    def name(self) -> str:
        """As cards write it."""

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that it understands; None for a scan of plain lines."""

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        """Look at a slice. Candidates lie on added lines of it and carry `line`."""


@dataclass(frozen=True)
class Crew:
    """The workers of a run. `prompts` and `origin` are keyed by the card's name."""

    cards: tuple[WorkerCard, ...]
    prompts: Mapping[str, str]
    origin: Mapping[str, str]
    """"package" or "repository"."""


@dataclass(frozen=True)
class WorkOrder:
    """All that a worker sees: its card, its prompt, its task, its own tools, and what it was told to wait for."""

    task: ReviewTask
    card: WorkerCard
    prompt: str
    tools: Mapping[str, Tool]
    snapshot: Snapshot
    dependencies: Mapping[str, WorkerResult] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What an engine found. Not yet anchored, not yet judged."""

    candidates: tuple[Candidate, ...] = ()
    gaps: tuple[Gap, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    origin: Literal["program", "model"] = "program"
    """Who stands behind the candidates. The engine's word, and not that of the answer: a model may claim anything."""


@dataclass(frozen=True)
class Escalated:
    """An engine's other answer: why it cannot finish the task, and what it has so far, anchored like any answer."""

    reason: EscalationReason
    message: str
    better_worker: str | None = None
    partial: Answer | None = None


class Engine(Protocol):
    """Something that can do a worker's job: programs, a script of canned answers, a model."""

    @property
    def name(self) -> str:
        """As `--engine` takes it."""

    def covers(self, card: WorkerCard, language: str) -> bool:
        """Whether it can look at files of this language for this worker at all."""

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """Do one task. Raises EngineError (TransientError where trying again may help)."""


class Journal(Protocol):
    """Progress that survives the process, keyed by content. Values are JSON texts."""

    def get(self, key: str) -> str | None:
        """The value, or None."""

    def put(self, key: str, value: str) -> None:
        """Store durably before returning."""


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class Recorder(Protocol):
    """Where a run writes down what happens."""

    def record(self, event: str, **fields: object) -> None:
        """Append one event; `fields` are JSON values."""
