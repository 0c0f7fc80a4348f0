"""The `Synthesizer` that asks a model where rules come to an end, and is as good as the rules where it cannot.

One call for all clusters of a review, and one that puts what models found beside each other; none where there is
nothing to settle or to compare. See `supervisor.settling` and `supervisor.comparing` for what an answer can do, and
what none can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.contracts import ChangeSet, Compared, Comparison, Finding, Plan, Review, Settlement, Settlements
from reviewbot.errors import (
    BudgetError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.llm.client.answers import read_answer, schema_of
from reviewbot.model import comparison
from reviewbot.model.critic import Critic
from reviewbot.model.fence import RULE, fenced
from reviewbot.model.showing import MAX_CHARS, shown_code, shown_finding
from reviewbot.ports import Books, Model, ModelRequest, Recorder, Settled, Text, Turn
from reviewbot.redact import redact
from reviewbot.supervisor.clusters import Cluster, ClusterKind, Sorted, clusters_of, deterministic, severities
from reviewbot.supervisor.comparing import Outcome, comparable, compared
from reviewbot.supervisor.merging import Defect, merged
from reviewbot.supervisor.settling import Decision, handles_of, settle
from reviewbot.supervisor.synthesizer import Rules, Told, Weighed, findings_of, reviewed
from reviewbot.supervisor.weighing import placed, weigh

MAX_CLUSTERS = 20
"""Of one review. What is over it stays as the rules have it; a review with more has other problems."""
ANSWER_TOKENS = 8_000
"""Twenty settlements with their reasons, and as much again to think."""

KINDS: Mapping[ClusterKind, str] = {
    "contradiction": "the advice cannot all be followed",
    "same_cause": "they may be one defect in different words",
    "severity": "it was given different severities",
}
"""What a cluster is put forward for."""

UNSETTLED = "contradictions and repetitions among the findings were not settled"
UNCOMPARED = "the findings were not weighed against each other"

WHY: dict[type[EngineError], str] = {
    BudgetError: "the budget was spent",
    DeadlineError: "no time was left",
    RefusedError: "the model declined to answer",
    TransientError: "the model could not be reached",
    ProviderError: "the model provider could not be used",
    TooLongError: "that was more than the model reads",
}
"""Why there was no answer, in words of ours: an error's own may repeat what a model wrote."""
UNUSABLE = "the model's answer could not be used"


@dataclass(frozen=True)
class ModelSynthesizer:
    """Rules first; a model settles what they cannot; a critic, where there is one, looks over the result."""

    rules: Rules
    model: Model
    prompt: str
    trace: Recorder
    engine: str
    notes: tuple[str, ...] = ()
    books: Books | None = None
    critic: Critic | None = None
    comparison: str = ""
    """The prompt of the question that puts findings beside each other."""

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, Settled]) -> Review:
        """One review of everything. No error: where a call fails the rules' result stands, with a note."""
        notes = list(self.notes)
        weighed = await self._weighed(change, findings_of(settled), self.rules.after(settled), notes)
        if self.critic is not None:
            critique = await self.critic.criticized(change, weighed)
            weighed = critique.weighed
            notes += critique.notes
        # The books are read last, so that what was asked here is in them.
        told = Told(self.engine, notes, None if self.books is None else self.books.spent())
        return reviewed(change, plan, settled, weighed, told)

    async def _weighed(self, change: ChangeSet, findings: Sequence[Finding], rules: Rules, notes: list[str]) -> Weighed:
        """As a model settled it; where anything breaks on the way, as rules alone have it."""
        try:
            return await self._settled(change, findings, rules, notes)
        except Exception as error:  # noqa: BLE001 - a model's part is an extra: no fault in it may cost the review
            # The type alone: the text of a foreign error may hold anything.
            why = type(error).__name__
            notes.append(f"{UNSETTLED}: {why} on the way")
            self.trace.record("settled", by="synthesizer", effect="failed", reason=why)
            return weigh(findings, rules)

    async def _settled(self, change: ChangeSet, findings: Sequence[Finding], rules: Rules, notes: list[str]) -> Weighed:
        found = clusters_of(merged(findings, rules.together), rules, MAX_CLUSTERS)
        answers = await self._answers(change, found, notes)
        outcome = settle(found, answers or (), rules)
        for decision in outcome.decisions if answers is not None else ():
            self._record(decision)
        beside = await self._beside(change, outcome.single, notes)
        weighed = placed(beside.single, outcome.conflicts, rules)
        weighed.withheld.extend(beside.repeated)
        return weighed

    async def _beside(self, change: ChangeSet, findings: Sequence[Finding], notes: list[str]) -> Outcome:
        """The findings as they stand beside each other; as they are where there is nothing to compare, or no answer."""
        named = comparable(findings, self.rules)
        if not named:
            return Outcome(tuple(findings), ())
        try:
            reply = await self.model.ask(comparison.request_of(change, named, self.comparison))
            answers = read_answer(reply, Comparison).findings
        except EngineError as error:
            notes.append(f"{UNCOMPARED}: {WHY.get(type(error), UNUSABLE)}")
            self.trace.record("compared", effect="failed", reason=str(error))
            return Outcome(tuple(findings), ())
        for answer in answers:
            if answer.finding in named:
                self._record_compared(answer, named[answer.finding])
        return compared(findings, named, answers)

    def _record_compared(self, answer: Compared, finding: Finding) -> None:
        self.trace.record(
            "compared",
            finding=answer.finding,
            path=finding.path,
            line=finding.line,
            same_as=answer.same_as,
            severity=answer.severity,
            alone=finding.severity,
            reason=redact(answer.reason),
        )

    async def _answers(self, change: ChangeSet, found: Sorted, notes: list[str]) -> Sequence[Settlement] | None:
        """What the model said of the clusters; None where it was not asked or did not answer."""
        if not found.clusters:
            return None
        if found.over:
            self.trace.record("settled", by="synthesizer", effect="not_asked", clusters=found.over)
        try:
            reply = await self.model.ask(request_of(change, found.clusters, self.prompt))
            return read_answer(reply, Settlements).settlements
        except EngineError as error:
            why = WHY.get(type(error), UNUSABLE)
            notes.append(f"{UNSETTLED}: {why}")
            self.trace.record("settled", by="synthesizer", effect="failed", reason=str(error))
            return None

    def _record(self, decision: Decision) -> None:
        self.trace.record(
            "settled",
            by="synthesizer",
            cluster=decision.handle,
            kind=decision.cluster.kind,
            effect=decision.effect,
            findings=[_named(defect) for defect in decision.cluster.members],
            reason=redact(decision.reason),
        )


def request_of(change: ChangeSet, clusters: Iterable[Cluster], prompt: str) -> ModelRequest:
    """The one question about all clusters, which is not empty."""
    asked = list(clusters)
    named = handles_of(asked)
    parts = [part for (handle, members), one in zip(named.items(), asked, strict=True)
             for part in _told(handle, one, members, change)]  # fmt: skip
    return ModelRequest(
        purpose="synthesizer",
        subject=f"{len(asked)} clusters",
        tier="sonnet",
        system=(Text(f"{prompt.rstrip()}\n\n{RULE}", cached=True),),
        turns=(Turn("user", (Text("\n\n".join(parts)),)),),
        max_tokens=ANSWER_TOKENS,
        schema=schema_of(Settlements),
    )


def _told(handle: str, cluster: Cluster, members: Mapping[str, Defect], change: ChangeSet) -> Iterator[str]:
    yield f"Cluster {handle}: {KINDS[cluster.kind]}."
    yield from filter(None, [shown_code(change, [defect.finding for defect in cluster.members])])
    for name, defect in members.items():
        yield shown_finding(defect.finding, _head(name, defect))
        if len(severities(defect.sayings)) > 1:
            yield _sayings(name, defect)


def _head(name: str, defect: Defect) -> Iterator[str]:
    finding = defect.finding
    by = "a program" if deterministic(defect) else "a model"
    yield f"Finding {name}, by {by} for the worker {finding.type}, severity {finding.severity}"


def _sayings(name: str, defect: Defect) -> str:
    said = {(each.type, each.severity): each.message for each in sorted(defect.sayings)}
    lines = (f"{kind} calls it {severity}: {redact(text[:MAX_CHARS])}" for (kind, severity), text in said.items())
    return f"What {name} was joined from by rule:\n" + fenced("sayings", "\n".join(lines))


def _named(defect: Defect) -> dict[str, object]:
    finding = defect.finding
    return {
        "type": finding.type,
        "path": finding.path,
        "line": finding.line,
        "severity": finding.severity,
        "sources": list(finding.sources),
        "message": redact(finding.message),
    }
