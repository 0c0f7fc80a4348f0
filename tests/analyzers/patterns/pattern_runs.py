"""Runs of the pattern tools on one file."""

from __future__ import annotations

import asyncio

from reviewbot.analyzers.core.preexisting import without_preexisting
from reviewbot.analyzers.patterns.tool import PatternTool
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import ChangeSet, Hunk
from reviewbot.domain.ports import ChangedFile, ToolReport
from reviewbot.review.calibration import Calibration
from reviewbot.sources.memory import DiffSnapshot

NOTHING = DiffSnapshot(ChangeSet())
UNCLOSED = """package app

func sum(names []string) {
\tfor _, name := range names {
\t\tf, _ := os.Open(name)
\t\tdefer f.Close()
\t}
}
"""


def added(path: str, text: str, *, head: bool = True, first: int = 1) -> ChangedFile:
    """A file, or with `head` false a hunk alone, that is all new."""
    lines = text.removesuffix("\n").split("\n")
    hunk = Hunk(
        old_start=0, old_count=0, new_start=first, new_count=len(lines), body="\n".join(f"+{line}" for line in lines)
    )
    return ChangedFile(path, path, language_of(path), (hunk,), head=text if head else None)


def run(file: ChangedFile, name: str = "patterns-logic") -> ToolReport:
    """What a tool reports that is new on the added lines."""
    tool = PatternTool(name, Calibration())

    async def reported() -> ToolReport:
        return await without_preexisting(tool, file, await tool.run(file, NOTHING), NOTHING)

    return asyncio.run(reported())


def places(report: ToolReport) -> list[tuple[str, int | None]]:
    """Rule and line of each finding."""
    return [(found.rule, found.line) for found in report.candidates]
