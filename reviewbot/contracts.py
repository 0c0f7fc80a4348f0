"""Every model that crosses a module. Values only: frozen, strict, unknown fields refused, no I/O, no decisions.

Text in a model is always valid Unicode: bytes that are not UTF-8 become U+FFFD in code, and git's own quoted form in
names (see `reviewbot.diff.names`). Line numbers are 1-based. Durations are milliseconds, money is US dollars.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION = "1"

Severity = Literal["critical", "warning", "info"]
Tier = Literal["haiku", "sonnet", "opus"]
Kind = Literal["code", "config", "prose"]
Status = Literal["added", "deleted", "modified", "renamed", "copied"]
CoverageState = Literal["reviewed", "partial", "generated", "binary", "ignored", "refused", "malformed", "over_budget"]
EscalationReason = Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
GapReason = Literal["missing_program", "crashed", "timeout", "flooded", "bad_answer", "deadline", "dependency",
                    "breaker", "unreadable", "unsettled"]  # fmt: skip
Verdict = Literal["issues", "needs_person", "clean", "limited", "incomplete", "not_reviewed", "nothing_to_review"]

Confidence = Annotated[int, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0)]
LineNumber = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/@-]{1,80}$")]

SEVERITY_ORDER: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}  # the one place that says which is first


class Contract(BaseModel):
    """Base of all contracts: a frozen, strict value."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Hunk(Contract):
    r"""One hunk; `reviewbot.diff.rows` turns it into numbered lines.

    `body` holds the marked lines (" ", "+", "-", and "\\" for a missing newline) joined by "\n", without a last "\n".
    A line may hold "\r" or any other control character: only LF separates lines.
    """

    old_start: Count
    old_count: Count
    new_start: Count
    new_count: Count
    heading: str = ""
    body: str


class FileChange(Contract):
    """One file section of a diff. The same path may appear in two sections, as git writes a change of type."""

    path: str
    old_path: str | None = None
    """The name before; None where it is the same name."""
    status: Status
    language: str
    """Lower-case name of the language, "text" where unknown."""
    kind: Kind
    """What sort of text the language is, which decides who reads it."""
    mode: str | None = None
    """Git's mode of the new side ("100644", "120000" a symlink, "160000" a submodule) where the diff tells it."""
    hunks: tuple[Hunk, ...] = ()
    added: Count = 0
    removed: Count = 0
    minified: bool = False
    """A line was longer than the limit and has been cut."""


class FileCoverage(Contract):
    """What became of one file, and who looked at it."""

    path: str
    state: CoverageState
    reason: str = ""
    looked: tuple[str, ...] = ()
    """The tools and models that read it, in alphabetical order."""


class ChangeSet(Contract):
    """A whole change. `coverage[i]` is the state in which parsing left `files[i]`; "reviewed" means fully read."""

    title: str = ""
    description: str = ""
    base_sha: str | None = None
    head_sha: str | None = None
    files: tuple[FileChange, ...] = ()
    coverage: tuple[FileCoverage, ...] = ()

    @model_validator(mode="after")
    def _each_file_has_one_state(self) -> Self:
        if [f.path for f in self.files] != [c.path for c in self.coverage]:
            raise ValueError("coverage must name every file exactly once, in order")
        return self


class CardBudget(Contract):
    """What one task of a worker may spend."""

    max_tokens: Annotated[int, Field(ge=256, le=64_000)] = 8_000
    timeout_ms: Annotated[int, Field(ge=100, le=900_000)] = 120_000
    max_turns: Annotated[int, Field(ge=1, le=10)] = 10


class WorkerCard(Contract):
    """A worker as data: one TOML file in `workers/`. It chooses among the tools of the code and names no program."""

    name: Name
    description: Annotated[str, Field(min_length=10, max_length=500)]
    task_type: Name
    prompt: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}\.md$")]
    """File name of its prompt in the folder `prompts` beside the card's folder."""
    success_criterion: Annotated[str, Field(min_length=10, max_length=500)]
    tools: tuple[Name, ...] = ()
    tiers: Annotated[tuple[Tier, ...], Field(min_length=1)] = ("sonnet",)
    """The ladder, cheapest first."""
    applies_to: Annotated[tuple[str, ...], Field(min_length=1, max_length=50)]
    """Globs over paths ("*" crosses folders), or "@code", "@config", "@prose" for every file of that kind."""
    depends_on: tuple[Name, ...] = ()
    """Workers whose result on the same chunk this one waits for."""
    needs_dependencies: bool = True
    """Whether a failed dependency makes this worker's task a gap (true) or it runs without that result (false)."""
    budget: CardBudget = CardBudget()
    threshold: Confidence = 80


class Payload(Contract):
    """The slice of the change that a task is about: one file, or some hunks of it.

    `code` is what a model may be shown: per hunk a line "@@ heading", then marked lines. It holds no line number of
    the file, so that a change further up does not alter it. `starts[i]`: (old, new) line of the i-th hunk's first row.
    """

    code: str
    file_path: str
    old_path: str | None = None  # its name on the old side, where that is another one
    language: str
    context: str = ""
    starts: tuple[tuple[Count, Count], ...]


class Constraints(Contract):
    """What a task may spend, and the tier of model that it asks for."""

    max_tokens: Annotated[int, Field(ge=256)]
    timeout_ms: Annotated[int, Field(ge=1)]
    max_turns: Annotated[int, Field(ge=1, le=10)] = 10
    tier: Tier
    higher_tiers: tuple[Tier, ...] = ()
    """Where an escalation may climb to, next one first."""


class ReviewTask(Contract):
    """One unit of work. `failures` counts what has gone wrong with it so far; the breaker opens at three."""

    task_id: Annotated[str, Field(min_length=1, max_length=400)]
    worker: Name
    type: Name
    instruction: Annotated[str, Field(min_length=10)]
    success_criterion: Annotated[str, Field(min_length=10)]
    payload: Payload
    constraints: Constraints
    depends_on: tuple[str, ...] = ()
    needs_dependencies: bool = True
    failures: Count = 0
    previous_error: str = ""
    """Why the attempt before failed. Data like the code: it may repeat what a model or an author wrote."""


class Unlooked(Contract):
    """A part of the review that was planned out: workers that could not look at a file with this engine, and why."""

    path: str
    workers: tuple[str, ...]
    reason: str


class Plan(Contract):
    """What will be done, as data that can be printed before anything runs."""

    schema_version: str = SCHEMA_VERSION
    goal: str
    tasks: tuple[ReviewTask, ...]
    strategy: Literal["merge", "select", "reduce"] = "merge"
    origin: Literal["rules", "model"] = "rules"
    reason: str
    left_out: tuple[FileCoverage, ...] = ()
    """Files that no task reads, each with its state and reason."""
    unlooked: tuple[Unlooked, ...] = ()

    @model_validator(mode="after")
    def _tasks_form_a_graph(self) -> Self:
        seen: set[str] = set()
        for task in self.tasks:
            if task.task_id in seen:
                raise ValueError(f"two tasks are called {task.task_id!r}")
            if missing := [d for d in task.depends_on if d not in seen]:
                raise ValueError(f"{task.task_id!r} depends on {missing[0]!r}, which no earlier task is called")
            seen.add(task.task_id)
        return self


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
    also: tuple[LineNumber, ...] = ()
    trigger: Annotated[str, Field(max_length=1_000)] = ""
    suggestion: Annotated[str, Field(max_length=4_000)] = ""
    cwe: Annotated[int, Field(ge=1)] | None = None


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
    message: str
    evidence: str
    """The code at that place, as it stands in the change; a secret in it is masked."""
    trigger: str = ""
    """When it bites."""
    suggestion: str = ""
    confidence: Confidence
    category: str
    rule: str = ""
    cwe: Annotated[int, Field(ge=1)] | None = None
    sources: tuple[str, ...]


class ToolRun(Contract):
    """One run of a program, confined by what `isolation` names, or of a scan inside our own process, which has none."""

    tool: str
    version: str
    duration_ms: Count
    exit_code: int | None = None
    isolation: tuple[str, ...] = ()


class Gap(Contract):
    """Something that should have been looked at and was not."""

    path: str
    worker: str
    reason: GapReason
    message: str
    task_id: str | None = None
    tool: str | None = None


class Withheld(Contract):
    """A finding that is counted and not shown among the others, with the reason."""

    finding: Finding
    reason: Literal["below_threshold", "over_cap"]
    message: str


class Dropped(Contract):
    """A candidate that never became a finding: its quote or line is not in the change, for instance."""

    candidate: Candidate
    reason: str


class Conflict(Contract):
    """Findings about one place that contradict each other; all are shown."""

    findings: Annotated[tuple[Finding, ...], Field(min_length=2)]
    reason: str


class Usage(Contract):
    """What model calls consumed."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    cost_usd: Annotated[float, Field(ge=0)] = 0.0


class Metadata(Contract):
    """How a result came about."""

    usage: Usage = Usage()
    duration_ms: Count = 0
    model_used: str | None = None
    tool_runs: tuple[ToolRun, ...] = ()
    looked: tuple[str, ...] = ()
    """The tools and models that read the slice to its end."""


class WorkerResult(Contract):
    """A worker's answer in the schema. `gaps` are tools that failed while the others answered."""

    kind: Literal["result"] = "result"
    task_id: str
    findings: tuple[Finding, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    gaps: tuple[Gap, ...] = ()
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
    tries: Annotated[int, Field(ge=1)] = 1


Outcome = Annotated[WorkerResult | Escalation | Failure, Field(discriminator="kind")]


class HumanItem(Contract):
    """Something that a person must look at, because the review could neither settle nor drop it."""

    path: str
    line: LineNumber | None = None
    reason: str
    finding: Finding | None = None


class WorkerUsage(Contract):
    """What one worker did and cost, over all of its tasks."""

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
    """Something that should have been reviewed was not, or no file was reviewed in full: exit code 4."""
    summary: str
    findings: tuple[Finding, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[Gap, ...] = ()
    human: tuple[HumanItem, ...] = ()
    coverage: tuple[FileCoverage, ...] = ()
    unlooked: tuple[Unlooked, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know of this run: settings or cards that were ignored, a rule that was left out."""
    workers: tuple[WorkerUsage, ...] = ()
    usage: Usage = Usage()
    timings: Timings
