"""Validate a proposed plan against the routed one: list everything that is wrong with it. Pure.

A proposal cannot lower the minimum: a file that the routed plan gives to security, or to a worker that the repository
brought, stays with it, and no file loses its last reader. Dependencies are a map from each name to those that it waits
for: `circle`, `in_order` and `longest` find a cycle, an order and the longest chain.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from reviewbot.config.messages import nearest, quote
from reviewbot.domain.contracts import Payload, Plan, ReviewTask, Tier, WorkerCard
from reviewbot.domain.contracts.answers import ProposedPlan, ProposedTask, ProposedWorker
from reviewbot.review.plan.instruction_lint import looks_away, vagueness
from reviewbot.review.plan.routing import FIRST_READERS
from reviewbot.review.plan.slices import Slice, bundles
from reviewbot.wording import with_count

Waits = Mapping[str, Collection[str]]
"""By name: whom it waits for; every name that is waited for is a key."""


def circle(waits: Waits) -> tuple[str, ...] | None:
    """Some names that wait for each other in a circle, the first one repeated at the end; None where there is none."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return tuple(found)
    return None


def in_order(waits: Waits) -> list[str]:
    """All names, each after those that it waits for, else as they come. Only for `waits` without a circle."""
    found: dict[str, None] = {}
    todo = list(waits)[::-1]
    while todo:
        name = todo[-1]
        missing = [each for each in waits[name] if each not in found]
        todo += missing[::-1]
        if not missing:
            found[todo.pop()] = None
    return list(found)


def longest(waits: Waits) -> int:
    """The names in the longest chain; 0 where there is no name. Only for `waits` without a circle."""
    length: dict[str, int] = {}
    for name in in_order(waits):
        length[name] = 1 + max((length[each] for each in waits[name]), default=0)
    return max(length.values(), default=0)


MAX_FAULTS = 20
"""Faults that are reported; a plan with more is not worth a longer list."""

FLOOR = frozenset({"security"})
"""Shipped workers that no proposal can take from a file."""

SEAT_TIERS: tuple[Tier, ...] = ("small", "medium")
"""Tiers that a worker without a card may ask for; its prompt has not been tried out."""


@dataclass(frozen=True)
class PlanCaps:
    """What bounds a proposed plan."""

    max_tasks: int = 64
    """Tasks of models, where the routed plan does not have more itself."""
    part_lines: int = 1_500
    """Changed lines of one task; a longer one is cut into several of the same instruction."""
    chain: int = 2
    """Tasks in a row: each one more is another wait for the slowest of a row."""
    token_share: float = 1.5
    """What all tasks together may write, in shares of what those of the routed plan may."""
    whole: bool = True
    """Whether it stands for the routed plan, so that the floor holds; else it only adds to it."""


@dataclass(frozen=True)
class PlanContext:
    """The inputs that a proposal is checked against, and from which its plan is made."""

    routed: Plan
    cards: Mapping[str, WorkerCard]
    """The workers that run, by name."""
    allowed: Mapping[str, frozenset[str]]
    """By path: the workers whose card is for the file."""
    programs: Callable[[str, str], bool]
    """Whether a program of a worker reads a language."""
    seats: tuple[WorkerCard, ...] = ()
    """Cards without a job of their own, which proposed workers may take; none: no worker may be proposed."""
    caps: PlanCaps = field(default_factory=PlanCaps)

    @cached_property
    def slices(self) -> Mapping[str, tuple[Payload, ...]]:
        """By path: all slices of the files that have a reader, in order."""
        found: defaultdict[str, dict[Payload, None]] = defaultdict(dict)
        for task in self.routed.tasks:
            for payload in task.slices:
                found[payload.file_path][payload] = None
        return {path: tuple(cut) for path, cut in found.items()}

    @cached_property
    def readers(self) -> Mapping[str, frozenset[str]]:
        """By path: the workers whose model reads the file in the routed plan."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for task in self.of_models:
            for path in task.paths:
                found[path].add(task.worker)
        return {path: frozenset(workers) for path, workers in found.items()}

    @cached_property
    def of_models(self) -> tuple[ReviewTask, ...]:
        """The routed tasks that ask a model."""
        return tuple(task for task in self.routed.tasks if not task.programs_only)

    def parts(self, task: ProposedTask) -> list[tuple[Payload, ...]]:
        """The slices of a proposed task, task by task. Files that are not known have none."""
        named = [Slice(path, each) for path in dict.fromkeys(task.files) for each in self.slices.get(path, ())]
        return [tuple(each.payload for each in bundle) for bundle in bundles(named, self.caps.part_lines)]

    def card_of(self, name: str, proposed: ProposedPlan) -> WorkerCard | None:
        """The card of a worker: its own, or the seat that a proposed one takes; None: there is no such worker."""
        taken = {worker.name: seat for worker, seat in zip(proposed.workers, self.seats, strict=False)}
        return self.cards.get(name) or taken.get(name)


def faults_of(proposed: ProposedPlan, context: PlanContext) -> tuple[str, ...]:
    """What is wrong with a proposal, a line each, worst first; nothing: `build_plan.plan_of` makes a plan of it."""
    most = max(context.caps.max_tasks, len(context.of_models) if context.caps.whole else 0)
    if len(proposed.tasks) > most:
        return (f"it has {with_count(len(proposed.tasks), 'task')}; at most {most} are allowed",)
    found = [*_of_workers(proposed, context)]
    for task in proposed.tasks:
        found += (f"task {task.task_id}: {fault}" for fault in _of_task(task, proposed, context))
    found += (*_of_graph(proposed, context), *_of_budget(proposed, context, most))
    found += _of_floor(proposed, context) if context.caps.whole else ()
    more = (f"and {len(found) - MAX_FAULTS} more",) if len(found) > MAX_FAULTS else ()
    return (*found[:MAX_FAULTS], *more)


def waits_of(proposed: ProposedPlan, context: PlanContext) -> Waits:
    """Whom each proposed task waits for: those that it names, and those of the workers that its card waits for."""
    by_worker: defaultdict[str, list[ProposedTask]] = defaultdict(list)
    for task in proposed.tasks:
        by_worker[task.worker].append(task)
    known = {task.task_id for task in proposed.tasks}
    waits: dict[str, list[str]] = {}
    for task in proposed.tasks:
        card = context.cards.get(task.worker)
        others = [other for name in (card.depends_on if card else ()) for other in by_worker[name]]
        mine = [other.task_id for other in others if set(other.files) & set(task.files)]
        waits[task.task_id] = list(dict.fromkeys([*(name for name in task.depends_on if name in known), *mine]))
    return waits


def granted_tokens(task: ProposedTask, card: WorkerCard | None) -> int:
    """What a proposed task may write: what it asks for, at most what the card allows and at least half of that."""
    if card is None:
        return task.max_tokens
    return max(card.budget.max_tokens // 2, min(task.max_tokens, card.budget.max_tokens))


def _of_workers(proposed: ProposedPlan, context: PlanContext) -> Iterator[str]:
    if not proposed.workers:
        return
    if not context.seats:
        yield "it asks for workers that it does not describe; this review has only those that were named"
        return
    if len(proposed.workers) > len(context.seats):
        yield f"it asks for {with_count(len(proposed.workers), 'new worker')}; at most {len(context.seats)} are allowed"
    names = Counter(worker.name for worker in proposed.workers)
    for worker, seat in zip(proposed.workers, context.seats, strict=False):
        yield from (f"new worker {worker.name}: {fault}" for fault in _of_worker(worker, seat, names, context))


def _of_worker(
    worker: ProposedWorker, seat: WorkerCard, names: Mapping[str, int], context: PlanContext
) -> Iterator[str]:
    if worker.name in context.cards or names[worker.name] > 1:
        yield "its name is taken"
    if unknown := [name for name in worker.tools if name not in seat.tools]:
        yield f"it cannot have the tool {unknown[0]!r}; {nearest(unknown[0], seat.tools)}"
    if worker.tier not in SEAT_TIERS:
        yield f"its tier may be {' or '.join(SEAT_TIERS)}"
    if fault := vagueness(worker.instruction, ()):
        yield f"its instruction {fault}"


def _of_task(task: ProposedTask, proposed: ProposedPlan, context: PlanContext) -> Iterator[str]:
    card = context.card_of(task.worker, proposed)
    if card is None:
        yield f"there is no worker {task.worker!r}; {nearest(task.worker, context.cards)}"
    if not task.files:
        yield "it names no file"
    for path in dict.fromkeys(task.files):
        if path not in context.slices:
            yield f"{quote(path)} is not among the files to read"
        elif task.worker in context.cards and task.worker not in context.allowed.get(path, ()):
            yield f"{task.worker} does not read files like {quote(path)}"
    if looks_away(task.success_criterion):
        yield "its success criterion tells the worker what to answer; say what has to be looked at"
    if fault := vagueness(task.instruction, task.files):
        yield f"its instruction {fault}"
    names = {other.task_id for other in proposed.tasks}
    yield from (f"it waits for {name!r}, which is no task" for name in task.depends_on if name not in names)


def _of_graph(proposed: ProposedPlan, context: PlanContext) -> Iterator[str]:
    twice = [name for name, count in Counter(task.task_id for task in proposed.tasks).items() if count > 1]
    if twice:
        yield f"two tasks are called {twice[0]!r}"
        return
    waits = waits_of(proposed, context)
    if found := circle(waits):
        yield f"these tasks wait for each other in a circle: {' -> '.join(found)}"
        return
    most = max(context.caps.chain, longest({task.task_id: task.depends_on for task in context.routed.tasks}))
    if longest(waits) > most:
        yield f"{longest(waits)} tasks wait in a row; at most {most} may"


def _of_budget(proposed: ProposedPlan, context: PlanContext, most: int) -> Iterator[str]:
    counts = [
        (granted_tokens(task, context.card_of(task.worker, proposed)), len(context.parts(task)))
        for task in proposed.tasks
    ]
    total = sum(count for _, count in counts)
    if total > most:
        yield f"cut into tasks of {context.caps.part_lines} changed lines it has {total}; at most {most} are allowed"
    asked = sum(tokens * count for tokens, count in counts)
    given = round(context.caps.token_share * sum(task.constraints.max_tokens for task in context.of_models))
    if asked > given:
        yield f"its tasks may write {asked} tokens in all; {given} are allowed"
    if proposed.strategy == "select" and not _attempts(proposed.tasks):
        yield "strategy select is for several tasks of one worker about the same files"


def _attempts(tasks: Sequence[ProposedTask]) -> bool:
    """Whether these are several attempts at each thing."""
    counts = Counter((task.worker, frozenset(task.files)) for task in tasks)
    return all(count > 1 for count in counts.values())


def _of_floor(proposed: ProposedPlan, context: PlanContext) -> Iterator[str]:
    given: defaultdict[str, set[str]] = defaultdict(set)
    for task in proposed.tasks:
        for path in task.files:
            given[path].add(task.worker)
    for path, workers in context.readers.items():
        held = sorted(name for name in workers if name in FLOOR or name not in FIRST_READERS)
        for name in held:
            if name not in given[path]:
                yield f"{quote(path)} has to stay with {name}; its task there may be focused, not dropped"
        if not held and not given[path]:
            yield f"no task reads {quote(path)}; the routed plan gives it to {', '.join(sorted(workers))}"
