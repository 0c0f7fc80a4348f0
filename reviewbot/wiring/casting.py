"""Who plays which part in a run: with rules and programs alone, with models, or as a single request to compare with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.adapters.replay import Given, Noted, NotedBooks
from reviewbot.adapters.replay.given import JointRow
from reviewbot.config import Settings
from reviewbot.config.attributes import declared_by
from reviewbot.context.service import Context
from reviewbot.contracts import OVERVIEW, ChangeSet, Plan
from reviewbot.model.baseline import CARD, NAME, BaselineEngine, BaselinePlanner, BaselineVerifier
from reviewbot.model.critic import Critic
from reviewbot.model.engine import ModelEngine
from reviewbot.model.evidence import evidence_of
from reviewbot.model.overview import OverviewPlanner
from reviewbot.model.planner import ModelPlanner, Planning
from reviewbot.model.prefetch import ProgramPrefetch
from reviewbot.model.synthesizer import ModelSynthesizer
from reviewbot.model.told import told
from reviewbot.model.verifier import ModelVerifier
from reviewbot.ports import Crew, Engine, ModelRequest, Planner, Tool, Verifier, WorkOrder
from reviewbot.prices import unpriced_note
from reviewbot.supervisor.boundary import GuardedVerifier
from reviewbot.supervisor.planner import WHOLE_FILE, PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import CappingVerifier
from reviewbot.tools.catalog import own_tools
from reviewbot.wiring.keyless import note_on, without_models
from reviewbot.wiring.models import Around, line_to, prices_of, prompt, tiers_of
from reviewbot.wiring.subjects import Subject


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
    tools: Mapping[str, Tool]

    def orders(self, plan: Plan) -> Iterator[WorkOrder]:
        """An order for the programs of each slice of a plan, in its order."""
        cards = {card.name: card for card in self.crew.cards}
        for task in plan.tasks:
            card = cards[task.worker]
            tools = {name: self.tools[name] for name in card.tools if name in self.tools}
            for payload in task.slices:
                alone = task.model_copy(update={"payload": payload, "more": ()})
                yield WorkOrder(alone, card, "", tools, self.subject.snapshot)


MakePreview = Callable[[ChangeSet], Coroutine[None, None, "Preview"]]


class Preview(NamedTuple):
    """What is known of a review before anything is asked."""

    plan: Plan
    question: ModelRequest | None = None
    """What a planner's model would be asked for a better plan."""


@dataclass(frozen=True)
class Parts:
    """One cast."""

    engine: Engine
    planner: Planner
    verifier: Verifier
    synthesizer: RuledSynthesizer | ModelSynthesizer
    close: Callable[[], Awaitable[None]]
    preview: MakePreview
    """Asks no model."""
    tasks_at_once: int
    fan_out: int | None = None

    def given(self, joint: tuple[JointRow, ...]) -> Given:
        """What a replay has to know of it."""
        made = self.synthesizer
        critic = isinstance(made, ModelSynthesizer) and made.critic is not None
        how = "model" if isinstance(made, ModelSynthesizer) else "rules"
        return Given(made.rules, joint, made.engine, made.notes, how, critic)


def rule_parts(settings: Settings, ground: Ground, engine: Engine) -> Parts:
    """Programs, or canned answers; rules do the rest."""
    limits, crew, notes = _limits(settings, ground), ground.crew, ground.notes
    if engine is ground.programs:
        # A program reads the whole file whatever it is asked, so that parts of it would only be more tasks.
        limits = replace(limits, chunk_lines=WHOLE_FILE)
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


def model_parts(settings: Settings, ground: Ground) -> Parts:
    """Models, on the ground of programs. Raises ConfigError where none can be asked."""
    line, trace = line_to(settings, ground.around), ground.around.trace
    left_s = line.deadline.left_s
    head = ProgramPrefetch(ground.programs, line.ready)
    engine = ModelEngine(
        model=line.model,
        programs=head,
        own=own_tools(),
        told=told,
        trace=trace,
        clock=ground.around.clock,
        rules=prompt("worker"),
        review_left_s=left_s,
    )
    limits = _limits(settings, ground, models=True)
    routed = RoutedPlanner(ground.crew, engine.covers, ground.subject.snapshot.head, limits)
    planning = Planning(plan_above=settings.plan_above, replan=settings.replan)
    planner = ModelPlanner(
        routed, line.model, trace, prompt("planner"), planning, left_s, lambda plan: head.begin(plan, ground.orders)
    )
    overview = _with_overview(planner, settings, ground.crew)

    async def preview(change: ChangeSet) -> Preview:
        plan = await routed.plan(change)
        return Preview(overview.added(plan, change), planner.request_of(change, plan))

    # What these two are told decides the review, and so a replay of the trace needs their words.
    noted = Noted(line.model, trace)
    critic = Critic(noted, prompt("critic"), trace) if settings.critic else None
    synthesizer = ModelSynthesizer(
        rules=ground.rules,
        model=noted,
        prompt=prompt("synthesizer"),
        comparison=prompt("comparison"),
        trace=trace,
        engine=engine.name,
        notes=(*ground.notes, *_unpriced(settings)),
        books=NotedBooks(line.books, trace),
        critic=critic,
    )
    return Parts(
        engine=engine,
        planner=overview,
        verifier=GuardedVerifier(ModelVerifier(line.model, prompt("verifier"), trace, evidence_of), left_s),
        synthesizer=synthesizer,
        close=_both(head.close, line.close),
        preview=preview,
        # A few more than calls, to be prepared while others wait; the time of a task runs while it waits for its call.
        tasks_at_once=settings.calls_in_flight + settings.calls_in_flight // 4,
        fan_out=settings.fan_out,
    )


def baseline_parts(settings: Settings, ground: Ground) -> Parts:
    """One request with the whole change. Raises ConfigError where no model can be asked."""
    line = line_to(settings, ground.around)
    engine = BaselineEngine(line.model)
    planner = BaselinePlanner.of(engine)
    rules = Rules.of((CARD,), settings.min_confidence, settings.max_findings)
    return Parts(
        engine=engine,
        planner=planner,
        verifier=BaselineVerifier(),
        synthesizer=RuledSynthesizer(rules, NAME, ground.notes, NotedBooks(line.books, ground.around.trace)),
        close=line.close,
        preview=_preview_of(planner),
        tasks_at_once=settings.tasks_at_once,
    )


def _preview_of(planner: Planner) -> MakePreview:
    """The plan of a planner that asks no model."""

    async def preview(change: ChangeSet) -> Preview:
        return Preview(await planner.plan(change))

    return preview


def baseline_crew() -> Crew:
    """The crew of a single request."""
    return Crew((CARD,), {NAME: prompt(NAME)}, {NAME: "package"})


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
        declared=declared_by(ground.subject.base),
        scans=ground.programs.scans,
    )
    if not models:
        return given
    return replace(
        given,
        bundle_lines=settings.bundle_lines,
        route=True,
        programs=ground.programs.covers,
        has_conventions=has_conventions,
    )


def _with_overview(planner: Planner, settings: Settings, crew: Crew) -> OverviewPlanner:
    """The planner with the reading of the whole change. Whoever named the workers that are to run has named all."""
    card = next(card for card in crew.cards if card.name == OVERVIEW)
    wanted = not settings.workers or OVERVIEW in settings.workers
    return OverviewPlanner(planner, settings.overview_lines if wanted else 0, card)


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


async def _nothing() -> None:
    """There is nothing to close."""
