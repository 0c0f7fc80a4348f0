"""The tools on the files of a change: once each, few files at a time, and every failure a gap."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pytest

from reviewbot.analyzers.core.open_files import size_of
from reviewbot.analyzers.core.run import AnalysisLimits, ChangeAnalysis, changed_file
from reviewbot.domain.contracts import Candidate, ToolRun
from reviewbot.domain.errors import ToolError
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.review.finding_limits import MAX_PER_RULE, MAX_PER_RUN
from tests import leaping_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import ChangeSet, FileChange
    from reviewbot.domain.ports import Tool

    AChange = Callable[..., ChangeSet]
    AFile = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]

PYTHON = frozenset({"python"})


@dataclass
class FakeTool:
    """Reports one candidate; raises where it has an error."""

    name: str
    languages: frozenset[str] | None = None
    error: Exception | None = None
    seen: list[str] = field(default_factory=list)

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        self.seen.append(file.path)
        if self.error is not None:
            raise self.error
        return ToolReport((candidate(self.name),), ToolRun(tool=self.name, version="1", duration_ms=3))


@dataclass
class Floods(FakeTool):
    """Reports far more than is of use."""

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        many = tuple(candidate(self.name) for _ in range(300))
        return ToolReport(many, ToolRun(tool=self.name, version="1", duration_ms=3))


@dataclass
class Hangs(FakeTool):
    """Never comes back."""

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        await asyncio.Event().wait()
        raise AssertionError("nothing sets the event")


def candidate(source: str) -> Candidate:
    return Candidate(
        severity="info", path="a.py", quote="x", message="m", confidence=50, source=source, category="c", line=1
    )


@pytest.fixture
def analysis(a_change: AChange, a_file: AFile, bare: Snapshot) -> Callable[..., ChangeAnalysis]:
    """The given tools on a change of files of Python."""

    def make(*tools: Tool, paths: tuple[str, ...] = ("a.py",), **options: Any) -> ChangeAnalysis:
        every = {tool.name: tool for tool in tools}
        return ChangeAnalysis(a_change(*(a_file(path) for path in paths)), bare, every, **options)

    return make


def test_each_tool_runs_once_for_each_file_whatever_asks(analysis: Callable[..., ChangeAnalysis]) -> None:
    tools = (FakeTool("one"), FakeTool("two"))
    made = analysis(*tools, paths=("a.py", "b.py"))

    async def ask() -> list[ToolReport]:
        reports = await asyncio.gather(*(made.report(tool, "a.py") for tool in ("one", "one", "two")))
        return [*reports, await made.report("one", "a.py"), *(await made.run())["b.py"]]

    reports = asyncio.run(ask())

    assert [tool.seen for tool in tools] == [["a.py", "b.py"]] * 2
    assert [report.run.tool for report in reports] == ["one", "one", "two", "one", "one", "two"]


def test_of_all_tools_those_run_that_understand_the_language(a_change: AChange, a_file: AFile, bare: Snapshot) -> None:
    tools: dict[str, Tool] = {"ruff": FakeTool("ruff", PYTHON), "lines": FakeTool("lines")}
    change = a_change(a_file("a.py"), a_file("b.go", language="go"))

    reports = asyncio.run(ChangeAnalysis(change, bare, tools).run())

    told = {path: [report.run.tool for report in found] for path, found in reports.items()}
    assert told == {"a.py": ["ruff", "lines"], "b.go": ["lines"]}


def test_a_file_of_two_sections_is_one_file(a_file: AFile, a_hunk: Callable[..., Any], snapshot_of: SnapshotOf) -> None:
    gone = a_file("new", a_hunk("-target"), old_path="old", status="deleted", mode="120000")
    come = a_file("new", a_hunk("+x = 1"), status="added")

    file = changed_file([gone, come], snapshot_of("x = 1\n", "target"))

    assert (file.path, file.before, file.head, file.base) == ("new", "old", "x = 1\n", "target")
    assert [hunk.body for hunk in file.hunks] == ["-target", "+x = 1"]


def test_few_files_are_in_memory_at_a_time(a_change: AChange, a_file: AFile, bare: Snapshot) -> None:
    there: WeakSet[ChangedFile] = WeakSet()
    most = 0

    class Counts(FakeTool):
        async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
            nonlocal most
            there.add(file)
            await asyncio.sleep(0)
            most = max(most, len(there))
            return await super().run(file, snapshot)

    tools: dict[str, Tool] = {name: Counts(name) for name in "abc"}
    change = a_change(*(a_file(f"{number}.py") for number in range(20)))

    reports = asyncio.run(ChangeAnalysis(change, bare, tools, limits=AnalysisLimits(files=2)).run())

    assert len(reports) == 20
    assert most <= 2


def test_a_file_that_waits_for_its_turn_does_not_use_up_a_tools_time(analysis: Callable[..., ChangeAnalysis]) -> None:
    async def scenario() -> dict[str, tuple[ToolReport, ...]]:
        class Slow(FakeTool):
            async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
                await asyncio.sleep(0.02)
                return await super().run(file, snapshot)

        return await analysis(Slow("a"), paths=tuple("abcdefgh"), limits=AnalysisLimits(seconds=0.1, files=1)).run()

    assert [report.gap for reports in leaping_loop.run(scenario()).values() for report in reports] == [None] * 8


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
def test_a_tool_that_raises_is_a_gap_beside_the_reports_of_the_others(
    analysis: Callable[..., ChangeAnalysis], error: Exception
) -> None:
    bad, good = asyncio.run(analysis(FakeTool("bad", error=error), FakeTool("good")).run())["a.py"]

    assert bad.gap is not None
    assert (bad.gap.reason, bad.gap.tool, bad.gap.path) == ("crashed", "bad", "a.py")
    assert bad.gap.message == f"bad could not be run ({type(error).__name__})"
    assert (len(good.candidates), good.gap) == (1, None)


def test_a_snapshot_that_fails_is_a_gap_of_every_tool(a_change: AChange, a_file: AFile) -> None:
    class Fails:
        def head(self, path: str) -> str | None:
            raise OSError(path)

    broken: Any = Fails()
    tools: dict[str, Tool] = {name: FakeTool(name) for name in "ab"}

    reports = asyncio.run(ChangeAnalysis(a_change(a_file("a.py")), broken, tools).run())["a.py"]

    assert [report.gap and report.gap.message for report in reports] == [
        "a could not be run (OSError)",
        "b could not be run (OSError)",
    ]


def test_a_tool_that_does_not_come_back_is_given_up(analysis: Callable[..., ChangeAnalysis]) -> None:
    both = analysis(Hangs("slow"), FakeTool("good"), limits=AnalysisLimits(seconds=0.05))
    slow, good = leaping_loop.run(both.run())["a.py"]

    assert slow.gap is not None
    assert (slow.gap.reason, slow.gap.message) == ("timeout", "slow did not come back within 0.05 s")
    assert good.gap is None


def test_no_tool_has_more_candidates_for_a_file_than_a_reader_can_use(analysis: Callable[..., ChangeAnalysis]) -> None:
    (report,) = asyncio.run(analysis(Floods("loud")).run())["a.py"]

    assert len(report.candidates) == MAX_PER_RULE
    assert report.gap is not None
    assert (report.gap.reason, report.gap.tool) == ("flooded", "loud")
    assert report.gap.message == "loud has 300 findings here (c 300 times); 100 are kept, the worst of each rule"


def test_a_review_holds_a_bounded_number_of_candidates(analysis: Callable[..., ChangeAnalysis]) -> None:
    paths = tuple(f"{number}.py" for number in range(MAX_PER_RUN // MAX_PER_RULE + 1))

    reports = asyncio.run(analysis(Floods("loud"), paths=paths).run())

    assert sum(len(report.candidates) for found in reports.values() for report in found) == MAX_PER_RUN
    (last,) = (report for found in reports.values() for report in found if not report.candidates)
    assert last.gap is not None
    assert last.gap.message == "loud has 300 findings here (c 300 times); 0 are kept, the worst of each rule"


def test_of_large_files_one_is_worked_on_at_a_time(
    a_change: AChange, a_file: AFile, a_hunk: Callable[..., Any], bare: Snapshot
) -> None:
    working: list[int] = []
    most = 0

    class Counts(FakeTool):
        async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
            nonlocal most
            working.append(size_of(file))
            most = max(most, sum(working))
            await asyncio.sleep(0)
            working.remove(size_of(file))
            return await super().run(file, snapshot)

    sizes = [5, 40, 5, 90, 5, 5, 60, 300, 5]
    change = a_change(*(a_file(f"{at}.py", a_hunk("+" * size)) for at, size in enumerate(sizes)))

    reports = asyncio.run(ChangeAnalysis(change, bare, {"a": Counts("a")}, limits=AnalysisLimits(chars=100)).run())

    assert len(reports) == len(sizes)
    assert most == 300


def test_a_file_stays_open_for_the_next_tool_until_its_room_is_needed(a_change: AChange, a_file: AFile) -> None:
    asked: list[str] = []

    class Files:
        def head(self, path: str) -> str | None:
            asked.append(path)
            return None

        def base(self, path: str) -> str | None:
            return None

    files: Any = Files()
    tools: dict[str, Tool] = {name: FakeTool(name) for name in "ab"}
    change = a_change(*(a_file(name) for name in ("1.py", "2.py", "3.py")))

    async def ask() -> None:
        made = ChangeAnalysis(change, files, tools, limits=AnalysisLimits(files=2))
        for tool, path in (("a", "1.py"), ("a", "2.py"), ("b", "1.py"), ("a", "3.py"), ("b", "2.py"), ("b", "3.py")):
            await made.report(tool, path)

    asyncio.run(ask())

    assert asked == ["1.py", "2.py", "3.py"]
