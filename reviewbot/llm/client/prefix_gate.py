"""Requests that begin with the same cached prefix: the first one is sent alone until its answer begins.

A provider's cache can be read from the moment at which the answer to the request begins that writes it. Requests that
are sent together with that one all write the same, which costs more than to read it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.ports import Model, ModelReply, ModelRequest, Text, Turn
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, digest

MIN_TOKENS = 4_096
"""Of a prefix that every model caches: https://platform.claude.com/docs/en/build-with-claude/prompt-caching."""
WAIT_S = 20.0
"""That a request waits for the answer to another one to begin."""


class PrefixGate:
    """Holds requests back while the first one with their prefix has no answer yet. For one event loop."""

    def __init__(self, inner: Model, models: Mapping[Tier, str], wait_s: float = WAIT_S) -> None:
        self._inner = inner
        self._models = models
        self._wait_s = wait_s
        self._gates: dict[str, asyncio.Event] = {}

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        prefix = _prefix(request)
        if prefix is None:
            return await self._inner.ask(request)
        key = digest(prefix, self._models[request.tier])
        gate = self._gates.get(key)
        if gate is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._wait_s):
                    await gate.wait()
            return await self._inner.ask(request)
        gate = self._gates[key] = asyncio.Event()

        def open_gate(used: Usage) -> None:
            gate.set()
            if request.on_usage is not None:
                request.on_usage(used)

        try:
            return await self._inner.ask(replace(request, on_usage=open_gate))
        finally:
            gate.set()


def _prefix(request: ModelRequest) -> ModelRequest | None:
    """The request up to its first mark for the cache; None where that is too short to be cached, or not there."""
    part = request.turns[0].parts[0] if request.turns and request.turns[0].parts else None
    if not isinstance(part, Text) or not part.cached:
        return None
    prefix = replace(request, turns=(Turn("user", (part,)),), max_tokens=0)
    fixed = sum(len(each.text) for each in (*request.system, part))
    fixed += sum(len(json.dumps(tool.schema)) + len(tool.description) for tool in request.tools)
    return prefix if fixed >= MIN_TOKENS * CHARS_PER_TOKEN else None
