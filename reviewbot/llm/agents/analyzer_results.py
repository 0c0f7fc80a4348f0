"""Run the analyzers on the slices of a task, before a model is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NamedTuple

from reviewbot.domain.contracts import Candidate, Gap, Payload, Reading, ToolRun
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Answer, Engine, WorkOrder


class AnalyzerResults(NamedTuple):
    """Everything that programs said of one task."""

    candidates: tuple[Candidate, ...] = ()
    gaps: tuple[Gap, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    readings: tuple[Reading, ...] = ()
    """What each of them read to the end."""


async def run_analyzers(programs: Engine, order: WorkOrder) -> AnalyzerResults:
    """Run the programs on each slice, all at once. What they could not look at is a gap; no error.

    A seam has none of its own: the programs run on its files where these are reviewed.
    """
    if order.task.seam:
        return AnalyzerResults()
    answers = await asyncio.gather(*(_to_answer(programs, order, payload) for payload in order.task.slices))
    return AnalyzerResults(
        tuple(each for answer in answers for each in answer.candidates),
        tuple(gap for answer in answers for gap in answer.gaps),
        tuple(run for answer in answers for run in answer.metadata.tool_runs),
        tuple(reading for answer in answers for reading in answer.metadata.readings),
    )


async def _to_answer(programs: Engine, order: WorkOrder, payload: Payload) -> Answer:
    # A tool that only passes on what was found elsewhere covers nothing, and has something to say all the same.
    if not (order.tools or programs.covers(order.card, payload.language)):
        return Answer()
    task = order.task.model_copy(update={"payload": payload, "more": ()})
    try:
        said = await programs.work(replace(order, task=task))
    except EngineError as error:
        return Answer(gaps=(_gap(programs, order, payload, str(error)),))
    if isinstance(said, Answer):
        return said
    partial = said.partial or Answer()
    return replace(partial, gaps=(*partial.gaps, _gap(programs, order, payload, said.message)))


def _gap(programs: Engine, order: WorkOrder, payload: Payload, message: str) -> Gap:
    # It is the programs that are missing, and no reason to ask the model again.
    return Gap(path=payload.file_path, worker=order.task.worker, reason="crashed", message=message, tool=programs.name)
