"""A model, and analyzers as fakes that record what they were asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reviewbot.domain.contracts import Candidate, Metadata, ToolRun, Usage, WorkerCard
from reviewbot.domain.ports import (
    Answer,
    Escalated,
    ModelReply,
    ModelRequest,
    ToolCall,
    WorkOrder,
)
from tests.fake_model import FakeModel
from tests.make import factory
from tests.reading_cases import read


class FakePrograms:
    """Finds what it was told to in each file; reads the languages that it was given."""

    name = "analyzers"

    def __init__(
        self,
        found: Mapping[str, Iterable[Candidate]] | None = None,
        *,
        languages: Sequence[str] = ("python",),
        said: Answer | Escalated | Exception | None = None,
    ) -> None:
        self.found = found or {}
        self.languages = languages
        self.said = said
        self.orders: list[WorkOrder] = []

    def covers(self, card: WorkerCard, language: str) -> bool:
        return language in self.languages

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        self.orders.append(order)
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is not None:
            return self.said
        run = ToolRun(tool="ruff", version="1", duration_ms=5)
        metadata = Metadata(tool_runs=(run,), readings=(read(order.task.payload.file_path, analyzers=("ruff",)),))
        return Answer(tuple(self.found.get(order.task.payload.file_path, ())), metadata=metadata)


def _reply(text: str = "", stop: str = "end", **fields: Any) -> ModelReply:
    known: dict[str, Any] = {"calls": (), "usage": Usage(calls=1, input_tokens=10, output_tokens=20), "model": "opus-x"}
    return ModelReply(text=text, stop=stop, **{**known, **fields})  # type: ignore[arg-type] # a test may say anything


def _claim(**fields: Any) -> dict[str, Any]:
    """A claim as a reader writes it; the quote stands in `a_payload`'s slice."""
    return {
        "id": "f1",
        "task": "logic",
        "file": "src/app.py",
        "side": "new",
        "quote": "x = 1",
        "line": None,
        "title": "One is the wrong number",
        "message": "one is the wrong number here",
        "impact": "call it twice",
        "proof": [],
        "severity": "warning",
        "cause": "race",
        "category": "race",
        "confidence": 75,
        "worth": 70,
        "suggestion": "x = 2",
        "replacement": None,
        "cwe": None,
        **fields,
    }


def _said(
    *claims: Mapping[str, Any], hints: Sequence[Any] = (), tasks: Sequence[Any] = (), **fields: Any
) -> ModelReply:
    """An answer in the schema. A hint is (handle, verdict) or (handle, verdict, reason); a task (name, escalation)."""
    judged = [{"hint": hint[0], "verdict": hint[1], "reason": (*hint, "")[2]} for hint in hints]
    ends = [{"task": name, "escalation": escalation} for name, escalation in tasks]
    answer = {"summary": "It adds a number.", "themes": [], "findings": claims, "hints": judged, "tasks": ends}
    return _reply(json.dumps(answer), **fields)


def _rule(*rulings: Mapping[str, Any], **fields: Any) -> ModelReply:
    """A judge's answer; each ruling names at least its claim."""
    known = {
        "argument_against": "none found",
        "reason": "`x = 1` is assigned and read once",
        "confidence": 90,
        "severity": "warning",
        "worth": 70,
        "contradicts": [],
    }
    answer = {"summary": "", "themes": [], "findings": [], "hints": [], "tasks": []}
    return _reply(json.dumps({**answer, "rulings": [{**known, **ruling} for ruling in rulings]}), **fields)


def _calling(*calls: tuple[str, Mapping[str, object]], text: str = "", **fields: Any) -> ModelReply:
    wishes = tuple(ToolCall(f"call-{n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1))
    return _reply(text, "tools", calls=wishes, **fields)


def _text_of(request: ModelRequest) -> str:
    """All that the user's turns of a request say."""
    return "\n".join(part.text for turn in request.turns for part in turn.parts if not isinstance(part, ToolCall))


fake_model = factory(FakeModel, "fake_model")
fake_programs = factory(FakePrograms, "fake_programs")
a_reply = factory(_reply, "a_reply")
claim = factory(_claim, "claim")
ruled = factory(_rule, "ruled")
said = factory(_said, "said")
calling = factory(_calling, "calling")
text_of = factory(_text_of, "text_of")
