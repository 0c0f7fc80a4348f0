"""A model, its tools and programs as fakes that write down what they were asked, and the engine around them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from reviewbot.contracts import Candidate, Metadata, ToolRun, Usage, WorkerCard
from reviewbot.model.engine import ModelEngine
from reviewbot.model.told import Section
from reviewbot.ports import (
    Answer,
    Escalated,
    ModelReply,
    ModelRequest,
    OfferedTool,
    ToolAnswer,
    ToolCall,
    WorkOrder,
)
from tests.reading_cases import read

FOREVER_S = 3600
"""Longer than any test lasts; a deadline ends it."""


class FakeModel:
    """Answers from a list, the last entry again and again; an error is raised, None hangs."""

    def __init__(self, *replies: ModelReply | Exception | None) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        if reply is None:
            await asyncio.sleep(FOREVER_S)
            raise AssertionError("nobody waits that long")
        return reply


class FakeTool:
    """Answers every call with one text, or raises; `calls` are the arguments that came."""

    def __init__(self, name: str, text: str | Exception = "nothing", *, failed: bool = False) -> None:
        self.name = name
        self.text = text
        self.failed = failed
        self.calls: list[Mapping[str, object]] = []

    @property
    def offered(self) -> OfferedTool:
        return OfferedTool(self.name, f"does {self.name}", {"type": "object", "additionalProperties": False})

    async def call(self, order: WorkOrder, arguments: Mapping[str, object]) -> ToolAnswer:
        self.calls.append(arguments)
        if isinstance(self.text, Exception):
            raise self.text
        return ToolAnswer("", self.text, failed=self.failed)


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


def _reported(**fields: Any) -> dict[str, Any]:
    return {
        "file": "src/app.py",
        "quote": "x = 1",
        "message": "one is the wrong number here",
        "trigger": "call it twice",
        "contract": "its docstring says two",
        "symptom": "half of the orders are lost",
        "severity": "warning",
        "category": "race",
        "confidence": 75,
        "suggestion": "x = 2",
        "cwe": None,
        **fields,
    }


def _said(*findings: Mapping[str, Any], hints: Sequence[Any] = (), escalation: Any = None, **fields: Any) -> ModelReply:
    """An answer in the schema. A hint is (handle, verdict) or (handle, verdict, reason)."""
    judged = [{"hint": hint[0], "verdict": hint[1], "reason": (*hint, "")[2]} for hint in hints]
    return _reply(json.dumps({"findings": findings, "hints": judged, "escalation": escalation}), **fields)


def _calling(*calls: tuple[str, Mapping[str, object]], text: str = "", **fields: Any) -> ModelReply:
    wishes = tuple(ToolCall(f"call-{n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1))
    return _reply(text, "tools", calls=wishes, **fields)


def _text_of(request: ModelRequest) -> str:
    """All that the user's turns of a request say."""
    return "\n".join(part.text for turn in request.turns for part in turn.parts if not isinstance(part, ToolCall))


def _factory(function: Callable[..., Any], name: str) -> Any:
    @pytest.fixture(scope="session", name=name)
    def fixture() -> Callable[..., Any]:
        return function

    return fixture


fake_model = _factory(FakeModel, "fake_model")
fake_tool = _factory(FakeTool, "fake_tool")
fake_programs = _factory(FakePrograms, "fake_programs")
a_reply = _factory(_reply, "a_reply")
reported = _factory(_reported, "reported")
said = _factory(_said, "said")
calling = _factory(_calling, "calling")
text_of = _factory(_text_of, "text_of")


@pytest.fixture
def an_engine(clock: Any, trace: Any) -> Callable[..., ModelEngine]:
    """The engine around a fake model; sections are pairs of name and text."""

    def build(model: FakeModel, programs: FakePrograms | None = None, *tools: FakeTool, **fields: Any) -> ModelEngine:
        sections = tuple(Section(name, text) for name, text in fields.pop("sections", ()))
        known: dict[str, Any] = {"told": lambda order: sections, "rules": "The rules of the house."}
        return ModelEngine(
            model=model,
            programs=programs or FakePrograms(),
            own={tool.name: tool for tool in tools},
            trace=trace,
            clock=clock,
            **{**known, **fields},
        )

    return build
