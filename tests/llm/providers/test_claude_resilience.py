"""The adapter under our chain of calls, against faults that others thought of: `llmock` judges how we behave.

Its waits are real, and short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Semaphore
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.domain.errors import DeadlineError, EngineError, ProviderError, TransientError
from reviewbot.domain.ports import Clock, ModelReply, ModelRequest, OfferedTool
from reviewbot.llm.client.budget import Deadline, SpendLedger
from reviewbot.llm.client.retry import RetryPolicy
from reviewbot.llm.client.stack import ClientConfig, build_client
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.prices import default_models
from reviewbot.sources.memory import MemoryJournal, SystemClock
from tests.make import MakeRequest, one_fast
from tests.messages_api import PATIENCE_S, MessagesApi, Scripted, failed, held, said

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

READ = OfferedTool(
    "read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)

ANSWER_S = 0.005
"""Of a provider that takes few requests at a time: long enough that they overlap."""

FIRST_WAIT_S = 0.1
"""Short: these waits are real."""


def ask(
    url: str,
    trace: Any,
    *requests: ModelRequest,
    clock: Clock | None = None,
    seconds: float = 600.0,
    timeout: float = 60.0,
) -> list[Any]:
    """The outcomes, replies or errors, of requests made at the same time."""
    time = clock or SystemClock()
    model = ClaudeModel(Access(key="llmock-test-key", base_url=url, timeout_s=timeout), default_models())

    async def run() -> list[Any]:
        policy = RetryPolicy(first_wait_s=FIRST_WAIT_S)
        config = ClientConfig(
            time, Deadline(time, seconds), SpendLedger(), MemoryJournal(), trace, default_models(), retry=policy
        )
        asked = build_client(model, config)
        return list(await asyncio.gather(*(asked.ask(each) for each in requests), return_exceptions=True))

    return asyncio.run(run())


@pytest.fixture
def far(llmock: LLMock) -> LLMock:
    return llmock.tool_mode("off")


FAULTS: dict[str, Callable[[Any], object]] = {
    "a rate limit": lambda far: far.rate_limit(times=2, retry_after=0.1),
    "an overload": lambda far: far.fail(529, times=2, retry_after=0.05),
    "an outage of one moment": lambda far: far.fail(503, retry_after=0.05),
    "an internal error": lambda far: far.fail(500, retry_after=0.05),
    "a stream cut short": lambda far: far.truncate(after_chunks=3),
    # Once: of two, the waits are measured, and a busy machine makes the shorter one longer. That waits grow is held by
    # a clock of our own in test_retry.py.
    "a dropped connection": lambda far: far.disconnect(after_chunks=2),
    # Paced, so that the server is still sending, and sees that we stopped reading.
    "a corrupted chunk": lambda far: far.pace(20).corrupt(after_chunks=3),
    "two faults in turn": lambda far: far.fail(529, retry_after=0.05).truncate(after_chunks=1),
}


@pytest.mark.parametrize("fault", one_fast(FAULTS))
def test_a_passing_fault_is_overcome_and_nothing_is_held_against_us(
    far: LLMock, a_request: MakeRequest, trace: Any, fault: str
) -> None:
    FAULTS[fault](far)
    (reply,) = ask(far.base_url("anthropic"), trace, a_request())
    assert isinstance(reply, ModelReply)
    assert reply.stop == "end"
    assert len(far.requests) > 1
    far.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_lasting_fault_is_not_tried_again(far: LLMock, a_request: MakeRequest, trace: Any, status: int) -> None:
    far.fail(status, times=None)
    (error,) = ask(far.base_url("anthropic"), trace, a_request())
    assert isinstance(error, EngineError)
    assert not isinstance(error, TransientError)
    assert len(far.requests) == 1
    far.assert_resilient(strict=True)


@pytest.mark.parametrize(("status", "retry_after", "tries"), [(529, 0.05, 8), (500, None, 4)])
def test_an_outage_ends_in_an_error_after_a_few_tries(
    far: LLMock, a_request: MakeRequest, trace: Any, clock: Any, status: int, retry_after: float | None, tries: int
) -> None:
    far.fail(status, times=None, retry_after=retry_after)
    (error,) = ask(far.base_url("anthropic"), trace, a_request(), clock=clock, seconds=600.0)
    assert isinstance(error, ProviderError)
    assert f"({tries} tries in a row)" in str(error)
    assert len(far.requests) == tries


def test_a_stream_that_hangs_is_left_and_asked_for_again(far: LLMock, a_request: MakeRequest, trace: Any) -> None:
    far.stall(after_chunks=1, seconds=5)
    (reply,) = ask(far.base_url("anthropic"), trace, a_request(), timeout=2.0)
    assert isinstance(reply, ModelReply)
    far.assert_resilient(strict=True)


def test_a_broken_call_of_a_tool_is_no_answer(llmock: LLMock, a_request: MakeRequest, trace: Any) -> None:
    llmock.call_tool("read_file", {"path": "a.py"}).break_tool_call("malformed_arguments")
    (error,) = ask(llmock.base_url("anthropic"), trace, a_request(tools=(READ,)))
    assert type(error) is EngineError
    assert "no JSON object" in str(error)
    llmock.assert_resilient(strict=True)


def test_many_requests_into_a_tight_limit_all_arrive(far: LLMock, a_request: MakeRequest, trace: Any) -> None:
    far.rate_limit(times=3, retry_after=0.2)
    replies = ask(far.base_url("anthropic"), trace, *(a_request(f"question {n}") for n in range(6)))
    assert [type(reply) for reply in replies] == [ModelReply] * 6
    far.assert_resilient(strict=True)


class Narrow:
    """Answers so many requests at a time and refuses the others for their rate."""

    def __init__(self, places: int) -> None:
        self._places = Semaphore(places)
        self._full = Event()
        self.refused = 0

    def __call__(self, _body: object) -> Scripted:
        if not self._places.acquire(blocking=False):
            self.refused += 1
            self._full.set()
            return failed(429, "rate_limit_error", retry_after_ms="20")
        self._full.wait(PATIENCE_S)  # the first answers wait for a request too many
        sleep(ANSWER_S)
        self._places.release()
        return said("yes")


@pytest.mark.slow
def test_the_calls_in_flight_adapt_to_a_provider_that_takes_few_at_a_time(
    messages_api: MessagesApi, a_request: MakeRequest, trace: Any
) -> None:
    messages_api.otherwise = narrow = Narrow(5)
    replies = ask(messages_api.url, trace, *(a_request(f"question {n}") for n in range(24)))
    assert [type(reply) for reply in replies] == [ModelReply] * 24
    assert 0 < narrow.refused < 24


def test_a_wish_to_wait_for_an_hour_ends_the_call_at_once(
    messages_api: MessagesApi, a_request: MakeRequest, trace: Any, clock: Any
) -> None:
    messages_api.script(failed(429, "rate_limit_error", retry_after="3600"))
    (error,) = ask(messages_api.url, trace, a_request(), clock=clock, seconds=600.0)
    assert isinstance(error, ProviderError)
    assert "it can be asked again in 3600 s, and the review has 600 s left" in str(error)
    assert clock.slept == []
    assert [event["error"] for event in trace.of("call_failed")] == ["ProviderError"]


def test_an_answer_that_comes_too_late_is_not_waited_for(
    messages_api: MessagesApi, a_request: MakeRequest, trace: Any
) -> None:
    late, gate = held(said("late"))
    messages_api.script(late)
    (error,) = ask(messages_api.url, trace, a_request(), seconds=0.2)
    gate.set()
    assert isinstance(error, DeadlineError)


def test_equal_questions_reach_the_api_once(messages_api: MessagesApi, a_request: MakeRequest, trace: Any) -> None:
    messages_api.script(replace(said("yes"), model="claude-sonnet-5-5"))
    replies = ask(messages_api.url, trace, *[a_request()] * 3)
    assert [reply.text for reply in replies] == ["yes"] * 3
    assert sorted(reply.stored for reply in replies) == [False, True, True]
    assert len(messages_api.asked) == 1
