"""Answers that are not asked for twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Usage
from reviewbot.errors import EngineError
from reviewbot.model.remembered import PREFIX, Remembered
from reviewbot.ports import ModelReply, ModelRequest, StopReason, ToolCall
from reviewbot.prices import default_models

SPENT = Usage(calls=1, input_tokens=10)

Request = Callable[..., ModelRequest]


class Slow:
    """Answers once the gate is open, with the number of the call; or fails."""

    def __init__(self, stop: StopReason = "end", error: Exception | None = None) -> None:
        self.calls = 0
        self.gate = asyncio.Event()
        self.stop = stop
        self.error = error

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        number = self.calls
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        arguments = {"path": "a.py", "n": [1, None]}
        return ModelReply(f"answer {number}", (ToolCall("t", "read", arguments, "[1]"),), self.stop, SPENT, "m")


def remembered(inner: Any, journal: Any) -> Remembered:
    return Remembered(inner, journal, default_models())


async def settle() -> None:
    """Let everything run that can; a look into the journal takes a thread."""
    for _ in range(3):
        await asyncio.to_thread(lambda: None)
        await asyncio.sleep(0)


def ask(inner: Slow, journal: Any, request: ModelRequest) -> ModelReply:
    inner.gate.set()
    return asyncio.run(remembered(inner, journal).ask(request))


@pytest.mark.parametrize("stop", ["end", "tools"])
def test_a_whole_answer_comes_back_as_it_was_and_for_nothing(journal: Any, a_request: Request, stop: Any) -> None:
    inner = Slow(stop)
    first, second = ask(inner, journal, a_request()), ask(inner, journal, a_request())
    assert inner.calls == 1
    assert (first.stored, first.usage) == (False, SPENT)
    assert (second.stored, second.usage) == (True, Usage())
    assert (second.text, second.calls, second.stop, second.model) == (first.text, first.calls, stop, "m")
    assert [key.startswith(PREFIX) for key in journal.store] == [True]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "context", "other"])
def test_an_answer_that_is_not_whole_is_not_kept(journal: Any, a_request: Request, stop: Any) -> None:
    assert ask(Slow(stop), journal, a_request()).stop == stop
    assert journal.store == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value[:-3],
        lambda value: "[" * 100_000,
        lambda value: "[]",
        lambda value: _with(value, v=2),
        lambda value: _with(value, text=None),
        lambda value: _with(value, model=3),
        lambda value: _with(value, calls={}),
        lambda value: _with(value, calls=[["t", "read", [], ""]]),
        lambda value: _with(value, calls=[["t", "read", {}]]),
        lambda value: _with(value, stop="refusal"),
    ],
)
def test_a_value_that_cannot_be_read_is_asked_for_again(
    journal: Any, a_request: Request, change: Callable[[str], str]
) -> None:
    inner = Slow()
    ask(inner, journal, a_request())
    (key,) = journal.store
    journal.store[key] = change(journal.store[key])
    assert ask(inner, journal, a_request()).text == "answer 2"
    assert ask(inner, journal, a_request()).stored


def _with(value: str, **fields: object) -> str:
    return json.dumps({**json.loads(value), **fields})


def test_equal_questions_at_the_same_time_are_asked_once(journal: Any, a_request: Request) -> None:
    inner = Slow("max_tokens")  # also where nothing of it is kept

    async def run() -> list[ModelReply]:
        model = remembered(inner, journal)
        tasks = [asyncio.create_task(model.ask(a_request())) for _ in range(4)]
        await settle()
        inner.gate.set()
        return await asyncio.gather(*tasks)

    replies = asyncio.run(run())
    assert inner.calls == 1
    assert [(reply.text, reply.stored, reply.usage) for reply in replies] == [
        ("answer 1", False, SPENT),
        *[("answer 1", True, Usage())] * 3,
    ]


def test_a_failure_is_everybodys_and_the_next_question_is_asked_anew(journal: Any, a_request: Request) -> None:
    inner = Slow(error=EngineError("no"))

    async def run() -> list[Any]:
        model = remembered(inner, journal)
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


def test_whoever_is_stopped_while_asking_leaves_the_question_to_the_next(journal: Any, a_request: Request) -> None:
    inner = Slow()

    async def run() -> ModelReply:
        model = remembered(inner, journal)
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
