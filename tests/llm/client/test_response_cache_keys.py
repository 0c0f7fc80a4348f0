"""Which questions share an answer, and what becomes of those who wait for one."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.domain.errors import ConfigError, EngineError
from reviewbot.domain.ports import ModelReply, ModelRequest, OfferedTool, Text, ToolAnswer, ToolCall, Turn
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.client.response_cache import CachingModel
from tests.make import MakeRequest

MODELS: dict[Tier, str] = {"small": "small", "medium": "middle", "large": "middle"}
TOOL = OfferedTool("read", "Reads.", {"type": "object"})


class Numbered:
    """Answers each question with its number; `first` is raised instead of the first answer. It can be held up."""

    def __init__(self, first: BaseException | None = None, stop: Any = "end") -> None:
        self.asked: list[ModelRequest] = []
        self.first = first
        self.stop = stop
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        number = len(self.asked)
        await self.gate.wait()
        if number == 1 and self.first is not None:
            raise self.first
        calls = (ToolCall("t1", "read", {}, "c"), ToolCall("t2", "read", {}))
        return ModelReply(str(number), calls, self.stop, Usage(calls=1, output_tokens=9), f"m-{number}")


class Refusing:
    """A journal that raises at every turn of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def get(self, key: str) -> str | None:
        self._answer("get")
        return None

    def put(self, key: str, value: str) -> None:
        self._answer("put")

    def _answer(self, kind: str) -> None:
        if kind == self.kind:
            raise ConfigError("the disk is full")


def texts(journal: Any, *requests: ModelRequest, origins: tuple[str, ...] = ("", "")) -> list[str]:
    """What comes back to one after the other, each asked of whom `origins` says."""
    inner = Numbered()
    models = [CachingModel(inner, journal, MODELS, origin) for origin in origins]
    return [asyncio.run(model.ask(request)).text for model, request in zip(models, requests, strict=True)]


async def spun() -> None:
    """Let everything run that can; a look into the journal takes a thread."""
    for _ in range(4):
        await asyncio.to_thread(lambda: None)
        await asyncio.sleep(0)


def with_parts(*parts: Text | ToolCall | ToolAnswer) -> dict[str, Any]:
    return {"turns": (Turn("user", parts),)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tier": "small"}, {"tier": "medium"}),
        ({"max_tokens": 256}, {"max_tokens": 257}),
        (with_parts(Text("ab")), with_parts(Text("a"), Text("b"))),
        (with_parts(Text("a"), Text("b")), with_parts(Text("b"), Text("a"))),
        ({"turns": (Turn("user", (Text("a"),)), Turn("user", ()))}, with_parts(Text("a"))),
        (with_parts(ToolCall("t", "read", {})), with_parts(ToolCall("u", "read", {}))),
        (with_parts(ToolCall("t", "read", {})), with_parts(ToolCall("t", "find", {}))),
        (with_parts(ToolAnswer("t", "x")), with_parts(ToolAnswer("u", "x"))),
        ({"system": (Text("ab"),)}, {"system": (Text("a"), Text("b"))}),
        ({"system": (Text("a"),), **with_parts()}, {"system": (), **with_parts(Text("a"))}),
        ({"tools": (TOOL,)}, {"tools": (replace(TOOL, name="find"),)}),
        ({"tools": (TOOL,)}, {"tools": (replace(TOOL, description="Finds."),)}),
        ({"tools": (TOOL,)}, {"tools": (replace(TOOL, schema={"type": "string"}),)}),
        ({"schema": {}}, {"schema": None}),
    ],
)
def test_questions_that_differ_in_anything_that_is_sent_share_no_answer(
    one: dict[str, Any], other: dict[str, Any], journal: Any, a_request: MakeRequest
) -> None:
    assert texts(journal, a_request(**one), a_request(**other)) == ["1", "2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tier": "medium"}, {"tier": "large"}),
        ({"purpose": "logic"}, {"purpose": "style"}),
        ({"subject": "logic:a.py#1"}, {"subject": "logic:b.py#1"}),
        (with_parts(Text("a")), with_parts(Text("a", cached=True))),
        (with_parts(ToolCall("t", "read", {}, "x")), with_parts(ToolCall("t", "read", {}, "y"))),
    ],
    ids=["tiers of one model", "who asks", "about what", "where a cache ends", "a call's context"],
)
def test_questions_that_differ_in_nothing_that_is_sent_share_an_answer(
    one: dict[str, Any], other: dict[str, Any], journal: Any, a_request: MakeRequest
) -> None:
    assert texts(journal, a_request(**one), a_request(**other)) == ["1", "1"]


def test_an_answer_of_another_server_is_none(journal: Any, a_request: MakeRequest) -> None:
    assert texts(journal, a_request(), a_request(), origins=("https://a.invalid", "https://b.invalid")) == ["1", "2"]


def test_different_questions_do_not_wait_for_each_other(journal: Any, a_request: MakeRequest) -> None:
    inner = Numbered()

    async def run() -> None:
        inner.gate.clear()
        model = CachingModel(inner, journal, MODELS)
        both = [asyncio.create_task(model.ask(a_request(text))) for text in "ab"]
        await spun()
        assert len(inner.asked) == 2
        inner.gate.set()
        await asyncio.gather(*both)

    asyncio.run(run())


@pytest.mark.parametrize("error", [ConfigError("no journal"), ZeroDivisionError()])
def test_whoever_waits_for_one_who_broke_down_asks_on_its_own(
    error: Exception, journal: Any, a_request: MakeRequest
) -> None:
    inner = Numbered(error)

    async def run() -> list[Any]:
        inner.gate.clear()
        model = CachingModel(inner, journal, MODELS)
        tasks = [asyncio.create_task(model.ask(a_request())) for _ in range(3)]
        await spun()
        inner.gate.set()
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    broken, *others = asyncio.run(run())
    assert broken is error
    assert [(reply.text, reply.stored) for reply in others] == [("2", False), ("2", True)]


@pytest.mark.parametrize("kind", ["get", "put"])
def test_an_error_of_the_journal_comes_through_and_blocks_nobody(kind: str, a_request: MakeRequest) -> None:
    async def run() -> None:
        model = CachingModel(Numbered(), Refusing(kind), MODELS)
        for _ in range(2):
            with pytest.raises(ConfigError, match="the disk is full"):
                await asyncio.wait_for(model.ask(a_request()), 60)

    asyncio.run(run())


def test_a_failure_that_nobody_waits_for_leaves_no_complaint_behind(journal: Any, a_request: MakeRequest) -> None:
    complaints: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        with pytest.raises(EngineError, match="no answer"):
            await CachingModel(Numbered(EngineError("no answer")), journal, MODELS).ask(a_request())
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(run())
    assert complaints == []


def test_who_answered_once_is_told_and_who_called_is_kept_in_order(journal: Any, a_request: MakeRequest) -> None:
    first, second = (
        asyncio.run(CachingModel(Numbered(stop="tools"), journal, MODELS).ask(a_request(tools=(TOOL,)))) for _ in "ab"
    )

    assert (second.model, second.stored) == ("m-1", True)
    assert [(call.call_id, call.context) for call in second.calls] == [("t1", "c"), ("t2", "")]
    assert second.calls == first.calls


@pytest.mark.parametrize(
    "call",
    [["t", 1, {}, ""], [1, "read", {}, ""], ["t", "read", {}, None], ["t", "read", {}, "", ""], {}, None, "read"],
)
def test_one_call_that_cannot_be_read_spoils_the_stored_answer(
    call: object, journal: Any, a_request: MakeRequest
) -> None:
    altered(journal, a_request(), lambda told: {**told, "calls": [*told["calls"], call]})

    assert texts(journal, a_request(), a_request()) == ["1", "1"]
    assert all(call not in json.loads(value)["calls"] for value in journal.store.values())


@pytest.mark.parametrize("key", ["v", "text", "calls", "stop", "model", "written"])
def test_a_stored_answer_that_lacks_anything_is_asked_for_again(key: str, journal: Any, a_request: MakeRequest) -> None:
    altered(journal, a_request(), lambda told: {name: each for name, each in told.items() if name != key})
    [before] = journal.store.values()

    asyncio.run(CachingModel(inner := Numbered(), journal, MODELS).ask(a_request()))

    assert len(inner.asked) == 1
    assert list(journal.store.values()) != [before]


def test_a_stored_answer_that_wrote_nothing_is_one(journal: Any, a_request: MakeRequest) -> None:
    altered(journal, a_request(), lambda told: {**told, "written": 0, "text": ""})

    reply = asyncio.run(CachingModel(Numbered(EngineError("asked")), journal, MODELS).ask(a_request()))

    assert (reply.text, reply.stored, reply.written_tokens) == ("", True, 0)


def test_a_stored_answer_that_does_not_fit_any_more_is_asked_for_again(journal: Any, a_request: MakeRequest) -> None:
    altered(journal, a_request(), lambda told: {**told, "text": "{}"})
    [fitting] = journal.store.values()
    request = a_request(schema=schema_of(ReviewAnswer))
    altered(journal, request, lambda told: {**told, "text": "{}"}, inner=Fitting())
    asyncio.run(CachingModel(Fitting(), journal, MODELS).ask(request))

    assert [json.loads(value)["text"] for value in journal.store.values()] == ["{}", Fitting.text]
    assert fitting in journal.store.values()


class Fitting:
    """Answers in the shape of a review."""

    text = '{"summary": "", "themes": [], "findings": [], "hints": [], "tasks": [], "rulings": []}'

    async def ask(self, request: ModelRequest) -> ModelReply:
        return ModelReply(self.text, (), "end", Usage(), "m")


def altered(journal: Any, request: ModelRequest, change: Callable[[dict[str, Any]], object], inner: Any = None) -> None:
    """Have an answer in the journal, and change what stands there of it."""
    asyncio.run(CachingModel(inner or Numbered(), journal, MODELS).ask(request))
    key = list(journal.store)[-1]
    journal.store[key] = json.dumps(change(json.loads(journal.store[key])))
