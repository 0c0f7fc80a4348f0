"""Assemble everything for one run."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from reviewbot import __version__
from reviewbot.analyzers.catalog import SCANNING, all_tools, change_scan
from reviewbot.analyzers.core.report_cache import PREFIX, ReportCache
from reviewbot.analyzers.core.run import ChangeAnalysis
from reviewbot.analyzers.engine import AnalyzersEngine
from reviewbot.analyzers.imported import ImportedFindings, imported_tools
from reviewbot.analyzers.imported.kinds import WORKERS
from reviewbot.analyzers.programs.installed import missing_note
from reviewbot.config import Settings
from reviewbot.config.settings import DEFAULT, KEYS, settings_in_force
from reviewbot.config.source import FOLDER, BaseSide, repository_workers, settings_of
from reviewbot.diff.rows import side_texts
from reviewbot.domain.contracts import ChangeSet, Review, WorkerResult
from reviewbot.domain.errors import ConfigError, InputError
from reviewbot.domain.ports import Journal, Tool, WorkerSet
from reviewbot.journal.secret_free import SecretFreeJournal
from reviewbot.journal.sqlite import SqliteJournal, SteadyJournal, default_path
from reviewbot.redact.mask import SecretMask
from reviewbot.replay.recorded_inputs import joint_rows, record_inputs
from reviewbot.review.calibration import Calibration, packaged_calibration
from reviewbot.review.cards import build_worker_set, shipped_files
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.execution import PlanExecutor
from reviewbot.review.feedback import NO_FEEDBACK, FeedbackTable
from reviewbot.review.model_calibration import ModelTables
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.trace import Event, Trace
from reviewbot.sources.memory import MemoryJournal, NoJournal, SystemClock
from reviewbot.wiring.change_sources import Subject, notes_on
from reviewbot.wiring.component_factory import Baseline, BuildContext, Components, MakePreview, rule_parts
from reviewbot.wiring.models import MakeRateLimiter, RunServices, asks_models, own_secrets
from reviewbot.wiring.suppressors import suppression_of
from reviewbot.wiring.worker_limits import limit_workers

MAX_REPORT_BYTES = 16 * 1024 * 1024
"""Of the reports of tools that are kept for the next review; the oldest go first. It is some tens of thousands."""

KEEP_PROGRESS_S = 30 * 24 * 3600
"""How long the progress of a run can be resumed; without an end the journal would grow for ever."""


def settings_for(base: BaseSide | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The settings of a run; the repository's own file counts from the base side only. Raises ConfigError."""
    try:
        return settings_of(base, environ, flags)
    except ConfigError as error:
        raise _with_side(error) from None


def _with_side(error: ConfigError) -> ConfigError:
    """The error; of a file of the repository, with the side that counts: to mend it in the change mends nothing."""
    message = str(error)
    side = " (as it stands on the base side of the change)" if message.startswith(FOLDER) else ""
    return ConfigError(f"{message}{side}")


def load_workers(base: BaseSide | None) -> WorkerSet:
    """Load the shipped workers and those of the repository's base side."""
    added = {} if base is None else repository_workers(base)
    return build_worker_set(shipped_files(), added, all_tools().keys())


@dataclass(frozen=True)
class RunInputs:
    """Inputs of a run beside the change and the settings."""

    script: Path | None = None
    """The answers of the scripted engine."""
    calibration: Calibration | None = None
    """In place of the table that comes with the package."""
    measured: ModelTables | None = None
    """What models' numbers are worth, in place of the tables that come with the package."""
    feedback: FeedbackTable = NO_FEEDBACK
    """What is known of earlier findings of this installation."""
    results: tuple[tuple[str, bytes], ...] = ()
    """Files of results of other programs, each with its name."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Where keys are; empty: there are none."""
    rates: MakeRateLimiter | None = None
    """The rate of calls, where other processes share it."""
    checkout: Path | None = None
    """A folder whose git objects may save fetching the files of a pull request."""
    baseline: Baseline | None = None
    """Something simpler in place of a review with models, to compare one with."""


@dataclass(frozen=True)
class PreparedRun:
    """One review, ready to begin."""

    setup: Setup
    worker_set: WorkerSet
    engine: str
    """The name of the engine that does the work."""
    run_id: str
    """Equal exactly where a finished task of one run may stand in another."""
    trace: Trace
    rules: Rules
    close: Callable[[], Awaitable[None]]
    preview: MakePreview
    """What is known of the review before it begins. Asks no model."""

    async def review(self, change: ChangeSet) -> Review:
        """Carry out the review, and close what was opened for it."""
        try:
            return await review(change, self.setup)
        finally:
            await self.close()


def setup(
    subject: Subject,
    settings: Settings,
    given: RunInputs | None = None,
    *,
    journal: Journal | None = None,
    listener: Callable[[Event], None] | None = None,
) -> PreparedRun:
    """Assemble everything for one run. The trace is the recorder in it, to be written out afterwards.

    Raises ConfigError, and InputError where something that was given cannot be read.
    """
    given = given or RunInputs()
    table = packaged_calibration() if given.calibration is None else given.calibration
    worker_set = _load_workers(subject, settings, given)
    clock = SystemClock()
    mask = SecretMask(side_texts(subject.change), own_secrets(given.environ))
    trace = Trace(clock, listener, mask)
    foreign, result_notes = imported_tools(given.results, [file.path for file in subject.change.files])
    tools = all_tools(calibration=table, foreign=foreign)
    rules = _rules(subject, settings, given, worker_set, table)
    suppression = suppression_of(subject, settings, foreign, rules.thresholds)
    kept = MemoryJournal() if journal is None else SecretFreeJournal(journal, mask)
    context = BuildContext(
        subject=subject,
        worker_set=worker_set,
        programs=_programs(subject, tools, foreign, _cache(journal, kept, subject, table)),
        rules=rules,
        notes=(*worker_set.notes, *_notes(subject, settings, journal, given), *suppression.notes, *result_notes),
        handed_in=_handed_in(worker_set, foreign),
        mask=mask,
        services=RunServices(clock, kept, trace, given.environ, given.rates),
        tools=tools,
        measured=given.measured,
        refused=suppression.suppressor.refused,
    )
    parts = _parts(settings, given, context)
    record_inputs(trace, subject.change, parts.recorded_inputs(joint_rows(table)))
    changed = (row for row in settings_in_force(settings) if row.origin != DEFAULT)
    trace.record("settings", settings=[{"name": row.name, "value": row.value, "origin": row.origin} for row in changed])
    name = _run_identity(context, settings, given, (repr(table), parts.engine.name, repr(suppression.suppressor)))
    executor = PlanExecutor(
        worker_set=worker_set,
        engine=parts.engine,
        tools=tools,
        snapshot=subject.snapshot,
        journal=NoJournal() if journal is None else kept,
        clock=clock,
        trace=trace,
        run_id=name,
        concurrency=parts.tasks_at_once,
        deadline_s=settings.deadline_s,
        workers=settings.workers,
        mask=mask,
        suppressor=suppression.suppressor,
        find_outside=_scan(worker_set, settings, table),
    )
    built = Setup(parts.planner, executor, parts.synthesizer, clock, trace, parts.fan_out)
    return PreparedRun(built, worker_set, parts.engine.name, name, trace, context.rules, parts.close, parts.preview)


def _rules(subject: Subject, settings: Settings, given: RunInputs, worker_set: WorkerSet, table: Calibration) -> Rules:
    """What is shown of the findings."""
    prose_alone = all(file.kind == "prose" for file in subject.change.files)
    return Rules.of(
        worker_set.cards, settings.max_findings, table.joint_confidence, given.feedback, prose_alone=prose_alone
    )


def _notes(subject: Subject, settings: Settings, journal: Journal | None, given: RunInputs) -> tuple[str, ...]:
    """What the report says of this run whatever is found."""
    return (
        *notes_on(subject),
        *missing_note(subject.change, settings.ignore),
        *_journal_notes(journal),
        *given.feedback.notes(),
    )


def _programs(
    subject: Subject, tools: Mapping[str, Tool], foreign: Collection[Tool], cache: ReportCache | None
) -> AnalyzersEngine:
    own = {name: tool for name, tool in tools.items() if tool not in foreign}
    return AnalyzersEngine(own, ChangeAnalysis(subject.change, subject.snapshot, tools, cache=cache))


def _scan(worker_set: WorkerSet, settings: Settings, table: Calibration) -> Callable[[ChangeSet], WorkerResult | None]:
    """What looks at names, title and description: it speaks for the worker of its tools, where that one is to run."""
    card = next((card for card in worker_set.cards if set(SCANNING) <= set(card.tools)), None)
    if card is None or (settings.workers and card.name not in settings.workers):
        return lambda _change: None
    return change_scan(card.task_type, table)


def _cache(journal: Journal | None, kept: Journal, subject: Subject, made_with: Calibration) -> ReportCache | None:
    """Reports of earlier reviews, where they are kept in a file of the person who reviews."""
    if not isinstance(journal, SteadyJournal):
        return None
    return ReportCache(kept, repr(made_with), subject.snapshot, [f"imported-{worker}" for worker in WORKERS])


def open_journal(environ: Mapping[str, str]) -> SteadyJournal:
    """Open the journal on disk. Raises InputError where its place cannot be used."""
    journal = SqliteJournal(default_path(environ))
    journal.expire(KEEP_PROGRESS_S)
    journal.shrink(PREFIX, MAX_REPORT_BYTES)
    return SteadyJournal(journal)


def _load_workers(subject: Subject, settings: Settings, inputs: RunInputs) -> WorkerSet:
    try:
        worker_set = load_workers(subject.base)
        if asks_models(settings, inputs.environ):
            from reviewbot.llm.agents.ad_hoc_workers import with_seats  # noqa: PLC0415 - as for `model_parts`

            worker_set = with_seats(worker_set, settings.extra_workers)
        return limit_workers(worker_set, settings)  # last, so that seats have the operator's time as well
    except ConfigError as error:
        raise _with_side(error) from None


def _run_identity(context: BuildContext, settings: Settings, given: RunInputs, parts: tuple[str, ...]) -> str:
    """Equal exactly where a finished task of one run may stand in another: same input, workers, rules and version.

    `parts` is what else the answers of tools depend on, beside the logs that were handed in.
    """
    subject, worker_set = context.subject, context.worker_set
    digest = hashlib.sha256()
    said = [
        __version__,
        # Of two versions of Python one may parse what the other does not.
        platform.python_version(),
        metadata.version("ruff"),
        *parts,
        *(hashlib.sha256(data).hexdigest() for _, data in given.results),
        repr((subject.change.title, subject.change.description)),
        subject.digest,
        # What a model answers depends on which one it is; what it was asked is in each task's own key.
        repr({name: getattr(settings, name) for name, key in KEYS.items() if key.affects == "task"}),
        "" if given.script is None else hashlib.sha256(read_script(given.script)).hexdigest(),
    ]
    for card in worker_set.cards:
        said += [card.model_dump_json(exclude={"threshold"}), worker_set.prompts[card.name]]
    for part in said:
        digest.update(part.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:32]


def read_script(path: Path) -> bytes:
    """The answers of the scripted engine. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the script {path}: {error.strerror}") from None


def _handed_in(worker_set: WorkerSet, foreign: Iterable[ImportedFindings]) -> dict[str, frozenset[str]]:
    """By worker: the files of which one of its tools tells what other programs have found."""
    paths = {tool.name: tool.paths for tool in foreign}
    none: frozenset[str] = frozenset()
    return {card.name: none.union(*(paths.get(name, none) for name in card.tools)) for card in worker_set.cards}


def _parts(settings: Settings, given: RunInputs, context: BuildContext) -> Components:
    """Build planner, worker and synthesizer. Raises ConfigError."""
    if given.script is not None and settings.engine != "scripted":
        raise ConfigError("--script is for --engine scripted alone")
    if settings.engine == "scripted":
        if given.script is None:
            raise ConfigError("--engine scripted needs --script FILE with its answers")
        from reviewbot.replay.scripted import ScriptedEngine  # noqa: PLC0415 - for tests and demonstrations alone

        return rule_parts(settings, context, ScriptedEngine.from_json(read_script(given.script)))
    if asks_models(settings, given.environ):
        # A review without models loads nothing that asks one.
        from reviewbot.wiring.model_components import model_parts  # noqa: PLC0415

        return model_parts(settings, context, given.baseline)
    return rule_parts(settings, context, context.programs)


def _journal_notes(journal: Journal | None) -> list[str]:
    if isinstance(journal, SteadyJournal) and journal.inner.set_aside is not None:
        return [f"the journal was damaged; it now stands in {journal.inner.set_aside}, and a new one was begun"]
    return []
