"""The engine over tools, with tools that record and tools that fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from reviewbot.adapters.analyzers import AnalyzersEngine
from reviewbot.contracts import Candidate, Constraints, Gap, Payload, ReviewTask, ToolRun, WorkerCard
from reviewbot.errors import ToolError
from reviewbot.ports import Answer, Snapshot, Tool, ToolReport, WorkOrder

PYTHON = frozenset({"python"})


class NoFiles:
    def head(self, path: str) -> str | None:
        return None

    def base(self, path: str) -> str | None:
        return None


@dataclass
class FakeTool:
    """Reports one candidate and, where it has one, a gap; raises where it has an error."""

    name: str
    languages: frozenset[str] | None = None
    gap: Gap | None = None
    error: Exception | None = None
    seen: list[tuple[Payload, Snapshot]] = field(default_factory=list)

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        self.seen.append((payload, snapshot))
        if self.error is not None:
            raise self.error
        return ToolReport((candidate(self.name),), ToolRun(tool=self.name, version="1", duration_ms=3), self.gap)


def candidate(source: str) -> Candidate:
    return Candidate(
        severity="info", path="a.py", quote="x", message="m", confidence=50, source=source, category="c", line=1
    )


def card(*tools: str) -> WorkerCard:
    return WorkerCard(
        name="style",
        description="Looks at the style of code.",
        task_type="style",
        prompt="style.md",
        success_criterion="Every added line has been read.",
        tools=tools,
        applies_to=("@code",),
    )


def order(*tools: Tool, language: str = "python") -> WorkOrder:
    payload = Payload(code="@@\n+x", file_path="a.py", language=language, starts=((0, 1),))
    task = ReviewTask(
        task_id="style:a.py#1",
        worker="style",
        type="style",
        instruction="Look at the added lines.",
        success_criterion="Every added line has been read.",
        payload=payload,
        constraints=Constraints(max_tokens=256, timeout_ms=1_000, tier="sonnet"),
    )
    return WorkOrder(task, card(*(tool.name for tool in tools)), "", {tool.name: tool for tool in tools}, NoFiles())


def work(*tools: Tool, language: str = "python") -> Answer:
    return asyncio.run(AnalyzersEngine({}).work(order(*tools, language=language)))


def test_a_card_is_covered_by_a_tool_that_understands_the_language() -> None:
    engine = AnalyzersEngine({"ruff": FakeTool("ruff", PYTHON), "secrets": FakeTool("secrets")})

    assert engine.name == "analyzers"
    assert engine.covers(card("ruff"), "python")
    assert not engine.covers(card("ruff"), "go")
    assert engine.covers(card("ruff", "secrets"), "go")
    assert not engine.covers(card("unheard-of"), "python")
    assert not engine.covers(card(), "python")


def test_the_answers_of_all_tools_are_put_together() -> None:
    answer = work(FakeTool("b"), FakeTool("a"))

    assert [found.source for found in answer.candidates] == ["b", "a"]
    assert [run.tool for run in answer.metadata.tool_runs] == ["b", "a"]
    assert answer.metadata.looked == ("a", "b")
    assert answer.metadata.model_used is None
    assert answer.gaps == ()


def test_a_tool_for_another_language_is_not_asked() -> None:
    tool = FakeTool("ruff", PYTHON)

    answer = work(tool, FakeTool("secrets"), language="go")

    assert tool.seen == []
    assert answer.metadata.looked == ("secrets",)


def test_a_tool_is_given_the_slice_and_the_snapshot_alone() -> None:
    tool = FakeTool("a")
    given = order(tool)

    asyncio.run(AnalyzersEngine({}).work(given))

    assert tool.seen == [(given.task.payload, given.snapshot)]


def test_a_gap_is_given_its_worker_and_task_and_its_tool_has_not_looked() -> None:
    gap = Gap(path="a.py", worker="", reason="timeout", message="slow", tool="slow")

    answer = work(FakeTool("slow", gap=gap), FakeTool("fast"))

    assert answer.gaps == (gap.model_copy(update={"worker": "style", "task_id": "style:a.py#1"}),)
    assert answer.metadata.looked == ("fast",)
    assert [found.source for found in answer.candidates] == ["slow", "fast"]


@pytest.mark.parametrize("error", [ToolError("no"), OSError("disk full at /home/me")])
def test_a_tool_that_raises_is_a_gap_beside_the_answers_of_the_others(error: Exception) -> None:
    answer = work(FakeTool("bad", error=error), FakeTool("good"))

    (gap,) = answer.gaps
    assert (gap.reason, gap.tool, gap.worker) == ("crashed", "bad", "style")
    assert gap.message == f"bad could not be run ({type(error).__name__})"
    assert [found.source for found in answer.candidates] == ["good"]


def test_all_tools_run_at_the_same_time() -> None:
    async def scenario() -> Answer:
        meeting = asyncio.Barrier(3)

        class Meets(FakeTool):
            async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
                await meeting.wait()
                return await super().run(payload, snapshot)

        return await AnalyzersEngine({}).work(order(Meets("a"), Meets("b"), Meets("c")))

    assert asyncio.run(scenario()).metadata.looked == ("a", "b", "c")


def test_no_tool_at_all_is_an_answer_with_nothing_in_it() -> None:
    assert work().metadata.looked == ()
