"""An engine that answers from a script: the deterministic stand-in for a model, for tests and demonstrations.

A script is JSON: `{"answers": [{"worker": "logic", "path": "src/*.py", "replies": [REPLY, ...]}]}`. The first entry
that matches a task by worker, first file and `task` (its id) answers it, each a glob; its n-th reply serves the n-th
attempt, the last one all further attempts. A REPLY holds one of `findings` (candidates; `path` and `source` may be left
out), `escalate` (with or without `findings`), `fail` (a name of `FAULTS`), `hang`. `programs` beside findings or an
escalation are what programs found in the same slices, where `origin` is "model". No entry means: looked, and found
nothing. The engine keeps no state, so that a resumed run goes on where it was.
"""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from reviewbot.coverage.readings import reading_of
from reviewbot.domain.contracts import (
    Candidate,
    Contract,
    EscalationReason,
    Metadata,
    ReviewTask,
    Usage,
    WorkerCard,
)
from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import BudgetError, ConfigError, DeadlineError, EngineError, RefusedError, TransientError
from reviewbot.domain.ports import Answer, Escalated, WorkOrder

FOREVER_S = 86_400.0
"""Longer than any task may take; the worker's deadline ends it."""

Fault = Literal["transient", "bad_answer", "crash", "refused", "budget", "deadline"]
FAULTS: dict[Fault, type[Exception]] = {
    "transient": TransientError,
    "bad_answer": EngineError,
    "crash": RuntimeError,
    "refused": RefusedError,
    "budget": BudgetError,
    "deadline": DeadlineError,
}


class ScriptedEscalation(Contract):
    """The escalation that a reply gives."""

    reason: EscalationReason
    message: str
    better_worker: str | None = None


class Reply(Contract):
    """What the engine does at one attempt."""

    findings: tuple[dict[str, Any], ...] | None = None
    escalate: ScriptedEscalation | None = None
    programs: tuple[dict[str, Any], ...] = ()
    fail: Fault | None = None
    hang: bool = False
    message: str = "as the script says"
    usage: Usage = Usage()
    origin: Literal["program", "model"] = "program"
    """Whether its findings count as a program's or as a model's."""
    requires: tuple[str, ...] = ()
    """Ids of tasks whose result must have been handed in; otherwise the reply is a bad answer."""

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        answers = self.findings is not None or self.escalate is not None
        if sum([answers, self.fail is not None, self.hang]) != 1:
            raise ValueError("a reply holds exactly one of findings or escalate, fail, hang")
        if self.programs and not answers:
            raise ValueError("programs stand beside findings or escalate")
        return self


class ScriptEntry(Contract):
    """Which tasks are answered, and how."""

    worker: str = "*"
    path: str = "*"
    task: str = "*"
    replies: Annotated[tuple[Reply, ...], Field(min_length=1)]


class Script(Contract):
    """The whole script."""

    answers: tuple[ScriptEntry, ...]


class ScriptedEngine:
    """Answers as its script says."""

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._script = script

    @classmethod
    def from_json(cls, text: str | bytes) -> ScriptedEngine:
        """Read a script. Raises ConfigError with the first place that does not fit."""
        try:
            return cls(Script.model_validate_json(text))
        except ValidationError as error:
            raise ConfigError(f"the script does not fit at {': '.join(first_fault(error))}") from None

    def covers(self, card: WorkerCard, language: str) -> bool:  # noqa: ARG002 - a script has an answer for everything
        """A script can answer for any file."""
        return True

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """The reply for this attempt of this task."""
        reply = self._reply(order)
        missing = [name for name in reply.requires if name not in order.dependencies]
        if missing:
            raise EngineError(f"the script requires the result of {missing[0]}")
        if reply.hang:
            await asyncio.sleep(FOREVER_S)
        if reply.fail is not None:
            raise FAULTS[reply.fail](reply.message)
        if reply.escalate is not None:
            said = reply.escalate
            partial = _answer(order, reply) if reply.findings is not None or reply.programs else None
            return Escalated(said.reason, said.message, said.better_worker, partial)
        return _answer(order, reply)

    def _reply(self, order: WorkOrder) -> Reply:
        for entry in self._script.answers:
            if _matches(order.task, entry):
                return entry.replies[min(order.task.failures, len(entry.replies) - 1)]
        return Reply(findings=())


def _matches(task: ReviewTask, entry: ScriptEntry) -> bool:
    wanted = ((task.worker, entry.worker), (task.payload.file_path, entry.path), (task.task_id, entry.task))
    return all(fnmatchcase(name, glob) for name, glob in wanted)


def _answer(order: WorkOrder, reply: Reply) -> Answer:
    return Answer(
        candidates=tuple(_candidate(order, fields) for fields in reply.findings or ()),
        metadata=_metadata(order, reply.usage),
        origin=reply.origin,
        programs=tuple(_candidate(order, fields) for fields in reply.programs),
    )


def _candidate(order: WorkOrder, fields: dict[str, Any]) -> Candidate:
    try:
        return Candidate.model_validate({"path": order.task.payload.file_path, "source": "script", **fields})
    except ValidationError as error:
        raise EngineError(f"a scripted finding does not fit: {error.errors()[0]['msg']}") from None


def _metadata(order: WorkOrder, usage: Usage) -> Metadata:
    who = "scans" if order.task.scans_only else "models"
    readings = tuple(reading_of(payload, **{who: ["scripted"]}) for payload in order.task.slices)
    return Metadata(usage=usage, model_used=order.task.constraints.tier, readings=readings)
