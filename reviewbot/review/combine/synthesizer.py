"""Make one review of the workers' findings: merged, sorted, ranked, with a verdict. Rules only, no I/O.

The review also has what readers say that the change does (one summary for each part, and the files by theme), and what
it cost and how long it took, by worker and by every other role that asked a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.coverage.needs import GIT_SUBMODULE, GIT_SYMLINK
from reviewbot.coverage.states import file_gaps, final_coverage
from reviewbot.coverage.verdict import decide, headline, nothing_reviewed
from reviewbot.domain.contracts import (
    SEVERITY_ORDER,
    ChangeSet,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Plan,
    Reading,
    Review,
    Suppression,
    Theme,
    Timings,
    Usage,
    WorkerUsage,
    provider_failure,
)
from reviewbot.domain.ports import TaskResult, UsageLedger
from reviewbot.review.combine.suppression import distinct_suppressions
from reviewbot.review.combine.visibility import Rules, SortedFindings, merge_and_sort
from reviewbot.review.plan.seams import seam_notes
from reviewbot.wording import with_count

SUPERVISORS = ("planner", "reader", "judge")
"""Roles that ask models beside the workers, in the order of a review."""


def summaries_of(ends: Sequence[TaskResult]) -> tuple[str, ...]:
    """Each reader's summary once, in the order of the plan; none of a reader whose files earlier ones have read all.

    A task on names across parts shows no file as a whole, so that its summary is left out.
    """
    paths: dict[str, set[str]] = {}
    for end in ends:
        for result in end.results:
            if (summary := result.metadata.summary.strip()) and not end.task.seam:
                paths.setdefault(summary, set()).update(end.task.paths)
    return tuple(_with_new_files(paths.items()))


def _with_new_files(summaries: Iterable[tuple[str, set[str]]]) -> Iterator[str]:
    seen: set[str] = set()
    for summary, paths in summaries:
        if not paths <= seen:
            yield summary
        seen |= paths


def themes_of(ends: Sequence[TaskResult], coverage: Sequence[FileCoverage]) -> tuple[Theme, ...]:
    """The themes of all readers, with the files of the change alone, each in the first theme that names it."""
    left = {entry.path for entry in coverage}
    files: dict[str, list[str]] = {}
    for end in ends:
        for theme in (theme for result in end.results if not end.task.seam for theme in result.metadata.themes):
            mine = [path for path in dict.fromkeys(theme.files) if path in left]
            if mine and (title := " ".join(theme.title.split())):
                left.difference_update(mine)
                files.setdefault(title, []).extend(mine)
    return tuple(Theme(title=title, files=tuple(paths)) for title, paths in files.items())


def usages(plan: Plan, ends: Sequence[TaskResult], spent: Mapping[str, Usage] | None) -> tuple[WorkerUsage, ...]:
    """One row for each worker of the plan, then one for every other role that asked a model.

    `spent` is the usage by purpose from the run's usage ledger, with failed attempts; a worker without an entry used
    nothing. None: there is no ledger, and the usage in the results counts.
    """
    workers = list(dict.fromkeys(task.worker for task in plan.tasks))
    rows = [_usage_of(worker, ends, None if spent is None else spent.get(worker, Usage())) for worker in workers]
    if spent is None:
        return tuple(rows)
    others = [name for name in (*SUPERVISORS, *sorted(spent)) if name in spent and spent[name] != Usage()]
    rows += [
        WorkerUsage(worker=name, tasks=0, findings=0, duration_ms=0, usage=spent[name])
        for name in dict.fromkeys(others)
        if name not in workers
    ]
    return tuple(rows)


def total(usages_: Iterable[Usage]) -> Usage:
    """All of them together."""
    return sum(usages_, start=Usage())


def _usage_of(worker: str, ends: Sequence[TaskResult], booked: Usage | None) -> WorkerUsage:
    mine = [end for end in ends if end.task.worker == worker]
    results = [result for end in mine for result in end.results]
    return WorkerUsage(
        worker=worker,
        tasks=len(mine),
        findings=sum(len(result.findings) for result in results),
        duration_ms=sum(result.metadata.duration_ms for result in results),
        usage=total(result.metadata.usage for result in results) if booked is None else booked,
    )


def timings(plan: Plan, settled: Mapping[str, TaskResult]) -> Timings:
    """The longest chain of tasks that wait for each other, and their sum. Wall time is filled in later."""
    spent = {name: sum(r.metadata.duration_ms for r in end.results) for name, end in settled.items()}
    ends_at: dict[str, int] = {}
    for task in plan.tasks:  # dependencies come first in a plan
        ends_at[task.task_id] = spent[task.task_id] + max((ends_at[name] for name in task.depends_on), default=0)
    return Timings(wall_ms=0, critical_path_ms=max(ends_at.values(), default=0), sequential_ms=sum(spent.values()))


@dataclass(frozen=True)
class ReviewFacts:
    """What a review says of its own run."""

    engine: str
    notes: Sequence[str] = ()
    usage_ledger: UsageLedger | None = None
    refused: tuple[Suppression, ...] = ()
    """Comments that silence nothing; the review lists them."""


@dataclass(frozen=True)
class RuledSynthesizer:
    """The `Synthesizer` that follows rules alone."""

    rules: Rules
    facts: ReviewFacts

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Review:
        """One review of everything."""
        return build_review(change, plan, settled, merge_and_sort(findings_of(settled), self.rules), self.facts)


def findings_of(settled: Mapping[str, TaskResult]) -> list[Finding]:
    """Everything that all workers found."""
    return [finding for end in settled.values() for result in end.results for finding in result.findings]


def build_review(
    change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult], weighed: SortedFindings, facts: ReviewFacts
) -> Review:
    """The review that shows each finding where it was placed. Wall time is filled in later."""
    ends = list(settled.values())
    gaps = [*file_gaps(plan, change), *_worker_gaps(ends)]
    coverage = final_coverage(change, plan, _readings(ends), gaps)
    human = [
        *weighed.human,
        *dict.fromkeys(item for end in ends for item in end.human),
        *_for_a_person(change, coverage),
    ]
    issues = weighed.issues
    verdict = decide(change, coverage, gaps, issues, len(human))
    spent = None if facts.usage_ledger is None else facts.usage_ledger.usage_by_purpose()
    rows = usages(plan, ends, spent)
    entries = (entry for end in ends for result in end.results for entry in result.suppressed)
    suppressed = distinct_suppressions((*entries, *facts.refused))
    return Review(
        engine=facts.engine,
        verdict=verdict,
        headline=headline(verdict, coverage, issues, len(human)),
        incomplete=bool(gaps) or nothing_reviewed(change, coverage),
        summary=_summary(change, weighed, len(human), gaps, sum(entry.is_silenced for entry in suppressed)),
        about=summaries_of(ends),
        themes=themes_of(ends, coverage),
        findings=tuple(weighed.shown),
        withheld=tuple(weighed.withheld),
        suppressed=suppressed,
        conflicts=tuple(weighed.conflicts),
        gaps=tuple(gaps),
        human=tuple(human),
        coverage=tuple(coverage),
        unlooked=plan.unlooked,
        notes=(*facts.notes, *((plan.scope,) if plan.scope else ()), *seam_notes(plan, settled)),
        workers=rows,
        usage=total(row.usage for row in rows),
        effort=plan.effort,
        timings=timings(plan, settled),
    )


def recount(review: Review, change: ChangeSet) -> Review:
    """The review with verdict, headline and summary of the findings that it has now."""
    weighed = SortedFindings(list(review.findings), list(review.withheld), list(review.human), list(review.conflicts))
    people = len(review.human)
    verdict = decide(change, review.coverage, review.gaps, weighed.issues, people)
    silenced = sum(entry.is_silenced for entry in review.suppressed)
    return review.model_copy(
        update={
            "verdict": verdict,
            "headline": headline(verdict, review.coverage, weighed.issues, people, review.withheld),
            "summary": _summary(change, weighed, people, review.gaps, silenced),
        }
    )


def _readings(ends: Sequence[TaskResult]) -> Iterator[Reading]:
    """What was read to the end, in all tasks."""
    for end in ends:
        for result in end.results:
            yield from result.metadata.readings


def _worker_gaps(ends: Sequence[TaskResult]) -> list[Gap]:
    return [gap for end in ends for gap in (*end.gaps, *(g for result in end.results for g in result.gaps))]


def _for_a_person(change: ChangeSet, coverage: Sequence[FileCoverage]) -> list[HumanItem]:
    """Changes that no worker reads and that can still do harm."""
    items: list[HumanItem] = []
    for file, parsed, entry in zip(change.files, change.parsed, coverage, strict=True):
        if file.status == "deleted":
            continue
        if file.mode == GIT_SYMLINK:
            items.append(HumanItem(path=file.path, reason="a symbolic link is added or changed; check where it points"))
        elif file.mode == GIT_SUBMODULE:
            items.append(
                HumanItem(path=file.path, reason="a submodule is added or moved; its code is not in this diff")
            )
        elif parsed.state == "binary" and entry.need == "review":
            reason = f"the diff calls this {file.language} file binary (.gitattributes can do that); it was not read"
            items.append(HumanItem(path=file.path, reason=reason))
    return items


def _summary(change: ChangeSet, weighed: SortedFindings, people: int, gaps: Sequence[Gap], silenced: int) -> str:
    severities = Counter(f.severity for f in weighed.shown)
    parts = [f"{severities[name]} {name}" for name in SEVERITY_ORDER if severities[name]]
    parts += [f"{len(weighed.conflicts)} in conflict"] if weighed.conflicts else []
    parts += [f"{people} for a person"] if people else []
    parts += [f"{len(weighed.withheld)} withheld"] if weighed.withheld else []
    parts += [f"{silenced} silenced"] if silenced else []
    parts += [f"{with_count(len({gap.path for gap in gaps}), 'file')} not looked at in full"] if gaps else []
    added, removed = sum(f.added for f in change.files), sum(f.removed for f in change.files)
    cause = provider_failure(gaps)
    model = f". The model provider could not be used: {cause}" if cause else ""
    files = with_count(len(change.files), "file")
    return f"{files}, +{added} -{removed}: {', '.join(parts) or 'nothing to report'}{model}"
