"""Select the answers that count where a task was tried more than once. Pure functions on results.

Nothing here drops what a program found, but for its exact repetition: no model, and no choice among models, can.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reviewbot.domain.contracts import SEVERITY_ORDER, SURE, Finding, Gap, Plan, ReviewTask, WorkerResult
from reviewbot.domain.ports import TaskResult
from reviewbot.review.verify.verifier import by_a_model_alone

SECOND_ROUND = "~2"
"""How the id of a task ends that tries once more to close a gap of the task that is called so without it."""


def standing(results: Sequence[WorkerResult]) -> tuple[WorkerResult, ...]:
    """The results of the attempts at one task, in order, without what a later attempt says again.

    What a model found stands until a later attempt reports the same cause at the same place, perhaps in other words:
    then that one counts. What the later attempt is silent about stays with the confidence that its evidence gave it,
    since no model has refuted it. What a program found falls only where a later attempt repeats it word for word.
    """
    kept: list[WorkerResult] = []
    later: list[Finding] = []
    if len(results) < 2:  # noqa: PLR2004 - there is nothing to compare
        return tuple(results)
    for result in reversed(results):
        left = tuple(f for f in result.findings if not any(_says_again(newer, f) for newer in later))
        kept.append(result if len(left) == len(result.findings) else result.model_copy(update={"findings": left}))
        later += left
    return tuple(reversed(kept))


def reduce_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Of what models said of one cause at one place, the surest and most severe; what programs found, untouched."""
    kept: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=_surest_first):
        before = kept[finding.path]
        if not (by_a_model_alone(finding) and any(_says_again(other, finding) for other in before)):
            before.append(finding)
    return tuple(finding for group in kept.values() for finding in group)


def select_attempts(plan: Plan, settled: Mapping[str, TaskResult]) -> dict[str, TaskResult]:
    """Select what counts where a plan's strategy is "select": tasks of a worker on the same slices are attempts at one.

    The best of them has most confirmed findings, then fewest gaps, then comes first in the plan. The others keep what
    they cost, what they looked at and what programs found in them; their gaps and questions are the best one's to have.
    """
    lost = beaten(plan, settled)
    return {**settled, **{name: _without_models(settled[name], settled[best]) for name, best in lost.items()}}


def beaten(plan: Plan, settled: Mapping[str, TaskResult]) -> dict[str, str]:
    """The attempts that do not count, each with the one that counts in its stead; none where nothing is selected."""
    attempts: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for task in plan.tasks if plan.strategy == "select" else ():
        attempts[_aim(task)].append(task.task_id)
    best = {name: min(names, key=lambda one: _rank(settled[one])) for names in attempts.values() for name in names}
    return {name: other for name, other in best.items() if name != other}


def join_rounds(
    plan: Plan, further: Plan, settled: Mapping[str, TaskResult], later: Mapping[str, TaskResult]
) -> tuple[Plan, dict[str, TaskResult]]:
    """Two rounds as one: a task of the second that tried to close a gap of the first becomes a part of its task."""
    ends = dict(settled)
    for name, end in later.items():
        first = name.removesuffix(SECOND_ROUND)
        ends[name if first not in settled else first] = end if first not in settled else _closed(ends[first], end)
    tasks = list(plan.tasks)
    names = {task.task_id for task in tasks}
    for task in further.tasks:
        if task.task_id in ends:
            after = dict.fromkeys(d if d in names else d.removesuffix(SECOND_ROUND) for d in task.depends_on)
            tasks.append(task.model_copy(update={"depends_on": tuple(after)}))
            names.add(task.task_id)
    return plan.model_copy(update={"tasks": tuple(tasks), "parts": ()}), ends


def _closed(first: TaskResult, second: TaskResult) -> TaskResult:
    """A task with its second try. The files that this one answered for have the gaps that it still has, and no others.

    Where the second try was no answer, its findings and its cost count, and what was missing is still missing, which
    is said once.
    """
    results = standing((*first.results, *second.results))
    earlier, later = results[: len(first.results)], results[len(first.results) :]
    if not second.answered:
        human = tuple(dict.fromkeys((*first.human, *second.human)))
        return replace(first, results=(*earlier, *map(_without_missing, later)), human=human)
    paths = set(second.task.paths)
    before = [_without_gaps(result, paths) for result in earlier]
    gaps = _outside(first.gaps, paths)
    open_still = tuple(item for item in first.human if item.path not in paths)
    return TaskResult(
        task=first.task,
        results=(*before, *later),
        gaps=gaps,
        human=tuple(dict.fromkeys((*open_still, *second.human))),
        done=True,
    )


def _without_gaps(result: WorkerResult, paths: set[str]) -> WorkerResult:
    """The result without the gaps of these files."""
    return result.model_copy(update={"gaps": _outside(result.gaps, paths)}) if result.gaps else result


def _without_missing(result: WorkerResult) -> WorkerResult:
    """The result of a second try that was no answer, without the gaps for unread files: the first try has them."""
    kept = tuple(gap for gap in result.gaps if gap.tool is not None or gap.reason == "flooded")
    return result.model_copy(update={"gaps": kept}) if result.gaps else result


def _outside(gaps: Iterable[Gap], paths: set[str]) -> tuple[Gap, ...]:
    return tuple(gap for gap in gaps if gap.path not in paths)


def _says_again(other: Finding, finding: Finding) -> bool:
    """Whether one finding makes another one superfluous: of one kind of worker, at one place, about one cause."""
    if (other.type, other.path) != (finding.type, finding.path):
        return False
    if (other.rule, other.message, other.sources) == (finding.rule, finding.message, finding.sources):
        return (other.line, other.end_line) == (finding.line, finding.end_line)
    if not (by_a_model_alone(other) and by_a_model_alone(finding)):
        return False
    overlap = other.line <= finding.end_line and finding.line <= other.end_line
    return overlap and (other.category == finding.category or (other.cwe is not None and other.cwe == finding.cwe))


def _surest_first(finding: Finding) -> tuple[int, int, str, int, int, str, str]:
    place = (finding.path, finding.line, finding.end_line, finding.type, finding.message)
    return (-finding.confidence, SEVERITY_ORDER[finding.severity], *place)


def _aim(task: ReviewTask) -> tuple[object, ...]:
    """What two tasks have in common that are attempts at one: who looks, and at what, in whatever order."""
    return task.worker, frozenset((part.file_path, part.starts) for part in task.slices)


def _rank(end: TaskResult) -> tuple[int, int]:
    confirmed = sum(f.confidence >= SURE for result in end.results for f in result.findings)
    gaps = len(end.gaps) + sum(len(result.gaps) for result in end.results)
    return -confirmed, gaps


def _without_models(end: TaskResult, best: TaskResult) -> TaskResult:
    """An attempt that does not count; what it was asked is answered where the best one answered."""
    results = []
    for result in end.results:
        programs = tuple(finding for finding in result.findings if not by_a_model_alone(finding))
        results.append(result.model_copy(update={"findings": programs, "gaps": ()}))
    return replace(end, results=tuple(results), gaps=(), human=(), done=best.done)
