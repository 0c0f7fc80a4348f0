"""The conversation: tools are asked within bounds, and then the answer is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from reviewbot.contracts import Constraints, Tier, Usage
from reviewbot.errors import EngineError
from reviewbot.llm.client.response_cache import CachingModel
from reviewbot.model.loop import DUE, MAX_CALLS, MAX_RESULT, LoopError
from reviewbot.ports import ModelRequest, Text, ToolAnswer, ToolCall

Make = Callable[..., Any]

MODELS: dict[Tier, str] = {"haiku": "m-1", "sonnet": "m-2", "opus": "m-3"}


@pytest.fixture
def order(an_order: Make, a_card: Make) -> Any:
    return replace(an_order(), card=a_card(tools=("look", "find", "ruff-logic")))


def bounded(order: Any, **limits: Any) -> Any:
    known = {"max_tokens": 8_000, "timeout_ms": 60_000, "tier": "opus"}
    return replace(
        order, task=order.task.model_copy(update={"constraints": Constraints.model_validate(known | limits)})
    )


def work(engine: Any, order: Any) -> Any:
    return asyncio.run(engine.work(order))


def answers_in(request: ModelRequest) -> list[ToolAnswer]:
    return [part for turn in request.turns for part in turn.parts if isinstance(part, ToolAnswer)]


def cached_in(request: ModelRequest) -> list[tuple[int, int]]:
    """The turns, and the parts of them, at whose end the cache is marked."""
    return [
        (at, n)
        for at, turn in enumerate(request.turns)
        for n, part in enumerate(turn.parts)
        if isinstance(part, Text) and part.cached
    ]


def test_a_worker_is_offered_the_own_tools_of_its_card_and_no_others(
    an_engine: Make, fake_model: Make, fake_tool: Make, said: Make, order: Any
) -> None:
    model = fake_model(said())
    work(an_engine(model, None, fake_tool("find"), fake_tool("peek"), fake_tool("look")), order)

    assert [tool.name for tool in model.requests[0].tools] == ["look", "find"]


def test_without_tools_there_is_one_question_and_nothing_to_cache_but_the_prompt(
    an_engine: Make, fake_model: Make, said: Make, an_order: Make
) -> None:
    model = fake_model(said())
    work(an_engine(model), an_order())
    [request] = model.requests

    assert request.tools == ()
    assert request.max_tokens == 8_000
    assert [part.cached for part in request.system] == [False, True]
    assert cached_in(request) == []


def test_a_tools_answer_comes_back_between_fences(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    look = fake_tool("look", "def f(): ...")
    model = fake_model(calling(("look", {"name": "f"}), text="I wonder"), said())
    work(an_engine(model, None, look), order)
    _, assistant, user = model.requests[1].turns
    [answer] = answers_in(model.requests[1])

    assert look.calls == [{"name": "f"}]
    assert assistant.role == "assistant"
    assert assistant.parts == (Text("I wonder"), ToolCall("call-1", "look", {"name": "f"}))
    assert (user.role, answer.call_id, answer.failed) == ("user", "call-1", False)
    assert answer.text.startswith("<<<result ")
    assert "\ndef f(): ...\n<<<end " in answer.text


def test_a_long_answer_of_a_tool_is_cut(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    model = fake_model(calling(("look", {})), said())
    work(an_engine(model, None, fake_tool("look", "x" * 100_000)), order)
    [answer] = answers_in(model.requests[1])

    assert MAX_RESULT < len(answer.text) < MAX_RESULT + 200
    assert "[cut here; ask for less]" in answer.text


def test_several_calls_of_one_turn_run_side_by_side(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    met = asyncio.Barrier(2)

    class Meeting(type(fake_tool("any"))):  # type: ignore[misc] # the fake comes as a fixture
        async def call(self, order: Any, arguments: Any) -> ToolAnswer:
            await met.wait()
            return ToolAnswer("", f"{self.name} met the other")

    model = fake_model(calling(("look", {}), ("find", {})), said())
    work(an_engine(model, None, Meeting("look"), Meeting("find")), order)

    assert [(answer.call_id, "met the other" in answer.text) for answer in answers_in(model.requests[1])] == [
        ("call-1", True),
        ("call-2", True),
    ]


@pytest.mark.parametrize(
    ("call", "said_of_it"),
    [
        (("rm", {}), "there is no such tool; you have look"),
        (("find", {}), "there is no such tool; you have look"),
        (("look", {}), "look could not be run (ZeroDivisionError)"),
    ],
)
def test_an_error_of_a_tool_is_told_to_the_model(
    call: Any,
    said_of_it: str,
    an_engine: Make,
    fake_model: Make,
    fake_tool: Make,
    calling: Make,
    said: Make,
    order: Any,
) -> None:
    model = fake_model(calling(call), said())
    work(an_engine(model, None, fake_tool("look", ZeroDivisionError("/root"))), order)
    [answer] = answers_in(model.requests[1])

    assert answer.failed
    assert said_of_it in answer.text


def test_wrong_arguments_are_an_answer_that_failed(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    model = fake_model(calling(("look", {"path": ["a"]})), said())
    work(an_engine(model, None, fake_tool("look", "path must be a text", failed=True)), order)

    assert [answer.failed for answer in answers_in(model.requests[1])] == [True]


def test_each_call_is_in_the_trace(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any, trace: Any
) -> None:
    model = fake_model(calling(("look", {"name": "f"}), ("rm", {})), said())
    work(an_engine(model, None, fake_tool("look", "12345")), order)

    task_id = order.task.task_id
    assert trace.of("tool_call") == [
        {"task_id": task_id, "tool": "look", "arguments": {"name": "f"}, "failed": False, "chars": 5},
        {"task_id": task_id, "tool": "rm", "arguments": {}, "failed": True, "chars": 36},
    ]


def test_more_calls_than_anybody_needs_in_one_turn_are_not_answered(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    look = fake_tool("look")
    model = fake_model(calling(*(("look", {"n": n}) for n in range(50))), said())
    work(an_engine(model, None, look), order)

    assert len(look.calls) == MAX_CALLS
    assert [answer.failed for answer in answers_in(model.requests[1])] == [False] * MAX_CALLS + [True] * 42


def test_the_third_identical_call_is_not_made_and_the_answer_is_due(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, reported: Make, order: Any
) -> None:
    look = fake_tool("look")
    same = calling(("look", {"a": 1, "b": 2}))
    again = calling(("look", {"b": 2, "a": 1}))
    model = fake_model(same, again, same, said(reported()))
    answer = work(an_engine(model, None, look), order)

    assert len(look.calls) == 2
    assert len(model.requests) == 4
    assert len(answer.candidates) == 1


def test_three_identical_calls_in_one_turn_are_a_loop_as_well(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    look = fake_tool("look")
    model = fake_model(calling(*[("look", {})] * 3), said())
    work(an_engine(model, None, look), order)

    assert (look.calls, len(model.requests)) == ([], 2)


def test_the_last_turn_offers_no_tools_and_tells_in_words_what_they_said(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    model = fake_model(calling(("look", {"n": 1})), calling(("look", {"n": 2})), said())
    work(an_engine(model, None, fake_tool("look", "what it said")), bounded(order, max_turns=3))
    first, _, last = model.requests
    [turn] = last.turns

    assert [len(request.tools) for request in model.requests] == [1, 1, 0]
    assert all(isinstance(part, Text) for part in turn.parts)
    assert turn.parts[0] == replace(first.turns[0].parts[0], cached=False)
    assert [part.text.count("what it said") for part in turn.parts] == [0, 1, 1, 0]
    assert turn.parts[-1] == Text(DUE)


def test_a_tool_that_failed_is_told_as_such_in_the_last_turn(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any, text_of: Make
) -> None:
    model = fake_model(calling(("look", {})), said())
    work(an_engine(model, None, fake_tool("look", "no such file", failed=True)), bounded(order, max_turns=2))

    assert "It failed:\n<<<result " in text_of(model.requests[1])


def test_a_model_that_has_one_turn_answers_at_once(
    an_engine: Make, fake_model: Make, fake_tool: Make, said: Make, order: Any
) -> None:
    model = fake_model(said())
    work(an_engine(model, None, fake_tool("look")), bounded(order, max_turns=1))

    assert [request.tools for request in model.requests] == [()]
    assert model.requests[0].turns[0].parts[-1] == Text(DUE)


def test_a_model_that_never_answers_is_asked_as_often_as_its_turns_and_not_again(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, order: Any
) -> None:
    model = fake_model(*(calling(("look", {"n": n})) for n in range(20)))
    answer = work(an_engine(model, None, fake_tool("look")), bounded(order, max_turns=5))

    assert len(model.requests) == 5
    assert [gap.reason for gap in answer.gaps] == ["bad_answer"]
    assert "goes on calling tools" in answer.gaps[0].message
    assert issubclass(LoopError, EngineError)


@pytest.mark.parametrize(
    ("written", "allowed"),
    [
        ((100, 1_900, 0), [8_000, 7_900, 6_000]),
        ((100, 1_901, 4_000), [8_000, 7_900, 5_999]),
        ((6_000, 99), [8_000, 2_000]),
    ],
)
def test_all_turns_together_write_no_more_than_the_task_may(
    written: tuple[int, ...], allowed: list[int], an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make,
    said: Make, order: Any,
) -> None:  # fmt: skip
    *before, last = written
    turns = [calling(("look", {"n": n}), usage=Usage(output_tokens=tokens)) for n, tokens in enumerate(before)]
    model = fake_model(*turns, said(usage=Usage(output_tokens=last)))
    work(an_engine(model, None, fake_tool("look")), order)

    assert [request.max_tokens for request in model.requests] == allowed


def test_the_smallest_budget_is_enough_for_one_answer(
    an_engine: Make, fake_model: Make, fake_tool: Make, said: Make, order: Any
) -> None:
    model = fake_model(said())
    work(an_engine(model, None, fake_tool("look")), bounded(order, max_tokens=256))

    assert [request.max_tokens for request in model.requests] == [256]


def test_a_spent_budget_of_tokens_is_named(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, order: Any
) -> None:
    model = fake_model(calling(("look", {}), usage=Usage(output_tokens=745)))

    with pytest.raises(EngineError, match="745 of the 1000 tokens that this task may write are spent"):
        work(an_engine(model, None, fake_tool("look")), bounded(order, max_tokens=1_000))
    assert len(model.requests) == 1


def test_each_turn_reads_what_the_one_before_wrote_to_the_cache(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    model = fake_model(*(calling(("look", {"n": n})) for n in range(4)), said())
    work(an_engine(model, None, fake_tool("look")), order)

    assert [cached_in(request) for request in model.requests] == [
        [(0, 0)],
        [(0, 0), (2, 1)],
        [(0, 0), (4, 1)],
        [(0, 0), (6, 1)],
        [(0, 0), (8, 1)],
    ]


def test_each_request_begins_with_the_words_of_the_one_before(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any
) -> None:
    def words(request: ModelRequest) -> list[Any]:
        return [
            replace(part, cached=False) if isinstance(part, Text) else part
            for turn in request.turns
            for part in turn.parts
        ]

    model = fake_model(*(calling(("look", {"n": n})) for n in range(4)), said())
    work(an_engine(model, None, fake_tool("look")), order)
    told = [words(request) for request in model.requests]

    assert all(later[: len(sooner)] == sooner for sooner, later in pairwise(told))
    first = model.requests[0]
    assert all((each.system, each.tools) == (first.system, first.tools) for each in model.requests)


def test_a_wish_for_a_tool_that_names_none_is_a_bad_answer(
    an_engine: Make, fake_model: Make, fake_tool: Make, a_reply: Make, order: Any
) -> None:
    with pytest.raises(EngineError, match="named none"):
        work(an_engine(fake_model(a_reply(stop="tools")), None, fake_tool("look")), order)


def test_a_call_where_no_tool_was_offered_is_a_bad_answer(
    an_engine: Make, fake_model: Make, calling: Make, order: Any
) -> None:
    with pytest.raises(EngineError, match="a tool was called where an answer was due"):
        work(an_engine(fake_model(calling(("look", {})))), order)


def test_a_conversation_that_was_paid_for_asks_nobody_the_second_time(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, reported: Make, order: Any,
    journal: Any,
) -> None:  # fmt: skip
    long = Usage(calls=1, output_tokens=2_500)  # so much that the last request may write less than the first
    model = fake_model(*(calling(("look", {"n": n}), usage=long) for n in range(3)), said(reported()))
    first = work(an_engine(CachingModel(model, journal, MODELS), None, fake_tool("look")), order)
    again = fake_model(AssertionError("asked again"))
    second = work(an_engine(CachingModel(again, journal, MODELS), None, fake_tool("look")), order)

    assert (len(model.requests), again.requests) == (4, [])
    assert second.candidates == first.candidates
    assert (first.metadata.usage.calls, second.metadata.usage) == (4, Usage())


def test_a_conversation_that_was_cut_off_goes_on_where_it_was(
    an_engine: Make, fake_model: Make, fake_tool: Make, calling: Make, said: Make, order: Any, journal: Any
) -> None:
    long = Usage(calls=1, output_tokens=3_000)
    turns = [calling(("look", {"n": n}), usage=long) for n in (1, 2)]
    model = fake_model(*turns, EngineError("gone"))
    with pytest.raises(EngineError, match="gone"):
        work(an_engine(CachingModel(model, journal, MODELS), None, fake_tool("look")), order)
    later = fake_model(said())
    work(an_engine(CachingModel(later, journal, MODELS), None, fake_tool("look")), order)

    assert later.requests == model.requests[2:]
