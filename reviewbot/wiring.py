"""The only place that builds adapters and tools and hands them to the spine."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from reviewbot import __version__
from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.adapters.git import GitRepository, GitSnapshot
from reviewbot.adapters.memory import DiffSnapshot, MemoryJournal, SystemClock
from reviewbot.adapters.scripted import ScriptedEngine
from reviewbot.adapters.sqlite import SqliteJournal, SteadyJournal, default_path
from reviewbot.adapters.tree import TreeSnapshot
from reviewbot.calibration import Calibration, packaged_calibration
from reviewbot.cards import load_crew
from reviewbot.config import Settings
from reviewbot.config.source import BaseSide, repository_crew, settings_of
from reviewbot.contracts import ChangeSet
from reviewbot.diff.apply import NO_FILES
from reviewbot.diff.parse import parse_diff
from reviewbot.errors import ConfigError, InputError
from reviewbot.ports import Crew, Engine, Journal, Snapshot
from reviewbot.review import Setup
from reviewbot.supervisor.planner import PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import CappingVerifier
from reviewbot.tools.catalog import all_tools
from reviewbot.tools.foreign import ForeignFindings, foreign_tools
from reviewbot.trace import Event, Trace

OWN_FILES = ".reviewbot"
"""How the names begin of the files with which a repository configures us."""

KEEP_PROGRESS_S = 30 * 24 * 3600
"""How long the progress of a run can be resumed; without an end the journal would grow for ever."""


@dataclass(frozen=True)
class Subject:
    """A change, what is around it, and the base side that may configure its review (None for a bare diff)."""

    change: ChangeSet
    digest: str
    snapshot: Snapshot
    base: BaseSide | None


def from_diff(data: bytes, folder: Path | None) -> Subject:
    """A diff, alone or beside the folder that it belongs to. Raises InputError."""
    change = parse_diff(data)
    if not change.files:
        raise InputError("the diff is empty; nothing to review. Is the command before the pipe right?")
    digest = hashlib.sha256(data).hexdigest()
    if folder is None:
        return Subject(change, digest, DiffSnapshot(change), None)
    _check_own_files(change)
    tree = tree_of(folder, change)
    return Subject(change, _with_texts(digest, change, tree), tree, tree)


def tree_of(folder: Path, change: ChangeSet) -> TreeSnapshot:
    """A folder that stands at the base or the head of a change. Raises InputError where it is at neither."""
    return TreeSnapshot.open(folder, change)


def from_range(folder: Path, range_text: str, closing: ExitStack) -> Subject:
    """A range of commits, read from git's objects until `closing` ends. Raises InputError."""
    repository = closing.enter_context(GitRepository(folder))
    found = repository.range_diff(range_text)
    shas = {"base_sha": found.base_sha, "head_sha": found.head_sha}
    change = parse_diff(found.diff).model_copy(update=shas)
    snapshot = GitSnapshot(repository, found.base_sha, found.head_sha)
    return Subject(change, hashlib.sha256(found.diff).hexdigest(), snapshot, snapshot)


def from_index(folder: Path, environ: Mapping[str, str], closing: ExitStack) -> Subject:
    """What is staged, also inside a git hook, which may have an index of its own. Raises InputError."""
    own_index = environ.get("GIT_INDEX_FILE")
    repository = closing.enter_context(GitRepository(folder, Path(own_index) if own_index else None))
    found = repository.staged_diff()
    change = parse_diff(found.diff)
    snapshot = GitSnapshot(repository, found.base_sha, None)
    return Subject(change, hashlib.sha256(found.diff).hexdigest(), snapshot, snapshot)


def settings_for(base: BaseSide | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The settings of a run; the repository's own file counts from the base side only. Raises ConfigError."""
    return settings_of(base, environ, flags)


def crew_for(base: BaseSide | None) -> Crew:
    """The shipped workers and those of the repository's base side."""
    return load_crew({} if base is None else repository_crew(base), all_tools().keys())


@dataclass(frozen=True)
class Given:
    """What was handed in for a run beside the change and the settings."""

    script: Path | None = None
    """The answers of the scripted engine."""
    calibration: Calibration | None = None
    """In place of the table that comes with the package."""
    results: tuple[tuple[str, bytes], ...] = ()
    """Logs of other programs in SARIF, each with its name."""


@dataclass(frozen=True)
class Run:
    """One review, ready to begin."""

    setup: Setup
    trace: Trace
    rules: Rules


def setup(
    subject: Subject,
    settings: Settings,
    given: Given | None = None,
    *,
    journal: Journal | None = None,
    listener: Callable[[Event], None] | None = None,
) -> Run:
    """Everything for one run. The trace is the recorder in it, to be written out afterwards.

    Raises ConfigError, and InputError where something that was given cannot be read.
    """
    given = given or Given()
    table = packaged_calibration() if given.calibration is None else given.calibration
    crew = crew_for(subject.base)
    if unknown := [name for name in settings.workers if name not in crew.prompts]:
        known = ", ".join(card.name for card in crew.cards)
        raise ConfigError(f"there is no worker {unknown[0]!r}; known: {known}")
    clock = SystemClock()
    trace = Trace(clock, listener)
    foreign, told = foreign_tools(given.results, [file.path for file in subject.change.files])
    tools = all_tools(calibration=table, foreign=foreign)
    own = {name: tool for name, tool in tools.items() if tool not in foreign}
    rules = Rules.of(crew.cards, settings.min_confidence, settings.max_findings, table.together)
    engine = _engine(settings, given.script, tools_engine=lambda: AnalyzersEngine(own))
    notes = (*_notes(subject), *told, *_journal_notes(journal))
    limits = PlanLimits(settings.chunk_lines, settings.ignore, settings.workers, handed_in=_handed_in(crew, foreign))
    built = Setup(
        crew=crew,
        engine=engine,
        planner=RoutedPlanner(crew, engine.covers, subject.snapshot.head, limits),
        verifier=CappingVerifier(),
        synthesizer=RuledSynthesizer(rules, engine.name, notes),
        tools=tools,
        snapshot=subject.snapshot,
        journal=journal or MemoryJournal(),
        clock=clock,
        trace=trace,
        run_id=run_id(subject, crew, settings, given.script, extra=(repr(table), *_digests(given.results))),
        concurrency=settings.concurrency,
        deadline_s=settings.deadline_s,
    )
    return Run(built, trace, rules)


def open_journal(environ: Mapping[str, str]) -> SteadyJournal:
    """The journal on disk. Raises InputError where its place cannot be used."""
    journal = SqliteJournal(default_path(environ))
    journal.expire(KEEP_PROGRESS_S)
    return SteadyJournal(journal)


def run_id(subject: Subject, crew: Crew, settings: Settings, script: Path | None, extra: Sequence[str] = ()) -> str:
    """Equal exactly where a finished task of one run may stand in another: same input, workers, rules and version.

    `extra` is what else the answers of tools depend on.
    """
    digest = hashlib.sha256()
    parts = [
        __version__,
        # Of two versions of Python one may parse what the other does not.
        platform.python_version(),
        metadata.version("ruff"),
        *extra,
        subject.digest,
        str(settings.engine),
        str(settings.chunk_lines),
        repr(settings.ignore),
    ]
    parts += [repr(settings.workers), "" if script is None else hashlib.sha256(_script(script)).hexdigest()]
    for card in crew.cards:
        parts += [card.model_dump_json(), crew.prompts[card.name]]
    for part in parts:
        digest.update(part.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:32]


def _handed_in(crew: Crew, foreign: Iterable[ForeignFindings]) -> dict[str, frozenset[str]]:
    """By worker: the files of which one of its tools tells what other programs have found."""
    paths = {tool.name: tool.paths for tool in foreign}
    none: frozenset[str] = frozenset()
    return {card.name: none.union(*(paths.get(name, none) for name in card.tools)) for card in crew.cards}


def _digests(results: Sequence[tuple[str, bytes]]) -> list[str]:
    return [hashlib.sha256(data).hexdigest() for _, data in results]


def _engine(settings: Settings, script: Path | None, tools_engine: Callable[[], Engine]) -> Engine:
    if settings.engine == "scripted":
        if script is None:
            raise ConfigError("--engine scripted needs --script FILE with its answers")
        return ScriptedEngine.from_json(_script(script))
    if script is not None:
        raise ConfigError("--script is for --engine scripted alone")
    return tools_engine()


def _script(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the script {path}: {error.strerror}") from None


def _with_texts(digest: str, change: ChangeSet, snapshot: Snapshot) -> str:
    """The digest of a diff and of the whole files around it: analyzers see these too."""
    whole = hashlib.sha256(digest.encode())
    for file in change.files:
        text = snapshot.head(file.path)
        whole.update(b"\0-" if text is None else b"\0+" + text.encode("utf-8", "replace"))
    return whole.hexdigest()


def _journal_notes(journal: Journal | None) -> list[str]:
    if isinstance(journal, SteadyJournal) and journal.inner.set_aside is not None:
        return [f"the journal was damaged; it now stands in {journal.inner.set_aside}, and a new one was begun"]
    return []


def _check_own_files(change: ChangeSet) -> None:
    """Refuse a change that hides what our own files were before: a folder alone cannot tell, and they set the gate."""
    for file, parsed in zip(change.files, change.coverage, strict=True):
        if not any(_is_own(name) for name in (file.path, file.old_path or "")):
            continue
        plain = file.mode not in NO_FILES and file.status != "copied" and not file.minified
        if parsed.state != "reviewed" or not plain or (file.status == "modified" and not file.hunks):
            raise InputError(
                f"the diff does not show what {file.path} was before, and the base side of it counts; use --git RANGE"
            )


def _is_own(path: str) -> bool:
    return path == f"{OWN_FILES}.toml" or path.startswith(f"{OWN_FILES}/")


def _notes(subject: Subject) -> list[str]:
    """What a reader should know of where the rules of this run came from."""
    notes = []
    for file in subject.change.files:
        if _is_own(file.path):
            side = (
                "the base side's was used"
                if subject.base is not None and file.status in ("modified", "deleted")
                else "it was ignored"
            )
            notes.append(f"{file.path}: this change cannot configure its own review; {side}")
    return notes
