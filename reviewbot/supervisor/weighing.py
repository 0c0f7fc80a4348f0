"""Which findings are shown, which are withheld, and which go to a person: by certainty and severity. Rules only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.contracts import OVERVIEW, SEVERITY_ORDER, ChangeSet, Conflict, Finding, HumanItem, Withheld, WorkerCard
from reviewbot.ports import Settled
from reviewbot.supervisor.merging import merge
from reviewbot.supervisor.verifier import Together, by_a_model_alone, by_programs_alone

PERSON_FROM = 50
"""A critical finding at least this likely goes to a person where it stays below the threshold, or is disputed."""

LEAST_ROOM = 3
LINES_FOR_EACH = 40
"""Findings of models that a change has room for: three, or one for each so many changed lines. At a thousand lines that
is the cap of a review. Who tells an author of twelve lines of forty is not read at the twelfth."""

ALONE = 90
"""From where on a warning is shown that only readers of parts report, of a change that somebody has read as a whole:
who looks at a part through a verifier's glass takes much for certain that nobody would have told the author."""

_REASON_CHARS = 240
"""Of a verifier's words in the reason why a finding is withheld: enough to see what it doubts."""


@dataclass(frozen=True)
class Rules:
    """What decides which findings are shown."""

    thresholds: Mapping[str, int]
    """By task type; a finding is shown at its type's confidence or above."""
    max_findings: int
    together: Together = lambda _sources, _rules: None
    """How far several programs are trusted that speak of one place."""
    room: int | None = None
    """Findings that are shown of those which only models have made, and all critical ones; None: no such limit."""

    read_whole: bool = False
    """Whether a model has read the whole change at once in this run."""

    def after(self, settled: Mapping[str, Settled]) -> Rules:
        """The rules for what these tasks found."""
        ends = [end for end in settled.values() if end.task.worker == OVERVIEW]
        return replace(self, read_whole=bool(ends) and all(end.answered for end in ends))

    @classmethod
    def of(
        cls,
        cards: Iterable[WorkerCard],
        min_confidence: int | None,
        max_findings: int,
        together: Together = lambda _sources, _rules: None,
        room: int | None = None,
    ) -> Rules:
        """The cards' own thresholds, or one number for all."""
        by_type: dict[str, int] = {}
        for card in cards:
            wanted = card.threshold if min_confidence is None else min_confidence
            by_type[card.task_type] = min(wanted, by_type.get(card.task_type, wanted))
        return cls(by_type, max_findings, together, room)

    def let_through(self, finding: Finding) -> bool:
        """Whether a finding is certain enough to be shown."""
        # Asked positively, so that a type nobody has a threshold for is withheld and not let through.
        return finding.type in self.thresholds and finding.confidence >= self.thresholds[finding.type]

    def stands_alone(self, finding: Finding) -> bool:
        """Whether a certain finding is shown whoever else has seen it, or has not."""
        if not self.read_whole or not by_a_model_alone(finding) or finding.severity == "critical":
            return True
        seen = any(source.endswith(f"@{OVERVIEW}") for source in finding.sources)
        return seen or (finding.severity == "warning" and finding.confidence >= ALONE)

    def matters(self, finding: Finding) -> bool:
        """Whether a reader is told of it in full: it is shown, or goes to a person."""
        return self.let_through(finding) or _may_be_critical(finding)


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


def weigh(findings: Iterable[Finding], rules: Rules) -> Weighed:
    """Merge, then sort into shown, withheld, for a person, and in conflict."""
    single, conflicts = merge(findings, rules.together)
    return placed(single, conflicts, rules)


def placed(single: Sequence[Finding], conflicts: Iterable[Conflict], rules: Rules) -> Weighed:
    """Sort what has been merged into shown, withheld, for a person, and in conflict."""
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
    for finding in sorted([*single, *weak], key=rank):
        if reason := _why_a_person(finding, rules):
            human.append(HumanItem(path=finding.path, line=finding.line, reason=reason, finding=finding))
        elif rules.let_through(finding) and rules.stands_alone(finding):
            shown.append(finding)
        else:
            withheld.append(Withheld(finding=finding, reason="below_threshold", message=_why_not(finding, rules)))
    shown, crowded = _with_room(shown, rules.room)
    withheld += crowded
    over = f"the review shows at most {rules.max_findings} findings"
    certain.sort(key=lambda conflict: rank(conflict.findings[0]))
    hidden = [*shown[rules.max_findings :], *(f for c in certain[rules.max_findings :] for f in c.findings)]
    withheld += [Withheld(finding=finding, reason="over_cap", message=over) for finding in hidden]
    return Weighed(shown[: rules.max_findings], withheld, human, certain[: rules.max_findings])


def room_for(change: ChangeSet) -> int:
    """How many findings of models the author of a change is told in full."""
    lines = sum(file.added + file.removed for file in change.files)
    return max(LEAST_ROOM, -(-lines // LINES_FOR_EACH))


def _with_room(shown: Sequence[Finding], room: int | None) -> tuple[list[Finding], list[Withheld]]:
    """Those that are shown, in their order, and those of models alone that there is no room for."""
    mine = [finding for finding in shown if by_a_model_alone(finding)]
    # The gravest come first, and what holds the merge is told however many there are.
    over = set() if room is None else {finding for finding in mine[room:] if finding.severity != "critical"}
    message = f"of what models alone have found a change of this size is shown the first {room}"
    told = [Withheld(finding=finding, reason="over_cap", message=message) for finding in mine if finding in over]
    return [finding for finding in shown if finding not in over], told


def rank(finding: Finding) -> tuple[int, int, str, int, str, str]:
    """The order of a review: by severity, then by certainty, then by place."""
    return (
        SEVERITY_ORDER[finding.severity], -finding.confidence, finding.path, finding.line, finding.rule, finding.message
    )  # fmt: skip


def _may_be_critical(finding: Finding) -> bool:
    return finding.severity == "critical" and finding.confidence >= PERSON_FROM


def _why_a_person(finding: Finding, rules: Rules) -> str | None:
    """Why neither showing nor withholding a finding would be right, or None."""
    if not _may_be_critical(finding):
        return None
    if finding.disputed and by_programs_alone(finding):
        finders = " and ".join(finding.sources)
        return (
            f"critical if true: {finders} found it, {finding.confidence} of 100 certain; "
            f"a model that looked holds that it is wrong: {finding.disputed}"
        )
    if rules.let_through(finding):
        return None
    return f"critical if true, and {finding.confidence} of 100 certain"


def _why_not(finding: Finding, rules: Rules) -> str:
    if finding.type not in rules.thresholds:
        return f"no worker of this run is there for {finding.type}"
    if rules.let_through(finding):
        return f"confidence {finding.confidence}, {finding.severity}: whoever read the whole change does not name it"
    below = f"confidence {finding.confidence} is below {rules.thresholds[finding.type]}"
    doubt = _shortened(finding.judgement) if by_a_model_alone(finding) else ""
    return f"{below}: {doubt}" if doubt else below


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON_CHARS else line[:_REASON_CHARS].rstrip() + "..."
