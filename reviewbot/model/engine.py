"""The engine with a model: programs first, then one conversation of the worker's model about all slices of the task.

What programs found is in every answer, whatever becomes of the model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reviewbot.contracts import OVERVIEW, ReviewTask, WorkerAnswer, WorkerCard
from reviewbot.errors import (
    BudgetError,
    CutOffError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.llm.client.answers import read_answer
from reviewbot.model.hints import hints_of
from reviewbot.model.loop import Conversation, LoopError, Spent
from reviewbot.model.outcome import Attempt
from reviewbot.model.overview import asked_of, sure_of
from reviewbot.model.programs import ask_programs
from reviewbot.model.worker_request import request_of
from reviewbot.ports import (
    Answer,
    Clock,
    Engine,
    Escalated,
    Model,
    ModelReply,
    ModelRequest,
    OwnTool,
    Recorder,
    ToolAnswer,
    ToolCall,
    WorkOrder,
)
from reviewbot.supervisor.steps import BREAKER_OPENS_AT, split
from reviewbot.threads import in_thread
from reviewbot.worker import reason_of

if TYPE_CHECKING:
    from reviewbot.model.told import Section

MARGIN = 0.05
"""Of the time that is left, kept back to hand over what programs found before somebody else ends everything."""
LEAST_MARGIN_S = 0.5
"""A busy machine may take so long to wake us up; of a very short time half is kept back."""
FINAL = (BudgetError, DeadlineError, LoopError, ProviderError, TooLongError, TransientError)
"""What the same question would meet again at once. What was passing has been waited for and asked again by the line to
the model, and a second round may try it later."""
LATE = "the review's deadline left the model no time to answer"


@dataclass(frozen=True)
class ModelEngine:
    """Asks a model; a task that it cannot do still ends with what programs found.

    `own` are the tools that models may call, by name; each worker is offered those of its card. `told` says what
    stands around the slices; it may block. `rules` is the text that stands before each worker's prompt.
    """

    model: Model
    programs: Engine
    own: Mapping[str, OwnTool]
    told: Callable[[WorkOrder], Sequence[Section]]
    trace: Recorder
    clock: Clock
    rules: str
    review_left_s: Callable[[], float] = field(default=lambda: math.inf)
    """Seconds until the review's own deadline."""
    name: str = field(default="claude", init=False)

    def covers(self, card: WorkerCard, language: str) -> bool:
        """A model can read every language."""
        del card, language
        return True

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """Do one task.

        Raises EngineError where another attempt may do better; the last attempt answers with what programs found, and
        with a gap for each file.
        """
        began = self.clock.monotonic()
        attempt = Attempt(order, await ask_programs(self.programs, order), Spent(), self.trace, self.clock, began)
        if order.task.programs_only:
            return attempt.spared()
        own_s, review_s = self._left(order.task, began)
        limit = asyncio.timeout(max(0.0, min(own_s, review_s)))
        try:
            async with limit:
                said = await self._asked(attempt)
        except Exception as error:  # whatever stops a model must not cost what programs have found
            if limit.expired():
                return attempt.late() if own_s <= review_s else attempt.without_model("deadline", LATE)
            if _is_too_much(error, order.task):
                return Escalated("timeout", str(error), partial=attempt.spared())
            if _may_pass(error, order.task):
                raise
            return attempt.without_model(reason_of(error), _message(error, order.task.failures))
        return attempt.answered(said)

    def _left(self, task: ReviewTask, began: float) -> tuple[float, float]:
        """Seconds that a model may take, by the task's own deadline and by the review's."""
        own = _less_margin(task.constraints.timeout_ms / 1000) - (self.clock.monotonic() - began)
        return own, _less_margin(self.review_left_s())

    async def _asked(self, attempt: Attempt) -> WorkerAnswer:
        """The model's answer. Raises EngineError where it is none, and what the model raises."""
        order = attempt.order
        if order.card.name == OVERVIEW:
            return sure_of(read_answer(await self._held(attempt, asked_of(order), {}), WorkerAnswer))
        tools = {tool.offered.name: tool for tool in self._own(order)}
        sections = await in_thread(lambda: self.told(order))
        offered = tuple(tool.offered for tool in tools.values())
        request = request_of(order, self.rules, sections, hints_of(attempt.heard.candidates), offered)
        return read_answer(await self._held(attempt, request, tools), WorkerAnswer)

    async def _held(self, attempt: Attempt, request: ModelRequest, tools: Mapping[str, OwnTool]) -> ModelReply:
        """The last reply of the conversation that a request begins."""

        async def call(wish: ToolCall) -> ToolAnswer:
            return await self._called(attempt.order, tools, wish)

        talk = Conversation(self.model, call, attempt.order.task.constraints.max_turns, attempt.spent)
        return await talk.hold(request)

    def _own(self, order: WorkOrder) -> list[OwnTool]:
        return [self.own[name] for name in order.card.tools if name in self.own]

    async def _called(self, order: WorkOrder, tools: Mapping[str, OwnTool], call: ToolCall) -> ToolAnswer:
        answer = await _answer(order, tools, call)
        said = {"failed": answer.failed, "chars": len(answer.text)}
        task_id, arguments = order.task.task_id, dict(call.arguments)
        self.trace.record("tool_call", task_id=task_id, tool=call.name, arguments=arguments, **said)
        return answer


def _less_margin(seconds: float) -> float:
    return max(min(seconds - LEAST_MARGIN_S, (1 - MARGIN) * seconds), seconds / 2)


async def _answer(order: WorkOrder, tools: Mapping[str, OwnTool], call: ToolCall) -> ToolAnswer:
    if call.name not in tools:
        return ToolAnswer(call.call_id, f"there is no such tool; you have {', '.join(tools)}", failed=True)
    try:
        return await tools[call.name].call(order, call.arguments)
    except Exception as error:  # noqa: BLE001 - a bug in one tool costs its own answer and not the worker's
        # The type alone: the text of a foreign error may name files of this machine.
        return ToolAnswer(call.call_id, f"{call.name} could not be run ({type(error).__name__})", failed=True)


def _is_too_much(error: Exception, task: ReviewTask) -> bool:
    """Whether halves of the task may be answered where the whole was not. Who escalates a timeout is given those.

    An answer that was cut off once may keep to its limit when it is told of that; where it did not, it cannot.
    """
    twice = isinstance(error, CutOffError) and task.previous_error == str(error)
    if not (twice or isinstance(error, TooLongError)):
        return False
    return task.failures < BREAKER_OPENS_AT - 1 and split(task) is not None


def _may_pass(error: Exception, task: ReviewTask) -> bool:
    """Whether the task should be tried again. The attempt after which nobody does must bring its answer itself."""
    if isinstance(error, FINAL):
        return False
    if isinstance(error, RefusedError):
        # What one model declines a stronger one may do; that is tried once.
        return task.failures == 0 and bool(task.constraints.higher_tiers)
    return task.failures < BREAKER_OPENS_AT - 1


def _message(error: Exception, failures: int) -> str:
    """One line. Of an error that is not ours the type alone: its text may hold anything."""
    text = str(error) if isinstance(error, EngineError) else f"{type(error).__name__} while a model was asked"
    return (
        text if failures == 0 or isinstance(error, ProviderError) else f"given up after {failures + 1} failures: {text}"
    )
