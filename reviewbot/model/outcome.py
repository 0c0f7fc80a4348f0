"""What one attempt of a task comes to: the model's answer with what programs found beside it, or the latter alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reviewbot.contracts import (
    FLOOR_WORKER,
    OVERVIEW,
    Candidate,
    EscalationReason,
    Gap,
    GapReason,
    Metadata,
    Reported,
    WorkerAnswer,
)
from reviewbot.coverage import reading_of
from reviewbot.model.hints import hints_of, weighed
from reviewbot.model.loop import Spent
from reviewbot.model.programs import Heard
from reviewbot.model.scope import matters, owner_of, sorted_by_scope
from reviewbot.ports import Answer, Clock, Escalated, Recorder, WorkOrder

LOOKED = "claude:{}"
"""How a model is named among those who read a file."""
NAMELESS = "model"
"""What a model is called whose provider gives it a name that is none."""

_NO_SLUG = re.compile(r"[^A-Za-z0-9_.:/@-]")


@dataclass(frozen=True)
class Attempt:
    """One attempt of one task: what it was given, and what it has cost so far."""

    order: WorkOrder
    heard: Heard
    spent: Spent
    trace: Recorder
    clock: Clock
    began: float

    def answered(self, said: WorkerAnswer) -> Answer | Escalated:
        """What the model says, with what programs found beside it."""
        task = self.order.task
        programs, confirmed = weighed(
            self.heard.candidates, hints_of(self.heard.candidates), said.hints, self._source()
        )
        found = sorted_by_scope(task.type, (candidate_of(each, self._source()) for each in said.findings))
        self._leave(found.foreign)
        read = said.escalation is None or self._only_points(said.escalation.reason)
        answer = Answer((*found.told, *confirmed), self.heard.gaps, self._metadata(read=read), "model", programs)
        if said.escalation is not None:
            return Escalated(said.escalation.reason, said.escalation.message, said.escalation.better_worker, answer)
        return answer

    def spared(self) -> Answer:
        """What programs found, where the plan wants no more."""
        return self._programs()

    def late(self) -> Escalated:
        """What programs found, where the task's own time ran out."""
        seconds = self.order.task.constraints.timeout_ms / 1000
        return Escalated("timeout", f"no answer within {seconds:g} s", partial=self._programs())

    def without_model(self, reason: GapReason, message: str) -> Answer:
        """What programs found, and a gap for each file that the model has not read."""
        answer, task = self._programs(), self.order.task
        gaps = [Gap(path=path, worker=task.worker, reason=reason, message=message) for path in task.paths]
        return replace(answer, gaps=(*answer.gaps, *gaps))

    def _programs(self) -> Answer:
        return Answer((), self.heard.gaps, self._metadata(read=False), "model", self.heard.candidates)

    def _only_points(self, reason: EscalationReason) -> bool:
        """Whether a model that escalates has read the slices to their end."""
        # To hand the floor's own job away is no look at it, for whatever reason.
        return reason == "out_of_scope" and self.order.task.worker != FLOOR_WORKER

    def _leave(self, foreign: Sequence[Candidate]) -> None:
        """What was plainly another worker's job, and whether it was told all the same, is in the trace."""
        task = self.order.task
        for each in foreign:
            said = {"better_worker": owner_of(each), "category": each.category, "severity": each.severity}
            fields = {"path": each.path, "message": each.message, "told": matters(each), **said}
            self.trace.record("out_of_scope", task_id=task.task_id, **fields)

    def _metadata(self, *, read: bool) -> Metadata:
        name = LOOKED.format(self._source())
        mine = [reading_of(payload, models=[name]) for payload in self.order.task.slices] if read else []
        return Metadata(
            usage=self.spent.usage,
            duration_ms=max(0, round((self.clock.monotonic() - self.began) * 1000)),
            model_used=self.spent.model,
            tool_runs=self.heard.runs,
            readings=(*self.heard.readings, *mine),
        )

    def _source(self) -> str:
        """The model's name as a source of findings; a provider may give it any."""
        name = _NO_SLUG.sub("-", self.spent.model or "")[:80] or NAMELESS
        # Who read all of it is told apart from who read a part, although one model may be both.
        return f"{name[:60]}@{OVERVIEW}" if self.order.card.name == OVERVIEW else name


def candidate_of(reported: Reported, source: str) -> Candidate:
    """What a model reported, as an engine hands it on; its place is looked for by the quote."""
    return Candidate(
        severity=reported.severity,
        path=reported.file,
        quote=reported.quote,
        message=reported.message,
        confidence=reported.confidence,
        source=source,
        category=reported.category,
        trigger=reported.trigger,
        contract=reported.contract,
        symptom=reported.symptom,
        # The same code is not asked for twice: what replaces the lines is also what readers of a report are told.
        suggestion=reported.suggestion or reported.replacement or "",
        replacement=reported.replacement,
        cwe=reported.cwe,
    )
