"""The engine without a model: it runs the worker's own tools concurrently and reports each failure as a gap."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping

from reviewbot.analyzers.core.run import understands
from reviewbot.coverage.readings import reading_of
from reviewbot.diff.rows import payload_rows
from reviewbot.domain.contracts import Candidate, Gap, GapReason, Metadata, Reading, ReviewTask, ToolRun, WorkerCard
from reviewbot.domain.ports import Analysis, Answer, Tool, ToolReport, WorkOrder

_SHARE = 0.75
"""Of the task's own time that one tool may take: the answers of the others must still be delivered in it."""


class AnalyzersEngine:
    """Answers an order with its tools alone. Deterministic: the same change and tools give the same answer."""

    name = "analyzers"

    def __init__(self, tools: Mapping[str, Tool], analysis: Analysis) -> None:
        """`tools` are those that read files; `analysis` has their reports.

        An order may have others beside them, which only pass on what was found elsewhere: they are run, and do not
        count as a reading of the file.
        """
        self._tools = tools
        self._analysis = analysis

    def covers(self, card: WorkerCard, language: str) -> bool:
        """Whether one of the card's tools understands the language."""
        return any(name in self._tools and understands(self._tools[name], language) for name in card.tools)

    def scans(self, card: WorkerCard) -> bool:
        """Whether one of the card's tools is a scan of plain lines."""
        return any(name in self._tools and _is_scan(self._tools[name]) for name in card.tools)

    async def work(self, order: WorkOrder) -> Answer:
        """Run the order's tools that understand the language of its slice and report on the lines that it changes.

        A tool that fails is a gap of the answer.
        """
        began = time.monotonic()
        able = [name for name, tool in order.tools.items() if self._is_wanted(tool, order.task)]
        reports = await asyncio.gather(*(self._report(name, order) for name in able))
        found = [candidate for report in reports for candidate in report.candidates]
        rows = payload_rows(order.task.payload) if found else ()
        changed = {(row.kind, row.new or row.old) for _, row in rows}
        return Answer(
            candidates=tuple(candidate for candidate in found if _row_of(candidate) in changed),
            gaps=_folded((report.gap for report in reports if report.gap is not None), order),
            metadata=Metadata(
                duration_ms=round((time.monotonic() - began) * 1000),
                tool_runs=tuple(report.run for report in reports),
                readings=self._readings(order, reports),
            ),
        )

    async def _report(self, tool: str, order: WorkOrder) -> ToolReport:
        """What a tool says of the file; a gap where that is not there in time."""
        path, seconds = order.task.payload.file_path, _SHARE * order.task.constraints.timeout_ms / 1000
        try:
            async with asyncio.timeout(seconds):
                return await self._analysis.report(tool, path)
        except TimeoutError:
            message = f"{tool} did not come back within {seconds:g} s"
            gap = Gap(path=path, worker="", reason="timeout", message=message, tool=tool)
            return ToolReport((), ToolRun(tool=tool, version="unknown", duration_ms=round(seconds * 1000)), gap)

    def _is_wanted(self, tool: Tool, task: ReviewTask) -> bool:
        if task.scans_only:
            return tool.name in self._tools and _is_scan(tool)
        return understands(tool, task.payload.language)

    def _readings(self, order: WorkOrder, reports: Iterable[ToolReport]) -> tuple[Reading, ...]:
        """The reading by the tools that ran to their end; empty where none did."""
        ended = {r.run.tool for r in reports if r.gap is None and r.run.parsed and r.run.tool in self._tools}
        if not ended:
            return ()
        scans = {name for name in ended if _is_scan(self._tools[name])}
        return (reading_of(order.task.payload, analyzers=ended - scans, scans=scans),)


def _row_of(found: Candidate) -> tuple[str, int | None]:
    """The row that a candidate is about: an added one, or a removed one that left nothing in its place."""
    return ("-", found.near) if found.side == "old" else ("+", found.line)


def _is_scan(tool: Tool) -> bool:
    """Whether it looks at plain lines, which is no proof that anything understood them."""
    return tool.languages is None


def _folded(gaps: Iterable[Gap], order: WorkOrder) -> tuple[Gap, ...]:
    """The gaps of the task. Tools that read the same text fail on it in the same words: one gap names them all."""
    tools: dict[tuple[GapReason, str], list[str]] = {}
    for gap in gaps:
        tools.setdefault((gap.reason, gap.message), []).append(gap.tool or "")
    task = order.task
    return tuple(
        Gap(
            path=task.payload.file_path,
            worker=task.worker,
            reason=reason,
            message=message,
            task_id=task.task_id,
            tool=", ".join(filter(None, names)) or None,
        )
        for (reason, message), names in tools.items()
    )
