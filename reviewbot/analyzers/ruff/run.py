"""Run ruff once for a file, for all tools that are made of its rules, and place its reports on lines of the change.

Files that wait for it are read by one run together; what is said of a file does not depend on the others.

With the whole new side at hand that file is read; without it, or where it does not parse, its hunks are, each made to
parse on its own. Names of the change never reach the disk or the command line, and nothing in the reviewed text
silences a rule: no configuration is read and no suppression counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.process import FOLDER, ISOLATION, ProgramError, run_program
from reviewbot.analyzers.core.single_flight import Batches, FileRuns, SharedRuns
from reviewbot.analyzers.core.texts import Source, whole_source, whole_text
from reviewbot.analyzers.python.reader import ParsedPython, PythonReader
from reviewbot.analyzers.ruff.fixes import Edit, edits_of
from reviewbot.domain.contracts import ToolRun
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table
from reviewbot.threads import in_thread, stoppable

FLAGS: Final[tuple[str, ...]] = tuple(packaged_table("names/ruff_options")["flags"])

SYNTAX = "invalid-syntax"
"""The code under which ruff reports what it cannot parse."""

MAX_ROWS = 30
"""Rows of code that a report is known by; of longer code its first row."""

_LOUD = 200
"""Reports of one rule, after which it is one of those that flood the answer."""

_UNREAD = b"Failed to "
"""How ruff begins its warning, on standard error, about a file that it skipped."""

_BATCH_SECONDS = 10.0
"""Of a run for several files, which are then read one by one: the others must not wait long for one that takes ages."""

_VERSION = re.compile(rb"\d{1,4}(?:\.\d{1,6}){1,3}")


class Code(NamedTuple):
    """A part of a text, from a row and column on up to another column, each counted from 1."""

    source: Source
    row: int
    column: int
    end_row: int
    end_column: int

    @property
    def text(self) -> str:
        """The part itself; of one of many rows the first."""
        if self.end_row - self.row > MAX_ROWS:
            return self.source.rows[self.row - 1].strip()
        rows = list(self.source.rows[self.row - 1 : self.end_row])
        rows[-1:] = [row[: self.end_column - 1] for row in rows[-1:]]
        rows[:1] = [row[self.column - 1 :] for row in rows[:1]]
        return "\n".join(rows)

    @property
    def statement(self) -> str:
        """The logical line that it begins on; of one of many rows the first."""
        last = self.source.last_row(self.row)
        end = last if last - self.row <= MAX_ROWS else self.row
        return "\n".join(self.source.rows[self.row - 1 : end]).strip()


class RuffDiagnostic(NamedTuple):
    """One diagnostic, on lines `first` to `last` of the new side."""

    code: str
    message: str
    first: int
    last: int
    call_end: int
    """The line on which the logical line ends that `first` belongs to."""
    whole: bool
    """It was found in the whole file, not in a hunk on its own."""
    edits: tuple[Edit, ...] = ()
    """Ruff's own safe fix, on rows of the whole file."""
    part: Code | None = None
    """The code that it is about."""


@dataclass(frozen=True)
class RuffAnswer:
    """Ruff's reports on one file, and how the file was read."""

    reports: tuple[RuffDiagnostic, ...]
    syntax: RuffDiagnostic | None
    """The first place of the whole file that does not parse; its hunks have then been read on their own as well."""
    hunks: int
    """How many hunks were read on their own."""
    unread: int
    """How many of those did not parse, or only without an added line."""
    version: str
    limits: tuple[str, ...]
    """The resource limits under which it ran, by name."""
    duration_ms: int
    loud: tuple[str, ...] = ()
    """Rules that are reported so often that only the first of their reports are here."""

    def run(self, tool: str) -> ToolRun:
        """The run, for the report of one tool."""
        return ToolRun(
            tool=tool,
            version=self.version,
            duration_ms=self.duration_ms,
            exit_code=0,
            isolation=(*ISOLATION, *self.limits),
        )


class _Program(NamedTuple):
    """What is the same for every run."""

    version: str
    limits: tuple[str, ...]


def find_ruff() -> Path | None:
    """Find the program in the installed package. The caller's PATH is not searched."""
    try:
        # A broken installation is a named gap and no ImportError; ruff ships no types.
        from ruff import find_ruff_bin  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        return None
    try:
        return Path(find_ruff_bin()).resolve()
    except FileNotFoundError:
        return None


class _Run(NamedTuple):
    """The reports of each source, the milliseconds that it took, and the rules of which only the first are there."""

    reports: list[list[RuffDiagnostic]]
    duration_ms: int
    loud: tuple[str, ...] = ()


class _Texts(NamedTuple):
    """Sources that are read together: a whole file, or its hunks."""

    sources: Sequence[Source]
    suffix: str


class RuffRunner:
    """Ruff with one list of rules, shared by the tools. Each file is read once however many of them ask."""

    def __init__(
        self,
        codes: Iterable[str],
        program: Path | None,
        limits: ProgramLimits | None = None,
        reader: PythonReader | None = None,
        options: Sequence[str] = (),
    ) -> None:
        """`options`: more arguments, made by us alone; one that stands in FLAGS takes the place of that one."""
        named = {option.partition("=")[0] for option in options} - {"--config"}
        self._flags = (*(flag for flag in FLAGS if flag.partition("=")[0] not in named), *options)
        self._codes = tuple(sorted(codes))
        self._known = frozenset((*self._codes, SYNTAX))
        self._program = program
        self._limits = limits or ProgramLimits()
        self._reader = reader or PythonReader()
        self._answers: FileRuns[RuffAnswer] = FileRuns()
        self._programs: SharedRuns[_Program] = SharedRuns(1)
        self._batches: Batches[_Texts, _Run] = Batches(
            self._run_together, lambda texts: sum(len(source.text) for source in texts.sources)
        )

    async def read(self, file: ChangedFile) -> RuffAnswer:
        """Run ruff on a file. Raises ProgramError."""
        return await self._answers.get(file, lambda: self._read(file))

    async def parse_file(self, file: ChangedFile) -> ParsedPython:
        """The trees of the same file."""
        return await self._reader.read(file)

    async def find_unsuppressed(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The rules that each of some whole files breaks without suppressing them. Raises ProgramError."""
        sources = [whole_text(text) for text in texts]
        named = _named([_Texts(sources, ".py")])
        ran = await self._run(named, tuple(flag for flag in self._flags if flag != "--ignore-noqa"))
        return [frozenset(report.code for report in reports) for reports in ran.reports]

    async def _read(self, file: ChangedFile) -> RuffAnswer:
        """Read the whole file where it is at hand and parses, the hunks where not."""
        program = await self._programs.get("ruff", self._ask)
        suffix = ".pyi" if file.path.endswith(".pyi") else ".py"
        whole = await in_thread(lambda: whole_source(file))
        reports: list[RuffDiagnostic] = []
        syntax, spent = None, 0
        if whole is not None:
            (reports,), spent, loud = await self._batches.get(_Texts([whole], suffix))
            syntax = next((report for report in reports if report.code == SYNTAX), None)
            if syntax is None:
                return RuffAnswer(tuple(reports), None, 0, 0, program.version, program.limits, spent, loud)
        sources = await self._reader.hunks(file)
        apart, more, loud = await self._batches.get(_Texts(sources, suffix))
        parsed = [all(report.code != SYNTAX for report in found) for found in apart]
        unread = sum(source.cut or not good for source, good in zip(sources, parsed, strict=True))
        known = {(report.code, report.first) for report in reports}
        read = [report for found, good in zip(apart, parsed, strict=True) if good for report in found]
        every = (*reports, *(report for report in read if (report.code, report.first) not in known))
        kept = tuple(report for report in every if report.code != SYNTAX)
        return RuffAnswer(kept, syntax, len(sources), unread, program.version, program.limits, spent + more, loud)

    async def _run_together(self, every: Sequence[_Texts]) -> list[_Run]:
        """One run for the texts of several files. Each is said to have taken its share of the time."""
        named = _named(every)
        if len(every) == 1:
            return [await self._run(named)]
        # One that floods or takes ages shall cost the others nothing: then each is run alone.
        limits = replace(self._limits, seconds=min(self._limits.seconds, _BATCH_SECONDS))
        ran = await self._run_once(named, self._flags, self._codes, limits)
        reports = iter(ran.reports)
        return [_Run([next(reports) for _ in texts.sources], ran.duration_ms // len(every)) for texts in every]

    async def _run(self, named: Mapping[str, Source], flags: tuple[str, ...] = (), codes: tuple[str, ...] = ()) -> _Run:
        """Run it. A rule that floods does not hide the others: of it the first reports count, and they run again."""
        codes = codes or self._codes
        try:
            return await self._run_once(named, flags or self._flags, codes, self._limits)
        except ProgramError as error:
            output = error.output
            items = await in_thread(lambda: _first_items(output))
            times = Counter(str(item.get("code")) for item in items)
            loud = tuple(code for code in codes if times[code] > _LOUD)
            quiet = tuple(code for code in codes if code not in loud)
            if not loud or not quiet:
                raise
            rest = await self._run(named, flags, quiet)
            first = await in_thread(lambda: _placed((i for i in items if i.get("code") in loud), named, self._known))
            both = [sorted(a + b, key=_by_line) for a, b in zip(first, rest.reports, strict=True)]
            return _Run(both, error.duration_ms + rest.duration_ms, (*loud, *rest.loud))

    async def _run_once(
        self, named: Mapping[str, Source], flags: tuple[str, ...], codes: tuple[str, ...], limits: ProgramLimits
    ) -> _Run:
        arguments = (*flags, f"--select={','.join(codes)}", FOLDER)
        texts = {name: source.text for name, source in named.items()}
        finished = await run_program(self._found(), arguments, texts, limits=limits)
        if _UNREAD in finished.stderr:
            raise ProgramError("unreadable", "ruff skipped a file", duration_ms=finished.duration_ms)
        try:
            # To find where logical lines end may take seconds, for which nothing else of the review would go on.
            reports = await in_thread(lambda: _placed(json.loads(finished.stdout), named, self._known))
        except (ValueError, LookupError, TypeError, RecursionError):
            message = "ruff gave an answer that cannot be read"
            raise ProgramError("bad_answer", message, duration_ms=finished.duration_ms) from None
        return _Run(reports, finished.duration_ms)

    async def _ask(self) -> _Program:
        finished = await run_program(self._found(), ("--version",), {}, limits=self._limits)
        version = _VERSION.search(finished.stdout)
        return _Program(version.group().decode() if version else "unknown", finished.limits)

    def _found(self) -> Path:
        if self._program is None:
            raise ProgramError("missing_program", "ruff is not installed")
        return self._program


def _named(every: Sequence[_Texts]) -> dict[str, Source]:
    """The sources with names of our own making."""
    sources = ((source, texts.suffix) for texts in every for source in texts.sources)
    return {f"f{index}{suffix}": source for index, (source, suffix) in enumerate(sources)}


def _placed(
    items: Iterable[dict[str, Any]], named: Mapping[str, Source], known: frozenset[str]
) -> list[list[RuffDiagnostic]]:
    """The reports of each source in ruff's JSON, in the order of its lines."""
    reports: dict[str, list[RuffDiagnostic]] = {name: [] for name in named}
    for item in stoppable(items):
        name = Path(item["filename"]).name
        reports[name] += _report(item, named[name], known)
    return [sorted(found, key=_by_line) for found in reports.values()]


def _by_line(report: RuffDiagnostic) -> tuple[int, str]:
    return report.first, report.code


def _first_items(answer: bytes) -> list[dict[str, Any]]:
    """The items of a JSON array that was cut off, as far as they can be read."""
    text = answer.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    items: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(item)
        at = text.find("{", at)
    return items


def _report(item: dict[str, Any], source: Source, known: frozenset[str]) -> list[RuffDiagnostic]:
    """One item of ruff's JSON on the lines that it lies on; none where it lies on added scaffolding."""
    code, message = item["code"], item["message"]
    first, last = item["location"]["row"], item["end_location"]["row"]
    if code not in known:
        raise ValueError("a report of a rule that was not requested")
    if (
        not isinstance(message, str)
        or not isinstance(first, int)
        or not isinstance(last, int)
        or not 1 <= first <= last
    ):
        raise TypeError("a report of another form")
    if last > first and item["end_location"]["column"] == 1:
        last -= 1
    lines = source.lines(first, last)
    if not lines:
        return [RuffDiagnostic(code, message, 0, 0, 0, source.whole)] if code == SYNTAX else []
    # A lone CR further up ends a row of ruff's and no line: its rows are then other lines.
    edits = edits_of(item.get("fix")) if source.whole and lines[0] == first else ()
    columns = item["location"]["column"], item["end_location"]["column"]
    about = Code(source, first, columns[0], item["end_location"]["row"], columns[1])
    end = max(source.call_end(first), lines[-1])
    return [RuffDiagnostic(code, message, lines[0], lines[-1], end, source.whole, edits, about)]
