"""Build the components of a run without models; `reviewbot.wiring.model_components` builds those with models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from reviewbot.analyzers.engine import AnalyzersEngine
from reviewbot.config import Settings
from reviewbot.config.attributes import declaration_reader
from reviewbot.config.globs import applies
from reviewbot.config.providers import KEY_HINT
from reviewbot.context.conventions import conventions
from reviewbot.domain.contracts import ChangeSet, Plan, ReviewTask, Suppression, WorkerCard
from reviewbot.domain.ports import Engine, Planner, Tool, WorkerSet, WorkOrder
from reviewbot.redact.mask import SecretMask
from reviewbot.replay.recorded_inputs import JointRow, RecordedInputs
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.model_calibration import ModelTables, NumberMaps
from reviewbot.review.plan.planner import WHOLE_FILE, PlanLimits, RoutedPlanner
from reviewbot.wiring.change_sources import Subject
from reviewbot.wiring.models import RunServices

if TYPE_CHECKING:
    # What asks models is loaded where a model is configured, and not with every review.
    from reviewbot.llm.agents.judge import JudgingSynthesizer
    from reviewbot.llm.estimate import Preview

Baseline = Literal["request", "reader"]
"""What a review is compared with: one request with the whole change and no tools, or one reader and no judge."""


@dataclass(frozen=True)
class BuildContext:
    """Inputs that the components of all engines share."""

    subject: Subject
    worker_set: WorkerSet
    programs: AnalyzersEngine
    rules: Rules
    notes: tuple[str, ...]
    handed_in: Mapping[str, Collection[str]]
    services: RunServices
    mask: SecretMask
    tools: Mapping[str, Tool]
    measured: ModelTables | None
    """What models' numbers are worth; None: as the tables that come with the package say."""
    refused: tuple[Suppression, ...]
    """Comments that silence nothing."""

    def order(self, task: ReviewTask) -> WorkOrder:
        """Make the order for a task, without the results of other tasks."""
        card = next(card for card in self.worker_set.cards if card.name == task.worker)
        tools = {name: self.tools[name] for name in card.tools if name in self.tools}
        change = self.subject.change
        prompt_text = self.worker_set.prompts[card.name]
        return WorkOrder(task, card, prompt_text, tools, self.subject.snapshot, change.title, change.description)

    def orders(self, plan: Plan) -> Iterator[WorkOrder]:
        """Make an order for the programs of each slice of a plan, in its order."""
        cards = {card.name: card for card in self.worker_set.cards}
        for task in (each for each in plan.tasks if not each.seam):
            card = cards[task.worker]
            tools = {name: self.tools[name] for name in card.tools if name in self.tools}
            for payload in task.slices:
                alone = task.model_copy(update={"payload": payload, "more": ()})
                yield WorkOrder(alone, card, "", tools, self.subject.snapshot)


MakePreview = Callable[[ChangeSet], Coroutine[None, None, "Preview"]]


@dataclass(frozen=True)
class Components:
    """Everything that a review is made with."""

    engine: Engine
    planner: Planner
    synthesizer: RuledSynthesizer | JudgingSynthesizer
    close: Callable[[], Awaitable[None]]
    preview: MakePreview
    """Asks no model."""
    tasks_at_once: int
    fan_out: int | None = None

    def recorded_inputs(self, joint: tuple[JointRow, ...]) -> RecordedInputs:
        """The inputs of these components that a replay needs."""
        made = self.synthesizer
        if isinstance(made, RuledSynthesizer):
            how, maps = "rules", NumberMaps()
        else:
            how, maps = "judge" if made.judging else "claims", made.calibrator.maps
        facts = made.facts
        return RecordedInputs(
            made.rules, joint, facts.engine, tuple(facts.notes), how, number_maps=maps, refused=facts.refused
        )


def rule_parts(settings: Settings, context: BuildContext, engine: Engine) -> Components:
    """Build components without models: programs or canned answers find, and rules do the rest."""
    limits, worker_set, notes = plan_limits(settings, context), context.worker_set, context.notes
    if engine is context.programs:
        # A program reads the whole file whatever it is asked, so that parts of it would only be more tasks.
        limits = replace(limits, chunk_lines=WHOLE_FILE, ask_models=False)
        worker_set, left_out = without_models(worker_set, context.tools)
        notes = (*note_on(left_out, context.subject.change, settings.workers), *notes)
    planner = RoutedPlanner(worker_set, engine.covers, context.subject.snapshot.head, limits)
    return Components(
        engine=engine,
        planner=planner,
        synthesizer=RuledSynthesizer(context.rules, ReviewFacts(engine.name, notes, refused=context.refused)),
        close=_nothing,
        preview=_preview_of(planner),
        tasks_at_once=settings.tasks_at_once,
    )


def without_models(worker_set: WorkerSet, analyzers: Collection[str]) -> tuple[WorkerSet, tuple[WorkerCard, ...]]:
    """Divide the workers into those that can work with analyzers alone, and the others.

    `analyzers` are the names of the tools that work without a model. A worker that needs the result of one that does
    not run does not run either.
    """
    missing = {card.name for card in worker_set.cards if not set(card.tools) & set(analyzers)}
    while more := {card.name for card in worker_set.cards if _needs(card, missing)} - missing:
        missing |= more
    running = tuple(card for card in worker_set.cards if card.name not in missing)
    return replace(worker_set, cards=running), tuple(card for card in worker_set.cards if card.name in missing)


def note_on(left_out: Sequence[WorkerCard], change: ChangeSet, chosen: Collection[str]) -> tuple[str, ...]:
    """One line that names the workers of this change that need a model; `chosen` are those of the settings, if any."""
    names = [
        card.name
        for card in left_out
        if (not chosen or card.name in chosen)
        and any(applies(card.applies_to, file.path, file.kind) for file in change.files)
    ]
    if not names:
        return ()
    them = "This worker needs" if len(names) == 1 else "These workers need"
    return (f"{them} a model key (such as {KEY_HINT}) and did not run: {', '.join(names)}",)


def _needs(card: WorkerCard, others: set[str]) -> bool:
    return card.needs_dependencies and not others.isdisjoint(card.depends_on)


def _preview_of(planner: Planner) -> MakePreview:
    """The plan of a planner that asks no model."""

    async def preview(change: ChangeSet) -> Preview:
        from reviewbot.llm.estimate import Preview  # noqa: PLC0415 - loaded for an estimate alone

        return Preview(await planner.plan(change))

    return preview


def plan_limits(settings: Settings, context: BuildContext, *, models: bool = False) -> PlanLimits:
    """What a planner of rules must know of a run; `models`: readers do the work, and not programs alone."""

    @cache
    def has_conventions(path: str) -> bool:
        return bool(conventions(context.subject.snapshot, path).files)

    limits = PlanLimits(
        chunk_lines=settings.chunk_lines,
        ignore=settings.ignore,
        paths=settings.paths,
        workers=settings.workers,
        handed_in=context.handed_in,
        declared=declaration_reader(context.subject.base if context.subject.declares else None),
        scans=context.programs.scans,
    )
    if not models:
        return limits
    return replace(
        limits,
        part_lines=settings.reader_lines,
        route=True,
        programs=context.programs.covers,
        has_conventions=has_conventions,
    )


async def _nothing() -> None:
    """There is nothing to close."""
