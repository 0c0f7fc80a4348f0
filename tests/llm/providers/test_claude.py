"""What is sent to a Messages API, and what is made of its answers, over real sockets."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import AccountError, ConfigError, EngineError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest, OfferedTool, Text, ToolAnswer, ToolCall, Turn
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.llm.providers.claude.sdk import Sdk
from reviewbot.llm.providers.claude.sdk_process import client_of
from reviewbot.llm.providers.claude.wire import Assembly, params_of, reply_of
from reviewbot.prices import Price, PriceTable, default_models, packaged_prices
from tests.messages_api import MessagesApi, Scripted, answered, called, problems_of, said

KEY = "sk-test-canary-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
READ = OfferedTool("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
MODELS = default_models()


def asked(api: MessagesApi, *requests: ModelRequest, **fields: Any) -> list[ModelReply]:
    """The answers to some requests, one after the other."""
    model = ClaudeModel(Access(key=KEY, base_url=api.url, **fields), MODELS, packaged_prices())

    async def run() -> list[ModelReply]:
        return [await model.ask(request) for request in requests]

    return asyncio.run(run())


def test_an_answer_comes_back_with_its_text_its_usage_and_its_price(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 50,
        "cache_read_input_tokens": 1_000,
        "cache_creation_input_tokens": 200,
    }
    messages_api.script(said("It is ", "fine.", usage=usage))
    (reply,) = asked(messages_api, a_request())
    cost = (100 * 2 + 50 * 10 + 1_000 * 0.1 + 200 * 2.5) / 1e6
    assert (reply.text, reply.stop, reply.calls, reply.stored) == ("It is fine.", "end", (), False)
    assert reply.model == MODELS["medium"]
    assert reply.usage == Usage(
        calls=1, input_tokens=100, output_tokens=50, cached_tokens=1_000, cache_write_tokens=200, cost_usd=cost
    )


def test_a_request_is_sent_as_the_api_wants_it(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(answered({"ok": True}))
    request = a_request(
        tier="large",
        system=(Text("Rules.", cached=True), Text("  ")),
        turns=(
            Turn("user", (Text("shared", cached=True), Text("own"))),
            Turn("assistant", (Text("I look."), ToolCall("t1", "read_file", {"path": "a.py"}))),
            Turn("user", (Text("and now?"), ToolAnswer("t1", "no such file", failed=True))),
        ),
        tools=(READ,),
        schema=SCHEMA,
    )
    asked(messages_api, request)
    (body,) = messages_api.bodies
    cache = {"type": "ephemeral"}
    assert body == {
        "model": MODELS["large"],
        "max_tokens": 1_000,
        "stream": True,
        "system": [{"type": "text", "text": "Rules.", "cache_control": cache}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "shared", "cache_control": cache},
                    {"type": "text", "text": "own"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": "no such file",
                        "is_error": True,
                        "cache_control": cache,
                    },
                    {"type": "text", "text": "and now?"},
                ],
            },
        ],
        "tools": [{"name": "read_file", "description": "Reads a file.", "input_schema": READ.schema}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_the_key_goes_into_its_header_and_nowhere_else(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(said("yes"))
    asked(messages_api, a_request())
    (request,) = messages_api.asked
    assert {name: value for name, value in request.headers.items() if KEY in value} == {
        "authorization": f"Bearer {KEY}"
    }
    assert KEY not in str(request.body)
    assert KEY not in request.path


def test_no_text_of_the_model_shows_the_key() -> None:
    model = ClaudeModel(Access(key=KEY, base_url=f"https://user:{KEY}@host"), MODELS)
    assert KEY not in repr(model)
    assert MODELS["large"] in repr(model)


@pytest.mark.parametrize("key", [None, "", "sk one", "sk\n", "sk-ö"])
def test_what_cannot_be_a_key_is_refused_before_it_is_sent(key: str | None) -> None:
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY") as caught:
        Access(key=key)
    assert not key or key not in str(caught.value)


def test_calls_of_tools_come_back_with_their_arguments(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(called(("read_file", {"path": "a.py"}), ("read_file", {})))
    (reply,) = asked(messages_api, a_request(tools=(READ,)))
    assert reply.stop == "tools"
    assert reply.calls == (ToolCall("toolu_1", "read_file", {"path": "a.py"}), ToolCall("toolu_2", "read_file", {}))


def test_what_a_model_thought_before_its_calls_goes_back_with_them_as_it_came(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "where is it?", "signature": "c2lnbmVk"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}},
        {"type": "redacted_thinking", "data": "aGlkZGVu"},
        {"type": "tool_use", "id": "t2", "name": "read_file", "input": {}},
    ]
    blank = {"type": "text", "text": " "}
    unsigned = {"type": "thinking", "thinking": "half of"}
    messages_api.script(Scripted((*blocks[:4], blank, unsigned, blocks[4]), stop="tool_use"), said("done"))
    (reply,) = asked(messages_api, a_request(tools=(READ,)))
    assert reply.text == "I look. "
    answers = tuple(ToolAnswer(call.call_id, "text") for call in reply.calls)
    turns = (*a_request().turns, Turn("assistant", (Text(reply.text), *reply.calls)), Turn("user", answers))
    asked(messages_api, a_request(tools=(READ,), turns=turns))
    assert messages_api.bodies[1]["messages"][1] == {"role": "assistant", "content": blocks}


def test_a_context_that_cannot_be_read_is_left_out(a_request: Callable[..., ModelRequest]) -> None:
    turns = (Turn("user", (Text("look"),)), Turn("assistant", (ToolCall("t", "read_file", {}, "{no json"),)))
    (_, message) = params_of(a_request(turns=turns), "some-model")["messages"]
    assert [block["type"] for block in message["content"]] == ["tool_use"]


@pytest.mark.parametrize("broken", ['{"path": ', "[1]", "nonsense", '"text"', "[" * 100_000])
def test_a_call_with_something_that_is_no_object_is_an_error(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest], broken: str
) -> None:
    messages_api.script(called(("read_file", broken)))
    with pytest.raises(EngineError, match="no JSON object"):
        asked(messages_api, a_request(tools=(READ,)))


def test_a_call_that_names_no_tool_at_all_is_an_error(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(said("I call it.", stop="tool_use"))
    with pytest.raises(EngineError, match="named none"):
        asked(messages_api, a_request(tools=(READ,)))


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context"),
        ("pause_turn", "other"),
        ("something_new", "other"),
    ],
)
def test_each_reason_to_stop_has_its_word(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest], reason: str, stop: str
) -> None:
    messages_api.script(said("so far", stop=reason))
    (reply,) = asked(messages_api, a_request())
    assert (reply.stop, reply.text) == (stop, "so far")


def test_a_call_that_was_cut_off_by_the_limit_of_tokens_is_told_as_that(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(called(("read_file", '{"pa'), stop="max_tokens"))
    (reply,) = asked(messages_api, a_request(tools=(READ,)))
    assert (reply.stop, reply.calls) == ("max_tokens", ())


def test_more_breakpoints_than_the_api_takes_are_thinned_in_the_middle(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(said("yes"))
    turns = (Turn("user", tuple(Text(f"part {n}", cached=True) for n in range(6))),)
    asked(messages_api, a_request(system=(Text("Rules.", cached=True),), turns=turns))
    (body,) = messages_api.bodies
    parts = body["messages"][0]["content"]
    assert [part["text"] for part in parts if "cache_control" in part] == ["part 0", "part 4", "part 5"]
    assert "cache_control" in body["system"][0]


def test_a_tools_answer_is_cached_only_where_the_caller_caches(a_request: Callable[..., ModelRequest]) -> None:
    turns = (Turn("user", (Text("look"),)), Turn("user", (ToolAnswer("t1", "text"),)))
    params = params_of(a_request(turns=turns), "some-model")
    assert "cache_control" not in params["messages"][1]["content"][0]


def test_half_a_surrogate_pair_does_not_spoil_a_request(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(said("yes"))
    turns = (Turn("user", (Text("a name: \udcff.py"),)), Turn("user", (ToolAnswer("t", "\ud800"),)))
    asked(messages_api, a_request(turns=turns))
    assert messages_api.bodies[0]["messages"][0]["content"][0]["text"] == "a name: ?.py"


def test_half_a_surrogate_pair_in_an_answer_costs_that_character_alone(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    thought = {"type": "thinking", "thinking": "\ud83d", "signature": "s"}
    blocks = [
        thought,
        {"type": "text", "text": "\ud83d\ude00 \ud800"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"a": "\udfff"}},
    ]
    whole = {"type": "message", "stop_reason": "tool_use", "usage": {}, "content": blocks}
    messages_api.script(replace(said(), body=json.dumps(whole).encode()), said("yes"))
    (reply,) = asked(messages_api, a_request())
    assert (reply.text, dict(reply.calls[0].arguments)) == ("\U0001f600 \ufffd", {"a": "\ufffd"})

    turns = (Turn("user", (Text("look"),)), Turn("assistant", reply.calls), Turn("user", (ToolAnswer("t", "x"),)))
    asked(messages_api, a_request(turns=turns))
    assert messages_api.bodies[1]["messages"][1]["content"][0]["thinking"] == "\ufffd"


def test_an_answer_that_was_not_streamed_after_all_is_read(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    blocks = [{"type": "text", "text": "ok"}, {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}]
    usage = {"input_tokens": 3, "output_tokens": 2}
    whole = {"type": "message", "model": "m-1", "stop_reason": "tool_use", "usage": usage, "content": blocks}
    messages_api.script(replace(said(), body=json.dumps(whole).encode()))
    (reply,) = asked(messages_api, a_request())
    assert (reply.text, reply.calls, reply.model) == ("ok", (ToolCall("t", "n", {"a": 1}),), "m-1")
    assert reply.usage == Usage(calls=1, input_tokens=3, output_tokens=2, cost_usd=(3 * 2 + 2 * 10) / 1e6)


def test_one_model_is_asked_from_several_event_loops(
    messages_api: MessagesApi, a_request: Callable[..., ModelRequest]
) -> None:
    messages_api.script(said("one"), said("two"))
    model = ClaudeModel(Access(key=KEY, base_url=messages_api.url), MODELS)
    assert [asyncio.run(model.ask(a_request())).text for _ in range(2)] == ["one", "two"]


def test_a_client_trusts_the_authorities_that_it_is_given() -> None:
    import anthropic  # noqa: PLC0415 - it takes two seconds

    trusted = ssl.create_default_context()

    async def authorities() -> object:
        client = client_of(anthropic, asdict(Access(key=KEY)), trusted)
        await client.close()
        return client._client._transport._pool._ssl_context

    assert asyncio.run(authorities()) is trusted


def test_authorities_that_cannot_be_read_are_the_settings_fault(
    a_request: Callable[..., ModelRequest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    model = ClaudeModel(Access(key=KEY, base_url="https://127.0.0.1:9"), MODELS, sdk=Sdk())

    with pytest.raises(AccountError, match=r"anthropic cannot be used \(FileNotFoundError\)"):
        asyncio.run(model.ask(a_request()))


def test_the_price_is_that_of_the_model_that_was_asked_where_the_answers_id_has_none() -> None:
    prices = PriceTable({"asked": Price(model="asked", input=1, output=1, cache_read=1, cache_write=1)})
    message = {"stop_reason": "end_turn", "model": "asked-20260101", "usage": {"input_tokens": 1_000_000}}
    assert reply_of(message, "asked", prices).usage.cost_usd == 1.0
    assert reply_of(message, "other", prices).usage.unpriced_calls == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                ["message_start", "content_block_start", "content_block_delta", "message_delta", "x"]
            )
        },
        optional={
            "index": JSON,
            "message": JSON | st.fixed_dictionaries({"model": JSON, "usage": JSON, "stop_reason": JSON}),
            "content_block": JSON
            | st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use"]), "text": JSON}),
            "delta": JSON | st.fixed_dictionaries({"text": JSON, "partial_json": JSON, "stop_reason": JSON}),
            "usage": JSON | st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), JSON),
        },
    ),
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=40)
@given(EVENTS)
def test_whatever_events_come_the_outcome_is_an_answer_or_an_error_of_ours(events: list[dict[str, Any]]) -> None:
    assembly = Assembly()
    for event in events:
        assembly.feed(event)
    try:
        reply = reply_of(assembly.message(), "asked", PriceTable())
    except (TransientError, EngineError):
        return
    assert isinstance(reply.text, str)
    assert reply.usage.calls == 1


PARTS = st.one_of(
    st.builds(Text, st.text(max_size=20), st.booleans()),
    st.builds(ToolAnswer, st.just("t1"), st.text(max_size=20), st.booleans()),
)


@given(
    st.lists(PARTS, min_size=1, max_size=8), st.lists(st.builds(Text, st.text(max_size=9), st.booleans()), max_size=6)
)
def test_every_request_fits_the_types_of_the_sdk(
    a_request: Callable[..., ModelRequest], parts: list[Text | ToolAnswer], system: list[Text]
) -> None:
    turns = (Turn("user", (Text("begin"),)), Turn("user", tuple(parts)))
    request = a_request(system=tuple(system), turns=turns, tools=(READ,), schema=SCHEMA)
    assert list(problems_of({**params_of(request, "some-model"), "stream": True})) == []
