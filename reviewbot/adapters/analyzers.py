"""The engine without a model: the worker's own tools, all at once, each failure a named gap beside the answers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from reviewbot.contracts import SEVERITY_ORDER, Gap, Metadata, ToolRun
from reviewbot.ports import Answer, ToolReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reviewbot.contracts import Candidate, GapReason, WorkerCard
    from reviewbot.ports import Tool, WorkOrder

TOOL_SECONDS = 60.0
"""Of one tool on one slice. Programs are stopped after 30 s and our own scans count their steps, so this is for a tool
that keeps to neither; its thread, which nobody can stop, is left behind."""

_SHARE = 0.75
"""Of the task's own time that one tool may take: the answers of the others must still be delivered in it."""

MAX_CANDIDATES = 100
"""Of one tool on one slice, where it has no limit of its own; a task holds twice as many, so that no tool fills it."""


class AnalyzersEngine:
    """Deterministic: the same slice and the same tools give the same answer."""

    name = "analyzers"

    def __init__(self, tools: Mapping[str, Tool], seconds: float = TOOL_SECONDS) -> None:
        """`tools` are those that read files; `seconds` is what one of them may take.

        An order may have others beside them, which only pass on what was found elsewhere: they are run, and are no
        proof that anybody has looked.
        """
        self._tools = tools
        self._seconds = seconds

    def covers(self, card: WorkerCard, language: str) -> bool:
        """Whether one of the card's tools understands the language."""
        return any(name in self._tools and _understands(self._tools[name], language) for name in card.tools)

    async def work(self, order: WorkOrder) -> Answer:
        """Run the order's tools that understand the language of its slice. A tool that fails is a gap of the answer."""
        began = time.monotonic()
        language = order.task.payload.language
        seconds = min(self._seconds, _SHARE * order.task.constraints.timeout_ms / 1000)
        able = [tool for tool in order.tools.values() if _understands(tool, language)]
        reports = await asyncio.gather(*(_run(tool, order, seconds) for tool in able))
        return Answer(
            candidates=tuple(candidate for report in reports for candidate in report.candidates),
            gaps=_folded((report.gap for report in reports if report.gap is not None), order),
            metadata=Metadata(
                duration_ms=round((time.monotonic() - began) * 1000),
                tool_runs=tuple(report.run for report in reports),
                # Programs read what is there; of lines that were only removed they say nothing.
                looked=self._looked(reports) if _adds(order) else (),
            ),
        )

    def _looked(self, reports: Iterable[ToolReport]) -> tuple[str, ...]:
        return tuple(sorted(r.run.tool for r in reports if r.gap is None and r.run.tool in self._tools))


def _adds(order: WorkOrder) -> bool:
    return any(line.startswith("+") for line in order.task.payload.code.split("\n"))


def _understands(tool: Tool, language: str) -> bool:
    return tool.languages is None or language in tool.languages


async def _run(tool: Tool, order: WorkOrder, seconds: float) -> ToolReport:
    """What a tool reports; one that raises, or does not come back, in spite of its contract is a gap as well."""
    began = time.monotonic()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return _unflooded(tool, order, await tool.run(order.task.payload, order.snapshot))
    except Exception as error:  # noqa: BLE001 - a bug in one tool costs its own answer and not those of the others
        spent = round((time.monotonic() - began) * 1000)
        if limit.expired():
            return _missed(tool, order, "timeout", f"{tool.name} did not come back within {seconds:g} s", spent)
        # The type alone: the text of a foreign error may quote the change, or name files of this machine.
        return _missed(tool, order, "crashed", f"{tool.name} could not be run ({type(error).__name__})", spent)


def _missed(tool: Tool, order: WorkOrder, reason: GapReason, message: str, spent: int) -> ToolReport:
    run = ToolRun(tool=tool.name, version="unknown", duration_ms=spent)
    return ToolReport(candidates=(), run=run, gap=_gap(tool, order, reason, message))


def _gap(tool: Tool, order: WorkOrder, reason: GapReason, message: str) -> Gap:
    path = order.task.payload.file_path
    return Gap(path=path, worker=order.task.worker, reason=reason, message=message, tool=tool.name)


def _unflooded(tool: Tool, order: WorkOrder, report: ToolReport) -> ToolReport:
    """The report with the worst of its candidates, where there are more than anybody reads."""
    if len(report.candidates) <= MAX_CANDIDATES:
        return report
    message = f"{tool.name} has {len(report.candidates)} findings here; the {MAX_CANDIDATES} worst are kept"
    worst = sorted(report.candidates, key=_badness)[:MAX_CANDIDATES]
    return ToolReport(tuple(worst), report.run, report.gap or _gap(tool, order, "flooded", message))


def _badness(candidate: Candidate) -> tuple[int, int, int]:
    return SEVERITY_ORDER[candidate.severity], -candidate.confidence, candidate.line or 0


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
