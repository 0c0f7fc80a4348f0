"""The `Synthesizer` of a run with models: claims are joined, ruled on by a judge, filtered and ranked.

The judge did not find the claims. It sees what the readers of the same part were shown, which a provider's cache still
has, and each claim with its proof as the program fetched it; it may use the readers' tools. It can raise and lower what
models claim; it can delete nothing, and nothing that an analyzer found.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from reviewbot.domain.contracts import (
    SEVERITY_ORDER,
    SURE,
    ChangeSet,
    Conflict,
    Finding,
    Payload,
    Plan,
    ReadBefore,
    Review,
    Severity,
)
from reviewbot.domain.contracts.answers import JudgeRuling, ReviewAnswer
from reviewbot.domain.errors import BudgetError, DeadlineError, ProviderError, RefusedError, TransientError
from reviewbot.domain.ports import (
    Model,
    ModelReply,
    ModelRequest,
    Recorder,
    TaskResult,
    ToolAnswer,
    ToolCall,
)
from reviewbot.llm.agents.calibrator import Calibrator
from reviewbot.llm.agents.conversation import Bounds, Conversation, TokenUsage
from reviewbot.llm.agents.rulings import apply_ruling, contradictions, join_by_proof, settle_conflicts
from reviewbot.llm.client.answers import read_answer
from reviewbot.llm.prompts.judge_prompt import (
    NOWHERE,
    PROOF_ROWS,
    PUSH_PROOF_ROWS,
    LinesOfSide,
    NamedClaim,
    judge_request,
    proof_excerpts,
    shown_lines,
)
from reviewbot.llm.prompts.reader_prompt import SharedPrefix
from reviewbot.llm.tools import RepositoryTools
from reviewbot.redact.mask import redact
from reviewbot.review.combine.dedupe import Merged, merge
from reviewbot.review.combine.suppression import FindingKey, configured_severities
from reviewbot.review.combine.synthesizer import ReviewFacts, build_review, findings_of
from reviewbot.review.combine.visibility import Rules, SortedFindings, sort_findings
from reviewbot.review.plan.read_again import covers_line
from reviewbot.review.verify.verifier import by_programs_alone
from reviewbot.threads import in_thread
from reviewbot.wording import with_count

BATCH, MAX_JUDGED = 12, 36
"""Claims of one request, and of a review: the gravest and surest."""
JUDGE_BOUNDS = Bounds(tool_turns=2, result_chars=40_000)
NO_PREFIX = SharedPrefix("large")
"""For a replay, where answers are there whatever was asked."""
NOTHING: Mapping[str, str] = MappingProxyType({})
NO_ANSWER: Mapping[type[Exception], str] = {
    TimeoutError: "no time was left",
    BudgetError: "the budget had no room for it",
    DeadlineError: "no time was left",
    RefusedError: "the model declined to answer",
    TransientError: "the model could not be reached",
    ProviderError: "the model provider could not be used",
}
"""Why there was no ruling, as a fixed message: an error's own text may repeat what a model wrote."""
CONTRADICTED = "the judge holds that both cannot be followed"
UNUSABLE = "the answer could not be used"


@dataclass(frozen=True)
class ConversingModel:
    """A `Model` that answers after a conversation with tools, as one question with one answer."""

    inner: Model
    tools: RepositoryTools
    bounds: Bounds
    trace: Recorder

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The last reply, with the usage of all turns."""
        spent = TokenUsage()
        talk = Conversation(self.inner, self._call, self.bounds, request, spent)
        reply = await talk.answer()
        return replace(reply, usage=spent.usage)

    async def _call(self, wish: ToolCall) -> ToolAnswer:
        result = await self.tools.call(wish.name, wish.arguments)
        said = {"failed": result.failed, "chars": len(result.text)}
        self.trace.record("tool_call", task_id="judge", tool=wish.name, arguments=dict(wish.arguments), **said)
        return ToolAnswer(wish.call_id, result.text, result.failed)


class _Round(NamedTuple):
    """What the requests of one review have in common."""

    slices: Sequence[Payload]
    notes: list[str]
    before: ReadBefore

    def is_late(self, finding: Finding, ruling: JudgeRuling) -> bool:
        """Whether a claim is critical, new, and about changed lines that an earlier review has read as they are."""
        if any(
            (each.path, each.line) == (finding.path, finding.line) and each.kind in (finding.cause, finding.category)
            for each in self.before.standing
        ):
            return False
        known = next((each.again for each in self.before.unchanged if each.path == finding.path), ())
        return "critical" in (finding.severity, ruling.severity) and covers_line(known, finding.line)


@dataclass(frozen=True)
class JudgingSynthesizer:
    """Build one for a run."""

    rules: Rules
    model: Model
    """Asked once for each batch; it may hold a conversation with tools behind one call."""
    prompt: str
    trace: Recorder
    facts: ReviewFacts
    calibrator: Calibrator
    prefix_of: Callable[[str], SharedPrefix | None] = lambda _path: None
    """What the reader of a file was shown; may block."""
    lines_of: LinesOfSide = lambda _path, _side: ()
    """The masked lines of one side of a file, none where it has none; may block."""
    bounds: Bounds = JUDGE_BOUNDS
    mask: Callable[[str], str] = redact
    """A text with masked secrets."""
    remaining_s: Callable[[], float] = lambda: math.inf
    """Seconds until the review's deadline."""
    judging: bool = True
    """False: what readers claim with proof stands as they claim it."""

    async def synthesize(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Review:
        """One review of everything. No error: what cannot be ruled on stays as claimed, at its cap, with a note."""
        notes = list(self.facts.notes)
        self.calibrator.measured = not any(task.small_push for task in plan.tasks)
        findings = map(self.calibrator.finding, findings_of(settled))
        found = self._joined(merge(findings, self.rules.joint_confidence))
        defects = [*found.single, *(side for pair in found.contradictions for side in pair.findings)]
        claims = self._claims(defects) if self.judging else []
        slices = tuple(dict.fromkeys(payload for task in plan.tasks for payload in task.slices))
        rulings = await self._rulings(claims, _Round(slices, notes, change.read_before or ReadBefore()))
        entries = (entry for end in settled.values() for result in end.results for entry in result.suppressed)
        weighed = self._weighed(found, claims, rulings, configured_severities(entries))
        notes += self.calibrator.notes()
        return build_review(change, plan, settled, weighed, replace(self.facts, notes=notes))

    def first_request(self, paths: Iterable[str]) -> ModelRequest | None:
        """The request to a judge, without claims and the code around them; None where no judge is asked. Asks no model.

        `paths`: of the change. May block.
        """
        prefix = next(filter(None, map(self.prefix_of, paths)), None)
        if prefix is None or not self.judging:
            return None
        return judge_request(prefix, (), (), self._prompt_of(prefix), self.bounds, subject="no claims")

    def _prompt_of(self, prefix: SharedPrefix) -> str:
        """The instructions for a small push are a part of its readers'."""
        return "" if prefix.small_push else self.prompt

    def _joined(self, found: Merged) -> Merged:
        """Without claims that say again, at another place, what another one says."""
        joined = join_by_proof(found.single)
        for speaker, other in joined.pairs:
            said = {"path": other.path, "line": other.line, "message": other.message}
            self.trace.record("joined", to_path=speaker.path, to_line=speaker.line, **said)
        return found._replace(single=joined.defects)

    def _claims(self, defects: Iterable[Finding]) -> list[NamedClaim]:
        """What models claim, the gravest and surest first, each with its handle."""
        mine = [finding for finding in defects if not by_programs_alone(finding)]
        mine.sort(key=lambda f: (SEVERITY_ORDER[f.severity], -f.confidence, f.path, f.line, f.message))
        return [NamedClaim(f"c{number}", finding) for number, finding in enumerate(mine, 1)]

    def _weighed(
        self,
        found: Merged,
        claims: Sequence[NamedClaim],
        rulings: Mapping[str, JudgeRuling],
        configured: Mapping[FindingKey, Severity],
    ) -> SortedFindings:
        """What was merged, as it was ruled on, sorted by the rules. A configured severity stays as it is."""
        handles = {id(claim.finding): claim.handle for claim in claims}

        def ruled(finding: Finding) -> Finding:
            judged = apply_ruling(finding, rulings.get(handles.get(id(finding), "")))
            severity = configured.get((finding.path, finding.line, finding.message), judged.severity)
            return judged if severity == judged.severity else judged.model_copy(update={"severity": severity})

        after = [
            each.model_copy(update={"findings": tuple(map(ruled, each.findings))}) for each in found.contradictions
        ]
        freed, conflicts = settle_conflicts(after)
        by_handle = {handles.get(id(finding), f"analyzer {n}"): finding for n, finding in enumerate(found.single)}
        apart: set[str] = set()
        for pair_of_handles in contradictions(by_handle, rulings):
            sides = tuple(ruled(by_handle[name]) for name in pair_of_handles)
            conflicts.append(Conflict(findings=sides, reason=CONTRADICTED))
            apart |= set(pair_of_handles)
        single = [ruled(finding) for name, finding in by_handle.items() if name not in apart]
        return sort_findings([*single, *freed], conflicts, self.rules)

    async def _rulings(self, claims: Sequence[NamedClaim], asking: _Round) -> dict[str, JudgeRuling]:
        """By handle; a claim that was not ruled on is in none.

        A critical claim is asked about once more where the first ruling is not sure, or where it is about code that an
        earlier head's review has read: what is found so late has to pass twice.
        """
        judged = claims[:MAX_JUDGED]
        prefixes = await in_thread(
            lambda: {each.handle: self.prefix_of(each.finding.path) or NO_PREFIX for each in judged}
        )
        # After a small push that shows all uses there is nothing more to be seen the second time.
        seeing = {handle for handle, prefix in prefixes.items() if prefix.tools or not prefix.small_push}
        batches = enumerate(_batches(judged, prefixes), 1)
        answers = await asyncio.gather(*(self._rule(each, prefixes, asking, f"batch {n}") for n, each in batches))
        found = {handle: ruling for answer in answers for handle, ruling in answer.items()}
        ruled = [each for each in judged if each.handle in found]
        late = {each.handle for each in ruled if asking.is_late(each.finding, found[each.handle])}
        unsure = {each.handle for each in ruled if _is_unsure(each.finding, found[each.handle])}
        again = [each for each in ruled if each.handle in late or each.handle in unsure & seeing]
        earlier = {each.handle: found[each.handle].reason for each in again}
        answers = await asyncio.gather(
            *(
                self._rule(each, prefixes, asking, f"critical again {n}", earlier)
                for n, each in enumerate(_batches(again[:BATCH], prefixes), 1)
            )
        )
        second = {handle: ruling for answer in answers for handle, ruling in answer.items()}
        found |= second | {handle: _weaker(found[handle], second.get(handle)) for handle in late}
        if len(claims) > MAX_JUDGED:
            asking.notes.append(unjudged_note(len(claims) - MAX_JUDGED, "there were too many"))
        return found

    async def _rule(
        self,
        claims: Sequence[NamedClaim],
        prefixes: Mapping[str, SharedPrefix],
        asking: _Round,
        subject: str,
        earlier: Mapping[str, str] = NOTHING,
    ) -> dict[str, JudgeRuling]:
        """The rulings of one request; empty where it failed, which is noted. `earlier`: reasons, by handle."""
        prefix = prefixes[claims[0].handle]
        before = "\n".join(f"{each.handle}: {earlier[each.handle]}" for each in claims if each.handle in earlier)

        def question() -> ModelRequest:
            """Reading proofs may block."""
            proofs = [proof for each in claims for proof in each.finding.proof]
            if asking.before.head:  # The removed lines that a push's reader quotes are shown, with what replaced them.
                proofs = [proof for proof in proofs if proof.side == "new"]
            shown = shown_lines(asking.slices, asking.before.dependents)
            rows = PUSH_PROOF_ROWS if asking.before.dependents else PROOF_ROWS
            code = () if prefix.is_whole else proof_excerpts(proofs, shown, self.lines_of, rows)
            return judge_request(
                prefix, claims, code, self._prompt_of(prefix), self.bounds,
                mask=self.mask, subject=subject, shown=shown if prefix.small_push else NOWHERE, earlier=before,
            )  # fmt: skip

        try:
            async with asyncio.timeout(max(0.0, self.remaining_s())):
                reply = await self.model.ask(await in_thread(question))
            answer = read_answer(reply, ReviewAnswer)
        except Exception as error:  # noqa: BLE001 - a judge is an extra: no fault in it may cost what was found
            why = next((text for kind, text in NO_ANSWER.items() if isinstance(error, kind)), UNUSABLE)
            asking.notes.append(unjudged_note(len(claims), why))
            self.trace.record("judge_failed", subject=subject, error=type(error).__name__, reason=why)
            return {}
        asked = {claim.handle: claim.finding for claim in claims}
        rulings = {each.claim: each for each in answer.rulings if each.claim in asked}
        for handle, ruling in rulings.items():
            finding = asked[handle]
            self.trace.record(
                "judged",
                path=finding.path,
                line=finding.line,
                message=finding.message,
                model=reply.model,
                claimed=finding.confidence,
                was=finding.severity,
                **ruling.model_dump(mode="json"),
            )
        return {name: self.calibrator.ruling(ruling, reply.model, asked[name]) for name, ruling in rulings.items()}


def _batches(claims: Sequence[NamedClaim], prefixes: Mapping[str, SharedPrefix]) -> list[Sequence[NamedClaim]]:
    """Claims of one part of the change together, at most `BATCH` of them; the part with the gravest claim first."""
    parts: dict[int, list[NamedClaim]] = {}
    for claim in claims:
        parts.setdefault(id(prefixes[claim.handle]), []).append(claim)
    return [part[first : first + BATCH] for part in parts.values() for first in range(0, len(part), BATCH)]


def unjudged_note(number: int, why: str) -> str:
    """What a report says of claims on which no judge ruled."""
    return f"{with_count(number, 'claim')} of models without a judge's ruling: {why}"


def _weaker(first: JudgeRuling, second: JudgeRuling | None) -> JudgeRuling:
    """The ruling on a claim that has to pass twice: the one that believes it less. Without a second it is not sure."""
    if second is None:
        return first.model_copy(update={"confidence": min(first.confidence, SURE - 1)})
    return min(first, second, key=lambda ruling: ruling.confidence)


def _is_unsure(finding: Finding, ruling: JudgeRuling) -> bool:
    """Whether a critical claim is asked about once more."""
    return "critical" in (finding.severity, ruling.severity) and ruling.confidence < SURE
