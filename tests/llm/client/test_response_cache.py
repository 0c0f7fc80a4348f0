"""Answers that are not asked for twice."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reviewbot
from reviewbot.domain.contracts import Contract, Usage
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import ModelReply, ModelRequest, OfferedTool, StopReason, ToolCall
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.client.response_cache import ANSWER_TYPES, PREFIX, CachingModel
from reviewbot.prices import default_models
from tests.make import MakeRequest
from tests.messages_api import ruled

SPENT = Usage(calls=1, input_tokens=10, output_tokens=7)
TOOLS = (OfferedTool("read", "Reads.", {"type": "object"}),)
FITTING = {
    "ReviewAnswer": {"summary": "", "themes": [], "findings": [], "hints": [], "tasks": []},
    "ProposedPlan": {"reason": "", "strategy": "merge", "tasks": [], "workers": []},
}
RULING = {
    "claim": "c1", "argument_against": "", "reason": "", "confidence": 150, "severity": "info", "worth": 50,
    "contradicts": [],
}  # fmt: skip


class Slow:
    """Answers once the gate is open, with the number of the call; or fails."""

    def __init__(self, stop: StopReason = "end", error: Exception | None = None, *, no_calls: bool = False) -> None:
        self.calls = 0
        self.gate = asyncio.Event()
        self.stop = stop
        self.error = error
        self.no_calls = no_calls

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        number = self.calls
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        arguments = {"path": "a.py", "n": [1, None]}
        calls = () if self.no_calls else (ToolCall("t", "read", arguments, "[1]"),)
        return ModelReply(f"answer {number}", calls, self.stop, SPENT, "m")


def caching(inner: Any, journal: Any) -> CachingModel:
    return CachingModel(inner, journal, default_models())


async def settle() -> None:
    """Let everything run that can; a look into the journal takes a thread."""
    for _ in range(3):
        await asyncio.to_thread(lambda: None)
        await asyncio.sleep(0)


def ask(inner: Slow, journal: Any, request: ModelRequest) -> ModelReply:
    inner.gate.set()
    return asyncio.run(caching(inner, journal).ask(request))


@pytest.mark.parametrize("stop", ["end", "tools"])
def test_a_whole_answer_comes_back_as_it_was_and_for_nothing(journal: Any, a_request: MakeRequest, stop: Any) -> None:
    inner = Slow(stop)
    first, second = (ask(inner, journal, a_request(tools=TOOLS)) for _ in range(2))
    assert inner.calls == 1
    assert (first.stored, first.usage) == (False, SPENT)
    assert (second.stored, second.usage, second.written_tokens) == (True, Usage(), 7)
    assert (second.text, second.calls, second.stop, second.model) == (first.text, first.calls, stop, "m")
    assert [key.startswith(PREFIX) for key in journal.store] == [True]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "context", "other"])
def test_an_answer_that_is_not_whole_is_not_kept(journal: Any, a_request: MakeRequest, stop: Any) -> None:
    assert ask(Slow(stop), journal, a_request()).stop == stop
    assert journal.store == {}


class Texts:
    """Answers with one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def ask(self, request: ModelRequest) -> ModelReply:
        return ModelReply(self.texts.pop(0), (), "end", SPENT, "m")


def texts_of(journal: Any, request: ModelRequest, *texts: str) -> list[str]:
    """What comes back to as many questions as there are answers."""
    model = caching(Texts(*texts), journal)
    return [asyncio.run(model.ask(request)).text for _ in texts]


@pytest.mark.parametrize("shape", ANSWER_TYPES)
def test_an_answer_that_does_not_fit_is_asked_for_again_and_one_that_does_is_kept(
    shape: type[Contract], journal: Any, a_request: MakeRequest
) -> None:
    request = a_request(schema=schema_of(shape))
    good = json.dumps(FITTING[shape.__name__])
    assert texts_of(journal, request, "{}", "no JSON", good, "never asked for") == ["{}", "no JSON", good, good]


def test_bounds_that_no_schema_sent_has_are_looked_at_as_well(journal: Any, a_request: MakeRequest) -> None:
    request = a_request(schema=schema_of(ReviewAnswer))
    texts_of(journal, request, json.dumps(ruled(RULING)))
    assert journal.store == {}
    texts_of(journal, request, json.dumps(ruled({**RULING, "confidence": 15})))
    assert len(journal.store) == 1


def test_whatever_models_are_asked_to_answer_in_is_known() -> None:
    folder = Path(reviewbot.__file__).parent
    asked = {
        name for path in folder.rglob("*.py") for name in re.findall(r"schema=schema_of\((\w+)\)", path.read_text())
    }
    assert asked == {shape.__name__ for shape in ANSWER_TYPES} == FITTING.keys()


def test_a_schema_that_is_not_known_is_whoever_asks_own_matter(journal: Any, a_request: MakeRequest) -> None:
    assert texts_of(journal, a_request(schema={"type": "object"}), "one", "two") == ["one", "one"]


@pytest.mark.parametrize("fields", [{"tools": ()}, {"tools": TOOLS, "no_calls": True}])
def test_a_wish_for_a_tool_that_nobody_can_grant_is_not_kept(
    fields: dict[str, Any], journal: Any, a_request: MakeRequest
) -> None:
    inner = Slow("tools", no_calls="no_calls" in fields)
    assert ask(inner, journal, a_request(tools=fields["tools"])).stop == "tools"
    assert journal.store == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value[:-3],
        lambda value: "[" * 100_000,
        lambda value: "[]",
        lambda value: _with(value, v=1),
        lambda value: _with(value, written=None),
        lambda value: _with(value, written=-1),
        lambda value: _with(value, written=True),
        lambda value: _with(value, text=None),
        lambda value: _with(value, model=3),
        lambda value: _with(value, calls={}),
        lambda value: _with(value, calls=[["t", "read", [], ""]]),
        lambda value: _with(value, calls=[["t", "read", {}]]),
        lambda value: _with(value, stop="refusal"),
    ],
)
def test_a_value_that_cannot_be_read_is_asked_for_again(
    journal: Any, a_request: MakeRequest, change: Callable[[str], str]
) -> None:
    inner = Slow()
    ask(inner, journal, a_request())
    (key,) = journal.store
    journal.store[key] = change(journal.store[key])
    assert ask(inner, journal, a_request()).text == "answer 2"
    assert ask(inner, journal, a_request()).stored


def _with(value: str, **fields: object) -> str:
    return json.dumps({**json.loads(value), **fields})


def test_equal_questions_at_the_same_time_are_asked_once(journal: Any, a_request: MakeRequest) -> None:
    inner = Slow("max_tokens")  # also where nothing of it is kept

    async def run() -> list[ModelReply]:
        model = caching(inner, journal)
        tasks = [asyncio.create_task(model.ask(a_request())) for _ in range(4)]
        await settle()
        inner.gate.set()
        return await asyncio.gather(*tasks)

    replies = asyncio.run(run())
    assert inner.calls == 1
    assert [(reply.text, reply.stored, reply.usage, reply.written_tokens) for reply in replies] == [
        ("answer 1", False, SPENT, 0),
        *[("answer 1", True, Usage(), 7)] * 3,
    ]


def test_what_was_written_is_told_also_to_those_who_share_a_stored_answer(journal: Any, a_request: MakeRequest) -> None:
    ask(Slow(), journal, a_request())

    async def run() -> list[ModelReply]:
        model = caching(Slow(), journal)
        return await asyncio.gather(*(model.ask(a_request()) for _ in range(3)))

    assert [(reply.stored, reply.written_tokens) for reply in asyncio.run(run())] == [(True, 7)] * 3


def test_a_failure_is_everybodys_and_the_next_question_is_asked_anew(journal: Any, a_request: MakeRequest) -> None:
    inner = Slow(error=EngineError("no"))

    async def run() -> list[Any]:
        model = caching(inner, journal)
        tasks = [asyncio.create_task(model.ask(a_request())) for _ in range(2)]
        await settle()
        inner.gate.set()
        found: list[Any] = list(await asyncio.gather(*tasks, return_exceptions=True))
        inner.error = None
        return [*found, await model.ask(a_request())]

    first, second, third = asyncio.run(run())
    assert isinstance(first, EngineError)
    assert isinstance(second, EngineError)
    assert (third.text, inner.calls) == ("answer 2", 2)


def test_whoever_is_stopped_while_asking_leaves_the_question_to_the_next(journal: Any, a_request: MakeRequest) -> None:
    inner = Slow()

    async def run() -> ModelReply:
        model = caching(inner, journal)
        first = asyncio.create_task(model.ask(a_request()))
        await settle()
        second = asyncio.create_task(model.ask(a_request()))
        third = asyncio.create_task(model.ask(a_request()))
        await settle()
        first.cancel()
        third.cancel()
        await asyncio.gather(first, third, return_exceptions=True)
        assert first.cancelled()
        assert third.cancelled()
        inner.gate.set()
        return await second

    reply = asyncio.run(run())
    assert (reply.text, reply.stored, inner.calls) == ("answer 2", False, 2)
