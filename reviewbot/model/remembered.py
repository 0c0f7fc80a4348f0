"""Answers that were paid for once: kept in the journal by everything that they depend on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

from reviewbot.contracts import Tier, Usage
from reviewbot.errors import EngineError
from reviewbot.model.requests import digest
from reviewbot.ports import Journal, Model, ModelReply, ModelRequest, StopReason, ToolCall

PREFIX = "model/"
"""How the journal's keys of answers begin."""

_VERSION = 1
_COMPLETE: dict[str, StopReason] = {"end": "end", "tools": "tools"}
"""The ways to end after which an answer is whole, and worth keeping."""


class Remembered:
    """Gives a stored answer where there is one; equal questions at the same time are asked once.

    `models` are the ids by tier, `origin` says who serves them (a base URL): both are part of an answer's key. A stored
    value that cannot be read is as good as none.
    """

    def __init__(self, inner: Model, journal: Journal, models: Mapping[Tier, str], origin: str = "") -> None:
        self._inner = inner
        self._journal = journal
        self._models = models
        self._origin = origin
        self._asking: dict[str, asyncio.Future[ModelReply | None]] = {}

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`; `stored` and without usage where nobody was asked for this caller."""
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
            mine.exception()  # it is raised here; nobody else need be waiting for it
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            del self._asking[key]
            if not mine.done():
                mine.set_result(None)  # this one was stopped: the next one asks

    async def _fetch(self, key: str, request: ModelRequest) -> ModelReply:
        value = await asyncio.to_thread(self._journal.get, key)
        if value is not None and (stored := _read(value)) is not None:
            return stored
        reply = await self._inner.ask(request)
        if reply.stop in _COMPLETE:
            await asyncio.to_thread(self._journal.put, key, _written(reply))
        return reply


def _free(reply: ModelReply) -> ModelReply:
    return replace(reply, usage=Usage(), stored=True)


def _written(reply: ModelReply) -> str:
    calls = [[call.call_id, call.name, call.arguments, call.context] for call in reply.calls]
    return json.dumps({"v": _VERSION, "text": reply.text, "calls": calls, "stop": reply.stop, "model": reply.model})


def _read(value: str) -> ModelReply | None:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("v") != _VERSION:
        return None
    text, model, calls = found.get("text"), found.get("model"), found.get("calls")
    stop = _COMPLETE.get(str(found.get("stop")))
    if not isinstance(text, str) or not isinstance(model, str) or not isinstance(calls, list) or stop is None:
        return None
    read = [_call(each) for each in calls]
    whole = tuple(each for each in read if each is not None)
    return ModelReply(text, whole, stop, Usage(), model, stored=True) if len(whole) == len(read) else None


def _call(value: object) -> ToolCall | None:
    match value:
        case [str(call_id), str(name), dict(arguments), str(context)]:
            return ToolCall(call_id, name, arguments, context)
        case _:
            return None
