"""What goes wrong between us and a model's API, and what we say of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import AccountError, CallRejectedError, EngineError, TooLongError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.errors import PAUSE_S, retry_after_s
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.llm.providers.claude.sdk import Part, Sdk
from reviewbot.llm.providers.claude.sdk_process import SdkServer
from reviewbot.prices import default_models, packaged_prices
from tests.make import MakeRequest
from tests.messages_api import MessagesApi, Scripted, failed, held, said

KEY = "sk-test-canary-0123456789"
SECRET_BODY = "a body with sk-test-canary in it"


def ask(url: str, request: ModelRequest, **fields: Any) -> ModelReply:
    model = ClaudeModel(Access(**{"key": KEY, "base_url": url, **fields}), default_models())

    return asyncio.run(model.ask(request))


def fault(api: MessagesApi, request: ModelRequest, *answers: Scripted, **fields: Any) -> EngineError:
    """The error that comes of these answers. It is one line, and holds nothing of a body or a key."""
    api.script(*answers)
    with pytest.raises(EngineError) as caught:
        ask(api.url, request, **fields)
    said_of_it = str(caught.value)
    assert "\n" not in said_of_it
    assert "canary" not in said_of_it
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_passing_failure_may_be_tried_again_and_we_alone_try(
    messages_api: MessagesApi, a_request: MakeRequest, status: int
) -> None:
    error = fault(messages_api, a_request(), failed(status, message=SECRET_BODY, retry_after="7"))
    assert isinstance(error, TransientError)
    assert (error.retry_after_s, error.throttled) == (7.0, True)
    assert str(status) in str(error)
    assert len(messages_api.asked) == 1


@pytest.mark.parametrize("status", [429, 529])
def test_a_provider_that_is_full_and_names_no_time_is_waited_for_all_the_same(
    messages_api: MessagesApi, a_request: MakeRequest, status: int
) -> None:
    error = fault(messages_api, a_request(), failed(status))
    assert isinstance(error, TransientError)
    assert (error.retry_after_s, error.throttled) == (PAUSE_S, True)


def test_a_server_error_that_names_no_time_is_not_throttled(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    error = fault(messages_api, a_request(), failed(500))
    assert isinstance(error, TransientError)
    assert (error.retry_after_s, error.throttled) == (None, False)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, CallRejectedError, "refused the request"),
        (401, AccountError, "ANTHROPIC_API_KEY"),
        (402, AccountError, "no credit"),
        (403, AccountError, "ANTHROPIC_API_KEY"),
        (404, AccountError, "claude-sonnet-5-5 of tier medium"),
        (413, TooLongError, "larger than the model reads"),
        (422, CallRejectedError, "refused the request"),
        (307, AccountError, "points elsewhere"),
    ],
)
def test_a_lasting_failure_says_what_to_check(
    messages_api: MessagesApi, a_request: MakeRequest, status: int, kind: type[EngineError], words: str
) -> None:
    error = fault(messages_api, a_request(), failed(status, message=SECRET_BODY))
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("prompt is too long: 1200000 tokens > 1000000 maximum", "larger than the model reads"),
        ("Your credit balance is too low", "no credit"),
    ],
)
def test_two_refusals_that_a_person_can_act_on_are_told_apart(
    messages_api: MessagesApi, a_request: MakeRequest, message: str, words: str
) -> None:
    assert words in str(fault(messages_api, a_request(), failed(400, "invalid_request_error", message)))


def test_a_spent_account_is_no_rate_limit(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    body = b'{"error": {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}}'
    error = fault(messages_api, a_request(), Scripted(status=429, body=body))
    assert isinstance(error, AccountError)
    assert "limit of spending" in str(error)


def asked_in_turn(model: Any, *requests: ModelRequest) -> list[EngineError]:
    """The errors of some requests, one after the other."""

    async def run() -> list[EngineError]:
        errors: list[EngineError] = []
        for request in requests:
            try:
                await model.ask(request)
            except EngineError as error:
                errors.append(error)
        return errors

    return asyncio.run(run())


@pytest.mark.parametrize("ending", ["truncated", "broken"])
def test_what_was_reported_before_an_answer_broke_off_is_passed_on(
    messages_api: MessagesApi, a_request: MakeRequest, ending: Any
) -> None:
    reports: list[Usage] = []
    answer = replace(said("half of"), ending=ending, usage={"input_tokens": 12, "cache_read_input_tokens": 700})
    fault(messages_api, replace(a_request(), on_usage=reports.append), answer)
    assert [(used.calls, used.input_tokens, used.cached_tokens) for used in reports] == [(1, 12, 700)]


@pytest.mark.parametrize("status", [429, 500, 529])
def test_of_a_call_that_failed_nothing_is_reported(
    messages_api: MessagesApi, a_request: MakeRequest, status: int
) -> None:
    reports: list[Usage] = []
    fault(messages_api, replace(a_request(), on_usage=reports.append), failed(status))
    assert reports == []


class ForeignError(Exception):
    """An error of a provider's own library, as those of google-auth and botocore are: no kin of any that we know."""


WHOLE = ("APIStatusError", "APITimeoutError", "APIConnectionError", "Timeout")
"""What is as it was in an SDK that breaks."""


class Breaking:
    """An SDK whose clients, or their calls, fail in a library that it uses."""

    def __init__(self, *, at_once: bool) -> None:
        import anthropic  # noqa: PLC0415 - as the program, not before it is needed

        self.at_once = at_once
        self.DefaultAsyncHttpxClient = SimpleNamespace
        for name in WHOLE:
            setattr(self, name, getattr(anthropic, name))

    def AsyncAnthropic(self, **_fields: object) -> Any:  # noqa: N802 - the SDK's name
        if self.at_once:
            raise ForeignError(f"cannot log in with {KEY}")
        return SimpleNamespace(messages=SimpleNamespace(create=self._create))

    async def _create(self, **_fields: object) -> Any:
        raise ForeignError(f"cannot log in with {KEY}")


@pytest.mark.parametrize(("at_once", "kind"), [(True, "unusable"), (False, "rejected")])
def test_a_foreign_error_is_told_by_its_type_alone(kind: str, *, at_once: bool) -> None:
    ours, theirs = Pipe()
    sdk: Any = Breaking(at_once=at_once)
    server = Thread(target=lambda: asyncio.run(SdkServer(theirs, sdk).serve()))
    server.start()
    ours.send((1, asdict(Access(key=KEY)), {}))

    assert ours.recv() == (1, kind, "ForeignError")
    ours.close()
    server.join(10)
    assert not server.is_alive()


@pytest.mark.parametrize(("part", "kind"), [("unusable", AccountError), ("rejected", CallRejectedError)])
def test_an_error_of_a_library_names_what_to_check(a_request: MakeRequest, part: str, kind: type[EngineError]) -> None:
    class Answering(Sdk):
        async def answer(self, *_: object) -> AsyncGenerator[Part, None]:
            yield part, "ForeignError"

    (error,) = asked_in_turn(ClaudeModel(Access(key=KEY), default_models(), sdk=Answering()), a_request())

    assert type(error) is kind
    assert str(error) == "anthropic cannot be used (ForeignError): check ANTHROPIC_API_KEY"


def test_a_text_block_without_text_says_nothing(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    body = b'{"content": [{"type": "text"}], "stop_reason": "end_turn", "usage": {}}'
    answer = replace(said(), body=body, headers={"content-type": "application/json"})
    messages_api.script(answer)
    assert ask(messages_api.url, a_request()).text == ""


def test_numbers_beyond_all_measure_are_an_error_of_the_answer(
    messages_api: MessagesApi, a_request: MakeRequest
) -> None:
    body = b'{"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 1' + b"0" * 400 + b"}}"
    messages_api.script(replace(said(), body=body, headers={"content-type": "application/json"}))
    model = ClaudeModel(Access(key=KEY, base_url=messages_api.url), default_models(), packaged_prices())
    with pytest.raises(TransientError, match="cannot be read"):
        asyncio.run(model.ask(a_request()))


def test_an_event_that_is_nested_too_deeply_to_be_sent_on_cannot_be_read(
    messages_api: MessagesApi, a_request: MakeRequest
) -> None:
    body = b'event: ping\ndata: {"type": "ping", "x": ' + b"[" * 900 + b"]" * 900 + b"}\n\n"
    messages_api.script(replace(said(), body=body, headers={"content-type": "text/event-stream"}))
    with pytest.raises(TransientError, match="cannot be read"):
        ask(messages_api.url, a_request())


def test_a_redirect_takes_the_key_nowhere(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    with MessagesApi() as elsewhere:
        target = elsewhere.url.replace("127.0.0.1", "localhost")
        error = fault(messages_api, a_request(), failed(307, location=f"{target}/v1/messages"))
    assert "points elsewhere" in str(error)
    assert elsewhere.asked == []


@pytest.mark.parametrize("ending", ["truncated", "broken", "dropped"])
def test_an_answer_that_breaks_off_may_be_asked_for_again(
    messages_api: MessagesApi, a_request: MakeRequest, ending: Any
) -> None:
    answer = replace(said("half of"), ending=ending)
    assert isinstance(fault(messages_api, a_request(), answer), TransientError)


@pytest.mark.parametrize(
    ("kind", "passing"),
    [("overloaded_error", True), ("api_error", True), ("unheard_of", True), ("invalid_request_error", False)],
)
def test_an_error_amid_a_stream_is_one_of_its_type(
    messages_api: MessagesApi, a_request: MakeRequest, kind: str, *, passing: bool
) -> None:
    data = f'{{"type": "error", "error": {{"type": "{kind}", "message": "{SECRET_BODY}"}}}}'
    error = fault(messages_api, a_request(), replace(said("half"), extra=(("error", data),)))
    assert isinstance(error, TransientError) == passing


@pytest.mark.parametrize("data", ["{}", '{"type": "message_stop"}', '{"error": "text"}', "[1]", "no JSON", '"text"'])
def test_an_error_amid_a_stream_that_says_nothing_of_itself_may_pass(
    messages_api: MessagesApi, a_request: MakeRequest, data: str
) -> None:
    answer = replace(said("half"), extra=(("error", data),), ending="truncated")
    assert isinstance(fault(messages_api, a_request(), answer), TransientError)


def test_a_rate_limit_amid_a_stream_is_waited_for(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    data = '{"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}'
    error = fault(messages_api, a_request(), replace(said("half"), extra=(("error", data),)))
    assert isinstance(error, TransientError)
    assert error.retry_after_s == PAUSE_S


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_an_event_that_is_nested_without_end_is_no_answer(
    messages_api: MessagesApi, a_request: MakeRequest, opening: str
) -> None:
    answer = replace(said("half"), extra=(("content_block_delta", opening * 100_000),), ending="truncated")
    assert isinstance(fault(messages_api, a_request(), answer), TransientError)


def test_a_stream_that_is_not_called_one_is_left_to_the_sdk(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    messages_api.script(replace(said("whole"), headers={"content-type": "application/octet-stream"}))
    assert ask(messages_api.url, a_request()).text == "whole"


def test_a_ping_amid_an_answer_changes_nothing(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    messages_api.script(replace(said("whole"), extra=(("ping", '{"type": "ping"}'), ("later", '{"type": "later"}'))))
    assert ask(messages_api.url, a_request()).text == "whole"


@pytest.mark.parametrize(
    ("kind", "passing"), [("overloaded_error", True), ("unheard_of", True), ("authentication_error", False)]
)
def test_an_error_in_an_answer_with_status_200_is_an_error(
    messages_api: MessagesApi, a_request: MakeRequest, kind: str, *, passing: bool
) -> None:
    answer = replace(failed(200, kind, SECRET_BODY), status=200)
    assert isinstance(fault(messages_api, a_request(), answer), TransientError) == passing


@pytest.mark.parametrize("data", ["{not json", "[1, 2]", '"text"', '{"type": "content_block_delta"}'])
def test_garbage_amid_a_stream_is_no_answer(messages_api: MessagesApi, a_request: MakeRequest, data: str) -> None:
    answer = replace(said("half"), extra=(("content_block_delta", data),), ending="truncated")
    assert isinstance(fault(messages_api, a_request(), answer), TransientError)


@pytest.mark.parametrize(("body", "passing"), [(b"<html>", True), (b"[]", False), (b"{}", True), (b"\xff", True)])
def test_garbage_in_place_of_a_stream_is_no_answer(
    messages_api: MessagesApi, a_request: MakeRequest, body: bytes, *, passing: bool
) -> None:
    answer = replace(said(), body=body)
    assert isinstance(fault(messages_api, a_request(), answer), TransientError) == passing


def test_bytes_that_are_no_utf_8_amid_a_stream_are_no_answer(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    answer = replace(
        said(), body=b"event: message_start\ndata: \xff\n\n", headers={"content-type": "text/event-stream"}
    )
    assert isinstance(fault(messages_api, a_request(), answer), TransientError)


def test_a_silence_before_or_amid_an_answer_ends_by_our_own_timeout(
    messages_api: MessagesApi, a_request: MakeRequest
) -> None:
    answer, gate = held(said("late"))
    error = fault(messages_api, a_request(), answer, timeout_s=0.05)
    gate.set()
    assert isinstance(error, TransientError)
    assert "in time" in str(error)


def test_nobody_at_the_address_may_be_a_passing_failure(a_request: MakeRequest) -> None:
    with pytest.raises(TransientError, match="cannot be reached"):
        ask("http://127.0.0.1:9", a_request())


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for_is_read_in_all_its_forms(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after_s(headers) == wait


def test_a_date_to_wait_for_counts_from_now() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wait = retry_after_s({"retry-after": date})
    assert wait is not None
    assert 3_000 < wait <= 3_600


def test_a_provider_without_its_settings_is_told_as_that(
    a_request: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EngineError, match=r"bedrock cannot be used .*AWS_REGION.*anthropic\[bedrock\]"):
        ask("http://127.0.0.1:9", a_request(), provider="bedrock")


def test_a_provider_without_its_library_is_told_as_that(
    a_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("google", "botocore", "boto3"):
        (tmp_path / f"{name}.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sdk = Sdk()
    for provider in ("vertex", "bedrock"):
        with pytest.raises(EngineError, match=rf"{provider} cannot be used .*anthropic\[{provider}\]"):
            asyncio.run(
                ClaudeModel(Access(provider, region="us-east-1", project="p"), default_models(), sdk=sdk).ask(
                    a_request()
                )
            )


def test_vertex_is_asked_with_its_token_below_its_own_path(messages_api: MessagesApi, a_request: MakeRequest) -> None:
    fields = {"provider": "vertex", "region": "global", "project": "p1"}
    error = fault(messages_api, a_request(), failed(401, "authentication_error"), **fields)
    assert "Google Cloud credentials" in str(error)
    messages_api.script(said("yes"))
    assert ask(messages_api.url, a_request(), **fields).text == "yes"
    path = "/projects/p1/locations/global/publishers/anthropic/models/claude-sonnet-5-5"
    for asked in messages_api.asked:
        assert asked.path.startswith(path)
        assert asked.headers["authorization"] == f"Bearer {KEY}"
