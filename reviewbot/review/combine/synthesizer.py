"""Make one review of the workers' findings: merged, weighed, filtered, ranked, with a verdict. Rules only, no I/O."""

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
    Usage,
    provider_failure,
)
from reviewbot.domain.ports import TaskResult, UsageLedger
from reviewbot.review.combine.change_summary import summaries_of, themes_of
from reviewbot.review.combine.suppression import distinct_suppressions
from reviewbot.review.combine.usage_report import timings, total, usages
from reviewbot.review.combine.visibility import Rules, SortedFindings, weigh
from reviewbot.review.plan.seams import seam_notes
from reviewbot.wording import counted

__all__ = [
    "ReviewFacts",
    "RuledSynthesizer",
    "Rules",
    "SortedFindings",
    "build_review",
    "findings_of",
    "recount",
    "weigh",
]


@dataclass(frozen=True)
class ReviewFacts:
    """What a review says of its own run."""

    engine: str
    notes: Sequence[str] = ()
    spent: Mapping[str, Usage] | None = None
    """By purpose, from the usage ledger; empty where there is none."""
    refused: tuple[Suppression, ...] = ()
    """Comments that silence nothing."""


@dataclass(frozen=True)
class RuledSynthesizer:
    """The `Synthesizer` that follows rules alone."""

    rules: Rules
    engine: str
    notes: tuple[str, ...] = ()
    books: UsageLedger | None = None
    refused: tuple[Suppression, ...] = ()
    """Comments that silence nothing; the review lists them."""

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Review:
        """One review of everything."""
        facts = ReviewFacts(self.engine, self.notes, None if self.books is None else self.books.spent(), self.refused)
        return build_review(change, plan, settled, weigh(findings_of(settled), self.rules), facts)


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
    human = [*weighed.human, *_once(item for end in ends for item in end.human), *_for_a_person(change, coverage)]
    issues = weighed.issues
    verdict = decide(change, coverage, gaps, issues, len(human))
    rows = usages(plan, ends, facts.spent)
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
        notes=(*facts.notes, *seam_notes(plan, settled)),
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
            "headline": headline(verdict, review.coverage, weighed.issues, people),
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


def _once(items: Iterable[HumanItem]) -> list[HumanItem]:
    return list(dict.fromkeys(items))


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
    parts += [f"{len(gaps)} not looked at"] if gaps else []
    added, removed = sum(f.added for f in change.files), sum(f.removed for f in change.files)
    cause = provider_failure(gaps)
    model = f". The model provider could not be used: {cause}" if cause else ""
    files = counted(len(change.files), "file")
    return f"{files}, +{added} -{removed}: {', '.join(parts) or 'nothing to report'}{model}"
