"""Who plays which part in a run: with rules and programs alone, with models, or as a single request to compare with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.adapters.replay import Given, Noted, NotedBooks
from reviewbot.adapters.replay.given import JointRow
from reviewbot.config import Settings
from reviewbot.context.service import Context
from reviewbot.model.baseline import CARD, NAME, BaselineEngine, BaselinePlanner, BaselineVerifier
from reviewbot.model.critic import Critic
from reviewbot.model.engine import ModelEngine
from reviewbot.model.evidence import evidence_of
from reviewbot.model.planner import ModelPlanner, Planning
from reviewbot.model.synthesizer import ModelSynthesizer
from reviewbot.model.told import told
from reviewbot.model.verifier import ModelVerifier
from reviewbot.ports import Crew, Engine, Planner, Verifier
from reviewbot.supervisor.planner import PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import CappingVerifier
from reviewbot.tools.catalog import own_tools
from reviewbot.wiring.models import Around, line_to, prompt
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


@dataclass(frozen=True)
class Parts:
    """One cast."""

    engine: Engine
    planner: Planner
    verifier: Verifier
    synthesizer: RuledSynthesizer | ModelSynthesizer
    close: Callable[[], Awaitable[None]]
    fan_out: int | None = None

    def given(self, joint: tuple[JointRow, ...]) -> Given:
        """What a replay has to know of it."""
        made = self.synthesizer
        critic = isinstance(made, ModelSynthesizer) and made.critic is not None
        how = "model" if isinstance(made, ModelSynthesizer) else "rules"
        return Given(made.rules, joint, made.engine, made.notes, how, critic)


def rule_parts(settings: Settings, ground: Ground, engine: Engine) -> Parts:
    """Programs, or canned answers; rules do the rest."""
    return Parts(
        engine=engine,
        planner=RoutedPlanner(ground.crew, engine.covers, ground.subject.snapshot.head, _limits(settings, ground)),
        verifier=CappingVerifier(),
        synthesizer=RuledSynthesizer(ground.rules, engine.name, ground.notes),
        close=_nothing,
    )


def model_parts(settings: Settings, ground: Ground) -> Parts:
    """Models, on the ground of programs. Raises ConfigError where none can be asked."""
    line, trace = line_to(settings, ground.around), ground.around.trace
    left_s = line.deadline.left_s
    engine = ModelEngine(
        model=line.model,
        programs=ground.programs,
        own=own_tools(),
        told=told,
        trace=trace,
        clock=ground.around.clock,
        rules=prompt("worker"),
        review_left_s=left_s,
    )
    limits = _limits(settings, ground, models=True)
    routed = RoutedPlanner(ground.crew, engine.covers, ground.subject.snapshot.head, limits)
    planning = Planning(plan_above=settings.plan_above)
    # What these two are told decides the review, and so a replay of the trace needs their words.
    noted = Noted(line.model, trace)
    critic = Critic(noted, prompt("critic"), trace) if settings.critic else None
    synthesizer = ModelSynthesizer(
        rules=ground.rules,
        model=noted,
        prompt=prompt("synthesizer"),
        trace=trace,
        engine=engine.name,
        notes=ground.notes,
        books=NotedBooks(line.books, trace),
        critic=critic,
    )
    return Parts(
        engine=engine,
        planner=ModelPlanner(routed, line.model, trace, prompt("planner"), planning, left_s),
        verifier=ModelVerifier(line.model, prompt("verifier"), trace, evidence_of),
        synthesizer=synthesizer,
        close=line.close,
        fan_out=settings.fan_out,
    )


def baseline_parts(settings: Settings, ground: Ground) -> Parts:
    """One request with the whole change. Raises ConfigError where no model can be asked."""
    line = line_to(settings, ground.around)
    engine = BaselineEngine(line.model)
    rules = Rules.of((CARD,), settings.min_confidence, settings.max_findings)
    return Parts(
        engine=engine,
        planner=BaselinePlanner.of(engine),
        verifier=BaselineVerifier(),
        synthesizer=RuledSynthesizer(rules, NAME, ground.notes, NotedBooks(line.books, ground.around.trace)),
        close=line.close,
    )


def baseline_crew() -> Crew:
    """The crew of a single request."""
    return Crew((CARD,), {NAME: prompt(NAME)}, {NAME: "package"})


def _limits(settings: Settings, ground: Ground, *, models: bool = False) -> PlanLimits:
    context = Context(ground.subject.snapshot)

    @cache
    def has_conventions(path: str) -> bool:
        return bool(context.conventions(path).files)

    given = PlanLimits(settings.chunk_lines, settings.ignore, settings.workers, handed_in=ground.handed_in)
    if not models:
        return given
    return PlanLimits(
        chunk_lines=given.chunk_lines,
        ignore=given.ignore,
        workers=given.workers,
        handed_in=given.handed_in,
        bundle_lines=settings.bundle_lines,
        route=True,
        programs=ground.programs.covers,
        has_conventions=has_conventions,
    )


async def _nothing() -> None:
    """There is nothing to close."""
