"""From what the workers found to one review: merged, weighed, filtered, ranked, with a verdict. Rules only, no I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.contracts import (
    SEVERITY_ORDER,
    ChangeSet,
    Conflict,
    FileChange,
    Finding,
    Gap,
    HumanItem,
    Plan,
    Review,
    Timings,
    Usage,
    Withheld,
    WorkerCard,
    WorkerUsage,
)
from reviewbot.ports import Settled
from reviewbot.supervisor.coverage import counted, decide, final_coverage, headline, none_in_full, parse_gaps
from reviewbot.supervisor.merging import merge
from reviewbot.supervisor.triage import GIT_SUBMODULE, GIT_SYMLINK, generated_reason, hidden_by_its_author
from reviewbot.supervisor.verifier import Together

UNKNOWN_LANGUAGE = "text"
"""What `FileChange.language` says of a file whose name tells nothing."""

PERSON_FROM = 50
"""A critical finding at least this likely goes to a person where it stays below the threshold."""


@dataclass(frozen=True)
class Rules:
    """What decides which findings are shown."""

    thresholds: Mapping[str, int]
    """By task type; a finding is shown at its type's confidence or above."""
    max_findings: int
    together: Together = lambda _sources, _rules: None
    """How far several programs are trusted that speak of one place."""

    @classmethod
    def of(
        cls,
        cards: Iterable[WorkerCard],
        min_confidence: int | None,
        max_findings: int,
        together: Together = lambda _sources, _rules: None,
    ) -> Rules:
        """The cards' own thresholds, or one number for all."""
        by_type: dict[str, int] = {}
        for card in cards:
            wanted = card.threshold if min_confidence is None else min_confidence
            by_type[card.task_type] = min(wanted, by_type.get(card.task_type, wanted))
        return cls(by_type, max_findings, together)

    def let_through(self, finding: Finding) -> bool:
        """Whether a finding is certain enough to be shown."""
        # Asked positively, so that a type nobody has a threshold for is withheld and not let through.
        return finding.type in self.thresholds and finding.confidence >= self.thresholds[finding.type]


@dataclass(frozen=True)
class Weighed:
    """The findings, each in exactly one place."""

    shown: list[Finding]
    withheld: list[Withheld]
    human: list[HumanItem]
    conflicts: list[Conflict]

    @property
    def issues(self) -> int:
        """How many are certain, those that the cap hides included."""
        return len(self.shown) + len(self.conflicts) + sum(entry.reason == "over_cap" for entry in self.withheld)


@dataclass(frozen=True)
class RuledSynthesizer:
    """The `Synthesizer` that follows rules alone."""

    rules: Rules
    engine: str
    notes: tuple[str, ...] = ()

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, Settled]) -> Review:
        """One review of everything."""
        return synthesize(change, plan, settled, self.rules, engine=self.engine, notes=self.notes)


def synthesize(
    change: ChangeSet, plan: Plan, settled: Mapping[str, Settled], rules: Rules, *, engine: str, notes: Sequence[str]
) -> Review:
    """One review of everything. The order of tasks and answers does not show in it. Wall time is filled in later."""
    ends = list(settled.values())
    gaps = [*parse_gaps(plan, change), *_worker_gaps(ends)]
    weighed = weigh([finding for end in ends for result in end.results for finding in result.findings], rules)
    human = [*weighed.human, *_once(item for end in ends for item in end.human), *_for_a_person(change)]
    looked: dict[str, set[str]] = defaultdict(set)
    for end in ends:
        for result in end.results:
            for path in result.paths or end.task.paths:
                looked[path].update(result.metadata.looked)
    coverage = final_coverage(change, plan, looked, gaps)
    issues = weighed.issues
    verdict = decide(coverage, gaps, issues, len(human))
    usage = [_usage_of(worker, ends) for worker in dict.fromkeys(task.worker for task in plan.tasks)]
    return Review(
        engine=engine,
        verdict=verdict,
        headline=headline(verdict, coverage, issues, len(human)),
        incomplete=bool(gaps) or none_in_full(coverage),
        summary=_summary(change, weighed, len(human), len(gaps)),
        findings=tuple(weighed.shown),
        withheld=tuple(weighed.withheld),
        conflicts=tuple(weighed.conflicts),
        gaps=tuple(gaps),
        human=tuple(human),
        coverage=tuple(coverage),
        unlooked=plan.unlooked,
        notes=tuple(notes),
        workers=tuple(usage),
        usage=_total(entry.usage for entry in usage),
        timings=_timings(plan, settled),
    )


def weigh(findings: Iterable[Finding], rules: Rules) -> Weighed:
    """Merge, then sort into shown, withheld, for a person, and in conflict."""
    single, conflicts = merge(findings, rules.together)
    shown: list[Finding] = []
    withheld: list[Withheld] = []
    human: list[HumanItem] = []
    certain: list[Conflict] = []
    weak: list[Finding] = []
    for conflict in conflicts:
        if any(rules.let_through(finding) for finding in conflict.findings):
            certain.append(conflict)
        else:
            weak += conflict.findings
    for finding in sorted([*single, *weak], key=_rank):
        if rules.let_through(finding):
            shown.append(finding)
        elif finding.severity == "critical" and finding.confidence >= PERSON_FROM:
            reason = f"critical if true, and {finding.confidence} of 100 certain"
            human.append(HumanItem(path=finding.path, line=finding.line, reason=reason, finding=finding))
        else:
            withheld.append(Withheld(finding=finding, reason="below_threshold", message=_why_not(finding, rules)))
    over = f"the review shows at most {rules.max_findings} findings"
    certain.sort(key=lambda conflict: _rank(conflict.findings[0]))
    hidden = [*shown[rules.max_findings :], *(f for c in certain[rules.max_findings :] for f in c.findings)]
    withheld += [Withheld(finding=finding, reason="over_cap", message=over) for finding in hidden]
    return Weighed(shown[: rules.max_findings], withheld, human, certain[: rules.max_findings])


def _why_not(finding: Finding, rules: Rules) -> str:
    if finding.type not in rules.thresholds:
        return f"no worker of this run is there for {finding.type}"
    return f"confidence {finding.confidence} is below {rules.thresholds[finding.type]}"


def _rank(finding: Finding) -> tuple[int, int, str, int, str, str]:
    return (
        SEVERITY_ORDER[finding.severity], -finding.confidence, finding.path, finding.line, finding.rule, finding.message
    )  # fmt: skip


def _worker_gaps(ends: Sequence[Settled]) -> list[Gap]:
    return [gap for end in ends for gap in (*end.gaps, *(g for result in end.results for g in result.gaps))]


def _once(items: Iterable[HumanItem]) -> list[HumanItem]:
    return list(dict.fromkeys(items))


def _for_a_person(change: ChangeSet) -> list[HumanItem]:
    """Changes that no worker reads and that can still do harm."""
    items: list[HumanItem] = []
    for file, parsed in zip(change.files, change.coverage, strict=True):
        if file.status == "deleted":
            continue
        if file.mode == GIT_SYMLINK:
            items.append(HumanItem(path=file.path, reason="a symbolic link is added or changed; check where it points"))
        elif file.mode == GIT_SUBMODULE:
            items.append(
                HumanItem(path=file.path, reason="a submodule is added or moved; its code is not in this diff")
            )
        elif parsed.state == "binary" and _holds_text(file):
            reason = f"the diff calls this {file.language} file binary (.gitattributes can do that); nobody has read it"
            items.append(HumanItem(path=file.path, reason=reason))
        elif hidden_by_its_author(file):
            reason = "this change makes it look written by a program (a marker, or a huge line), so nobody has read it"
            items.append(HumanItem(path=file.path, reason=reason))
    return items


def _holds_text(file: FileChange) -> bool:
    """Whether somebody would read this file if the diff showed it; an image or a lock file nobody would."""
    return file.kind != "prose" and file.language != UNKNOWN_LANGUAGE and generated_reason(file) is None


def _summary(change: ChangeSet, weighed: Weighed, people: int, gaps: int) -> str:
    severities = Counter(f.severity for f in weighed.shown)
    parts = [f"{severities[name]} {name}" for name in SEVERITY_ORDER if severities[name]]
    parts += [f"{len(weighed.conflicts)} in conflict"] if weighed.conflicts else []
    parts += [f"{people} for a person"] if people else []
    parts += [f"{len(weighed.withheld)} withheld"] if weighed.withheld else []
    parts += [f"{gaps} not looked at"] if gaps else []
    added, removed = sum(f.added for f in change.files), sum(f.removed for f in change.files)
    return f"{counted(len(change.files), 'file')}, +{added} -{removed}: {', '.join(parts) or 'nothing to report'}"


def _usage_of(worker: str, ends: Sequence[Settled]) -> WorkerUsage:
    mine = [end for end in ends if end.task.worker == worker]
    results = [result for end in mine for result in end.results]
    return WorkerUsage(
        worker=worker,
        tasks=len(mine),
        findings=sum(len(result.findings) for result in results),
        duration_ms=sum(result.metadata.duration_ms for result in results),
        usage=_total(result.metadata.usage for result in results),
    )


def _total(usages: Iterable[Usage]) -> Usage:
    return sum(usages, start=Usage())


def _timings(plan: Plan, settled: Mapping[str, Settled]) -> Timings:
    spent = {name: sum(r.metadata.duration_ms for r in end.results) for name, end in settled.items()}
    ends_at: dict[str, int] = {}
    for task in plan.tasks:  # dependencies come first in a plan
        ends_at[task.task_id] = spent[task.task_id] + max((ends_at[name] for name in task.depends_on), default=0)
    return Timings(wall_ms=0, critical_path_ms=max(ends_at.values(), default=0), sequential_ms=sum(spent.values()))
