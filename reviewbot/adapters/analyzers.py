"""The engine without a model: the worker's own tools, all at once, each failure a named gap beside the answers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from reviewbot.contracts import Gap, Metadata, ToolRun
from reviewbot.errors import ToolError
from reviewbot.ports import Answer, ToolReport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reviewbot.contracts import WorkerCard
    from reviewbot.ports import Tool, WorkOrder


class AnalyzersEngine:
    """Deterministic: the same slice and the same tools give the same answer."""

    name = "analyzers"

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        """`tools` are all that a card may name."""
        self._tools = tools

    def covers(self, card: WorkerCard, language: str) -> bool:
        """Whether one of the card's tools understands the language."""
        return any(name in self._tools and _understands(self._tools[name], language) for name in card.tools)

    async def work(self, order: WorkOrder) -> Answer:
        """Run the order's tools that understand the language of its slice. A tool that fails is a gap of the answer."""
        began = time.monotonic()
        language = order.task.payload.language
        able = [tool for tool in order.tools.values() if _understands(tool, language)]
        reports = await asyncio.gather(*(_run(tool, order) for tool in able))
        return Answer(
            candidates=tuple(candidate for report in reports for candidate in report.candidates),
            gaps=tuple(_named(report.gap, order) for report in reports if report.gap is not None),
            metadata=Metadata(
                duration_ms=round((time.monotonic() - began) * 1000),
                tool_runs=tuple(report.run for report in reports),
                # Programs read what is there; of lines that were only removed they say nothing.
                looked=tuple(sorted(r.run.tool for r in reports if r.gap is None)) if _adds(order) else (),
            ),
        )


def _adds(order: WorkOrder) -> bool:
    return any(line.startswith("+") for line in order.task.payload.code.split("\n"))


def _understands(tool: Tool, language: str) -> bool:
    return tool.languages is None or language in tool.languages


async def _run(tool: Tool, order: WorkOrder) -> ToolReport:
    """What a tool reports; one that raises in spite of its contract is a gap as well."""
    try:
        return await tool.run(order.task.payload, order.snapshot)
    except (ToolError, OSError) as error:
        path = order.task.payload.file_path
        message = f"{tool.name} could not be run ({type(error).__name__})"
        missed = Gap(path=path, worker=order.task.worker, reason="crashed", message=message, tool=tool.name)
        return ToolReport(candidates=(), run=ToolRun(tool=tool.name, version="unknown", duration_ms=0), gap=missed)


def _named(gap: Gap, order: WorkOrder) -> Gap:
    return gap.model_copy(update={"worker": order.task.worker, "task_id": order.task.task_id})
