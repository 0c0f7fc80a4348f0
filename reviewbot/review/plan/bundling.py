"""Bundle tasks of a plan that one reader answers in one conversation. Rules only: a plan keeps all of its tasks.

Tasks on the same files share a reader where they ask for the same models: what they read is sent once. A task has a
reader of its own where it waits for another task, where its card comes from the reviewed repository (its rules are not
ours to mix), and, at the effort "deep", always.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from reviewbot.domain.contracts import ChangeSet, Effort, Payload, Plan, ReviewTask, Tier
from reviewbot.domain.ports import Planner, TaskResult
from reviewbot.review.plan.seams import with_seams
from reviewbot.review.plan.slices import changed_lines

MAX_LINES = 1_500
"""Changed lines that one reader is shown at once; of more, a model skims."""


@dataclass
class _Reader:
    """A reader that still may be given tasks."""

    name: str
    tiers: tuple[Tier, ...]
    workers: set[str] = field(default_factory=set)
    slices: set[Payload] = field(default_factory=set)
    own: bool = False

    def fits(self, task: ReviewTask, tiers: tuple[Tier, ...]) -> bool:
        """Whether it may take a task."""
        if self.own or self.tiers != tiers or task.worker in self.workers:
            return False
        return sum(changed_lines(each) for each in self.slices | set(task.slices)) <= MAX_LINES

    def shared(self, task: ReviewTask) -> int:
        """How many files of a task it is shown anyway."""
        return len({each.file_path for each in self.slices} & set(task.paths))

    def take(self, task: ReviewTask) -> ReviewTask:
        """The task with this reader's name."""
        self.workers.add(task.worker)
        self.slices |= set(task.slices)
        return task.model_copy(update={"reader": self.name})


@dataclass(frozen=True)
class BundlingPlanner:
    """A `Planner` that gives the tasks of another one's plans their readers."""

    inner: Planner
    effort: Effort
    foreign: Collection[str]
    """Names of the workers that the reviewed repository brings."""
    begin: Callable[[Plan], None] = lambda _plan: None
    """Called with each plan before its tasks run."""

    async def plan(self, change: ChangeSet) -> Plan:
        """The other planner's plan, bundled, with a task for names that cross its parts."""
        plan = await asyncio.to_thread(with_readers, await self.inner.plan(change), self.effort, self.foreign)
        self.begin(plan)
        return plan

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        """The second round, bundled by itself."""
        further = await self.inner.more(change, plan, settled)
        if further is not None:
            further = bundle_readers(further, self.effort, self.foreign, prefix="second-")
            self.begin(further)
        return further


def with_readers(plan: Plan, effort: Effort, foreign: Collection[str]) -> Plan:
    """The plan with a reader for each task that asks a model, and one for the names that cross its parts."""
    return with_seams(bundle_readers(plan, effort, foreign))


def bundle_readers(plan: Plan, effort: Effort, foreign: Collection[str], prefix: str = "") -> Plan:
    """The plan with a reader for each task that asks a model."""
    readers: list[_Reader] = []
    tasks: list[ReviewTask] = []
    for task in plan.tasks:
        if task.programs_only:
            tasks.append(task)
            continue
        tiers = (task.constraints.tier, *task.constraints.higher_tiers)
        own = effort == "deep" or task.worker in foreign or bool(task.depends_on)
        fitting = [] if own else [each for each in readers if each.fits(task, tiers)]
        best = max(fitting, key=lambda each: each.shared(task), default=None)
        if best is None:
            best = _Reader(f"{prefix}reader-{len(readers) + 1}", tiers, own=own)
            readers.append(best)
        tasks.append(best.take(task))
    return plan.model_copy(update={"tasks": tuple(tasks), "effort": effort})
