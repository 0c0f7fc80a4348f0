"""Run a program on changed files and place what it says on the lines that the change added.

A program is given whole files alone, under names of our own making, in a folder without anything else. What it says of
lines that the change left alone is not reported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, new_side
from reviewbot.analyzers.core.preexisting import MAX_TOKEN
from reviewbot.analyzers.core.process import FOLDER, ISOLATION, Finished, ProgramError, run_program
from reviewbot.analyzers.core.reports import cap_candidates, gap, message_of, report, rule_candidate
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.core.single_flight import Batches
from reviewbot.analyzers.core.texts import whole_file
from reviewbot.analyzers.programs.program import ProgramTool, Said, version_of
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, ToolRun
from reviewbot.domain.contracts.results import NOT_RUN
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.threads import in_thread, stoppable

MAX_REPORT_ROWS = 30
"""Of a diagnostic. A longer one is about a whole block, and counts on its first row alone."""

_NOTHING: frozenset[str] = frozenset()


class _Job(NamedTuple):
    text: str
    suffix: str


class _Answer(NamedTuple):
    """What a program said of one file."""

    said: tuple[Said, ...]
    duration_ms: int
    limits: tuple[str, ...]


class ProgramAnalyzer:
    """One program as a tool. Without its program it understands no language."""

    def __init__(self, row: ProgramTool, rules: Mapping[str, Rule], program: Path | None) -> None:
        """`program` is the file to run; None: it is not installed."""
        self.name = row.name
        self.languages: frozenset[str] | None = _NOTHING if program is None else row.languages
        self._row = row
        self._rules = rules
        self._program = program
        self._batches: Batches[_Job, _Answer] = Batches(self._run, lambda job: len(job.text))

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file that is at hand as a whole."""
        del snapshot
        shown = {line.number: line for lines in new_side(file) for line in lines}
        job = await in_thread(lambda: self._job(file)) if shown and self.languages else None
        if job is None:
            return report(file.path, ToolRun(tool=self.name, version=NOT_RUN, duration_ms=0, parsed=not shown))
        version = await in_thread(lambda: version_of(self._row.package))
        try:
            answer = await self._batches.get(job)
        except ProgramError as error:
            run = ToolRun(tool=self.name, version=version, duration_ms=error.duration_ms, exit_code=error.status)
            if error.reason == "unreadable":
                return report(file.path, run.model_copy(update={"parsed": False}))
            return report(file.path, run, missed=gap(file.path, self.name, error.reason, str(error)))
        rows = job.text.removesuffix("\n").split("\n")
        found = await in_thread(lambda: cap_candidates(self._candidates(file.path, answer, rows, shown)))
        run = ToolRun(
            tool=self.name,
            version=version,
            duration_ms=answer.duration_ms,
            exit_code=0,
            isolation=(*ISOLATION, *answer.limits),
            parsed=not any(said.code in self._row.unread for said in answer.said),
        )
        return report(file.path, run, found)

    def _job(self, file: ChangedFile) -> _Job | None:
        """The text that the program is to read; None where it is not for the file, or has no whole file to read."""
        text = whole_file(file) if self._row.reads(file.path, file.language) else None
        prepared = None if text is None else self._row.prepared(text)
        suffix = PurePosixPath(file.path).suffix.lower()
        return (
            None
            if prepared is None
            else _Job(prepared, suffix if suffix in self._row.kept_suffixes else self._row.suffix)
        )

    async def _run(self, jobs: Sequence[_Job]) -> list[_Answer]:
        """One run for several files; each is said to have taken its share of the time."""
        names = [f"f{number}{job.suffix}" for number, job in enumerate(jobs)]
        texts = dict(zip(names, (job.text for job in jobs), strict=True))
        finished = await self._started(names, texts)
        try:
            said = await in_thread(lambda: self._read(finished.stdout, names))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, StopIteration):
            message = f"{self.name} gave an answer that cannot be read"
            raise ProgramError("bad_answer", message, duration_ms=finished.duration_ms) from None
        share = finished.duration_ms // len(jobs)
        return [_Answer(tuple(said[name]), share, finished.limits) for name in names]

    async def _started(self, names: Sequence[str], texts: Mapping[str, str]) -> Finished:
        row = self._row
        assert self._program is not None  # noqa: S101 - else it understands no language
        program = Path(sys.executable) if row.module else self._program
        start = ("-I", "-m", row.name) if row.module else ()
        arguments = [*start, *row.arguments, *(f"{FOLDER}/{name}" for name in names)]
        files = {**row.configuration, **texts}
        finished = await run_program(program, arguments, files, limits=row.limits, statuses=row.statuses)
        if row.skipped and row.skipped in finished.stderr:
            raise ProgramError("unreadable", f"{row.name} left out a file", duration_ms=finished.duration_ms)
        return finished

    def _read(self, output: bytes, names: Sequence[str]) -> dict[str, list[Said]]:
        """What it said of each file, in the order of its rows."""
        found: dict[str, list[Said]] = {name: [] for name in names}
        for said in stoppable(self._row.parse(output)):
            found[said.file].append(said)
        return {name: sorted(each, key=lambda said: (said.first, said.code)) for name, each in found.items()}

    def _candidates(
        self, path: str, answer: _Answer, rows: Sequence[str], shown: Mapping[int, ChangedLine]
    ) -> Iterator[Candidate]:
        seen: set[tuple[str, int]] = set()
        for said in answer.said:
            rule, line = self._rules.get(said.code), _anchor(said, len(rows), shown)
            if rule is None or line is None or not rule.speaks_on(line.text, in_tests=is_test(path)):
                continue
            if (said.code, line.number) not in seen:
                seen.add((said.code, line.number))
                yield self._candidate(path, said, rule, line, rows)

    def _candidate(self, path: str, said: Said, rule: Rule, line: ChangedLine, rows: Sequence[str]) -> Candidate:
        about = rows[said.first - 1] if said.first <= len(rows) else line.text
        token = " ".join(about.split())[:MAX_TOKEN]
        return rule_candidate(rule, path, line, message_of(said.message), token=token, at=said.first, brought=True)


def _anchor(said: Said, rows: int, shown: Mapping[int, ChangedLine]) -> ChangedLine | None:
    """The first added line of a diagnostic, or None: what stands on lines that the change left alone is not its fault.

    What stands behind the end of a file of so many `rows` is about its last one.
    """
    first = min(said.first, rows)
    last = said.last if said.last - first <= MAX_REPORT_ROWS else first
    return next((shown[row] for row in range(first, last + 1) if row in shown and shown[row].added), None)
