"""The tools of a review on the files of its change: each tool runs once for each file, whatever asks for its report."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reviewbot.analyzers.core.open_files import OpenFiles
from reviewbot.analyzers.core.places import hold_by_place
from reviewbot.analyzers.core.preexisting import without_preexisting
from reviewbot.analyzers.core.report_cache import ReportCache, WatchedSnapshot
from reviewbot.analyzers.core.reports import cap_candidates, gap, report
from reviewbot.analyzers.core.single_flight import SharedRuns
from reviewbot.domain.contracts import ChangeSet, FileChange, GapReason, ToolRun
from reviewbot.domain.ports import ChangedFile, Snapshot, Tool, ToolReport
from reviewbot.review.finding_limits import MAX_PER_RUN
from reviewbot.threads import in_thread

TOOL_SECONDS = 60.0
"""Of one tool on one file. Programs are stopped after 30 s and our own scans count their steps, so this is for a tool
that keeps to neither; its thread, which cannot be stopped, is left behind."""

MAX_OPEN_FILES = 16
"""Files that are in memory at a time."""

MAX_OPEN_CHARS = 300_000
"""Of the files of which trees and whatever is computed of them are in memory at a time: a tree takes up to 450 bytes
for a character. A larger file is worked on alone, and its tree is as large as `context.python_text` lets it be."""


def changed_file(sections: Sequence[FileChange], snapshot: Snapshot) -> ChangedFile:
    """The file that one or more sections of a diff are about, with both of its sides. May block.

    A change of type (a file that was a symbolic link) stands in two sections: one removes, one adds.
    """
    last = sections[-1]
    before = next((section.old_path for section in sections if section.old_path is not None), last.path)
    return ChangedFile(
        path=last.path,
        before=before,
        language=last.language,
        hunks=tuple(hunk for section in sections for hunk in section.hunks),
        head=snapshot.head(last.path),
        base=snapshot.base(before),
    )


@dataclass(frozen=True)
class AnalysisLimits:
    """What the tools of one review may take."""

    seconds: float = TOOL_SECONDS
    """Of one tool for one file."""
    files: int = MAX_OPEN_FILES
    chars: int = MAX_OPEN_CHARS


class ChangeAnalysis:
    """Runs tools on the changed files, a few files at a time, and keeps the reports as long as the review lasts."""

    def __init__(
        self,
        change: ChangeSet,
        snapshot: Snapshot,
        tools: Mapping[str, Tool],
        limits: AnalysisLimits | None = None,
        cache: ReportCache | None = None,
    ) -> None:
        """`cache` has reports of earlier reviews."""
        limits = limits or AnalysisLimits()
        sections: dict[str, list[FileChange]] = defaultdict(list)
        for file in change.files:
            sections[file.path].append(file)
        self._sections = dict(sections)
        self._snapshot = snapshot
        self._tools = tools
        self._seconds = limits.seconds
        self._files = OpenFiles(limits.files, limits.chars, lambda path: changed_file(self._sections[path], snapshot))
        self._candidates = 0
        self._cache = cache
        self._reports: SharedRuns[ToolReport] = SharedRuns(len(sections) * len(tools))

    async def report(self, tool: str, path: str) -> ToolReport:
        """Run a tool on a changed file, once. A tool that raises in spite of its contract is a gap; no error."""
        return await self._reports.get(f"{tool}\0{path}", lambda: self._run(self._tools[tool], path))

    async def run(self) -> dict[str, tuple[ToolReport, ...]]:
        """Run every tool on every file whose language it understands; the reports by path."""
        return dict(zip(self._sections, await asyncio.gather(*map(self._all_of, self._sections)), strict=True))

    async def _all_of(self, path: str) -> tuple[ToolReport, ...]:
        language = self._sections[path][-1].language
        names = [name for name, tool in self._tools.items() if understands(tool, language)]
        return tuple(await asyncio.gather(*(self.report(name, path) for name in names)))

    async def _run(self, tool: Tool, path: str) -> ToolReport:
        began = time.monotonic()
        limit = asyncio.timeout(None)
        try:
            async with self._files.open_file(path) as file:
                # The time that a file waits for its turn is not the tool's.
                began = time.monotonic()
                async with limit:
                    limit.reschedule(asyncio.get_running_loop().time() + self._seconds)
                    return self._bounded(path, await self._said(tool, file))
        except Exception as error:  # noqa: BLE001 - a bug in one tool costs its own answer and not those of the others
            spent = round((time.monotonic() - began) * 1000)
            if limit.expired():
                return _missed(
                    tool, path, "timeout", f"{tool.name} did not come back within {self._seconds:g} s", spent
                )
            # The type alone: the text of a foreign error may quote the change, or name files of this machine.
            return _missed(tool, path, "crashed", f"{tool.name} could not be run ({type(error).__name__})", spent)

    async def _said(self, tool: Tool, file: ChangedFile) -> ToolReport:
        """What a tool says of a file, now or at the last review of the same."""
        cache = self._cache
        if cache is None:
            return await _introduced(tool, file, self._snapshot)
        known = cache.get(tool.name, file)  # a look-up takes a tenth of a millisecond, a thread twice as long
        if known is None:
            watched = WatchedSnapshot(self._snapshot)
            known = await _introduced(tool, file, watched)
            made = known
            await in_thread(lambda: cache.put(tool.name, file, made, looked_around=watched.asked))
        return known

    def _bounded(self, path: str, said: ToolReport) -> ToolReport:
        """The report with no more candidates than the review, and a tool for a file, may have."""
        found = cap_candidates(said.candidates, MAX_PER_RUN - self._candidates)
        self._candidates += len(found.candidates)
        return report(path, said.run, found, said.gap)


async def _introduced(tool: Tool, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
    return hold_by_place(file, await without_preexisting(tool, file, await tool.run(file, snapshot), snapshot))


def understands(tool: Tool, language: str) -> bool:
    """Whether a tool can read a language."""
    return tool.languages is None or language in tool.languages


def _missed(tool: Tool, path: str, reason: GapReason, message: str, spent: int) -> ToolReport:
    run = ToolRun(tool=tool.name, version="unknown", duration_ms=spent)
    return ToolReport(candidates=(), run=run, gap=gap(path, tool.name, reason, message))
