"""Answers and usage of models: recorded when they were given, and replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from reviewbot.delivery import mask_trace
from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import DeadlineError, EngineError, InputError, RefusedError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.replay.model import RecordedModel, RecordedUsage, RecordingLedger, RecordingModel
from reviewbot.review.trace import Event, Trace, read_trace
from tests.fake_model import FakeModel
from tests.replay.conftest import TickingClock

TOKEN = "ghp_c4nAryc4nAryc4nAryc4nAryc4nAryc4nAry"


class Spent:
    """A usage ledger with entries."""

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        return {"synthesizer": Usage(calls=1, output_tokens=3, cost_usd=0.1), "logic": Usage(calls=7, cost_usd=0.2)}


def asks(subject: str, purpose: str = "synthesizer") -> ModelRequest:
    return ModelRequest(purpose, subject, "small", (), (), 100)


def said(text: str) -> ModelReply:
    return ModelReply(text, (), "end", Usage(calls=1, output_tokens=3), "m-1")


def test_answers_of_models_are_given_again_by_their_subject_and_in_their_order() -> None:
    trace = Trace(TickingClock())
    first = [said("a"), said("b"), said("c")]
    asked = [asks("one"), asks("two"), asks("one")]

    async def through(model: Any) -> list[ModelReply]:
        return [await model.ask(request) for request in asked]

    assert asyncio.run(through(RecordingModel(FakeModel(*first), trace))) == first

    events = read_trace(mask_trace(trace))
    recorded = RecordedModel(events)

    async def in_another_order() -> list[str]:
        return [(await recorded.ask(asks(subject))).text for subject in ("two", "one", "one")]

    assert asyncio.run(in_another_order()) == ["b", "a", "c"]
    assert asyncio.run(through(RecordedModel(events))) == first


def test_a_subject_that_holds_a_secret_is_found_again() -> None:
    trace = Trace(TickingClock())
    asyncio.run(RecordingModel(FakeModel(said("a")), trace).ask(asks(TOKEN)))
    written = mask_trace(trace)

    reply = asyncio.run(RecordedModel(read_trace(written)).ask(asks(TOKEN)))

    assert TOKEN not in written
    assert reply.text == "a"


@pytest.mark.parametrize("error", [RefusedError, DeadlineError, TransientError, EngineError])
def test_errors_of_models_are_raised_again(error: type[EngineError]) -> None:
    trace = Trace(TickingClock())
    noted = RecordingModel(FakeModel(error("no")), trace)
    with pytest.raises(error):
        asyncio.run(noted.ask(asks("one")))

    with pytest.raises(error, match="no") as caught:
        asyncio.run(RecordedModel(trace.events).ask(asks("one")))

    assert type(caught.value) is error


def test_a_question_that_nobody_asked_has_no_answer() -> None:
    with pytest.raises(EngineError, match="holds no answer"):
        asyncio.run(RecordedModel([]).ask(asks("one")))


def test_an_answer_that_ended_in_an_unknown_way_is_no_end() -> None:
    event = {"event": "answered", "purpose": "critic", "subject": "x", "text": "t", "stop": "bored", "usage": {}}

    assert asyncio.run(RecordedModel([event]).ask(asks("x", "critic"))).stop == "other"


def test_the_books_of_a_run_are_the_sum_of_its_calls() -> None:
    usage = Usage(calls=1, input_tokens=5, cost_usd=0.1)
    call = {"event": "call", "usage": usage.model_dump(mode="json")}
    events = [{**call, "purpose": "planner"}, {**call, "purpose": "critic"}, {**call, "purpose": "planner"}]

    assert RecordedUsage(events).usage_by_purpose() == {"planner": usage + usage, "critic": usage}
    assert RecordedUsage([]).usage_by_purpose() == {}
    assert RecordedUsage([{**call, "purpose": "planner", "stored": True}]).usage_by_purpose() == {}


def test_what_the_books_said_at_the_end_counts_more_than_the_calls() -> None:
    trace = Trace(TickingClock())
    spent = RecordingLedger(Spent(), trace).usage_by_purpose()
    call: Event = {"event": "call", "purpose": "critic", "usage": Usage(calls=1).model_dump(mode="json")}

    assert RecordedUsage([call, *trace.events]).usage_by_purpose() == spent == Spent().usage_by_purpose()


@pytest.mark.parametrize("spent", [7, {"logic": 7}])
def test_books_of_another_form_are_bad_input(spent: object) -> None:
    with pytest.raises(InputError, match="trace"):
        RecordedUsage([{"event": "books", "spent": spent}])
