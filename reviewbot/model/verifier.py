"""The `Verifier` that asks a model which did not find it to refute each finding that only a model has made.

A finding that the model proves is lifted, one that it refutes is sunk. Whatever goes wrong on the way costs no finding:
it stays at the cap of what nobody has verified, and the result says so in a gap.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Event

from reviewbot.contracts import Finding, Gap, GapReason, Ruling, Rulings, WorkerResult
from reviewbot.errors import (
    EngineError,
    ReviewbotError,
)
from reviewbot.llm.client.answers import read_answer
from reviewbot.model.attack import Candidate, batched, handle_of, handles_of, once_more, request_of, tier_for
from reviewbot.model.names import Lookup, looked_up
from reviewbot.model.searches import SearchedOnce
from reviewbot.model.told import Section
from reviewbot.model.verdicts import Shown, refuted_by_search, ruled, unverified
from reviewbot.ports import Model, ModelReply, ModelRequest, Recorder, WorkOrder
from reviewbot.supervisor.selection import VERIFIER
from reviewbot.supervisor.verifier import by_a_model_alone, capped
from reviewbot.threads import in_thread
from reviewbot.worker import reason_of

MAX_BATCH = 4
"""Candidates of one request: they share what they are about, and each still gets a run of its own."""

_ERROR_CHARS = 300
"""Of an error that is told on."""
_REASON_CHARS = 200
"""Of a proof in the trace; the finding has all of it."""

Evidence = Callable[[WorkOrder, Finding], Sequence[Section]]
"""The code around a finding that its judge is shown beside the slices. It may block."""


SURE = 80
"""A program's finding that is shown anyway: that a model confirmed it needs no third opinion."""


class ModelVerifier:
    """Attacks the findings of models; those of programs pass as they are."""

    def __init__(self, model: Model, prompt: str, trace: Recorder, evidence: Evidence, batch: int = MAX_BATCH) -> None:
        """`batch`: how many candidates at most share a request, at least 1."""
        self._model = model
        self._prompt = prompt
        self._trace = trace
        self._evidence = evidence
        self._batch = batch

    async def verify(self, order: WorkOrder, result: WorkerResult) -> WorkerResult:
        """The result with a ruling on every finding that a model alone has made. No error."""
        suspects = [at for at, finding in enumerate(result.findings) if _is_suspect(finding, result.findings)]
        judged = {at: finding if at in suspects else capped(finding) for at, finding in enumerate(result.findings)}
        if not suspects:
            return result.model_copy(update={"findings": tuple(judged.values())})
        asked: list[Candidate] = []
        for each, baseless in await self._looked_up(order, result.findings, suspects):
            if baseless:
                judged[each.at] = refuted_by_search(each.finding, each.missing)
                self._record(order, each, judged[each.at], asked="")
            else:
                asked.append(each)
        groups = batched(asked, self._batch)
        answers = await asyncio.gather(*(self._ask(order, group) for group in groups))
        gaps: list[Gap] = []
        # In the order of the groups and not of their answers, so that two runs leave one trace.
        for group, answer in zip(groups, answers, strict=True):
            gaps += self._settle(order, group, answer, judged)
        findings = tuple(judged[at] for at in range(len(judged)))
        return result.model_copy(update={"findings": findings, "gaps": (*result.gaps, *_joined(gaps))})

    async def _looked_up(
        self, order: WorkOrder, findings: Sequence[Finding], suspects: Iterable[int]
    ) -> list[tuple[Candidate, bool]]:
        """As `_prepared`, in a thread that stops at the next candidate when nobody waits for it any more."""
        stopped = Event()
        try:
            return await in_thread(lambda: self._prepared(order, findings, suspects, stopped))
        finally:
            stopped.set()

    def _prepared(
        self, order: WorkOrder, findings: Sequence[Finding], suspects: Iterable[int], stopped: Event
    ) -> list[tuple[Candidate, bool]]:
        """Each candidate with the code around it, and whether what it speaks of is nowhere; this may read files."""
        found: list[tuple[Candidate, bool]] = []
        order = replace(order, snapshot=SearchedOnce(order.snapshot))
        for at in suspects:
            if stopped.is_set():
                break
            finding = findings[at]
            lookup, sections = self._looked_at(order, finding)
            tier = tier_for(finding, findings, order.task.constraints.tier)
            found.append((Candidate(at, finding, tier, sections, lookup.missing), lookup.baseless))
        return found

    def _looked_at(self, order: WorkOrder, finding: Finding) -> tuple[Lookup, tuple[Section, ...]]:
        try:
            lookup = looked_up(finding, order.task, order.snapshot)
            return lookup, () if lookup.baseless else tuple(self._evidence(order, finding))
        except ReviewbotError:  # git gave up: the slices alone can still be judged
            return Lookup(), ()

    async def _ask(self, order: WorkOrder, group: Sequence[Candidate]) -> Mapping[str, Ruling] | EngineError:
        """The rulings by handle, perhaps not all; or why there is none."""
        request = request_of(order.task, self._prompt, group, order.title)
        try:
            return await self._rulings(request, handles_of(group))
        except EngineError as error:
            return error

    async def _rulings(self, request: ModelRequest, handles: Sequence[str]) -> Mapping[str, Ruling]:
        reply = await self._model.ask(request)
        try:
            return _matched(reply, handles, all_of_them=True)
        except EngineError as error:
            if reply.stop != "end":  # refused or cut off: the same question would end in the same way
                raise
            request = once_more(request, str(error)[:_ERROR_CHARS])
        return _matched(await self._model.ask(request), handles, all_of_them=False)

    def _settle(
        self,
        order: WorkOrder,
        group: Sequence[Candidate],
        answer: Mapping[str, Ruling] | EngineError,
        judged: dict[int, Finding],
    ) -> list[Gap]:
        """Put the findings of one group, as they were ruled on, into `judged`; a gap for each without a ruling."""
        shown = Shown.of(order.task.slices, (section.text for each in group for section in each.sections))
        error = answer if isinstance(answer, EngineError) else EngineError("the answer leaves it out")
        rulings = {} if isinstance(answer, EngineError) else answer
        gaps: list[Gap] = []
        for handle, each in zip(handles_of(group), group, strict=True):
            ruling = rulings.get(handle)
            if ruling is None:
                why = str(error)[:_ERROR_CHARS]
                judged[each.at] = unverified(each.finding, why)
                gaps.append(_gap(order, each.finding, reason_of(error), why))
            else:
                judged[each.at] = ruled(each.finding, ruling, shown)
            self._record(order, each, judged[each.at], asked=f"{handle_of(group[0])}/{handle}")
        return gaps

    def _record(self, order: WorkOrder, candidate: Candidate, finding: Finding, asked: str) -> None:
        """`asked`: by which request, and how the candidate was called in it; empty where nobody was asked."""
        self._trace.record(
            "ruling",
            task_id=order.task.task_id,
            handle=handle_of(candidate),
            asked=asked,
            path=finding.path,
            line=finding.line,
            tier=candidate.tier,
            claimed=finding.claimed,
            confidence=finding.confidence,
            reason=finding.judgement[:_REASON_CHARS],
        )


def _matched(reply: ModelReply, handles: Sequence[str], *, all_of_them: bool) -> Mapping[str, Ruling]:
    """The rulings by handle. Raises EngineError where it is not certain which ruling is about which candidate."""
    rulings = read_answer(reply, Rulings).rulings
    found = {ruling.candidate: ruling for ruling in rulings}
    if len(found) != len(rulings):
        raise EngineError("the answer rules twice on one candidate")
    if strange := sorted(found.keys() - set(handles)):
        raise EngineError(f"the answer rules on {strange[0]}, which was not asked about")
    if all_of_them and (missing := [handle for handle in handles if handle not in found]):
        raise EngineError(f"the answer leaves out {', '.join(missing)}")
    return found


def _gap(order: WorkOrder, finding: Finding, reason: GapReason, why: str) -> Gap:
    task = order.task
    return Gap(path=finding.path, worker=task.worker, reason=reason, message=why, task_id=task.task_id, tool=VERIFIER)


def _joined(gaps: Iterable[Gap]) -> list[Gap]:
    """One gap for all findings of a file that one cause left unverified."""
    return [
        gap.model_copy(update={"message": f"{_findings(count)} could not be verified: {gap.message}"})
        for gap, count in Counter(gaps).items()
    ]


def _findings(count: int) -> str:
    return "1 finding" if count == 1 else f"{count} findings"


def _is_suspect(finding: Finding, all_of_them: Sequence[Finding]) -> bool:
    """Whether a finding has to be judged: a model's own, or its word for a program's that is not shown without it."""
    if not by_a_model_alone(finding):
        return False
    return not any(
        (finding.rule, finding.path, finding.line) == (other.rule, other.path, other.line) and other.confidence >= SURE
        for other in all_of_them
        if finding.rule and not by_a_model_alone(other)
    )
