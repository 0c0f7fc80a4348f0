"""Build the components of a run with models: readers, a judge, a planner; or something simpler to compare one with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from reviewbot.config import Settings
from reviewbot.domain.contracts import ChangeSet, Effort, Plan
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.llm.agents.calibrator import Calibrator, prompt_hash
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.agents.judge import JUDGE_BOUNDS, ConversingModel, JudgingSynthesizer
from reviewbot.llm.agents.planner import ModelPlanner, PlanningSettings
from reviewbot.llm.agents.prefetch import ProgramPrefetch
from reviewbot.llm.agents.reader import ReaderEngine
from reviewbot.llm.prompts.reader_context import ReaderContextBuilder
from reviewbot.llm.tools import RepositoryTools
from reviewbot.prices import unpriced_note
from reviewbot.replay.model import RecordingLedger, RecordingModel
from reviewbot.review.cards import shipped_files
from reviewbot.review.combine.synthesizer import ReviewFacts
from reviewbot.review.model_calibration import maps_for, packaged_model_tables
from reviewbot.review.plan.bundling import BundlingPlanner, with_readers
from reviewbot.review.plan.planner import RoutedPlanner
from reviewbot.wiring.component_factory import Baseline, BuildContext, Components, plan_limits
from reviewbot.wiring.model_session import ModelSession, open_session
from reviewbot.wiring.models import prices_of, tiers_of

if TYPE_CHECKING:
    from reviewbot.llm.estimate import Preview

READER_BOUNDS: Mapping[Effort, Bounds] = {
    "quick": Bounds(tool_turns=4, result_chars=60_000),
    "standard": Bounds(),
    "deep": Bounds(),
}
NO_TOOLS = Bounds(tool_turns=0)


def model_parts(settings: Settings, context: BuildContext, baseline: Baseline | None = None) -> Components:
    """Build readers and a judge; the analyzers' results come first. Raises ConfigError where no model can be asked."""
    session = open_session(settings, context.services)
    head = ProgramPrefetch(context.programs, context.orders)
    tools = RepositoryTools(
        context.subject.snapshot, mask=_mask(context), private=settings.private, symbols=settings.effort == "deep"
    )
    bounds = NO_TOOLS if baseline == "request" else READER_BOUNDS[settings.effort]
    engine = _reader(context, session, head, tools, bounds)
    limits = replace(plan_limits(settings, context, models=True), is_withheld=tools.view.is_withheld)
    routed = RoutedPlanner(context.worker_set, engine.covers, context.subject.snapshot.head, limits)
    planner = ModelPlanner(
        routed,
        session.model,
        context.services.trace,
        prompt("planner"),
        PlanningSettings(plan_above=settings.plan_above, replan=settings.replan),
        session.deadline.remaining_s,
        head.begin,
        _mask(context),
    )
    foreign = [name for name, origin in context.worker_set.origin.items() if origin != "package"]

    def begin(plan: Plan) -> None:
        engine.begin(plan, context.order)
        head.begin(plan)

    judge = _judge(settings, context, session, engine, judging=settings.effort != "quick" and baseline is None)

    async def preview(change: ChangeSet) -> Preview:
        from reviewbot.llm.estimate import Preview  # noqa: PLC0415 - loaded for an estimate alone

        plan = await routed.plan(change)
        made = with_readers(plan, settings.effort, foreign)
        engine.begin(made, context.order)
        question, requests = planner.request_of(change, plan), await engine.first_requests()
        return Preview(
            made,
            question,
            requests,
            engine.bounds_of(made.tasks),
            judge.first_request(file.path for file in change.files),
            JUDGE_BOUNDS,
        )

    return Components(
        engine=engine,
        planner=BundlingPlanner(planner, settings.effort, foreign, begin),
        synthesizer=judge,
        close=_both(engine.close, head.close),
        preview=preview,
        # A few more than calls, to be prepared while others wait; the time of a task runs while it waits for its call.
        tasks_at_once=settings.calls_in_flight + settings.calls_in_flight // 4,
        fan_out=settings.fan_out,
    )


def _reader(
    context: BuildContext, session: ModelSession, head: ProgramPrefetch, tools: RepositoryTools, bounds: Bounds
) -> ReaderEngine:
    return ReaderEngine(
        model=session.model,
        programs=head,
        tools=tools,
        context_of=ReaderContextBuilder(tools.view, context.subject.change.files, _mask(context)),
        prompt=prompt("reader"),
        push_prompt=prompt("push"),
        trace=context.services.trace,
        clock=context.services.clock,
        bounds=bounds,
        review_left_s=session.deadline.remaining_s,
    )


def _judge(
    settings: Settings, context: BuildContext, session: ModelSession, engine: ReaderEngine, *, judging: bool
) -> JudgingSynthesizer:
    trace, tools = context.services.trace, engine.tools
    measured = packaged_model_tables() if context.measured is None else context.measured
    hashes = {
        "reader": prompt_hash(prompt("reader"), ReviewAnswer),
        "judge": prompt_hash(f"{prompt('reader')}\n{prompt('judge')}", ReviewAnswer),
    }
    return JudgingSynthesizer(
        rules=context.rules,
        # What the judge said decides the review, so a replay of the trace needs its answers.
        model=RecordingModel(ConversingModel(session.model, tools, JUDGE_BOUNDS, trace), trace),
        prompt=prompt("judge"),
        trace=trace,
        facts=ReviewFacts(
            ReaderEngine.name,
            (*context.notes, *_unpriced(settings)),
            RecordingLedger(session.usage_ledger, trace),
            context.refused,
        ),
        calibrator=Calibrator(trace, maps_for(measured, hashes)),
        prefix_of=engine.prefix_of,
        lines_of=lambda path, side: tools.view.lines_or_none(path, "head" if side == "new" else "base"),
        remaining_s=session.deadline.remaining_s,
        judging=judging,
    )


def _mask(context: BuildContext) -> Callable[[str], str]:
    """What takes secrets out of a text that a model gets, line by line."""
    return partial(context.mask, keep_lines=True)


def _both(first: Callable[[], Awaitable[None]], second: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        try:
            await first()
        finally:
            await second()

    return close


def _unpriced(settings: Settings) -> tuple[str, ...]:
    """What a reader must know of the budget in dollars, where it cannot hold."""
    if settings.max_cost is None:
        return ()
    note = unpriced_note(prices_of(settings), tiers_of(settings).values())
    return () if note is None else (note,)


def prompt(name: str) -> str:
    """A shipped prompt that is no worker's."""
    return shipped_files()[f"prompts/{name}.md"]
