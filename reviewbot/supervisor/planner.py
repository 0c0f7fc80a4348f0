"""From a change to a plan, by rules alone: which workers read which slice of which file, riskiest first.

Pure: the plan is a value that can be printed, compared and stored before anything runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from hashlib import sha256

from reviewbot.config.globs import applies
from reviewbot.contracts import (
    ChangeSet,
    Constraints,
    FileChange,
    Hunk,
    Payload,
    Plan,
    ReviewTask,
    Unlooked,
    WorkerCard,
)
from reviewbot.diff.rows import code_of, halves
from reviewbot.ports import Crew, Settled
from reviewbot.supervisor.triage import triage

MAX_FILES = 3_000
"""GitHub lists no more files of one pull request; beyond that nobody reads a comment either."""

MAX_NAME = 200
"""Characters of a path in a task's id. git allows 4,096 bytes, an id has 400 with what workers and splits add to it."""

MAX_ENCLOSING = 8
"""Lines of definitions around a slice; deeper nesting is rare, and the innermost say most."""

Head = Callable[[str], str | None]
"""The whole new side of a file, where it is known."""
Covers = Callable[[WorkerCard, str], bool]
"""Whether the engine can look at files of a language for a worker."""


@dataclass(frozen=True)
class PlanLimits:
    """What bounds a plan."""

    chunk_lines: int = 400
    ignore: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    """Only these; empty means all."""
    max_files: int = MAX_FILES
    handed_in: Mapping[str, Collection[str]] = field(default_factory=dict)
    """By worker: files about which it was handed results of other programs. It gets a task for them in any language."""


@dataclass(frozen=True)
class RoutedPlanner:
    """The `Planner` that follows rules alone."""

    crew: Crew
    covers: Covers
    head: Head
    limits: PlanLimits

    async def plan(self, change: ChangeSet) -> Plan:
        """The routed plan."""
        return make_plan(change, self.crew, self.covers, self.head, self.limits)

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, Settled]) -> Plan | None:
        """Nothing: what programs could not do once they cannot do twice."""
        del change, plan, settled
        return None

    def retarget(self, task: ReviewTask, worker: str) -> ReviewTask | None:
        """The same slices as a task of another worker."""
        return retarget(self.crew, task, worker, self.limits.workers)


def make_plan(change: ChangeSet, crew: Crew, covers: Covers, head: Head, limits: PlanLimits) -> Plan:
    """Route every readable file to the workers whose card applies to it."""
    cards = [card for card in crew.cards if not limits.workers or card.name in limits.workers]
    sorted_files = triage(change.files, change.coverage, limits.ignore, limits.max_files)
    tasks: list[ReviewTask] = []
    unlooked: list[Unlooked] = []
    used: Counter[str] = Counter()
    for file in sorted_files.read:
        wanted = [card for card in cards if applies(card.applies_to, file.path, file.kind)]
        able = [card for card in wanted if covers(card, file.language)]
        stranded = _stranded(able)
        unlooked += _cannot_look(file, wanted, able, stranded)
        slices = payloads(file, head(file.path), limits.chunk_lines)
        # Whoever only passes on what others have found has not looked: the file stays in `unlooked` for it.
        told = [card for card in wanted if card not in able and file.path in limits.handed_in.get(card.name, ())]
        tasks += _tasks_of(file, slices, [card for card in (*able, *told) if card.name not in stranded], used)
    return Plan(
        goal=change.title or f"Review a change of {len(change.files)} files",
        tasks=tuple(tasks),
        reason=_reason(sorted_files.read, tasks, len(sorted_files.left_out)),
        left_out=tuple(sorted_files.left_out),
        unlooked=tuple(unlooked),
    )


def task_for(card: WorkerCard, payload: Payload, task_id: str, depends_on: Sequence[str] = ()) -> ReviewTask:
    """One task of one worker on one slice. Nothing in it depends on where in the file the slice stands."""
    tier, *higher = card.tiers
    return ReviewTask(
        task_id=task_id,
        worker=card.name,
        type=card.task_type,
        instruction=f"Look at the added lines of this slice. {card.description}",
        success_criterion=card.success_criterion,
        payload=payload,
        constraints=Constraints(
            max_tokens=card.budget.max_tokens,
            timeout_ms=card.budget.timeout_ms,
            max_turns=card.budget.max_turns,
            tier=tier,
            higher_tiers=tuple(higher),
        ),
        depends_on=tuple(depends_on),
        needs_dependencies=card.needs_dependencies,
    )


def retarget(crew: Crew, task: ReviewTask, worker: str, only: Sequence[str] = ()) -> ReviewTask | None:
    """The same slice as a task of another worker, with what has failed so far; None where no such worker runs."""
    card = next((card for card in crew.cards if card.name == worker and (not only or worker in only)), None)
    if card is None:
        return None
    moved = task_for(card, task.payload, f"{task.task_id}>{worker}")
    return moved.model_copy(update={"failures": task.failures, "more": task.more})


def _tasks_of(
    file: FileChange, slices: Sequence[Payload], cards: Sequence[WorkerCard], used: Counter[str]
) -> list[ReviewTask]:
    tasks: list[ReviewTask] = []
    names = {card.name for card in cards}
    for payload in slices:
        # Two sections of one path are two slices; the counter keeps their task ids apart.
        used[file.path] += 1
        suffix = f"{_short(file.path)}#{used[file.path]}"
        for card in _dependencies_first(cards):
            depends_on = [f"{name}:{suffix}" for name in card.depends_on if name in names]
            tasks.append(task_for(card, payload, f"{card.name}:{suffix}", depends_on))
    return tasks


def _short(path: str) -> str:
    """The path as a task's id holds it: a long one by its beginning and its hash."""
    return path if len(path) <= MAX_NAME else f"{path[:MAX_NAME]}~{sha256(path.encode()).hexdigest()[:16]}"


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
) -> list[Unlooked]:
    unable = tuple(card.name for card in wanted if card not in able)
    reason = f"this engine has no tool of theirs that reads {file.language}"
    entries = [Unlooked(path=file.path, workers=unable, reason=reason)] if unable else []
    for worker, missing in stranded.items():
        reason = f"it needs the result of {missing}, which does not look at this file"
        entries.append(Unlooked(path=file.path, workers=(worker,), reason=reason))
    return entries


def _reason(read: Sequence[FileChange], tasks: Sequence[ReviewTask], left_out: int) -> str:
    languages = Counter(file.language for file in read)
    by_language = ", ".join(f"{count} {name}" for name, count in languages.most_common())
    by_worker = ", ".join(f"{count} {name}" for name, count in Counter(task.worker for task in tasks).items())
    return (
        f"routed by rules: {len(read)} files to read ({by_language or 'none'}), riskiest first; "
        f"{len(tasks)} tasks ({by_worker or 'none'}); {left_out} files named and left out"
    )


def payloads(file: FileChange, whole: str | None, chunk_lines: int) -> tuple[Payload, ...]:
    """Slices of one file. Cut per file, so that a change elsewhere never alters the slice (and its cached answer)."""
    lines = [] if whole is None else whole.split("\n")
    cut = [part for group in _groups(file.hunks, chunk_lines) for part in _cut(_payload(file, group), chunk_lines)]
    return tuple(part.model_copy(update={"context": _context(part, lines)}) for part in cut)


def _cut(payload: Payload, limit: int) -> list[Payload]:
    """A slice of one hunk in pieces of at most `limit` lines: one huge hunk is what a new file looks like."""
    parts = halves(payload) if len(payload.starts) == 1 and _size(payload.code) > limit else None
    return [payload] if parts is None else [piece for part in parts for piece in _cut(part, limit)]


def _size(code: str) -> int:
    """The lines of a hunk's larger side, as `_groups` counts them."""
    marks = Counter(line[:1] for line in code.split("\n"))
    return marks[" "] + max(marks["+"], marks["-"])


def _context(payload: Payload, lines: Sequence[str]) -> str:
    """The definitions that enclose the hunks, each once. Of a bare diff only the hunks' own headings are known."""
    found = dict.fromkeys(line for _, start in payload.starts for line in enclosing(lines, start))
    return "\n".join(found)


def enclosing(lines: Sequence[str], start: int) -> list[str]:
    """The lines above line `start` (1-based) that it is nested in, outermost first, judged by indentation alone."""
    if not 0 < start <= len(lines):
        return []
    first = next((line for line in lines[start - 1 :] if line.strip()), "")
    depth = _depth(first)
    found: list[str] = []
    for line in reversed(lines[: start - 1]):
        # A line that only closes or separates something is no definition.
        if depth == 0 or len(found) == MAX_ENCLOSING:
            break
        if any(char.isalpha() for char in line) and _depth(line) < depth:
            depth = _depth(line)
            found.append(line.rstrip()[:MAX_NAME])
    return found[::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _payload(file: FileChange, hunks: Sequence[Hunk]) -> Payload:
    code, starts = code_of(hunks)
    old = file.old_path if file.old_path != file.path else None
    return Payload(code=code, file_path=file.path, old_path=old, language=file.language, starts=starts)


def _groups(hunks: Sequence[Hunk], limit: int) -> Iterator[list[Hunk]]:
    group: list[Hunk] = []
    size = 0
    for hunk in hunks:
        # A hunk's larger side stands for its changed lines: context is three lines at each end, and counting is dear.
        lines = max(hunk.old_count, hunk.new_count)
        if group and size + lines > limit:
            yield group
            group, size = [], 0
        group.append(hunk)
        size += lines
    if group:
        yield group
