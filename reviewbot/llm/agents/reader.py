"""The engine that reviews with models: readers, each of which answers one or several tasks in one conversation.

A reader sees all files of its part of the change at once and looks up in the repository what the change relies on.
The analyzers run first, and what they found is in every answer, whatever becomes of the model.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.coverage.readings import reading_of
from reviewbot.domain.contracts import (
    MANDATORY_WORKER,
    MODEL_SOURCE,
    Candidate,
    GapReason,
    Metadata,
    Payload,
    Plan,
    Reading,
    ReviewTask,
    Side,
    WorkerCard,
)
from reviewbot.domain.contracts.answers import Escalating, ReviewAnswer
from reviewbot.domain.errors import (
    EngineError,
)
from reviewbot.domain.ports import (
    Answer,
    Clock,
    Engine,
    Escalated,
    Model,
    ModelRequest,
    Recorder,
    ToolAnswer,
    ToolCall,
    WorkOrder,
)
from reviewbot.llm.agents.analyzer_results import AnalyzerResults, run_analyzers
from reviewbot.llm.agents.claims import QuoteFinder, apply_repair, by_task, candidate_of, problems_of, with_own_ids
from reviewbot.llm.agents.conversation import Bounds, Conversation, TokenUsage
from reviewbot.llm.agents.reader_failures import is_too_much, may_pass, message_of
from reviewbot.llm.agents.shared_conversations import FailedConversation, ReaderResult, SharedConversations
from reviewbot.llm.client.answers import read_answer
from reviewbot.llm.prompts.analyzer_hints import Hint, hints_of, weigh_hints
from reviewbot.llm.prompts.delimiters import fence_text
from reviewbot.llm.prompts.reader_prompt import ReaderContext, SharedPrefix, reader_request, shared_prefix
from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import Refused
from reviewbot.review.gaps import gaps_of
from reviewbot.review.task import reason_of
from reviewbot.threads import in_thread

MARGIN, MIN_MARGIN_S = 0.05, 0.5
"""Of the time that is left, kept back to hand over what the analyzers found before the task is cancelled."""
REPAIR_SHARE = 0.75
"""Of the time that is left which a repair may take."""
SMALL_PUSH_BOUNDS: Mapping[str, int] = {"tool_turns": 1, "result_chars": 8_000}
"""About 2,000 tokens: the code that uses a pushed hunk is shown; with 6,000 most of the cost was to read that again."""
LATE = "the review's deadline left the model no time to answer"
NAMELESS = "model"
REPAIR = (
    "The program looked up your quotes. These could not be found:\n{}\nAnswer again, with only the findings of these "
    "ids in `findings`, corrected; leave out what you withdraw. All other findings of your last answer stand."
)
_NO_SLUG = re.compile(r"[^A-Za-z0-9_.:/@-]")


ContextOf = Callable[[Sequence[WorkOrder]], ReaderContext]
"""What all readers of a part are shown, from their orders; may block."""


@dataclass(frozen=True)
class ReaderEngine:
    """An `Engine`. Build one for a run; it is for one event loop."""

    model: Model
    programs: Engine
    tools: RepositoryTools
    context_of: ContextOf
    prompt: str
    """The system prompt of readers."""
    push_prompt: str
    """That of the reader of a small push."""
    trace: Recorder
    clock: Clock
    bounds: Bounds = field(default_factory=Bounds)
    review_left_s: Callable[[], float] = field(default=lambda: math.inf)
    """Seconds until the review's own deadline."""
    name: str = field(default="models", init=False)
    _conversations: SharedConversations = field(init=False)
    _prefixes: dict[tuple[str, tuple[str, ...]], SharedPrefix] = field(default_factory=dict, init=False)
    _programs: dict[tuple[str, tuple[Payload, ...]], asyncio.Task[AnalyzerResults]] = field(
        default_factory=dict, init=False
    )

    def __post_init__(self) -> None:
        """It holds the conversations itself."""
        object.__setattr__(self, "_conversations", SharedConversations(self._held))

    def covers(self, _card: WorkerCard, _language: str) -> bool:
        """A model can read every language."""
        return True

    def begin(self, plan: Plan, order_of: Callable[[ReviewTask], WorkOrder]) -> None:
        """Take note of which tasks share a conversation. Call it with each plan before its tasks run."""
        self._conversations.begin(plan, order_of)

    def bounds_of(self, tasks: Iterable[ReviewTask]) -> Bounds:
        """What a conversation about these tasks may look up, without the limits of their own."""
        if not any(task.small_push for task in tasks):
            return self.bounds
        fewer = {name: min(getattr(self.bounds, name), most) for name, most in SMALL_PUSH_BOUNDS.items()}
        return replace(self.bounds, **fewer)

    async def first_requests(self) -> tuple[ModelRequest, ...]:
        """The request that begins each reader's conversation, but for the analyzers' results. Asks no model."""
        return await in_thread(lambda: tuple(self._first(orders, ())[0] for orders in self._conversations.bundles))

    async def close(self) -> None:
        """Cancel what is still running."""
        await self._conversations.close()
        for each in self._programs.values():
            each.cancel()
        await asyncio.gather(*self._programs.values(), return_exceptions=True)

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        """Do one task.

        Raises EngineError where another attempt may do better; the last attempt answers with what the analyzers found,
        and with a gap for each file.
        """
        began = self.clock.monotonic()
        task = order.task
        found = await self._analyze(order)
        if task.programs_only:
            return self._without_model(task, found, began)
        own_s, review_s = self._left(task, began)
        shared = self._conversations.get(order)
        limit = asyncio.timeout(max(0.0, min(own_s, review_s)))
        try:
            async with limit:
                outcome = await asyncio.shield(shared.run)
        except TimeoutError:
            if not limit.expired():
                raise
            if own_s <= review_s:
                message = f"no answer within {task.constraints.timeout_ms / 1000:g} s"
                return Escalated("timeout", message, partial=self._without_model(task, found, began))
            return self._with_gap(task, found, began, "deadline", LATE)
        if isinstance(outcome, FailedConversation):
            return self._failed(task, found, began, outcome.error)
        return self._answered(task, found, began, outcome)

    def _left(self, task: ReviewTask, began: float) -> tuple[float, float]:
        """Seconds that a model may take, by the task's own deadline and by the review's."""
        own = _less_margin(task.constraints.timeout_ms / 1000) - (self.clock.monotonic() - began)
        return own, _less_margin(self.review_left_s())

    async def _analyze(self, order: WorkOrder) -> AnalyzerResults:
        """What the analyzers say of the slices of a task; once, however many conversations ask."""
        key = (order.task.worker, order.task.slices)
        if key not in self._programs:
            self._programs[key] = asyncio.create_task(run_analyzers(self.programs, order))
        return await asyncio.shield(self._programs[key])

    async def _held(self, orders: Sequence[WorkOrder], spent: TokenUsage) -> ReaderResult:
        began = self.clock.monotonic()
        results = await asyncio.gather(*(self._analyze(each) for each in orders))
        hints = hints_of(candidate for found in results for candidate in found.candidates)
        request, bounds = await in_thread(lambda: self._first(orders, hints))
        names = [each.task.task_id for each in orders]
        self.trace.record("reader_started", reader=request.subject, tasks=names)
        talk = Conversation(self.model, self._call_of(request.subject), bounds, request, spent)
        answer = read_answer(await talk.answer(), ReviewAnswer)
        slices = tuple(dict.fromkeys(payload for each in orders for payload in each.task.slices))
        finder = QuoteFinder(slices, self._text, self.tools.view.mask)
        own_s, review_s = self._left(orders[0].task, began)
        answer = await self._repair(talk, answer, finder, REPAIR_SHARE * min(own_s, review_s))
        self.trace.record(
            "reader_finished",
            reader=request.subject,
            tasks=names,
            summary=answer.summary,
            themes=[theme.model_dump(mode="json") for theme in answer.themes],
            claims=len(answer.findings),
            cut=talk.cut,
        )
        claims = by_task(answer.findings, [each.task for each in orders])
        source = _source(spent)

        def candidates() -> dict[str, tuple[Candidate, ...]]:
            """Looking up proofs may block."""
            return {
                worker: tuple(candidate_of(claim, source, finder.proof(claim)) for claim in mine)
                for worker, mine in claims.items()
            }

        return ReaderResult(answer, await in_thread(candidates), hints, spent)

    def prefix_of(self, path: str) -> SharedPrefix | None:
        """What the reader of a file was shown first; None where no reader has it. May block."""
        readers = self._conversations.bundles
        orders = next((each for each in readers if any(path in order.task.paths for order in each)), None)
        return None if orders is None else self._prefix(orders)

    def _prefix(self, orders: Sequence[WorkOrder]) -> SharedPrefix:
        tier = orders[0].task.constraints.tier
        key = (tier, tuple(order.task.task_id for order in orders))
        if key not in self._prefixes:
            small = orders[0].task.small_push
            tools = self.tools.list_tools(of_code=small) if self.bounds.tool_turns else ()
            system = self.push_prompt if small else self.prompt
            self._prefixes[key] = shared_prefix(self.context_of(orders), system, tools, orders)
        return self._prefixes[key]

    def _first(self, orders: Sequence[WorkOrder], hints: Sequence[Hint]) -> tuple[ModelRequest, Bounds]:
        """The first request, and what its conversation may look up. May block."""
        prefix = self._prefix(orders)
        turns = max(order.task.constraints.max_turns for order in orders) - 1  # the last one is the answer
        bounds = self.bounds_of(order.task for order in orders)
        bounds = replace(bounds, tool_turns=min(bounds.tool_turns, turns) if prefix.tools else 0)
        return reader_request(orders, prefix, hints, bounds), bounds

    async def _repair(
        self, talk: Conversation, answer: ReviewAnswer, finder: QuoteFinder, remaining_s: float
    ) -> ReviewAnswer:
        """The answer, after one more turn where quotes could not be found. Without a usable second one, as it was."""
        claims = await in_thread(lambda: [finder.unmask(claim) for claim in with_own_ids(answer.findings)])
        answer = answer.model_copy(update={"findings": tuple(claims)})
        found = await in_thread(lambda: problems_of(answer.findings, finder))
        if not found:
            return answer
        problems = [f"{name}: {text}" for name, text in found.items()]
        talk.say(REPAIR.format(fence_text("quotes", "\n".join(problems))))
        try:
            # The answer is there: what mends it may not take so long that the task ends without it.
            async with asyncio.timeout(max(0.0, remaining_s)):
                later = read_answer(await talk.answer(), ReviewAnswer)
        except (EngineError, TimeoutError) as error:
            why = str(error) or "no time was left"
            self.trace.record("repair_failed", reader=talk.first.subject, problems=problems, message=why)
            return answer
        self.trace.record("repaired", reader=talk.first.subject, problems=problems, claims=len(later.findings))
        corrected = await in_thread(lambda: [finder.unmask(claim) for claim in later.findings])
        return answer.model_copy(update={"findings": apply_repair(answer.findings, corrected, found)})

    def _call_of(self, reader: str) -> Callable[[ToolCall], asyncio.Future[ToolAnswer]]:
        async def call(tool_call: ToolCall) -> ToolAnswer:
            try:
                result = await self.tools.call(tool_call.name, tool_call.arguments)
                answer = ToolAnswer(tool_call.call_id, result.text, result.failed)
                evidence = [[each.path, each.side, each.first, each.last] for each in result.evidence]
            except Exception as error:  # noqa: BLE001 - a bug in one tool costs its own answer and not the reader's
                # The type alone: the text of a foreign error may name files of this machine.
                answer = ToolAnswer(
                    tool_call.call_id, f"{tool_call.name} could not be run ({type(error).__name__})", failed=True
                )
                evidence = []
            self.trace.record(
                "tool_call",
                task_id=reader,
                tool=tool_call.name,
                arguments=dict(tool_call.arguments),
                failed=answer.failed,
                chars=len(answer.text),
                evidence=evidence,
            )
            return answer

        return lambda tool_call: asyncio.ensure_future(call(tool_call))

    def _text(self, path: str, side: Side) -> str | None:
        try:
            return "\n".join(self.tools.view.lines(path, "head" if side == "new" else "base"))
        except Refused:
            return None

    def _answered(
        self, task: ReviewTask, found: AnalyzerResults, began: float, result: ReaderResult
    ) -> Answer | Escalated:
        source = _source(result.spent)
        own = {id(each) for each in found.candidates}
        hints = [hint for hint in result.hints if id(hint.candidate) in own]
        programs, confirmed = weigh_hints(found.candidates, hints, result.answer.hints, source)
        candidates = result.candidates[task.worker]
        escalation = _escalation(result.answer, task)
        # To hand the floor's own job away is no look at it, whatever the reason.
        read = escalation is None or (escalation.reason == "out_of_scope" and task.worker != MANDATORY_WORKER)
        model = f"{MODEL_SOURCE}{source}"
        # A seam is shown parts of files, and asked about names alone: that is no review of a file.
        readings = [reading_of(payload, models=[model]) for payload in task.slices] if read and not task.seam else []
        metadata = self._metadata(task, found, readings, began, result.spent.model)
        words = {"summary": result.answer.summary, "themes": result.answer.themes}
        metadata = metadata.model_copy(update=words)
        answer = Answer((*candidates, *confirmed), found.gaps, metadata, "model", programs)
        if escalation is not None:
            return Escalated(escalation.reason, escalation.message, escalation.better_worker, answer)
        return answer

    def _failed(self, task: ReviewTask, found: AnalyzerResults, began: float, error: Exception) -> Answer | Escalated:
        if is_too_much(error, task):
            return Escalated("timeout", str(error), partial=self._without_model(task, found, began))
        if may_pass(error, task):
            raise error
        return self._with_gap(task, found, began, reason_of(error), message_of(error, task.failures))

    def _with_gap(
        self, task: ReviewTask, found: AnalyzerResults, began: float, reason: GapReason, message: str
    ) -> Answer:
        """What the analyzers found, and a gap for each file that the model has not read."""
        answer = self._without_model(task, found, began)
        return replace(answer, gaps=(*answer.gaps, *gaps_of(task, reason, message)))

    def _without_model(self, task: ReviewTask, found: AnalyzerResults, began: float) -> Answer:
        none: tuple[Candidate, ...] = ()
        metadata = self._metadata(task, found, (), began, None)
        return Answer(none, found.gaps, metadata, "model", found.candidates)

    def _metadata(
        self,
        task: ReviewTask,
        found: AnalyzerResults,
        readings: Sequence[Reading],
        began: float,
        model: str | None,
    ) -> Metadata:
        return Metadata(
            usage=self._conversations.take_usage(task),
            duration_ms=max(0, round((self.clock.monotonic() - began) * 1000)),
            model_used=model,
            tool_runs=found.runs,
            readings=(*found.readings, *readings),
        )


def _escalation(answer: ReviewAnswer, task: ReviewTask) -> Escalating | None:
    return next((end.escalation for end in answer.tasks if end.task in (task.worker, task.type)), None)


def _source(spent: TokenUsage) -> str:
    """The model's name as a source of findings; a provider may give it any."""
    return _NO_SLUG.sub("-", spent.model or "")[:80] or NAMELESS


def _less_margin(seconds: float) -> float:
    return max(min(seconds - MIN_MARGIN_S, (1 - MARGIN) * seconds), seconds / 2)
