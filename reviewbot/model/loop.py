"""One conversation of a worker with its model: it may ask its tools, within bounds, and then has to answer."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from reviewbot.contracts import Usage
from reviewbot.errors import EngineError
from reviewbot.model.fence import fenced
from reviewbot.ports import Model, ModelReply, ModelRequest, Text, ToolAnswer, ToolCall, Turn

FEWEST_TOKENS = 256
"""An answer in less could hold no finding; it is not worth its input."""
SAME_CALLS = 3
"""The same tool with the same arguments, so often, brings nothing new."""
MAX_CALLS = 8
"""Tool calls of one turn that are answered; the rest is told so."""
MAX_RESULT = 12_000
"""Characters of one tool's answer: some three thousand tokens, which each further turn reads again."""

CUT = "\n[cut here; ask for less]"
TOO_MANY = f"not called: at most {MAX_CALLS} calls in one turn are answered"
DUE = "No tool can be called any more. Your answer is due now, from what you know: give it in the schema."

Call = Callable[[ToolCall], Awaitable[ToolAnswer]]
"""Answers a tool call; a tool that is unknown or raises is an answer that `failed`."""


class LoopError(EngineError):
    """The model goes on calling tools where its answer is due. Another attempt would go the same way."""


class Spent:
    """What a conversation has cost so far, also where it comes to no answer."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.usage = Usage()
        self.written = 0
        """Output tokens of all turns, those from the journal included: each request says what is left, and so a
        conversation that was paid for asks again what it asked at first."""
        self.model: str | None = None

    def add(self, reply: ModelReply) -> None:
        """Count one reply."""
        self.written += reply.written_tokens if reply.stored else reply.usage.output_tokens
        self.model = reply.model
        if not reply.stored:
            self.usage += reply.usage


@dataclass(frozen=True)
class _Exchange:
    """One turn in which tools were called."""

    said: str
    calls: tuple[ToolCall, ...]
    answers: tuple[ToolAnswer, ...]


@dataclass(frozen=True)
class Conversation:
    """A worker's model, its tools and its bounds."""

    model: Model
    call: Call
    max_turns: int
    spent: Spent

    async def hold(self, first: ModelRequest) -> ModelReply:
        """The reply that ends the conversation.

        Raises LoopError for a model that will not answer, EngineError where its tokens are spent, and what the model
        raises.
        """
        if not first.tools:
            return await self._ask(first, first)
        had: list[_Exchange] = []
        seen: Counter[str] = Counter()
        for left in range(self.max_turns - 1, 0, -1):
            reply = await self._ask(_continued(first, had, left), first)
            if reply.stop != "tools":
                return reply
            if not reply.calls:
                raise EngineError("the model asked for a tool and named none")
            seen.update(_signature(call) for call in reply.calls)
            if max(seen.values()) >= SAME_CALLS:
                break
            had.append(_Exchange(reply.text, reply.calls, await self._answers(reply.calls)))
        reply = await self._ask(_closing(first, had), first)
        if reply.stop == "tools":
            raise LoopError("the model goes on calling tools where its answer is due")
        return reply

    async def _ask(self, request: ModelRequest, first: ModelRequest) -> ModelReply:
        budget = first.max_tokens
        left = budget - self.spent.written
        if left < FEWEST_TOKENS:
            message = (
                f"{self.spent.written} of the {budget} tokens that this task may write are spent without an answer"
            )
            raise EngineError(message)
        reply = await self.model.ask(replace(request, max_tokens=left))
        self.spent.add(reply)
        return reply

    async def _answers(self, calls: Sequence[ToolCall]) -> tuple[ToolAnswer, ...]:
        answers = await asyncio.gather(*(self._answer(call) for call in calls[:MAX_CALLS]))
        return (*answers, *(ToolAnswer(call.call_id, TOO_MANY, failed=True) for call in calls[MAX_CALLS:]))

    async def _answer(self, call: ToolCall) -> ToolAnswer:
        answer = await self.call(call)
        text = answer.text if len(answer.text) <= MAX_RESULT else answer.text[:MAX_RESULT] + CUT
        return ToolAnswer(call.call_id, fenced("result", text), failed=answer.failed)


def _signature(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=repr)}"


def _continued(first: ModelRequest, had: Sequence[_Exchange], left: int) -> ModelRequest:
    """The conversation so far. The question and the last turn are marked, so that each turn reads what the last wrote.

    No other turn is: a provider takes only a few marks in one request.
    """
    turns = [Turn("user", tuple(_marked(part) for part in first.turns[0].parts))]
    for number, exchange in enumerate(had, 1):
        said = (Text(exchange.said),) if exchange.said.strip() else ()
        note = Text(_left(left + len(had) - number), cached=number == len(had))
        turns += [Turn("assistant", (*said, *exchange.calls)), Turn("user", (*exchange.answers, note))]
    return replace(first, turns=tuple(turns))


def _marked(part: Text | ToolCall | ToolAnswer) -> Text | ToolCall | ToolAnswer:
    return replace(part, cached=True) if isinstance(part, Text) else part


def _left(turns: int) -> str:
    return f"Turns left in which you may call tools: {turns}."


def _closing(first: ModelRequest, had: Sequence[_Exchange]) -> ModelRequest:
    """The last request. It offers no tools, so it tells as plain text what they said.

    The provider refuses calls and answers of tools in a request that offers none.
    """
    known = [Text(text) for exchange in had for text in _known(exchange)]
    turn = Turn("user", (*first.turns[0].parts, *known, Text(DUE)))
    return replace(first, turns=(turn,), tools=())


def _known(exchange: _Exchange) -> list[str]:
    told = []
    for call, answer in zip(exchange.calls, exchange.answers, strict=True):
        # The model's own words, and so data like the rest.
        asked = fenced("call", _signature(call))
        told.append(f"You called a tool:\n{asked}\nIt {'failed' if answer.failed else 'said'}:\n{answer.text}")
    return told
