"""A conversation within its bounds: turns, calls, repetitions, room for results, and what remains for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import ModelRequest, Text, ToolAnswer, ToolCall
from reviewbot.llm.agents.conversation import (
    CUT,
    DUE,
    MAX_LATE_TURNS,
    MIN_ANSWER_TOKENS,
    NO_ROOM,
    REPEATED,
    TOO_MANY,
    Bounds,
    Conversation,
    LoopError,
)
from tests.make import MakeReply


class Tools:
    """Answers every call with the text for its path; records the calls."""

    def __init__(self, text: str = "found") -> None:
        self.text = text
        self.calls: list[ToolCall] = []

    async def __call__(self, call: ToolCall) -> ToolAnswer:
        self.calls.append(call)
        return ToolAnswer("", self.text)


@pytest.fixture
def talk(fake_model: Any, a_request: Callable[..., ModelRequest]) -> Callable[..., Conversation]:
    """A conversation whose model gives these replies; `tools` answer its calls."""

    def build(*replies: Any, tools: Tools | None = None, bounds: Bounds | None = None, **fields: Any) -> Conversation:
        first = a_request(**{"max_tokens": 4_000, **fields})
        return Conversation(fake_model(*replies), tools or Tools(), bounds or Bounds(), first)

    return build


def answers_of(request: ModelRequest) -> list[str]:
    return [part.text for turn in request.turns for part in turn.parts if isinstance(part, ToolAnswer)]


def notes_of(request: ModelRequest) -> list[str]:
    """What we said after each round of tool answers."""
    return [
        part.text for turn in request.turns[1:] if turn.role == "user" for part in turn.parts if isinstance(part, Text)
    ]


def test_an_answer_without_calls_ends_it(talk: Callable[..., Conversation], a_reply: MakeReply) -> None:
    begun = talk(a_reply("done"))

    assert asyncio.run(begun.answer()).text == "done"
    assert begun.spent.usage == Usage(calls=1, input_tokens=10, output_tokens=20)
    assert begun.spent.model == "opus-x"


def test_calls_are_answered_between_delimiters_and_the_next_request_holds_all_of_it(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    tools = Tools("line one")
    begun = talk(
        calling(("read", {"path": "a.py"}), ("search", {"pattern": "x"}), text="I look."), a_reply("done"), tools=tools
    )

    asyncio.run(begun.answer())

    assert [call.name for call in tools.calls] == ["read", "search"]
    second = begun.model.requests[1]  # type: ignore[attr-defined]
    assert [answer.count("line one") for answer in answers_of(second)] == [1, 1]
    assert all(answer.startswith("<<<result ") for answer in answers_of(second))
    assert [turn.role for turn in second.turns] == ["user", "assistant", "user"]
    assert notes_of(second) == ["Turns left in which calls are answered: 6; room for results: about 29,996 tokens."]


def test_the_tools_stay_in_every_request_and_only_the_last_part_gets_a_new_cache_mark(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    begun = talk(calling(("read", {"path": "a"})), calling(("read", {"path": "b"})), a_reply("done"))

    asyncio.run(begun.answer())

    requests = begun.model.requests  # type: ignore[attr-defined]
    assert len({request.tools for request in requests}) == 1
    marks = [[isinstance(p, Text) and p.cached for turn in request.turns for p in turn.parts] for request in requests]
    assert [sum(each) for each in marks] == [1, 1, 1]
    assert all(each[-1] for each in marks)


def test_calls_over_the_limit_of_a_turn_are_refused_and_named(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    calls = [("read", {"path": str(n)}) for n in range(4)]
    begun = talk(calling(*calls), a_reply("done"), bounds=Bounds(calls_a_turn=3))

    asyncio.run(begun.answer())

    assert answers_of(begun.model.requests[1])[3] == TOO_MANY.format(3)  # type: ignore[attr-defined]
    assert begun.cut == [TOO_MANY.format(3)]


def test_after_its_turns_a_model_is_told_that_the_answer_is_due_and_calls_are_not_run(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    tools = Tools()
    one, two = calling(("read", {"path": "a"})), calling(("read", {"path": "b"}))
    begun = talk(one, two, a_reply("done"), tools=tools, bounds=Bounds(tool_turns=1))

    assert asyncio.run(begun.answer()).text == "done"

    assert [call.arguments["path"] for call in tools.calls] == ["a"]
    assert notes_of(begun.model.requests[2]) == [DUE, DUE]  # type: ignore[attr-defined]
    assert begun.cut == [DUE]


def test_a_model_that_never_answers_is_stopped(talk: Callable[..., Conversation], calling: MakeReply) -> None:
    begun = talk(calling(("read", {"path": "a"})), bounds=Bounds(tool_turns=1))

    with pytest.raises(LoopError):
        asyncio.run(begun.answer())

    assert len(begun.model.requests) == 2 + MAX_LATE_TURNS  # type: ignore[attr-defined]


def test_the_same_call_a_third_time_is_not_run(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    tools = Tools()
    same = calling(("read", {"path": "a"}))
    begun = talk(same, same, same, a_reply("done"), tools=tools)

    asyncio.run(begun.answer())

    assert len(tools.calls) == 2
    assert REPEATED in answers_of(begun.model.requests[3])[2]  # type: ignore[attr-defined]


def test_results_are_cut_to_the_room_that_is_left_and_further_calls_are_refused(
    talk: Callable[..., Conversation], calling: MakeReply, a_reply: MakeReply
) -> None:
    begun = talk(
        calling(("read", {"path": "a"}), ("read", {"path": "b"}), ("read", {"path": "c"})),
        a_reply("done"),
        tools=Tools("x" * 60),
        bounds=Bounds(result_chars=100),
    )

    asyncio.run(begun.answer())

    first, second, third = answers_of(begun.model.requests[1])  # type: ignore[attr-defined]
    assert (first.count("x"), second.count("x")) == (60, 40)
    assert CUT in second
    assert third == NO_ROOM
    assert begun.cut == [NO_ROOM]
    assert notes_of(begun.model.requests[1]) == [DUE]  # type: ignore[attr-defined]


def test_each_request_allows_what_is_left_of_the_tokens_and_none_is_made_for_too_few(
    talk: Callable[..., Conversation], calling: MakeReply
) -> None:
    dear = Usage(calls=1, output_tokens=1_000 - MIN_ANSWER_TOKENS + 1)
    begun = talk(calling(("read", {"path": "a"}), usage=dear), max_tokens=1_000)

    with pytest.raises(EngineError, match="1000 tokens that this reader may write are spent"):
        asyncio.run(begun.answer())

    assert [request.max_tokens for request in begun.model.requests] == [1_000]  # type: ignore[attr-defined]


def test_a_stored_reply_costs_nothing_and_counts_what_it_wrote(
    talk: Callable[..., Conversation], a_reply: MakeReply
) -> None:
    begun = talk(a_reply("done", stored=True, written_tokens=300, usage=Usage()))

    asyncio.run(begun.answer())

    assert (begun.spent.usage, begun.spent.written) == (Usage(), 300)


def test_a_call_for_a_tool_that_names_none_is_an_error(talk: Callable[..., Conversation], a_reply: MakeReply) -> None:
    with pytest.raises(EngineError, match="named none"):
        asyncio.run(talk(a_reply("", "tools")).answer())


def test_after_a_remark_the_model_sees_its_last_answer_and_the_remark(
    talk: Callable[..., Conversation], a_reply: MakeReply
) -> None:
    begun = talk(a_reply("first"), a_reply("second"))
    asyncio.run(begun.answer())
    begun.say("the quote is not there")

    assert asyncio.run(begun.answer()).text == "second"

    texts = [part.text for turn in begun.model.requests[1].turns[1:] for part in turn.parts]  # type: ignore[attr-defined]
    assert texts == ["first", "the quote is not there"]
