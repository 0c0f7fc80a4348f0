"""The planner that asks a model, above a threshold, and validates its answer before it is used.

The routed plan is always there first. Whatever fails on the way to a better one (no answer, no time, no money, two
answers with faults) leaves it standing, with the reason in its words and in the trace.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reviewbot.config.globs import applies
from reviewbot.domain.contracts import SEVERITY_ORDER, ChangeSet, Finding, Plan, ReviewTask
from reviewbot.domain.contracts.answers import ProposedPlan
from reviewbot.domain.errors import EngineError, RefusedError
from reviewbot.domain.ports import Model, ModelReply, ModelRequest, Recorder, TaskResult
from reviewbot.llm.agents.ad_hoc_workers import NO_FILES, SEAT
from reviewbot.llm.client.answers import read_answer
from reviewbot.llm.prompts.planner_prompt import follow_up_for, repair_of, request_for
from reviewbot.review.dispatch.second_round import plan_second_round
from reviewbot.review.plan.build_plan import plan_of
from reviewbot.review.plan.instruction_lint import one_line
from reviewbot.review.plan.planner import RoutedPlanner
from reviewbot.review.plan.validate_plan import PlanCaps, PlanContext, faults_of
from reviewbot.wording import with_count

MIN_TASKS = 2
"""Of a routed plan that a model may better; one task cannot be split by files."""

MAX_FILES = 500
"""Files that a model is shown: as many as one task of its answer may name, and about 30,000 tokens."""

TIME_SHARE = 0.25
"""Of the time that is left which planning may take; the workers come after it."""

FOLLOW_UP_CAPS = PlanCaps(max_tasks=8, token_share=0.25, chain=1, whole=False)
"""Of what findings may ask for in a second round."""

FOLLOWED = 10
"""Findings that a second round is asked about, the worst first."""


@dataclass(frozen=True)
class PlanningSettings:
    """When a model plans, and within what."""

    plan_above: int = 1_500
    """Changed lines of the files to read, above which a model plans."""
    max_tokens: int = 8_000
    """Of one answer."""
    seconds: float = 60.0
    """For both calls together."""
    replan: bool = False
    """Whether findings may ask for tasks in a second round."""
    caps: PlanCaps = field(default_factory=PlanCaps)


class _PlanAnswer(NamedTuple):
    """The outcome of the request: the plan, or why there is none."""

    plan: Plan | None
    faults: tuple[str, ...]
    """Of all answers, in order."""
    calls: int
    reason: str


@dataclass(frozen=True)
class ModelPlanner:
    """The `Planner` for engines with a model."""

    routed: RoutedPlanner
    model: Model
    trace: Recorder
    prompt: str
    planning: PlanningSettings = field(default_factory=PlanningSettings)
    remaining_s: Callable[[], float] = lambda: math.inf
    """Seconds until the review's deadline."""
    early: Callable[[Plan], None] = lambda _plan: None
    """Called with the routed plan when a model is about to be asked for a better one."""
    mask: Callable[[str], str] = lambda text: text
    """A text with masked secrets."""

    async def plan(self, change: ChangeSet) -> Plan:
        """The plan; the routed one wherever a model cannot, need not or may not better it. No error."""
        routed = await self.routed.plan(change)
        context = self._plan_context(change, routed)
        if (needless := self._needless(change, context)) is not None:
            self.trace.record("planned", origin="rules", faults=[], calls=0, reason=needless)
            return routed
        self.early(routed)
        answer = await self._ask(self._request(change, context), context)
        self._record(answer)
        if answer.plan is not None:
            return answer.plan
        return routed.model_copy(update={"reason": f"{routed.reason}; {one_line(answer.reason)}"})

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        """One second round: what broke once more, and what findings ask for where that is wanted. No error."""
        again = plan_second_round(plan, settled, self.remaining_s())
        further = await self._follow_up(change, plan, settled) if self.planning.replan else ()
        if not again and not further:
            return None
        reason = f"a second round: {with_count(len(again), 'task')} tried again, {len(further)} that findings ask for"
        return Plan(goal=plan.goal, tasks=(*again, *further), origin=plan.origin, reason=reason)

    def request_of(self, change: ChangeSet, routed: Plan) -> ModelRequest | None:
        """The request that `plan` would send where the routed plan is this one; None where it would send none."""
        context = self._plan_context(change, routed)
        return self._request(change, context) if self._needless(change, context) is None else None

    def _request(self, change: ChangeSet, context: PlanContext) -> ModelRequest:
        return request_for(self._masked(change), context, self.prompt, self.planning.max_tokens)

    def _masked(self, change: ChangeSet) -> ChangeSet:
        """The change without secrets in its author's words, before these are cut to their length."""
        words = {"title": self.mask(change.title), "description": self.mask(change.description)}
        return change.model_copy(update=words)

    def _plan_context(self, change: ChangeSet, routed: Plan) -> PlanContext:
        worker_set, limits = self.routed.worker_set, self.routed.limits
        seats = tuple(card for card in worker_set.cards if card.task_type == SEAT)
        routed_to = [card for card in worker_set.cards if card.applies_to != (NO_FILES,)]
        cards = [card for card in routed_to if not limits.workers or card.name in limits.workers]
        allowed = {
            file.path: frozenset(
                card.name
                for card in cards
                if applies(card.applies_to, file.path, file.kind) and self.routed.covers(card, file.language)
            )
            for file in change.files
        }
        by_name = {card.name: card for card in cards}
        return PlanContext(
            routed=routed,
            cards=by_name,
            allowed=allowed,
            programs=lambda worker, language: worker in by_name and limits.programs(by_name[worker], language),
            seats=seats,
            caps=replace(self.planning.caps, part_lines=limits.part_lines or self.planning.caps.part_lines),
        )

    def _needless(self, change: ChangeSet, context: PlanContext) -> str | None:
        """Why no model is asked, or None."""
        if len(context.of_models) < MIN_TASKS:
            return "the routed plan has nothing to split or to order"
        if context.routed.read_before:
            return "what a push changed is read by rules: an earlier head's review has read the rest"
        read = [file for file in change.files if file.path in context.slices]
        if len(read) > MAX_FILES:
            return f"{with_count(len(read), 'file')}, and a planner model is given at most {MAX_FILES}"
        lines = sum(file.added + file.removed for file in read)
        if lines > self.planning.plan_above:
            return None
        return f"{with_count(lines, 'changed line')}; rules are enough up to {self.planning.plan_above}"

    async def _ask(self, request: ModelRequest, context: PlanContext) -> _PlanAnswer:
        """Ask once, and once more where the answer has faults."""
        seconds = min(self.planning.seconds, TIME_SHARE * self.remaining_s())
        faults: tuple[str, ...] = ()
        calls = 0
        try:
            async with asyncio.timeout(seconds):
                for _ in range(2):
                    calls += 1
                    reply = await self.model.ask(request)
                    plan, wrong = _read(reply, context)
                    if not wrong:
                        reason = "" if plan else "a model was asked and left it as it is"
                        return _PlanAnswer(plan, faults, calls, reason)
                    faults += wrong
                    request = repair_of(request, reply.text, wrong)
        except TimeoutError:
            return _PlanAnswer(None, faults, calls, "a model was asked and did not answer in time")
        except EngineError as error:
            return _PlanAnswer(None, faults, calls, f"a model was asked in vain: {error}")
        except Exception as error:  # noqa: BLE001 - a plan of a model is a wish; the routed one is there without it
            return _PlanAnswer(None, faults, calls, f"a model was asked in vain: {type(error).__name__}")
        return _PlanAnswer(None, faults, calls, f"a model's plan was refused twice: {faults[-1]}")

    async def _follow_up(
        self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]
    ) -> tuple[ReviewTask, ...]:
        """The tasks that the worst findings ask for; none where that cannot be found out in time."""
        findings = _critical(settled)
        if not findings or TIME_SHARE * self.remaining_s() < self.planning.seconds:
            return ()
        context = replace(self._plan_context(change, plan), caps=FOLLOW_UP_CAPS)
        request = follow_up_for(self._masked(change), context, findings, self.prompt, self.planning.max_tokens)
        answer = await self._ask(request, context)
        self._record(answer)
        tasks = () if answer.plan is None else answer.plan.tasks
        return tuple(task for task in tasks if task.task_id not in settled)

    def _record(self, answer: _PlanAnswer) -> None:
        origin = "rules" if answer.plan is None else "model"
        reason = answer.reason if answer.plan is None else answer.plan.reason
        self.trace.record("planned", origin=origin, faults=list(answer.faults), calls=answer.calls, reason=reason)


def _read(reply: ModelReply, context: PlanContext) -> tuple[Plan | None, tuple[str, ...]]:
    """The plan of an answer, or its faults. No plan and no fault: it leaves the routed plan as it is.

    Raises RefusedError.
    """
    try:
        proposed = read_answer(reply, ProposedPlan)
    except RefusedError:
        raise
    except EngineError as error:
        return None, (one_line(str(error)),)
    if not proposed.tasks:
        return None, ()
    faults = faults_of(proposed, context)
    return (None, faults) if faults else (plan_of(proposed, context), ())


def _critical(settled: Mapping[str, TaskResult]) -> list[Finding]:
    """The worst findings, in an order that does not depend on who was done first."""
    found = [finding for end in settled.values() for result in end.results for finding in result.findings]
    worst = [finding for finding in found if finding.severity == "critical"]
    return sorted(worst, key=lambda each: (SEVERITY_ORDER[each.severity], -each.confidence, each.path, each.line))[
        :FOLLOWED
    ]
