# ruff: noqa: INP001 - a script, no package
"""What planning changes: a planned review against the routed one, on ten small changes of our own.

    python benchmarks/planning.py [NAME ...]
    python benchmarks/planning.py --model [NAME ...]

Each file of tests/plans holds a change (names, counts, hunk headings; the lines are filled in), what a good lead would
do, and a plan as such a lead would answer. Without --model that answer is replayed, so the figures say what planning
does **if** the planner is good; with --model the cheap tier is asked (it needs a key and costs a few cents), and a plan
that is refused twice shows as the routed one.

Printed for each change, routed -> planned: tasks that ask a model, calls (the planner's own counted), input tokens
(characters / 4 of prompts, instructions and slices, planner included; what workers are told beside the slices, tool
turns and the verifier are left out), and the longest chain of calls. Of quality the figures say nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reviewbot.diff.language import kind_of, language_of  # noqa: E402 - the same
from reviewbot.domain.contracts import ChangeSet, FileChange, FileCoverage, Hunk, Plan, Usage  # noqa: E402 - the same
from reviewbot.domain.ports import Model, ModelReply, ModelRequest, WorkerSet  # noqa: E402 - the same
from reviewbot.llm.agents.planner import ModelPlanner  # noqa: E402 - the same
from reviewbot.llm.client.requests import estimated_tokens  # noqa: E402 - the same
from reviewbot.review.cards import shipped_files  # noqa: E402 - the same
from reviewbot.review.plan.dependency_graph import longest  # noqa: E402 - the same
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner  # noqa: E402 - the same
from reviewbot.sources.memory import MemoryJournal, SystemClock  # noqa: E402 - the path comes first
from reviewbot.wiring import crew_for, settings_for  # noqa: E402 - the same

PLANS = ROOT / "tests" / "plans"
BUNDLE_LINES = 500


@dataclass
class Counting:
    """A model that answers from a file, or hands on to another one, and adds up what it was sent."""

    answer: str
    inner: Model | None = None
    calls: int = 0
    tokens: int = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        """Answer once."""
        self.calls += 1
        self.tokens += estimated_tokens(request)
        if self.inner is not None:
            return await self.inner.ask(request)
        return ModelReply(self.answer, (), "end", Usage(), "as written")


class Silent:
    """A recorder that keeps the last event."""

    def __init__(self) -> None:
        self.last: Mapping[str, object] = {}

    def record(self, event: str, **fields: object) -> None:
        """Keep it."""
        self.last = {"event": event, **fields}


class Figures(NamedTuple):
    """Of one plan."""

    tasks: int
    calls: int
    tokens: int
    chain: int


def change_of(table: Mapping[str, Any]) -> ChangeSet:
    """The change of a fixture."""
    files = tuple(_file(each) for each in table["files"])
    coverage = tuple(FileCoverage(path=file.path, state="reviewed") for file in files)
    return ChangeSet(title=table["title"], description=table["description"], files=files, coverage=coverage)


def _file(table: Mapping[str, Any]) -> FileChange:
    count = len(table["headings"])
    hunks = []
    for number, heading in enumerate(table["headings"]):
        added, removed = (table[side] // count + (number < table[side] % count) for side in ("added", "removed"))
        lines = [f"-    value_{n} = before({n}, account)" for n in range(removed)]
        lines += [f"+    {text}" for text in table["lines"]][:added]
        lines += [f"+    value_{n} = after({n}, account)" for n in range(added - len(lines) + removed)]
        start = 1 + 1_000 * number
        hunks.append(
            Hunk(
                old_start=start,
                old_count=removed,
                new_start=start,
                new_count=added,
                heading=heading,
                body="\n".join(lines),
            )
        )
    language = language_of(table["path"])
    counts = {"added": table["added"], "removed": table["removed"]}
    return FileChange(
        path=table["path"], status="modified", language=language, kind=kind_of(language), hunks=tuple(hunks), **counts
    )


def figures(plan: Plan, crew: WorkerSet, planner: Counting | None = None) -> Figures:
    """What a plan costs before any worker answers."""
    tasks = [task for task in plan.tasks if not task.programs_only]
    chars = sum(
        len(crew.prompts[task.worker]) + len(task.instruction) + len(task.success_criterion)
        + sum(len(one.code) + len(one.context) + len(one.file_path) for one in task.slices)
        for task in tasks
    )  # fmt: skip
    calls, tokens = (0, 0) if planner is None else (planner.calls, planner.tokens)
    chain = longest({task.task_id: task.depends_on for task in tasks}) + calls
    return Figures(len(tasks), len(tasks) + calls, chars // 4 + tokens, chain)


def compared(name: str, live: Model | None) -> tuple[str, Figures, Figures]:
    """One change: what became of its plan, and both sides' figures."""
    table = json.loads((PLANS / f"{name}.json").read_text("utf-8"))
    change = change_of(table)
    crew = crew_for(None)
    limits = PlanLimits(route=True, bundle_lines=BUNDLE_LINES)
    routed = RoutedPlanner(crew, lambda _card, _language: True, lambda _path: None, limits)
    model, trace = Counting(json.dumps(table["answer"]), live), Silent()
    planner = ModelPlanner(routed, model, trace, shipped_files()["prompts/planner.md"])
    planned = asyncio.run(planner.plan(change))
    outcome = planned.origin if planned.origin == "model" else f"routed: {trace.last['reason']}"
    return outcome, figures(asyncio.run(routed.plan(change)), crew), figures(planned, crew, model)


def live_model() -> Model:
    """The models of the settings in the environment, as in a review. Raises ConfigError without a key."""
    from reviewbot.wiring.model_session import line_to  # noqa: PLC0415 - only where somebody wants to pay
    from reviewbot.wiring.models import RunServices  # noqa: PLC0415 - the same

    around = RunServices(SystemClock(), MemoryJournal(), Silent(), os.environ)
    return line_to(settings_for(None, os.environ, {}), around).model


def main() -> None:
    """Print one row for each change and one for all."""
    names = [each for each in sys.argv[1:] if each != "--model"] or sorted(path.stem for path in PLANS.glob("*.json"))
    live = live_model() if "--model" in sys.argv[1:] else None
    print(f"{'change':22}{'tasks':>12}{'calls':>12}{'input tokens':>18}{'chain':>9}  plan")
    sums = [Figures(0, 0, 0, 0), Figures(0, 0, 0, 0)]
    for name in names:
        outcome, *both = compared(name, live)
        sums = [Figures(*map(sum, zip(one, other, strict=True))) for one, other in zip(sums, both, strict=True)]
        print(_row(name, *both), outcome)
    print(_row("all", *sums))


def _row(name: str, routed: Figures, planned: Figures) -> str:
    pairs = [f"{one} -> {other}" for one, other in zip(routed, planned, strict=True)]
    return f"{name:22}{pairs[0]:>12}{pairs[1]:>12}{pairs[2]:>18}{pairs[3]:>9} "


if __name__ == "__main__":
    main()
