"""Add one task for names that parts of a large change share: it checks their uses against their definitions.

Each part has readers that see its files alone. Where one part defines or changes a name and another one uses it, a seam
task of its own shows one reader the hunks of both sides. It reviews no file: coverage does not count what it was shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Payload, Plan, ReviewTask
from reviewbot.domain.ports import TaskResult
from reviewbot.review.plan.name_uses import HunkRef, hunks_of, name_uses
from reviewbot.wording import with_count

WORKER = "logic"
"""Whose task it is."""
PARTS_OF_A_SEAM = 4
"""There is at most one seam task for so many parts."""
MAX_NAMES = 20
MAX_ROWS = 1_000
"""Of one seam task: names, and lines of hunks with those around the changed ones."""
MIN_TOKENS = 256

INSTRUCTION = (
    "Parts of this change have readers of their own; you see both sides of names that one part defines and another one "
    "uses, and of each file only the hunks with them. Hold every changed use against the definition as the change "
    "leaves it: arguments and their order, what is returned or raised, what may be missing, units, names that were "
    "renamed or removed. Names: {}."
)
CRITERION = "Every changed use of each of these names was held against its definition."


NOTE = "The change was read in parts. One more reader saw both sides of names that cross them: {}."
MAX_NOTED = 12
"""Names that a review lists of those that a reader saw."""


class _Crossing(NamedTuple):
    """A name and the hunks of both sides that no reader sees together."""

    name: str
    hunks: frozenset[HunkRef]
    rank: tuple[bool, int, str]
    """First names whose definition has changed, then those with many uses."""


def with_seams(plan: Plan) -> Plan:
    """The plan with seam tasks at its end; as it is where it has few parts, or where no name crosses them."""
    parts = [task for task in plan.tasks if task.worker == WORKER and not task.programs_only]
    most = len(parts) // PARTS_OF_A_SEAM
    if not most:
        return plan
    readers: defaultdict[Payload, set[str]] = defaultdict(set)
    for task in plan.tasks:
        for payload in () if task.programs_only else task.slices:
            readers[payload].add(task.reader or task.task_id)
    slices = list(readers)
    crossings = sorted(_crossings(slices, readers), key=lambda each: each.rank)
    seams = _filled(crossings, slices, most)
    if not seams:
        return plan
    tasks = [_task(parts[0], number, seam, slices) for number, seam in enumerate(seams, 1)]
    names = sum(len(task.seam) for task in tasks)
    seam_tasks = with_count(len(tasks), "seam task")
    reason = f"{plan.reason}; {seam_tasks} for {names} of {with_count(len(crossings), 'name')} used across parts"
    return plan.model_copy(update={"tasks": (*plan.tasks, *tasks), "reason": reason})


def seam_notes(plan: Plan, settled: Mapping[str, TaskResult]) -> tuple[str, ...]:
    """What a review says of its seam tasks; one that was not done is a gap."""
    done = [task for task in plan.tasks if task.seam and task.task_id in settled and settled[task.task_id].answered]
    names = list(dict.fromkeys(name for task in done for name in task.seam))
    more = [f"and {len(names) - MAX_NOTED} more"] if len(names) > MAX_NOTED else []
    return (NOTE.format(", ".join([*names[:MAX_NOTED], *more])),) if names else ()


def _crossings(slices: Sequence[Payload], readers: Mapping[Payload, set[str]]) -> Iterator[_Crossing]:
    """Yield the names that are defined before one reader and used before others alone. Tests aside."""
    sources = [payload for payload in slices if not is_test(payload.file_path)]
    numbers = [number for number, payload in enumerate(slices) if not is_test(payload.file_path)]
    for use in name_uses(sources):
        apart = {
            (one, other)
            for one in use.definitions
            for other in use.uses
            if readers[sources[one.at]].isdisjoint(readers[sources[other.at]])
        }
        if apart:
            hunks = {HunkRef(numbers[ref.at], ref.hunk) for pair in apart for ref in pair}
            rank = (not use.changed, -len({other for _, other in apart}), use.name)
            yield _Crossing(use.name, frozenset(hunks), rank)


def _filled(crossings: Sequence[_Crossing], slices: Sequence[Payload], most: int) -> list[list[_Crossing]]:
    """The names of each seam task, the first ones first; what fits into none is left out."""
    sizes = {
        HunkRef(at, number): text.count("\n")
        for at, each in enumerate(slices)
        for number, text in enumerate(hunks_of(each))
    }
    seams: list[list[_Crossing]] = [[] for _ in range(most)]
    shown: list[frozenset[HunkRef]] = [frozenset()] * most
    # Twice as many as there is room for: some are too large.
    for crossing in crossings[: 2 * most * MAX_NAMES]:
        for at, seam in enumerate(seams):
            hunks = shown[at] | crossing.hunks
            if len(seam) < MAX_NAMES and sum(sizes[ref] for ref in hunks) <= MAX_ROWS:
                seam.append(crossing)
                shown[at] = hunks
                break
    return [seam for seam in seams if seam]


def _task(like: ReviewTask, number: int, seam: Sequence[_Crossing], slices: Sequence[Payload]) -> ReviewTask:
    """A task of the same worker and tier, with half of what it may write."""
    hunks: defaultdict[int, set[int]] = defaultdict(set)
    for crossing in seam:
        for ref in crossing.hunks:
            hunks[ref.at].add(ref.hunk)
    payload, *more = (_only(slices[at], hunks[at]) for at in sorted(hunks))
    names = tuple(crossing.name for crossing in seam)
    tokens = max(MIN_TOKENS, like.constraints.max_tokens // 2)
    return ReviewTask(
        task_id=f"{like.worker}:seam-{number}",
        worker=like.worker,
        type=like.type,
        instruction=INSTRUCTION.format(", ".join(f"`{name}`" for name in names)),
        success_criterion=CRITERION,
        payload=payload,
        more=tuple(more),
        constraints=like.constraints.model_copy(update={"max_tokens": tokens}),
        reader=f"seam-{number}",
        seam=names,
    )


def _only(payload: Payload, hunks: set[int]) -> Payload:
    """Some hunks of a slice."""
    texts, kept = hunks_of(payload), sorted(hunks)
    update = {"code": "\n".join(texts[at] for at in kept), "starts": tuple(payload.starts[at] for at in kept)}
    return payload.model_copy(update=update)
