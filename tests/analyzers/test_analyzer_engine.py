"""The engine over tools, with tools that record and tools that hang."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import pytest

from reviewbot.analyzers.core.run import ChangeAnalysis
from reviewbot.analyzers.engine import AnalyzersEngine
from reviewbot.domain.contracts import (
    Candidate,
    ChangeSet,
    Constraints,
    FileChange,
    Gap,
    GapReason,
    Hunk,
    ParsedFile,
    Payload,
    ReviewTask,
    ToolRun,
    WorkerCard,
)
from reviewbot.domain.ports import Answer, ChangedFile, Snapshot, Tool, ToolReport, WorkOrder
from tests.snapshots import InMemorySnapshot

PYTHON = frozenset({"python"})


@dataclass
class FakeTool:
    """Reports one candidate and, where it has one, a gap; raises where it has an error."""

    name: str
    languages: frozenset[str] | None = None
    gap: Gap | None = None
    error: Exception | None = None
    seen: list[tuple[ChangedFile, Snapshot]] = field(default_factory=list)

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        self.seen.append((file, snapshot))
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
        constraints=Constraints(max_tokens=256, timeout_ms=timeout_ms, tier="medium"),
    )
    return WorkOrder(
        task, card(*(tool.name for tool in tools)), "", {tool.name: tool for tool in tools}, InMemorySnapshot()
    )


def engine_of(*tools: Tool, own: Collection[str] | None = None, paths: tuple[str, ...] = ("a.py",)) -> AnalyzersEngine:
    """The engine on a change of one line in each file; `own` are the tools that read files, by default all."""
    hunk = Hunk(old_start=0, old_count=0, new_start=1, new_count=1, body="+x")
    files = tuple(
        FileChange(path=path, status="added", language="python", kind="code", hunks=(hunk,), added=1) for path in paths
    )
    parsed = tuple(ParsedFile(path=path, state="read") for path in paths)
    every = {tool.name: tool for tool in tools}
    analysis = ChangeAnalysis(ChangeSet(files=files, parsed=parsed), InMemorySnapshot(), every)
    return AnalyzersEngine({name: tool for name, tool in every.items() if own is None or name in own}, analysis)


def work(*tools: Tool, language: str = "python") -> Answer:
    return asyncio.run(engine_of(*tools).work(order(*tools, language=language)))


class Hangs(FakeTool):
    """Never comes back."""

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets the event")


def test_a_card_is_covered_by_a_tool_that_understands_the_language() -> None:
    engine = engine_of(FakeTool("ruff", PYTHON), FakeTool("secrets"))

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
    assert answer.metadata.readers == ("a", "b")
    assert answer.metadata.model_used is None
    assert answer.gaps == ()


def test_a_tool_that_only_passes_on_what_others_found_has_not_looked() -> None:
    tools = (FakeTool("own"), FakeTool("handed-in"))

    answer = asyncio.run(engine_of(*tools, own=["own"]).work(order(*tools)))

    assert [found.source for found in answer.candidates] == ["own", "handed-in"]
    assert answer.metadata.readers == ("own",)


def test_a_tool_for_another_language_is_not_asked() -> None:
    tool = FakeTool("ruff", PYTHON)

    answer = work(tool, FakeTool("secrets"), language="go")

    assert tool.seen == []
    assert answer.metadata.readers == ("secrets",)


def test_a_tool_runs_once_for_all_slices_and_workers_of_a_file() -> None:
    tool = FakeTool("a")
    engine = engine_of(tool)

    async def ask() -> list[Answer]:
        return [*await asyncio.gather(*(engine.work(order(tool)) for _ in range(3))), await engine.work(order(tool))]

    answers = asyncio.run(ask())

    assert [(file.path, file.hunks[0].body) for file, _ in tool.seen] == [("a.py", "+x")]
    assert [len(answer.candidates) for answer in answers] == [1, 1, 1, 1]


def test_a_slice_is_told_of_its_own_added_lines_alone() -> None:
    tool = FakeTool("a")
    given = order(tool)
    elsewhere = given.task.payload.model_copy(update={"code": "@@\n x\n+y"})
    given = replace(given, task=given.task.model_copy(update={"payload": elsewhere}))

    answer = asyncio.run(engine_of(tool).work(given))

    assert answer.candidates == ()
    assert answer.metadata.readers == ("a",)


def test_a_gap_is_given_its_worker_and_task_and_its_tool_has_not_looked() -> None:
    gap = Gap(path="a.py", worker="", reason="timeout", message="slow", tool="slow")

    answer = work(FakeTool("slow", gap=gap), FakeTool("fast"))

    assert answer.gaps == (gap.model_copy(update={"worker": "style", "task_id": "style:a.py#1"}),)
    assert answer.metadata.readers == ("fast",)
    assert [found.source for found in answer.candidates] == ["slow", "fast"]


def test_a_tool_is_given_up_in_time_to_deliver_the_others_within_the_tasks_own_limit() -> None:
    tools = (Hangs("slow"), FakeTool("good"))

    answer = asyncio.run(engine_of(*tools).work(order(*tools, timeout_ms=2_000)))

    assert [gap.message for gap in answer.gaps] == ["slow did not come back within 1.5 s"]
    assert [found.source for found in answer.candidates] == ["good"]


def test_a_task_that_is_cancelled_is_no_failure_of_its_tools() -> None:
    slow = Hangs("slow")

    async def scenario() -> None:
        task = asyncio.ensure_future(engine_of(slow).work(order(slow)))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scenario())


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
    assert answer.metadata.readers == ()


def test_a_gap_that_names_no_tool_stays_without_one() -> None:
    gap = Gap(path="a.py", worker="", reason="unreadable", message="half of it")

    assert [found.tool for found in work(FakeTool("a", gap=gap)).gaps] == [None]


def test_a_slow_tool_on_one_slice_does_not_keep_another_slice_waiting() -> None:
    async def scenario() -> tuple[Answer, Answer]:
        other_is_there = asyncio.Event()

        class SlowOnOne(FakeTool):
            async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
                if file.path == "slow.py":
                    await other_is_there.wait()
                return await super().run(file, snapshot)

        tool = SlowOnOne("a")
        engine = engine_of(tool, paths=("slow.py", "fast.py"))
        slow = asyncio.ensure_future(engine.work(order(tool, path="slow.py")))
        fast = await engine.work(order(tool, path="fast.py"))
        assert not slow.done()
        other_is_there.set()
        return await slow, fast

    assert [answer.metadata.readers for answer in asyncio.run(scenario())] == [("a",), ("a",)]


def test_all_tools_run_at_the_same_time() -> None:
    async def scenario() -> Answer:
        meeting = asyncio.Barrier(3)

        class Meets(FakeTool):
            async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
                await meeting.wait()
                return await super().run(file, snapshot)

        tools = [Meets(name) for name in "abc"]
        return await engine_of(*tools).work(order(*tools))

    assert asyncio.run(scenario()).metadata.readers == ("a", "b", "c")


def test_no_tool_at_all_is_an_answer_with_nothing_in_it() -> None:
    assert work().metadata.readers == ()


def test_scans_and_what_understands_the_language_are_told_apart_in_what_was_read() -> None:
    tools = (FakeTool("ruff", PYTHON), FakeTool("secrets"), FakeTool("sarif"))
    engine = engine_of(*tools, own=("ruff", "secrets"))

    [reading] = asyncio.run(engine.work(order(*tools))).metadata.readings

    assert (reading.path, reading.models, reading.analyzers, reading.scans) == ("a.py", (), ("ruff",), ("secrets",))
    assert [(span.new_start, span.new_count) for span in reading.spans] == [(1, 1)]


def test_a_task_of_scans_runs_nothing_else() -> None:
    tools = (FakeTool("ruff", PYTHON), FakeTool("secrets"), FakeTool("sarif"))
    wanted = order(*tools)
    task = wanted.task.model_copy(update={"programs_only": True, "scans_only": True})

    answer = asyncio.run(engine_of(*tools, own=("ruff", "secrets")).work(replace(wanted, task=task)))

    assert answer.metadata.readers == ("secrets",)
    assert [found.source for found in answer.candidates] == ["secrets"]


def test_a_worker_has_scans_where_one_of_its_own_tools_is_one() -> None:
    engine = engine_of(FakeTool("ruff", PYTHON), FakeTool("secrets"), FakeTool("sarif"), own=("ruff", "secrets"))

    wanted = {("ruff",): False, ("secrets",): True, ("sarif",): False, ("ruff", "secrets"): True}
    assert {tools: engine.scans(card(*tools)) for tools in wanted} == wanted
