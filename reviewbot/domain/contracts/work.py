"""Workers, and the tasks that a plan gives them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reviewbot.domain.contracts.base import (
    SCHEMA_VERSION,
    SURE,
    Confidence,
    Contract,
    Count,
    Effort,
    Name,
    Tier,
)
from reviewbot.domain.contracts.change import ReadBefore
from reviewbot.domain.contracts.coverage import PlannedFile, Reading


class CardBudget(Contract):
    """What one task of a worker may spend. `max_tokens` counts what a model writes, over all of its turns."""

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
    brief: Annotated[str, Field(max_length=200)] = ""
    """What it looks for, in one line that stands for the prompt after a small push. Empty: the prompt always does."""
    success_criterion: Annotated[str, Field(min_length=10, max_length=500)]
    tools: tuple[Name, ...] = ()
    tiers: Annotated[tuple[Tier, ...], Field(min_length=1)] = ("medium",)
    """The ladder, cheapest first."""
    applies_to: Annotated[tuple[str, ...], Field(min_length=1, max_length=50)]
    """Globs over paths ("*" crosses folders), or "@code", "@config", "@prose" for every file of that kind."""
    depends_on: tuple[Name, ...] = ()
    """Workers whose result on the same chunk this one waits for."""
    needs_dependencies: bool = True
    """Whether a failed dependency makes this worker's task a gap (true) or it runs without that result (false)."""
    budget: CardBudget = CardBudget()
    threshold: Confidence = SURE


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

    def one_tier_up(self) -> Constraints:
        """The same with a stronger model, where there is one."""
        tier, *higher = self.higher_tiers or (self.tier,)
        return self.model_copy(update={"tier": tier, "higher_tiers": tuple(higher)})


class ReviewTask(Contract):
    """One unit of work: some slices for one worker to read in one go, most often one.

    `failures` counts what has gone wrong with it so far; after three the task is given up.
    """

    task_id: Annotated[str, Field(min_length=1, max_length=400)]
    worker: Name
    type: Name
    instruction: Annotated[str, Field(min_length=10)]
    success_criterion: Annotated[str, Field(min_length=10)]
    payload: Payload
    more: tuple[Payload, ...] = ()
    """Further slices, of other files or of the same one."""
    constraints: Constraints
    depends_on: tuple[str, ...] = ()
    needs_dependencies: bool = True
    programs_only: bool = False
    """Whether no model is asked: the plan spared this worker's model the slices, and its programs run on them."""
    scans_only: bool = False
    """Whether of its programs only the scans of plain lines run: the file needs no more. `programs_only` as well."""
    reader: Annotated[str, Field(max_length=80)] = ""
    """The reader whose one conversation answers this task and all others of the same name; empty: a conversation of
    its own."""
    seam: tuple[str, ...] = ()
    """Names that one part of a large change defines and another uses: the task compares both sides, and
    reviews no file. Empty: a task on files."""
    failures: Count = 0
    previous_error: str = ""
    """Why the attempt before failed. Data like the code: it may repeat what a model or an author wrote."""
    read_before: ReadBefore | None = None
    """Of a task on what a push changed, and on nothing else: as in the `ChangeSet`. Data like the code."""
    small_push: bool = False
    """Whether that is little: its reader has shorter instructions and looks up less."""
    brief: str = ""
    """Of a small push: what the worker looks for, in one line."""

    @property
    def slices(self) -> tuple[Payload, ...]:
        """Everything that it is about."""
        return (self.payload, *self.more)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it is about, each once."""
        return tuple(dict.fromkeys(payload.file_path for payload in self.slices))

    @property
    def job(self) -> str:
        """What it does, in words for people: the worker's name, and of a seam the names."""
        return f"{self.worker} (names across parts: {', '.join(self.seam)})" if self.seam else self.worker


class SkippedWorkers(Contract):
    """A part of the review that was planned out: workers that could not look at a file with this engine, and why."""

    path: str
    workers: tuple[str, ...]
    reason: str


class Part(Contract):
    """A component of a large change, with a sub-supervisor of its own that sums up before the top one sees anything."""

    name: str
    task_ids: tuple[str, ...]


class Plan(Contract):
    """What will be done, as data that can be printed before anything runs."""

    schema_version: str = SCHEMA_VERSION
    goal: str
    tasks: tuple[ReviewTask, ...]
    parts: tuple[Part, ...] = ()
    """Of a plan in two levels: every task in exactly one of them. Empty: one level."""
    strategy: Literal["merge", "select", "reduce"] = "merge"
    origin: Literal["rules", "model"] = "rules"
    reason: str
    effort: Effort | None = None
    """How much models are asked; None: not at all."""
    files: tuple[PlannedFile, ...] = ()
    """What each file of the change needs, in the order of the change."""
    unlooked: tuple[SkippedWorkers, ...] = ()
    notes: tuple[str, ...] = ()
    """What settings say of single workers, and what else a reader of the plan should know of them."""
    read_before: tuple[Reading, ...] = ()
    """What reviews of earlier heads have read of the change, and no task reads again with a model."""
    scope: str = ""
    """Whether all of the change is read or what a push changed, and why; empty for a first review."""

    @model_validator(mode="after")
    def _tasks_form_a_graph(self) -> Self:
        seen: set[str] = set()
        for task in self.tasks:
            if task.task_id in seen:
                raise ValueError(f"two tasks are called {task.task_id!r}")
            if missing := [d for d in task.depends_on if d not in seen]:
                raise ValueError(f"{task.task_id!r} depends on {missing[0]!r}, which no earlier task is called")
            seen.add(task.task_id)
        named = [name for part in self.parts for name in part.task_ids]
        if self.parts and (len(named) != len(seen) or set(named) != seen):
            raise ValueError("the parts must name every task exactly once")
        return self
