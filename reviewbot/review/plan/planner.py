"""Plan the review of a change by rules alone: which workers read which slice of which file, riskiest first.

Pure: the plan is a value that can be printed, compared and stored before anything runs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from graphlib import TopologicalSorter
from hashlib import sha256
from typing import NamedTuple

from reviewbot.config.globs import applies
from reviewbot.config.providers import KEY_HINT
from reviewbot.coverage.needs import Declared
from reviewbot.domain.contracts import (
    ChangeSet,
    Constraints,
    FileChange,
    Payload,
    Plan,
    ReviewTask,
    SkippedWorkers,
    WorkerCard,
)
from reviewbot.domain.ports import TaskResult, WorkerSet
from reviewbot.review.plan.affinity import FileShape, links_between, modules_in
from reviewbot.review.plan.parts import parts_of
from reviewbot.review.plan.read_again import divide_all
from reviewbot.review.plan.routing import HasConventions, Readers, is_plain, route, unread_note
from reviewbot.review.plan.slices import Slice, changed_lines, payloads
from reviewbot.review.plan.triage import MAX_FILES, Triage, TriageRules, declares_nothing, looks_generated, triage
from reviewbot.wording import with_count

WHOLE_FILE = 10**9
"""As `PlanLimits.chunk_lines`: each file is one slice, however long it is."""

MAX_NAME = 200
"""Characters of a path in a task's id. git allows 4,096 bytes, an id has 400 with what workers and splits add to it."""

SMALL_PUSH = 100
"""Changed lines that are read after a push, up to which their reader has shorter instructions and looks up less."""

WITHHELD = "no model is shown it: it is private, or is called like a file of credentials"

Head = Callable[[str], str | None]
"""The whole new side of a file, where it is known."""
Covers = Callable[[WorkerCard, str], bool]
"""Whether an engine can look at files of a language for a worker."""


@dataclass(frozen=True)
class PlanLimits:
    """What bounds a plan."""

    chunk_lines: int = 400
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs of the files to read; empty means all."""
    workers: tuple[str, ...] = ()
    """Only these; empty means all."""
    max_files: int = MAX_FILES
    handed_in: Mapping[str, Collection[str]] = field(default_factory=dict)
    """By worker: files about which it was handed results of other programs. It gets a task for them in any language."""
    part_lines: int = 0
    """Changed lines of a part, all slices of which are one task of a worker; 0: one slice a task."""
    route: bool = False
    """Whether `routing` says which models read a file. Where `workers` names some, these read all of it."""
    has_conventions: HasConventions = lambda _path: False
    """Whether rules of the repository are written for a path; may block."""
    declared: Declared = declares_nothing
    """Why the base side declares a path generated or vendored; may block."""
    scans: Callable[[WorkerCard], bool] = lambda _card: False
    """Whether a worker has scans of plain lines, which then run also on files that get no reader."""
    is_withheld: Callable[[str], bool] = lambda _path: False
    """Whether no model is shown a file; its programs run on it all the same."""
    ask_models: bool = True
    """Whether models read at all; else every task is for the programs of its worker."""
    programs: Covers = lambda _card, _language: True
    """Whether a program of a worker reads a language; where none does and no model is to read it, there is no task."""


@dataclass(frozen=True)
class RoutedPlanner:
    """The `Planner` that follows rules alone."""

    worker_set: WorkerSet
    covers: Covers
    head: Head
    limits: PlanLimits

    async def plan(self, change: ChangeSet) -> Plan:
        """The routed plan. Looking up whole files blocks, so that it is made in a thread."""
        return await asyncio.to_thread(make_plan, change, self.worker_set, self.covers, self.head, self.limits)

    async def more(self, _change: ChangeSet, _plan: Plan, _settled: Mapping[str, TaskResult]) -> Plan | None:
        """Nothing: what programs could not do once they cannot do twice."""
        return None


class _Routed(NamedTuple):
    """A file, its slices and who reads them."""

    file: FileChange
    slices: tuple[Slice, ...]
    readers: Readers
    imports: tuple[str, ...] = ()
    """Where the change may have parts: what its text imports."""

    @property
    def lines(self) -> int:
        """Its changed lines."""
        return sum(changed_lines(each.payload) for each in self.slices)


def make_plan(change: ChangeSet, worker_set: WorkerSet, covers: Covers, head: Head, limits: PlanLimits) -> Plan:
    """Route every readable file to the workers whose card applies to it."""
    sorted_files = triage(change, TriageRules(limits.ignore, limits.paths, limits.declared, limits.max_files))
    divided = divide_all(change, sorted_files.read)
    now = [each.now for each in divided if each.now is not None]
    choose = _chooser(now, limits)
    routed: list[_Routed] = []
    spared: list[_Routed] = []
    unlooked: list[SkippedWorkers] = []
    used: Counter[str] = Counter()
    for file, parts in zip(sorted_files.read, divided, strict=True):
        cards, missed = _for_file(file, worker_set, covers, limits)
        unlooked += missed
        names = [name for name in (file.path, file.old_path) if name is not None]
        kept_back = limits.route and any(map(limits.is_withheld, names))
        if kept_back:
            unlooked.append(SkippedWorkers(path=file.path, workers=tuple(card.name for card in cards), reason=WITHHELD))
        whole = head(file.path)
        for part, found, readers in ((parts.now, routed, choose), (parts.before, spared, partial(_spare, limits))):
            if part is None:
                continue
            slices = _named(part, payloads(part, whole, limits.chunk_lines), used)
            shown = "\n".join(each.payload.code for each in slices) if whole is None else whole
            imports = modules_in(shown, file.language) if limits.part_lines else ()
            mine = Readers((), tuple(cards)) if kept_back else readers(part, cards)
            found.append(_Routed(part, slices, mine, imports))
    groups = (*_grouped(routed, limits.part_lines), *_grouped(spared, limits.part_lines))
    small = sum(file.added + file.removed for file in now) <= SMALL_PUSH
    briefs = {card.name: card.brief for card in worker_set.cards} if small else {}
    tasks = [_of_push(task, change, briefs) for group in groups for task in _tasks_of(group)]
    tasks += _scan_tasks(sorted_files.scan, worker_set, limits, used)
    return Plan(
        goal=change.title or f"Review a change of {with_count(len(change.files), 'file')}",
        tasks=tuple(tasks),
        reason=_reason(sorted_files, tasks)
        + (unread_note((each.file, each.readers) for each in routed) if limits.ask_models else ""),
        files=sorted_files.files,
        unlooked=tuple(unlooked),
        read_before=tuple(reading for each in divided for reading in each.reading),
        scope=change.read_before.note if change.read_before else "",
    )


def task_for(card: WorkerCard, payload: Payload, task_id: str, depends_on: Sequence[str] = ()) -> ReviewTask:
    """One task of one worker on one slice. Nothing in it depends on where in the file the slice stands."""
    return ReviewTask(
        task_id=task_id,
        worker=card.name,
        type=card.task_type,
        instruction=card.description,
        success_criterion=card.success_criterion,
        payload=payload,
        constraints=_constraints(card),
        depends_on=tuple(depends_on),
        needs_dependencies=card.needs_dependencies,
    )


@lru_cache(64)
def _constraints(card: WorkerCard) -> Constraints:
    """What a task of this card may spend; all tasks of a card share one."""
    tier, *higher = card.tiers
    return Constraints(
        max_tokens=card.budget.max_tokens,
        timeout_ms=card.budget.timeout_ms,
        max_turns=card.budget.max_turns,
        tier=tier,
        higher_tiers=tuple(higher),
    )


def retarget(worker_set: WorkerSet, task: ReviewTask, worker: str, only: Sequence[str] = ()) -> ReviewTask | None:
    """Give the slice of a task to another worker, with the failures so far; None where no such worker runs."""
    card = next((card for card in worker_set.cards if card.name == worker and (not only or worker in only)), None)
    if card is None:
        return None
    moved = task_for(card, task.payload, f"{task.task_id}>{worker}")
    if task.seam:
        own = {"instruction": task.instruction, "success_criterion": task.success_criterion, "seam": task.seam}
        moved = moved.model_copy(update=own)
    return moved.model_copy(update={"failures": task.failures, "more": task.more})


def short_path(path: str) -> str:
    """The path as a task's id holds it: a long one by its beginning and its hash."""
    return path if len(path) <= MAX_NAME else f"{path[:MAX_NAME]}~{sha256(path.encode()).hexdigest()[:16]}"


def _chooser(read: Sequence[FileChange], limits: PlanLimits) -> Callable[[FileChange, Sequence[WorkerCard]], Readers]:
    """Who of the cards that are for a file reads it with a model, and whose programs run on it."""
    if not limits.ask_models:
        return lambda _file, cards: Readers((), tuple(cards))
    if not limits.route or limits.workers:
        return lambda _file, cards: Readers(tuple(cards), ())
    plain = is_plain(read)

    def choose(file: FileChange, cards: Sequence[WorkerCard]) -> Readers:
        models, programs = route(file, cards, limits.has_conventions, plain=plain)
        return Readers(models, _spare(limits, file, programs).programs)

    return choose


def _spare(limits: PlanLimits, file: FileChange, cards: Sequence[WorkerCard]) -> Readers:
    """Whose programs run on what no model reads, such as what an earlier head's review has read."""
    handed = [card for card in cards if file.path in limits.handed_in.get(card.name, ())]
    return Readers((), tuple(card for card in cards if card in handed or limits.programs(card, file.language)))


def _of_push(task: ReviewTask, change: ChangeSet, briefs: Mapping[str, str]) -> ReviewTask:
    """A task that asks a model, with what is known of the rest of a change that was read before.

    `briefs`: by worker, where what is read is little.
    """
    before = change.read_before
    if task.programs_only or before is None or not before.head:
        return task
    brief = briefs.get(task.worker, "")
    return task.model_copy(update={"read_before": before, "small_push": bool(briefs), "brief": brief})


def _for_file(
    file: FileChange, worker_set: WorkerSet, covers: Covers, limits: PlanLimits
) -> tuple[list[WorkerCard], list[SkippedWorkers]]:
    """The cards that get tasks for a file, and those that are for it and cannot look."""
    cards = [card for card in worker_set.cards if not limits.workers or card.name in limits.workers]
    wanted = [card for card in cards if applies(card.applies_to, file.path, file.kind)]
    able = [card for card in wanted if covers(card, file.language)]
    stranded = _stranded(able)
    # A worker that only relays SARIF results has not looked at the file: the file stays in its `unlooked` list.
    relaying = [card for card in wanted if card not in able and file.path in limits.handed_in.get(card.name, ())]
    working = [card for card in (*able, *relaying) if card.name not in stranded]
    return working, _cannot_look(file, wanted, able, stranded)


def _named(file: FileChange, cut: Iterable[Payload], used: Counter[str]) -> tuple[Slice, ...]:
    """The slices with their names. Two sections of one path are two slices; the counter keeps their names apart."""
    found = []
    for payload in cut:
        used[file.path] += 1
        found.append(Slice(f"{short_path(file.path)}#{used[file.path]}", payload))
    return tuple(found)


def _grouped(routed: Sequence[_Routed], part_lines: int) -> list[list[_Routed]]:
    """What may share tasks: the files of one part of the change; without parts each slice alone."""
    if not part_lines:
        return [[each._replace(slices=(one,))] for each in routed for one in each.slices]
    if sum(each.lines for each in routed) <= part_lines:
        return [list(routed)] if routed else []
    # What looks generated comes last: it must not draw other files behind it, nor be read before them.
    first = next((at for at, each in enumerate(routed) if looks_generated(each.file) is not None), len(routed))
    return [part for group in (routed[:first], routed[first:]) for part in _parts(group, part_lines)]


def _parts(routed: Sequence[_Routed], limit: int) -> list[list[_Routed]]:
    """Divide files into parts. Of one that is too large for a part, the last slices are with other files."""
    own: list[tuple[int, list[_Routed]]] = []
    rest: list[_Routed] = []
    for at, each in enumerate(routed):
        *full, last = _pieces(each, limit)
        own += ((at, [piece]) for piece in full)
        rest.append(last)
    shapes = [
        FileShape(each.file.path, each.file.language, tuple(one.payload for one in each.slices), each.imports)
        for each in rest
    ]
    found = parts_of([(each.file.path, each.lines) for each in rest], limit, links_between(shapes))
    parts = [*own, *((part[0], [rest[at] for at in part]) for part in found)]
    return [part for _, part in sorted(parts, key=lambda each: each[0])]


def _pieces(routed: _Routed, limit: int) -> list[_Routed]:
    """A file as it is, or, where it is too large for a part, in pieces that fit as far as its slices do."""
    pieces: list[list[Slice]] = [[]]
    used = 0
    for one in routed.slices:
        lines = changed_lines(one.payload)
        if pieces[-1] and used + lines > limit:
            pieces.append([])
            used = 0
        pieces[-1].append(one)
        used += lines
    return [routed._replace(slices=tuple(piece)) for piece in pieces]


def _tasks_of(group: Sequence[_Routed]) -> list[ReviewTask]:
    """The tasks on the slices of one group, each worker's after those of the workers that it waits for."""
    cards = {card.name: card for each in group for card in (*each.readers.models, *each.readers.programs)}
    tasks: list[ReviewTask] = []
    done: dict[tuple[str, str], str] = {}
    for card in _dependencies_first(list(cards.values())):
        read = [one for each in group if card in each.readers.models for one in each.slices]
        scan = [one for each in group if card in each.readers.programs for one in each.slices]
        for found, programs_only in ((read, False), (scan, True)):
            if found:
                task = _bundled(card, found, done, programs_only=programs_only)
                done |= {(card.name, one.name): task.task_id for one in found}
                tasks.append(task)
    return tasks


def _scan_tasks(
    files: Sequence[FileChange], worker_set: WorkerSet, limits: PlanLimits, used: Counter[str]
) -> Iterator[ReviewTask]:
    """The plain-line scans of files that get no reader."""
    cards = [
        card for card in worker_set.cards if (not limits.workers or card.name in limits.workers) and limits.scans(card)
    ]
    for file in files:
        for one in _named(file, payloads(file, None, WHOLE_FILE), used):
            for card in cards:
                task = task_for(card, one.payload, f"{card.name}:{one.name}")
                yield task.model_copy(update={"programs_only": True, "scans_only": True, "needs_dependencies": False})


def _bundled(
    card: WorkerCard, bundle: Sequence[Slice], done: Mapping[tuple[str, str], str], *, programs_only: bool
) -> ReviewTask:
    """One task on some slices. `done`: the task of each worker on each slice so far."""
    first, *others = bundle
    task_id = f"{card.name}:{first.name}" + (f"+{len(others)}" if others else "")
    waits = [done[name, one.name] for name in card.depends_on for one in bundle if (name, one.name) in done]
    task = task_for(card, first.payload, task_id, tuple(dict.fromkeys(waits)))
    more = tuple(one.payload for one in others)
    return task.model_copy(update={"more": more, "programs_only": programs_only})


def _dependencies_first(cards: Sequence[WorkerCard]) -> list[WorkerCard]:
    """The cards in an order in which each follows those that it depends on; loading them has refused circles."""
    by_name = {card.name: card for card in cards}
    graph = TopologicalSorter({card.name: [d for d in card.depends_on if d in by_name] for card in cards})
    return [by_name[name] for name in graph.static_order()]


def _stranded(able: Sequence[WorkerCard]) -> dict[str, str]:
    """The workers that need the result of one that does not look at this file, each with that one's name."""
    stranded: dict[str, str] = {}
    for card in _dependencies_first(able):
        there = {other.name for other in able} - stranded.keys()
        missing = next((name for name in card.depends_on if name not in there), None)
        if missing is not None and card.needs_dependencies:
            stranded[card.name] = missing
    return stranded


def _cannot_look(
    file: FileChange, wanted: Sequence[WorkerCard], able: Sequence[WorkerCard], stranded: Mapping[str, str]
) -> list[SkippedWorkers]:
    unable = tuple(card.name for card in wanted if card not in able)
    reason = f"no analyzer for that reads the language; models do, with a key (such as {KEY_HINT})"
    entries = [SkippedWorkers(path=file.path, workers=unable, reason=reason)] if unable else []
    for worker, missing in stranded.items():
        reason = f"it needs the result of {missing}, which does not look at this file"
        entries.append(SkippedWorkers(path=file.path, workers=(worker,), reason=reason))
    return entries


def _reason(found: Triage, tasks: Sequence[ReviewTask]) -> str:
    languages = Counter(file.language for file in found.read)
    by_language = ", ".join(f"{count} {name}" for name, count in languages.most_common())
    by_worker = ", ".join(f"{count} {name}" for name, count in Counter(task.worker for task in tasks).items())
    left = len(found.files) - len(found.read)
    return (
        f"routed by rules: {with_count(len(found.read), 'file')} to read ({by_language or 'none'}), riskiest first; "
        f"{with_count(len(tasks), 'task')} ({by_worker or 'none'}); {with_count(left, 'file')} without a reader"
    )
