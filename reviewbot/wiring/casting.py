"""Who plays which part in a run: with rules and programs alone, with models, or as a single request to compare with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.adapters.replay import Given, Noted, NotedBooks
from reviewbot.adapters.replay.given import JointRow
from reviewbot.config import Settings
from reviewbot.config.attributes import declared_by
from reviewbot.context.service import Context
from reviewbot.contracts import ChangeSet, Effort, JudgeAnswer, Plan, ReaderAnswer, ReviewTask
from reviewbot.llm.agents.calibrator import Calibrator, prompt_hash
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.agents.judge import ConversingModel, JudgingSynthesizer
from reviewbot.llm.agents.planner import ModelPlanner, Planning
from reviewbot.llm.agents.prefetch import ProgramPrefetch
from reviewbot.llm.agents.reader import ReaderEngine
from reviewbot.llm.estimate import Preview
from reviewbot.llm.prompts.change_map import MapMaker
from reviewbot.llm.prompts.reader_prompt import stated_bounds
from reviewbot.llm.tools import RepositoryTools
from reviewbot.model_calibration import ModelTables, NumberMaps, maps_for
from reviewbot.ports import Crew, Engine, Planner, Tool, Verifier, WorkOrder
from reviewbot.prices import unpriced_note
from reviewbot.redact import SecretMask
from reviewbot.supervisor.bundling import BundlingPlanner, bundled
from reviewbot.supervisor.planner import WHOLE_FILE, PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import CappingVerifier
from reviewbot.wiring.keyless import note_on, without_models
from reviewbot.wiring.models import Around, line_to, prices_of, prompt, tiers_of
from reviewbot.wiring.subjects import Subject

Baseline = Literal["request", "reader"]
"""What a review is compared with: one request with the whole change and no tools, or one reader and no judge."""
READER_BOUNDS: Mapping[Effort, Bounds] = {
    "quick": Bounds(tool_turns=4, result_chars=60_000),
    "standard": Bounds(),
    "deep": Bounds(),
}
NO_TOOLS = Bounds(tool_turns=0)
JUDGE_BOUNDS = Bounds(tool_turns=2, result_chars=40_000)


@dataclass(frozen=True)
class Ground:
    """What every cast stands on."""

    subject: Subject
    crew: Crew
    programs: AnalyzersEngine
    rules: Rules
    notes: tuple[str, ...]
    handed_in: Mapping[str, Collection[str]]
    around: Around
    mask: SecretMask
    tools: Mapping[str, Tool]
    measured: ModelTables
    """What models' numbers are worth."""

    def order(self, task: ReviewTask) -> WorkOrder:
        """The order for a task whose results of other tasks are not there yet."""
        card = next(card for card in self.crew.cards if card.name == task.worker)
        tools = {name: self.tools[name] for name in card.tools if name in self.tools}
        change = self.subject.change
        prompt_text = self.crew.prompts[card.name]
        return WorkOrder(task, card, prompt_text, tools, self.subject.snapshot, change.title, change.description)

    def orders(self, plan: Plan) -> Iterator[WorkOrder]:
        """An order for the programs of each slice of a plan, in its order."""
        cards = {card.name: card for card in self.crew.cards}
        for task in plan.tasks:
            card = cards[task.worker]
            tools = {name: self.tools[name] for name in card.tools if name in self.tools}
            for payload in task.slices:
                alone = task.model_copy(update={"payload": payload, "more": ()})
                yield WorkOrder(alone, card, "", tools, self.subject.snapshot)


MakePreview = Callable[[ChangeSet], Coroutine[None, None, Preview]]


@dataclass(frozen=True)
class Parts:
    """Everything that a review is made with."""

    engine: Engine
    planner: Planner
    verifier: Verifier
    synthesizer: RuledSynthesizer | JudgingSynthesizer
    close: Callable[[], Awaitable[None]]
    preview: MakePreview
    """Asks no model."""
    tasks_at_once: int
    fan_out: int | None = None

    def given(self, joint: tuple[JointRow, ...]) -> Given:
        """What a replay has to know of it."""
        made = self.synthesizer
        how, maps = "rules", NumberMaps()
        if isinstance(made, JudgingSynthesizer):
            how, maps = "judge" if made.judging else "claims", made.calibrator.maps
        return Given(made.rules, joint, made.engine, made.notes, how, number_maps=maps)


def rule_parts(settings: Settings, ground: Ground, engine: Engine) -> Parts:
    """Programs, or canned answers; rules do the rest."""
    limits, crew, notes = _limits(settings, ground), ground.crew, ground.notes
    if engine is ground.programs:
        # A program reads the whole file whatever it is asked, so that parts of it would only be more tasks.
        limits = replace(limits, chunk_lines=WHOLE_FILE, ask_models=False)
        crew, left_out = without_models(crew, ground.tools)
        notes = (*note_on(left_out, ground.subject.change, settings.workers), *notes)
    planner = RoutedPlanner(crew, engine.covers, ground.subject.snapshot.head, limits)
    return Parts(
        engine=engine,
        planner=planner,
        verifier=CappingVerifier(),
        synthesizer=RuledSynthesizer(ground.rules, engine.name, notes),
        close=_nothing,
        preview=_preview_of(planner),
        tasks_at_once=settings.tasks_at_once,
    )


def model_parts(settings: Settings, ground: Ground, baseline: Baseline | None = None) -> Parts:
    """Readers and a judge, with the analyzers' results before them. Raises ConfigError where no model can be asked."""
    line, trace = line_to(settings, ground.around), ground.around.trace
    left_s = line.deadline.left_s
    head = ProgramPrefetch(ground.programs, ground.orders)
    mask = partial(ground.mask, keep_lines=True)
    tools = RepositoryTools(
        ground.subject.snapshot, mask=mask, private=settings.private, symbols=settings.effort == "deep"
    )
    engine = ReaderEngine(
        model=line.model,
        programs=head,
        tools=tools,
        map_of=MapMaker(tools.view, ground.subject.change.files, mask),
        prompt=prompt("reader"),
        trace=trace,
        clock=ground.around.clock,
        bounds=NO_TOOLS if baseline == "request" else READER_BOUNDS[settings.effort],
        review_left_s=left_s,
    )
    limits = replace(_limits(settings, ground, models=True), is_withheld=tools.view.is_withheld)
    routed = RoutedPlanner(ground.crew, engine.covers, ground.subject.snapshot.head, limits)
    planning = Planning(plan_above=settings.plan_above, replan=settings.replan)
    planner = ModelPlanner(
        routed, line.model, trace, prompt("planner"), planning, left_s, lambda plan: head.begin(plan, line.ready)
    )
    foreign = [name for name, origin in ground.crew.origin.items() if origin != "package"]

    def begin(plan: Plan) -> None:
        engine.begin(plan, ground.order)
        head.begin(plan)

    bundling = BundlingPlanner(planner, settings.effort, foreign, begin)

    async def preview(change: ChangeSet) -> Preview:
        plan = await routed.plan(change)
        made = bundled(plan, settings.effort, foreign)
        engine.begin(made, ground.order)
        question, requests = planner.request_of(change, plan), await engine.first_requests()
        return Preview(made, question, requests, engine.bounds, synthesizer.judging)

    hashes = {"reader": prompt_hash(prompt("reader"), ReaderAnswer), "judge": prompt_hash(prompt("judge"), JudgeAnswer)}
    # What the judge said decides the review, so a replay of the trace needs its answers.
    judge = Noted(ConversingModel(line.model, tools, JUDGE_BOUNDS, trace), trace)
    synthesizer = JudgingSynthesizer(
        rules=ground.rules,
        model=judge,
        prompt=prompt("judge"),
        trace=trace,
        engine=engine.name,
        calibrator=Calibrator(trace, maps_for(ground.measured, hashes)),
        tools=tools.offered(),
        lines_of=lambda path, side: tools.view.lines_or_none(path, "head" if side == "new" else "base"),
        mask=mask,
        stated=stated_bounds(JUDGE_BOUNDS),
        notes=(*ground.notes, *_unpriced(settings)),
        books=NotedBooks(line.books, trace),
        left_s=left_s,
        judging=settings.effort != "quick" and baseline is None,
    )
    return Parts(
        engine=engine,
        planner=bundling,
        verifier=CappingVerifier(),
        synthesizer=synthesizer,
        close=_all_of(engine.close, head.close, line.close),
        preview=preview,
        # A few more than calls, to be prepared while others wait; the time of a task runs while it waits for its call.
        tasks_at_once=settings.calls_in_flight + settings.calls_in_flight // 4,
        fan_out=settings.fan_out,
    )


def _preview_of(planner: Planner) -> MakePreview:
    """The plan of a planner that asks no model."""

    async def preview(change: ChangeSet) -> Preview:
        return Preview(await planner.plan(change))

    return preview


def _limits(settings: Settings, ground: Ground, *, models: bool = False) -> PlanLimits:
    context = Context(ground.subject.snapshot)

    @cache
    def has_conventions(path: str) -> bool:
        return bool(context.conventions(path).files)

    given = PlanLimits(
        chunk_lines=settings.chunk_lines,
        ignore=settings.ignore,
        paths=settings.paths,
        workers=settings.workers,
        handed_in=ground.handed_in,
        declared=declared_by(ground.subject.base if ground.subject.declares else None),
        scans=ground.programs.scans,
    )
    if not models:
        return given
    return replace(
        given,
        part_lines=settings.reader_lines,
        route=True,
        programs=ground.programs.covers,
        has_conventions=has_conventions,
    )


def _all_of(*closers: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        async with AsyncExitStack() as stack:
            for each in reversed(closers):
                stack.push_async_callback(each)

    return close


def _unpriced(settings: Settings) -> tuple[str, ...]:
    """What a reader must know of the budget in dollars, where it cannot hold."""
    if settings.max_cost is None:
        return ()
    note = unpriced_note(prices_of(settings), tiers_of(settings).values())
    return () if note is None else (note,)


async def _nothing() -> None:
    """There is nothing to close."""
