"""Ports of the pipeline: small protocols for everything outside it, and the plain values that pass through them.

Adapters and tools implement these; `reviewbot.wiring` is the only place that hands them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from reviewbot.domain.contracts import (
    Candidate,
    ChangeSet,
    EscalationReason,
    Gap,
    HumanItem,
    Hunk,
    Metadata,
    Plan,
    Review,
    ReviewTask,
    Tier,
    ToolRun,
    Usage,
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
    """The author's, in UTC, as YYYY-MM-DD."""
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

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file, up to the old side, newest first; none where they are not at hand."""


@runtime_checkable
class RepositorySnapshot(Snapshot, Protocol):
    """A snapshot that may have the whole tree of the head at hand."""

    def files(self) -> tuple[str, ...] | None:
        """The labels of all regular files of the head, sorted by name; None where the tree is not at hand."""

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield those of these files of the head that are text, in this order: label and bytes."""


@runtime_checkable
class IdentifiedSnapshot(Snapshot, Protocol):
    """A snapshot of which it can be said whether another one has the same files on both sides."""

    @property
    def identity(self) -> str | None:
        """The same for snapshots of the same two trees of files; None where that is not known."""


@dataclass(frozen=True, eq=False)
class ChangedFile:
    """One file of the change as a tool sees it: its hunks, and both whole sides where the snapshot has them.

    Two of them are never equal, so that what tools compute of one (its lines, its tree) is kept as long as it lives.
    """

    path: str
    before: str
    """Its name on the old side; the same name, where it was not renamed."""
    language: str
    hunks: tuple[Hunk, ...]
    head: str | None = field(default=None, repr=False)
    """The new side in full; None as in `Snapshot.head`."""
    base: str | None = field(default=None, repr=False)
    """The old side in full."""


@dataclass(frozen=True)
class ToolReport:
    """What one tool says of one file. `gap` is set where it could not look to the end; the candidates still count."""

    candidates: tuple[Candidate, ...]
    run: ToolRun
    gap: Gap | None = None


class Tool(Protocol):
    """One analyzer, read-only, confined to a file and the snapshot. It reports a failure as a gap, never raises."""

    @property
    def name(self) -> str:
        """As cards write it."""

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that it understands; None for a scan of plain lines."""

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at a file, once for all its hunks. Candidates lie on added lines and carry `line`.

        `snapshot` is for what is around the file; its own two sides are in `file`.
        """


class Analysis(Protocol):
    """The tools of a run on the files of its change."""

    async def report(self, tool: str, path: str) -> ToolReport:
        """What a tool says of a changed file, however often that is asked. A tool that fails is a gap; no error."""


@dataclass(frozen=True)
class WorkerSet:
    """The workers of a run. `prompts` and `origin` are keyed by the card's name."""

    cards: tuple[WorkerCard, ...]
    prompts: Mapping[str, str]
    origin: Mapping[str, str]
    """"package" or "repository"."""
    notes: tuple[str, ...] = ()
    """What the report says of the cards, such as limits that the settings give them."""


@dataclass(frozen=True)
class WorkOrder:
    """All that a worker sees: its card, its prompt, its task, its own tools, and the results that it waited for."""

    task: ReviewTask
    card: WorkerCard
    prompt: str
    tools: Mapping[str, Tool]
    snapshot: Snapshot
    title: str = ""
    """Of the change, in its author's words: data like the code."""
    description: str = ""
    dependencies: Mapping[str, WorkerResult] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What an engine found. Not yet anchored, not yet judged."""

    candidates: tuple[Candidate, ...] = ()
    gaps: tuple[Gap, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    origin: Literal["program", "model"] = "program"
    """The source of the candidates. The engine sets it, and not the answer: a model may claim anything."""
    programs: tuple[Candidate, ...] = ()
    """Beside them, what programs found in the same slices; no model can delete one of these."""


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


@dataclass(frozen=True)
class TaskResult:
    """How one task of the plan ended; a task that was split or moved has the results of all of its parts."""

    task: ReviewTask
    results: tuple[WorkerResult, ...] = ()
    gaps: tuple[Gap, ...] = ()
    human: tuple[HumanItem, ...] = ()
    done: bool = False
    """Whether some part of it was answered in the schema."""

    @property
    def answered(self) -> bool:
        """Whether a dependent task may count on this one; what an escalation brought so far is no answer.

        Nor is what programs found without the model. The gap of a single program, by its `tool`, is no such gap.
        """
        missing = any(gap.tool is None for result in self.results for gap in result.gaps)
        return self.done and not self.gaps and not missing

    def merge_results(self) -> WorkerResult:
        """All results as one, for a task that depends on this one."""
        findings = tuple(finding for result in self.results for finding in result.findings)
        return WorkerResult(task_id=self.task.task_id, findings=findings)


class Planner(Protocol):
    """Decides which worker reads what. It sees the change and the results of its plan, and judges no code."""

    async def plan(self, change: ChangeSet) -> Plan:
        """The plan of a review; whatever fails on the way, there is one."""

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        """What is worth a second round after the first: gaps that may close, and what the findings ask for.

        Its tasks have ids of their own; a task that closes a gap of `settled` is called like that one with "~2" behind.
        """


class Synthesizer(Protocol):
    """Makes one review of everything."""

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Review:
        """The review; its wall time is filled in later. The order of tasks and answers does not show in it."""


@dataclass(frozen=True)
class Text:
    """A piece of a request. `cached` asks the provider to keep everything up to its end for later requests."""

    text: str
    cached: bool = False


@dataclass(frozen=True)
class ToolCall:
    """A model's request to call a tool."""

    call_id: str
    name: str
    arguments: Mapping[str, object]
    context: str = ""
    """What the provider wants back in front of this call when the conversation goes on; for its adapter alone."""


@dataclass(frozen=True)
class ToolAnswer:
    """The result of a tool call, in text."""

    call_id: str
    text: str
    failed: bool = False


@dataclass(frozen=True)
class Turn:
    """One side's part of a conversation."""

    role: Literal["user", "assistant"]
    parts: tuple[Text | ToolCall | ToolAnswer, ...]


@dataclass(frozen=True)
class OfferedTool:
    """A tool that a model may call."""

    name: str
    description: str
    schema: Mapping[str, object]
    """JSON Schema of its arguments; a closed object."""


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model. Nothing of it depends on time, on the run, or on where in a file its code stands."""

    purpose: str
    """The role that asks: "planner", "reader" or "judge". It is not sent."""
    subject: str
    """What it is about, such as a task's id. For the trace; not sent."""
    tier: Tier
    system: tuple[Text, ...]
    turns: tuple[Turn, ...]
    max_tokens: int
    """Of the answer."""
    tools: tuple[OfferedTool, ...] = ()
    schema: Mapping[str, object] | None = None
    """JSON Schema that the final text must fit; the caller validates it again."""
    on_usage: Callable[[Usage], None] | None = field(default=None, compare=False, repr=False)
    """Called with what the provider has reported so far of this call, also of one that fails or is stopped later."""


StopReason = Literal["end", "tools", "max_tokens", "refusal", "context", "other"]


@dataclass(frozen=True)
class ModelReply:
    """One answer. `stop` is looked at before anything else in it is believed."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: StopReason
    usage: Usage
    model: str
    """The id of the model that answered."""
    stored: bool = False
    """No model was asked: it came from the journal, and cost nothing now."""
    written_tokens: int = 0
    """Of a stored reply: its output tokens, which its usage leaves out."""


class Model(Protocol):
    """Something that answers questions in words. Stateless: a conversation is sent whole each time."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        """Answer once.

        Raises TransientError, DeadlineError, BudgetError, ProviderError where the provider is down, and
        EngineError for a request that will never be answered.
        """


class UsageLedger(Protocol):
    """What was spent so far, by purpose (see `ModelRequest.purpose`)."""

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        """One entry for each role that asked a model."""


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
    """Records the events of a run."""

    def record(self, event: str, **fields: object) -> None:
        """Append one event; `fields` are JSON values."""
