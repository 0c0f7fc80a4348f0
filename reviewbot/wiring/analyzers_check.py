"""Run all of our analyzers over one file of a change: before and after a replacement is tried on a copy of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.run import ChangeAnalysis
from reviewbot.domain.contracts import ChangeSet, FileChange, ParsedFile
from reviewbot.domain.ports import Answer, Snapshot


def analyzers_check() -> Callable[[FileChange, Snapshot], Awaitable[Answer]]:
    """Return a function that runs the analyzers, confined as in a review, with what other programs found left out."""
    tools = all_tools(foreign=())

    async def check(file: FileChange, snapshot: Snapshot) -> Answer:
        change = ChangeSet(files=(file,), parsed=(ParsedFile(path=file.path, state="read"),))
        reports = (await ChangeAnalysis(change, snapshot, tools).run())[file.path]
        return Answer(
            candidates=tuple(candidate for report in reports for candidate in report.candidates),
            gaps=tuple(report.gap for report in reports if report.gap is not None),
        )

    return check
