"""Cache answers in the journal, by the hash of everything that they depend on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from pydantic import Field, ValidationError

from reviewbot.domain.contracts import Contract, Tier, Usage
from reviewbot.domain.contracts.answers import ProposedPlan, ReviewAnswer
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Journal, Model, ModelReply, ModelRequest, ToolCall
from reviewbot.llm.client.answers import read_answer, schema_of
from reviewbot.llm.client.requests import digest
from reviewbot.strict_json import mend_surrogates

PREFIX = "model/"
"""How the journal's keys of answers begin."""

ANSWER_TYPES: tuple[type[Contract], ...] = (ReviewAnswer, ProposedPlan)
"""The contracts of answers. A request carries only the schema, which leaves out the bounds."""

_VERSION: Literal[2] = 2


class _Stored(Contract):
    """An answer as the journal has it."""

    v: Literal[2]
    text: str
    calls: tuple[tuple[str, str, dict[str, Any], str], ...]
    stop: Literal["end", "tools"]
    """The reasons after which an answer is complete."""
    model: str
    written: int = Field(ge=0)


class CachingModel:
    """Returns a stored answer where there is one; equal requests at the same time are sent once.

    `models` are the ids by tier, `origin` is what serves them (a base URL): both are part of the key. Only valid
    answers are stored. A stored value that cannot be read, or is no longer valid, is treated as a cache miss.
    """

    def __init__(self, inner: Model, journal: Journal, models: Mapping[Tier, str], origin: str = "") -> None:
        self._inner = inner
        self._journal = journal
        self._models = models
        self._origin = origin
        self._asking: dict[str, asyncio.Future[ModelReply | None]] = {}

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`; `stored` and without usage where nothing was sent for this caller."""
        key = PREFIX + digest(request, self._models[request.tier], self._origin)
        while (other := self._asking.get(key)) is not None:
            if (shared := await asyncio.shield(other)) is not None:
                return _free(shared)
        mine = asyncio.get_running_loop().create_future()
        self._asking[key] = mine
        try:
            reply = await self._fetch(key, request)
        except EngineError as error:
            mine.set_exception(error)
            mine.exception()  # it is raised here; no other caller need be waiting for it
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            del self._asking[key]
            if not mine.done():
                mine.set_result(None)  # this caller was cancelled: the next one sends the request

    async def _fetch(self, key: str, request: ModelRequest) -> ModelReply:
        value = await asyncio.to_thread(self._journal.get, key)
        if value is not None and (stored := _read(value)) is not None and _usable(request, stored):
            return stored
        reply = await self._inner.ask(request)
        if _usable(request, reply):
            calls = [(call.call_id, call.name, call.arguments, call.context) for call in reply.calls]
            record: dict[str, object] = {"text": reply.text, "calls": calls, "stop": reply.stop, "model": reply.model}
            record |= {"v": _VERSION, "written": reply.usage.output_tokens}
            await asyncio.to_thread(self._journal.put, key, json.dumps(mend_surrogates(record)))
        return reply


def _usable(request: ModelRequest, reply: ModelReply) -> bool:
    """Whether an answer is valid for its request. Storing an invalid one would repeat its failure."""
    if reply.stop == "tools":
        return bool(request.tools and reply.calls)
    if reply.stop != "end":
        return False
    shape = None if request.schema is None else _shapes().get(_text(request.schema))
    if shape is not None:
        try:
            read_answer(reply, shape)
        except EngineError:
            return False
    return True


@cache
def _shapes() -> Mapping[str, type[Contract]]:
    """The known shapes by the text of their schema."""
    return {_text(schema_of(shape)): shape for shape in ANSWER_TYPES}


def _text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True)


def _free(reply: ModelReply) -> ModelReply:
    written = reply.written_tokens if reply.stored else reply.usage.output_tokens
    return replace(reply, usage=Usage(), stored=True, written_tokens=written)


def _read(value: str) -> ModelReply | None:
    try:
        found = _Stored.model_validate_json(value)
    except ValidationError:
        return None
    calls = tuple(ToolCall(*call) for call in found.calls)
    return ModelReply(found.text, calls, found.stop, Usage(), found.model, stored=True, written_tokens=found.written)
