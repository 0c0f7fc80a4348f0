"""The engine over tools, with tools that record and tools that fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from reviewbot.adapters.analyzers import MAX_CANDIDATES, AnalyzersEngine
from reviewbot.contracts import Candidate, Constraints, Gap, GapReason, Payload, ReviewTask, ToolRun, WorkerCard
from reviewbot.errors import ToolError
from reviewbot.ports import Answer, Commit, Occurrence, Snapshot, Tool, ToolReport, WorkOrder

PYTHON = frozenset({"python"})


class NoFiles:
    def head(self, path: str) -> str | None:
        return None

    def base(self, path: str) -> str | None:
        return None

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        return None

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return ()


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


def order(*tools: Tool, language: str = "python", path: str = "a.py", timeout_ms: int = 60_000) -> WorkOrder:
    payload = Payload(code="@@\n+x", file_path=path, language=language, starts=((0, 1),))
    task = ReviewTask(
        task_id=f"style:{path}#1",
        worker="style",
        type="style",
        instruction="Look at the added lines.",
        success_criterion="Every added line has been read.",
        payload=payload,
        constraints=Constraints(max_tokens=256, timeout_ms=timeout_ms, tier="sonnet"),
    )
    return WorkOrder(task, card(*(tool.name for tool in tools)), "", {tool.name: tool for tool in tools}, NoFiles())


def work(*tools: Tool, language: str = "python") -> Answer:
    return asyncio.run(AnalyzersEngine({tool.name: tool for tool in tools}).work(order(*tools, language=language)))


class Hangs(FakeTool):
    """Never comes back."""

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets the event")


class Floods(FakeTool):
    """Reports far more than anybody reads, the worst last."""

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        many = [candidate(self.name) for _ in range(9_999)]
        worst = candidate(self.name).model_copy(update={"severity": "critical", "confidence": 1})
        run = ToolRun(tool=self.name, version="1", duration_ms=3)
        return ToolReport((*many, worst), run, self.gap)


class Mumbles(FakeTool):
    """Answers with something that is no report."""

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        nothing: Any = None
        return nothing  # type: ignore[no-any-return]  # that is the fault


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


def test_a_tool_that_only_passes_on_what_others_found_has_not_looked() -> None:
    engine = AnalyzersEngine({"own": FakeTool("own")})

    answer = asyncio.run(engine.work(order(FakeTool("own"), FakeTool("handed-in"))))

    assert [found.source for found in answer.candidates] == ["own", "handed-in"]
    assert answer.metadata.looked == ("own",)


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


@pytest.mark.parametrize(
    "error",
    [
        ToolError("no"),
        OSError("disk full at /home/me"),
        RecursionError(),
        ValueError("password = 'hunter2'"),
        MemoryError(),
        TimeoutError(),
        AssertionError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_tool_that_raises_is_a_gap_beside_the_answers_of_the_others(error: Exception) -> None:
    answer = work(FakeTool("bad", error=error), FakeTool("good"))

    (gap,) = answer.gaps
    assert (gap.reason, gap.tool, gap.worker) == ("crashed", "bad", "style")
    assert gap.message == f"bad could not be run ({type(error).__name__})"
    assert [found.source for found in answer.candidates] == ["good"]


def test_a_tool_that_answers_with_something_else_is_a_gap_as_well() -> None:
    answer = work(Mumbles("bad"), FakeTool("good"))

    assert [(gap.reason, gap.tool) for gap in answer.gaps] == [("crashed", "bad")]
    assert answer.metadata.looked == ("good",)


def test_a_tool_that_does_not_come_back_is_given_up_and_the_others_are_delivered() -> None:
    engine = AnalyzersEngine({"good": FakeTool("good")}, seconds=0.05)

    answer = asyncio.run(engine.work(order(Hangs("slow"), FakeTool("good"))))

    (gap,) = answer.gaps
    assert (gap.reason, gap.tool) == ("timeout", "slow")
    assert gap.message == "slow did not come back within 0.05 s"
    assert [found.source for found in answer.candidates] == ["good"]
    assert answer.metadata.looked == ("good",)


def test_a_tool_is_given_up_in_time_to_deliver_the_others_within_the_tasks_own_limit() -> None:
    answer = asyncio.run(AnalyzersEngine({}).work(order(Hangs("slow"), FakeTool("good"), timeout_ms=100)))

    assert [gap.message for gap in answer.gaps] == ["slow did not come back within 0.075 s"]
    assert [found.source for found in answer.candidates] == ["good"]


def test_a_task_that_is_cancelled_is_no_failure_of_its_tools() -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(AnalyzersEngine({}).work(order(Hangs("slow"))))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scenario())


def test_of_a_flood_the_worst_are_kept_and_a_gap_counts_them() -> None:
    answer = work(Floods("loud"), FakeTool("good"))

    (gap,) = answer.gaps
    assert (gap.reason, gap.tool) == ("flooded", "loud")
    assert gap.message == "loud has 10000 findings here; the 100 worst are kept"
    assert len(answer.candidates) == MAX_CANDIDATES + 1
    assert answer.candidates[0].severity == "critical"
    assert answer.candidates[-1].source == "good"


def test_a_flood_that_names_its_own_gap_keeps_it() -> None:
    gap = Gap(path="a.py", worker="", reason="unreadable", message="half of it", tool="loud")

    assert [found.message for found in work(Floods("loud", gap=gap)).gaps] == ["half of it"]


def test_tools_that_miss_the_same_thing_in_the_same_words_share_one_gap() -> None:
    def missed(tool: str, reason: GapReason = "unreadable", message: str = "it does not parse") -> Gap:
        return Gap(path="a.py", worker="", reason=reason, message=message, tool=tool)

    answer = work(
        FakeTool("loops", gap=missed("loops")),
        FakeTool("other", gap=missed("other", message="line 3 does not parse")),
        FakeTool("taint", gap=missed("taint")),
        FakeTool("late", gap=missed("late", reason="timeout")),
    )

    assert [(gap.tool, gap.reason, gap.message) for gap in answer.gaps] == [
        ("loops, taint", "unreadable", "it does not parse"),
        ("other", "unreadable", "line 3 does not parse"),
        ("late", "timeout", "it does not parse"),
    ]
    assert answer.metadata.looked == ()


def test_a_gap_that_names_no_tool_stays_without_one() -> None:
    gap = Gap(path="a.py", worker="", reason="unreadable", message="half of it")

    assert [found.tool for found in work(FakeTool("a", gap=gap)).gaps] == [None]


def test_a_slow_tool_on_one_slice_does_not_keep_another_slice_waiting() -> None:
    async def scenario() -> tuple[Answer, Answer]:
        other_is_there = asyncio.Event()

        class SlowOnOne(FakeTool):
            async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
                if payload.file_path == "slow.py":
                    await other_is_there.wait()
                return await super().run(payload, snapshot)

        tool = SlowOnOne("a")
        engine = AnalyzersEngine({"a": tool})
        slow = asyncio.ensure_future(engine.work(order(tool, path="slow.py")))
        fast = await engine.work(order(tool, path="fast.py"))
        assert not slow.done()
        other_is_there.set()
        return await slow, fast

    assert [answer.metadata.looked for answer in asyncio.run(scenario())] == [("a",), ("a",)]


def test_all_tools_run_at_the_same_time() -> None:
    async def scenario() -> Answer:
        meeting = asyncio.Barrier(3)

        class Meets(FakeTool):
            async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
                await meeting.wait()
                return await super().run(payload, snapshot)

        tools = [Meets(name) for name in "abc"]
        return await AnalyzersEngine({tool.name: tool for tool in tools}).work(order(*tools))

    assert asyncio.run(scenario()).metadata.looked == ("a", "b", "c")


def test_no_tool_at_all_is_an_answer_with_nothing_in_it() -> None:
    assert work().metadata.looked == ()
