"""Convert a request to the API's form, and the API's answer to a `ModelReply`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import EngineError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest, StopReason, Text, ToolAnswer, ToolCall, Turn
from reviewbot.prices import PriceTable
from reviewbot.strict_json import mend_surrogates

Json = dict[str, Any]

MAX_BREAKPOINTS = 4
"""What the API allows in one request: https://platform.claude.com/docs/en/build-with-claude/prompt-caching."""

STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context",
}
"""Ours by the API's. Any other is "other": also `pause_turn`, for we offer no tool that runs over there."""

REPORTING = frozenset({"message_start", "message_delta"})
"""Types of events that report usage."""

_MODEL_ID = re.compile(r"[A-Za-z0-9._:@/-]{1,100}")
_CACHE = {"type": "ephemeral"}
_GROWING = {"text": "text", "partial_json": "json", "thinking": "thinking", "signature": "signature"}
"""What a delta adds to, by its own name for it."""

_ECHOED = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",), "text": ("text",)}
"""Kinds of blocks that go back as they came, and their parts: the API wants to have a model's thinking again together
with the answers to its calls, complete and in its place. It is signed, and tells us nothing.
https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows
"""


def params_of(request: ModelRequest, model: str) -> Json:
    """The body of a request, but for `stream`."""
    system = [_text(part) for part in request.system if part.text.strip()]
    messages = [message for turn in request.turns if (message := _message(turn))["content"]]
    params: Json = {"model": model, "max_tokens": request.max_tokens, "messages": messages}
    if system:
        params["system"] = system
    if request.tools:
        params["tools"] = [
            {"name": tool.name, "description": plain(tool.description), "input_schema": dict(tool.schema)}
            for tool in request.tools
        ]
    if request.schema is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
    _set_breakpoints(request, system, messages)
    return params


def plain(text: str) -> str:
    """Text that has an encoding: halves of surrogate pairs, as file names can hold them, have none."""
    return text.encode("utf-8", "replace").decode()


def _message(turn: Turn) -> Json:
    if any(isinstance(part, ToolCall) and part.context for part in turn.parts):
        # What was said along with these calls stands in their context, in its place.
        calls = [part for part in turn.parts if isinstance(part, ToolCall)]
        return {"role": turn.role, "content": [block for call in calls for block in (*_before(call), _block(call))]}
    # The API wants the answers to its calls before anything else, and refuses text that is blank.
    answers = [_block(part) for part in turn.parts if isinstance(part, ToolAnswer)]
    others = [_block(part) for part in turn.parts if _is_said(part)]
    return {"role": turn.role, "content": answers + others}


def _before(call: ToolCall) -> list[Json]:
    found = _read(call.context)
    return found if isinstance(found, list) else []


def _is_said(part: Text | ToolCall | ToolAnswer) -> bool:
    return bool(part.text.strip()) if isinstance(part, Text) else isinstance(part, ToolCall)


def _block(part: Text | ToolCall | ToolAnswer) -> Json:
    match part:
        case Text():
            return _text(part)
        case ToolCall():
            return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": dict(part.arguments)}
        case ToolAnswer():
            block: Json = {"type": "tool_result", "tool_use_id": part.call_id, "content": plain(part.text)}
            return {**block, "is_error": True} if part.failed else block


def _text(part: Text) -> Json:
    block: Json = {"type": "text", "text": plain(part.text)}
    return {**block, "cache_control": dict(_CACHE)} if part.cached else block


def _set_breakpoints(request: ModelRequest, system: list[Json], messages: list[Json]) -> None:
    """Keep to the number of breakpoints: the first half serves other requests, the second this conversation.

    Where something is cached and the last thing said is a tool's answer, the cache reaches to there, for the next turn
    will send all of this again.
    """
    blocks = [*system, *(block for message in messages for block in message["content"])]
    marked = [block for block in blocks if "cache_control" in block]
    last = request.turns[-1].parts[-1] if request.turns and request.turns[-1].parts else None
    if marked and isinstance(last, ToolAnswer):
        end = [block for block in messages[-1]["content"] if block["type"] == "tool_result"][-1]
        end["cache_control"] = dict(_CACHE)
        marked.append(end)
    half = MAX_BREAKPOINTS // 2
    for block in marked[half:-half] if len(marked) > MAX_BREAKPOINTS else []:
        del block["cache_control"]


class Assembly:
    """An answer, put together from the events of a stream. Nothing in an event is believed to be there."""

    def __init__(self) -> None:
        self._blocks: dict[int, Json] = {}
        self._message: Json = {}
        self._usage: Json = {}

    def feed(self, event: Mapping[str, object]) -> None:
        """Take one event; those that are not known tell nothing that we need."""
        index = event.get("index")
        place = index if isinstance(index, int) else -1
        match event.get("type"):
            case "message_start":
                self._message.update(_object(event.get("message")))
                self._count(self._message.get("usage"))
            case "content_block_start":
                self._blocks[place] = {**_object(event.get("content_block")), "json": ""}
            case "content_block_delta":
                self._grow(self._blocks.setdefault(place, {"json": ""}), _object(event.get("delta")))
            case "message_delta":
                self._message.update(_object(event.get("delta")))
                self._count(event.get("usage"))

    def usage_fields(self) -> Json:
        """The part of the answer from which `usage_of` reads; empty as long as no usage was reported."""
        return {**self._message, "usage": self._usage} if self._usage else {}

    def message(self) -> Json:
        """The answer so far, as one that was not streamed, but with the input of tools as `json`, unread."""
        blocks = [self._blocks[place] for place in sorted(self._blocks)]
        return {**self._message, "content": blocks, "usage": self._usage}

    def _count(self, usage: object) -> None:
        """Counts are totals: a later one stands in place of the earlier."""
        self._usage.update({key: value for key, value in _object(usage).items() if value is not None})

    def _grow(self, block: Json, delta: Json) -> None:
        for source, piece in delta.items():
            if source in _GROWING and isinstance(piece, str):
                key = _GROWING[source]
                block[key] = f"{block.get(key, '')}{piece}"


def reply_of(message: Mapping[str, Any], asked: str, prices: PriceTable) -> ModelReply:
    """The answer as a value. `asked` is the id of the model that was asked.

    Raises TransientError where it was cut off on its way, EngineError where a tool's input is no JSON object.
    """
    reason = message.get("stop_reason")
    if reason is None:
        raise TransientError("the answer broke off before its end")
    stop = STOPS.get(str(reason), "other")
    # The conversation goes back to the API, which takes whole characters alone.
    found = mend_surrogates(message.get("content"))
    blocks = [block for block in found if isinstance(block, dict)] if isinstance(found, list) else []
    text = "".join(
        part for block in blocks if block.get("type") == "text" and isinstance(part := block.get("text"), str)
    )
    # What was cut off may end amid a call; the reason for that is more to the point.
    calls = tuple(_tool_calls(blocks)) if stop == "tools" else ()
    if stop == "tools" and not calls:
        raise EngineError("the model wanted a tool called, and named none")
    return ModelReply(text, calls, stop, usage_of(message, asked, prices), _model(message, asked))


def usage_of(message: Mapping[str, Any], asked: str, prices: PriceTable) -> Usage:
    """What an answer, or the beginning of one, reports of the call. Counts that are not numbers are 0."""
    found = _object(message.get("usage"))
    used = Usage(
        calls=1,
        input_tokens=_count(found, "input_tokens"),
        output_tokens=_count(found, "output_tokens"),
        cached_tokens=_count(found, "cache_read_input_tokens"),
        cache_write_tokens=_count(found, "cache_creation_input_tokens"),
    )
    # The answer may name a dated id of the model, which the table need not have.
    models = (_model(message, asked), asked)
    cost = next((cost for model in models if (cost := prices.cost(model, used)) is not None), None)
    return used.model_copy(update={"unpriced_calls": 1} if cost is None else {"cost_usd": cost})


def _model(message: Mapping[str, Any], asked: str) -> str:
    said = message.get("model")
    return said if isinstance(said, str) and _MODEL_ID.fullmatch(said) else asked


def _tool_calls(blocks: list[Json]) -> Iterator[ToolCall]:
    before: list[Json] = []
    for block in blocks:
        if block.get("type") != "tool_use":
            before += _echo(block)
            continue
        call_id, name = block.get("id"), block.get("name")
        arguments = _read(block["json"]) if block.get("json") else block.get("input")
        if not isinstance(call_id, str) or not isinstance(name, str) or not isinstance(arguments, dict):
            raise EngineError("the model called a tool with something that is no JSON object")
        thought = any(each["type"] != "text" for each in before)
        yield ToolCall(call_id, name, arguments, json.dumps(before) if thought else "")
        before = []


def _echo(block: Json) -> list[Json]:
    """The block as it goes back; nothing of one that is of another kind, is not whole, or says nothing."""
    keys = _ECHOED.get(str(block.get("type")), ())
    parts = {key: block[key] for key in keys if isinstance(block.get(key), str)}
    silent = "text" in keys and not str(parts.get("text", "")).strip()
    return [] if not keys or len(parts) < len(keys) or silent else [{"type": block["type"], **parts}]


def _read(text: str) -> object:
    try:
        return mend_surrogates(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _count(found: Json, key: str) -> int:
    value = found.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _object(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else {}
