"""A conversation with a model that may call tools for a bounded number of turns, and then has to answer.

The tool definitions stay in every request, the last one too: a provider's cache matches tools first, and a request
without them would read the whole conversation anew. A call that comes too late is answered with an error.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Model, ModelReply, ModelRequest, Text, ToolAnswer, ToolCall, Turn
from reviewbot.llm.prompts.delimiters import fence_text

MIN_ANSWER_TOKENS = 256
"""An answer in less could hold no finding; it is not worth its input."""
MAX_SAME_CALLS = 3
"""The same tool with the same arguments, so often, brings nothing new."""
MAX_LATE_TURNS = 2
"""Turns in which calls are refused before the conversation is given up."""

CUT = "\n[cut here: the room for tool results is used up]"
NO_ROOM = "refused: the room for tool results is used up; answer from what you have"
TOO_MANY = "refused: at most {} calls in one turn"
REPEATED = "refused: this call was answered before, with the same arguments"
DUE = "No further call is answered. Give your answer now, in the schema, from what you have."

CallTool = Callable[[ToolCall], Awaitable[ToolAnswer]]
"""Answers one call. An unknown tool or a failure is an answer that `failed`; nothing is raised."""


class LoopError(EngineError):
    """The model goes on calling tools where its answer is due. Another attempt would go the same way."""


@dataclass(frozen=True)
class Bounds:
    """What one conversation may look up. The prompt states these numbers."""

    tool_turns: int = 7
    calls_a_turn: int = 8
    result_chars: int = 120_000
    """Of all tool results together, about 30,000 tokens."""


class TokenUsage:
    """What a conversation has cost so far, also where it ends without an answer."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.usage = Usage()
        self.written = 0
        """Output tokens of all turns, stored ones included: each request says how many are left, so a conversation
        that is read from the response cache sends the same requests as the first time."""
        self.model: str | None = None
        self._untaken = Usage()

    def add(self, reply: ModelReply) -> None:
        """Count one reply."""
        self.written += reply.written_tokens if reply.stored else reply.usage.output_tokens
        self.model = reply.model
        if not reply.stored:
            self.usage += reply.usage
            self._untaken += reply.usage

    def take(self) -> Usage:
        """The usage since this was last called: each call of a model is booked with one result."""
        taken, self._untaken = self._untaken, Usage()
        return taken


@dataclass
class Conversation:
    """One conversation; `answer` carries it to an answer, and may be called again after `say`."""

    model: Model
    call: CallTool
    bounds: Bounds
    first: ModelRequest
    """The question. Its turns are the beginning of the conversation; `max_tokens` is for all of its answers."""
    spent: TokenUsage = field(default_factory=TokenUsage)
    cut: list[str] = field(default_factory=list)
    """Which bounds stopped a call, once each."""
    _turns: list[Turn] = field(init=False)
    _used_turns: int = 0
    _used_chars: int = 0
    _late: int = 0
    _seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Begin with the question."""
        self._turns = list(self.first.turns)

    async def answer(self) -> ModelReply:
        """The next reply that calls no tool.

        Raises LoopError for a model that will not answer, EngineError where its tokens are spent, and what the model
        raises.
        """
        while True:
            reply = await self._ask()
            if reply.stop != "tools":
                self._turns.append(Turn("assistant", (Text(reply.text or "-"),)))
                return reply
            if not reply.calls:
                raise EngineError("the model asked for a tool and named none")
            self._take(reply, await self._answers(reply.calls))

    def say(self, text: str) -> None:
        """Add a turn of the user, such as what was wrong with the last answer."""
        self._turns.append(Turn("user", (Text(text),)))

    def _take(self, reply: ModelReply, answers: Sequence[ToolAnswer]) -> None:
        said = (Text(reply.text),) if reply.text.strip() else ()
        self._turns += [Turn("assistant", (*said, *reply.calls)), Turn("user", (*answers, Text(self._note())))]

    def _note(self) -> str:
        left = self.bounds.tool_turns - self._used_turns
        room = max(0, self.bounds.result_chars - self._used_chars) // 4
        if left <= 0 or not room:
            return DUE
        return f"Turns left in which calls are answered: {left}; room for results: about {room:,} tokens."

    async def _ask(self) -> ModelReply:
        left = self.first.max_tokens - self.spent.written
        if left < MIN_ANSWER_TOKENS:
            raise EngineError(f"the {self.first.max_tokens} tokens that this reader may write are spent")
        request = replace(self.first, turns=_with_cache_mark(self._turns), max_tokens=left)
        reply = await self.model.ask(request)
        self.spent.add(reply)
        return reply

    async def _answers(self, calls: Sequence[ToolCall]) -> tuple[ToolAnswer, ...]:
        if self._used_turns >= self.bounds.tool_turns or self._used_chars >= self.bounds.result_chars:
            self._late += 1
            if self._late > MAX_LATE_TURNS:
                raise LoopError("the model goes on calling tools where its answer is due")
            self._stopped(NO_ROOM if self._used_turns < self.bounds.tool_turns else DUE)
            return tuple(ToolAnswer(call.call_id, DUE, failed=True) for call in calls)
        self._used_turns += 1
        most = self.bounds.calls_a_turn
        found = await asyncio.gather(*(self._answer(call) for call in calls[:most]))
        refused = [ToolAnswer(call.call_id, TOO_MANY.format(most), failed=True) for call in calls[most:]]
        if refused:
            self._stopped(TOO_MANY.format(most))
        return (*(self._fitted(answer) for answer in found), *refused)

    async def _answer(self, call: ToolCall) -> ToolAnswer:
        name = f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=repr)}"
        self._seen[name] += 1
        if self._seen[name] >= MAX_SAME_CALLS:
            return ToolAnswer(call.call_id, REPEATED, failed=True)
        return replace(await self.call(call), call_id=call.call_id)

    def _fitted(self, answer: ToolAnswer) -> ToolAnswer:
        """The answer in what room is left, between delimiters."""
        room = self.bounds.result_chars - self._used_chars
        if room <= 0:
            self._stopped(NO_ROOM)
            return ToolAnswer(answer.call_id, NO_ROOM, failed=True)
        text = answer.text
        if len(text) > room:
            text = text[:room] + CUT
            self._stopped(NO_ROOM)
        self._used_chars += len(text)
        return replace(answer, text=fence_text("result", text))

    def _stopped(self, why: str) -> None:
        if why not in self.cut:
            self.cut.append(why)


def _with_cache_mark(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the last part marked for the provider's cache, so that the next turn reads what this one wrote.

    The marks of the question stay; a provider takes only a few in one request.
    """
    *before, last = turns
    *parts, end = last.parts
    marked = replace(end, cached=True) if isinstance(end, Text) else end
    return (*before, Turn(last.role, (*parts, marked)))
