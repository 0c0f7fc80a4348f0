"""Large plans in two levels: one sub-supervisor for each component of the change, and one supervisor above them.

A sub-supervisor may run the tasks of its part, with the slots and the deadline that all parts share, and sum up what
resulted: findings without repetitions, gaps, what a person must look at, what it cost. It may not plan, ask
a model, judge a finding, change a confidence, start a part of its own, or see another part. So findings that
agree across components still meet for the first time at the top, where agreement is counted once, and a review does
not depend on how its plan was parted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from reviewbot.domain.contracts import Finding, Part, Plan, ReviewTask, Usage, WorkerResult
from reviewbot.domain.ports import Recorder, TaskResult
from reviewbot.review.dispatch.attempt_selection import reduce_findings, standing
from reviewbot.review.gaps import gaps_of

FAN_OUT = 48
"""Tasks that one supervisor looks after: three times the usual slots. Beyond that a component gets its own."""
ROOT = "."
"""The component of what lies in no folder, or in several."""

MAX_DEPTH = 8
"""Folders below each other by which components are distinguished; a hostile path may have two thousand."""

Dispatch = Callable[[Plan], Awaitable[dict[str, TaskResult]]]
"""Brings every task of a plan to its end."""


def in_parts(plan: Plan, fan_out: int | None) -> Plan:
    """The plan in two levels where it has more than `fan_out` tasks; None: only where its strategy asks for them.

    The strategy "reduce" always has two levels, since what its parts sum up is what the top can still hold. A part is a
    folder, or some tasks of one where a folder alone has too many. Tasks that depend on each other stay together, so
    only a longer chain can make a part larger than `fan_out`.
    """
    cap = fan_out or FAN_OUT
    forced = plan.strategy == "reduce"
    if plan.parts or not plan.tasks or (not forced and (fan_out is None or len(plan.tasks) <= cap)):
        return plan
    components = _by_folder(_dependency_chains(plan.tasks), cap, depth=1)
    parts = [part for name, chains in components for part in _parts(name, chains, cap)]
    return plan.model_copy(update={"parts": tuple(parts)})


async def run_in_levels(plan: Plan, dispatch: Dispatch, trace: Recorder) -> dict[str, TaskResult]:
    """Run a plan, part by part at once where it has parts. The order of the answer is that of the plan's tasks.

    What goes wrong in a part, its own faults included, is named for each of its tasks and costs no other part.
    """
    if not plan.parts:
        return aggregate(await dispatch(plan))
    by_name = {task.task_id: task for task in plan.tasks}
    running = [_part_run(plan, part, dispatch, trace) for part in plan.parts]
    ends: dict[str, TaskResult] = {}
    for part, ended in zip(plan.parts, await asyncio.gather(*running, return_exceptions=True), strict=True):
        tasks = [by_name[name] for name in part.task_ids]
        ends.update(_lost(tasks, part, ended, trace) if isinstance(ended, BaseException) else ended)
    return aggregate({name: ends[name] for name in by_name})


def aggregate(settled: Mapping[str, TaskResult], *, reducing: bool = False) -> dict[str, TaskResult]:
    """The same ends with each finding once: of a task, what its latest attempt says; of tasks, what comes first.

    With `reducing`, several findings of models about one cause at one place are one as well, the surest.
    """
    ends = {name: replace(end, results=standing(end.results)) for name, end in settled.items()}
    found = (finding for end in ends.values() for result in end.results for finding in result.findings)
    left = set(reduce_findings(found) if reducing else found)
    # Of each end those of its findings that no task has reported before: taken out of `left`, which holds them.
    return {name: replace(end, results=tuple(_taken(each, left) for each in end.results)) for name, end in ends.items()}


async def _part_run(plan: Plan, part: Part, dispatch: Dispatch, trace: Recorder) -> dict[str, TaskResult]:
    """The work of a sub-supervisor: its tasks as a plan of one level, and what it reports of them."""
    mine = set(part.task_ids)
    tasks = tuple(task for task in plan.tasks if task.task_id in mine)
    ends = await dispatch(plan.model_copy(update={"tasks": tasks, "parts": ()}))
    compact = {name: _compact(end) for name, end in aggregate(ends, reducing=plan.strategy == "reduce").items()}
    found, kept = _count(ends), _count(compact)
    results = [result for end in compact.values() for result in end.results]
    trace.record(
        "part_finished",
        part=part.name,
        tasks=len(tasks),
        answered=sum(end.answered for end in compact.values()),
        findings=kept,
        repeated=found - kept,
        gaps=sum(len(end.gaps) for end in compact.values()) + sum(len(result.gaps) for result in results),
        people=sum(len(end.human) for end in compact.values()),
        usage=sum((result.metadata.usage for result in results), Usage()).model_dump(mode="json"),
    )
    return compact


def _count(settled: Mapping[str, TaskResult]) -> int:
    return sum(len(result.findings) for end in settled.values() for result in end.results)


def _compact(end: TaskResult) -> TaskResult:
    """Without the candidates that never became findings: the trace has them, and no caller needs them."""
    return replace(end, results=tuple(result.model_copy(update={"dropped": ()}) for result in end.results))


def _taken(result: WorkerResult, left: set[Finding]) -> WorkerResult:
    taken = []
    for finding in result.findings:
        if finding in left:
            left.discard(finding)
            taken.append(finding)
    return result if len(taken) == len(result.findings) else result.model_copy(update={"findings": tuple(taken)})


def _lost(tasks: Iterable[ReviewTask], part: Part, fault: BaseException, trace: Recorder) -> dict[str, TaskResult]:
    message = f"{type(fault).__name__} in the part {part.name!r} of the plan"
    lost = {task.task_id: TaskResult(task, gaps=gaps_of(task, "crashed", message)) for task in tasks}
    for name in lost:
        trace.record("task_failed", task_id=name, reason="crashed", message=message)
    return lost


def _dependency_chains(tasks: Sequence[ReviewTask]) -> list[list[ReviewTask]]:
    """The tasks grouped with those that they depend on, in the order of the plan."""
    chain_of: dict[str, str] = {}
    for task in tasks:
        joined = sorted({chain_of[name] for name in task.depends_on})
        chain_of[task.task_id] = joined[0] if joined else task.task_id
        if len(joined) > 1:
            chain_of.update({name: joined[0] for name, chain in chain_of.items() if chain in joined})
    chains: dict[str, list[ReviewTask]] = {}
    for task in tasks:
        chains.setdefault(chain_of[task.task_id], []).append(task)
    return list(chains.values())


def _by_folder(chains: Iterable[list[ReviewTask]], cap: int, depth: int) -> list[tuple[str, list[list[ReviewTask]]]]:
    """The chains by component: their top folder, or one further down where that holds too many tasks."""
    by_name: dict[str, list[list[ReviewTask]]] = {}
    for chain in chains:
        by_name.setdefault(_folder(chain, depth), []).append(chain)
    components: list[tuple[str, list[list[ReviewTask]]]] = []
    for name, inside in by_name.items():
        if sum(map(len, inside)) > cap and depth < MAX_DEPTH:
            components += _by_folder(inside, cap, depth + 1)
        else:
            components.append((name, inside))
    return components


def _folder(chain: Iterable[ReviewTask], depth: int) -> str:
    """The folder that holds all files of a chain, cut to so many levels."""
    folders = [path.split("/")[:-1] for task in chain for path in task.paths]
    common = folders[0]
    for folder in folders[1:]:
        same = (n for n, (one, other) in enumerate(zip(common, folder, strict=False)) if one != other)
        common = common[: next(same, min(len(common), len(folder)))]
    return "/".join(common[:depth]) or ROOT


def _parts(name: str, chains: Iterable[list[ReviewTask]], cap: int) -> Iterator[Part]:
    """A component as one part, or as several where it has more than `cap` tasks."""
    filled: list[list[str]] = []
    for chain in chains:
        ids = [task.task_id for task in chain]
        if filled and len(filled[-1]) + len(ids) <= cap:
            filled[-1] += ids
        else:
            filled.append(ids)
    for number, ids in enumerate(filled, 1):
        yield Part(name=name if number == 1 else f"{name} {number}", task_ids=tuple(ids))
