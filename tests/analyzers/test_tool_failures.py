"""Every tool of the catalog, failed in each way that a tool can fail, in a whole review beside a tool that works."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import AnalysisLimits, ChangeAnalysis
from reviewbot.analyzers.engine import AnalyzersEngine
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.ruff.tool import RuffTool
from reviewbot.config import Settings
from reviewbot.delivery import exit_code
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import Candidate, Review, ToolRun
from reviewbot.domain.errors import ExitCode
from reviewbot.domain.ports import ChangedFile, Snapshot, Tool, ToolReport
from reviewbot.redact.mask import Mask, redact
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.execution import PlanExecutor
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from reviewbot.review.trace import Event, Trace
from reviewbot.sources.memory import DiffSnapshot, MemoryJournal
from reviewbot.threads import in_thread
from tests.make import one_fast, seconds_until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TOOLS = all_tools()
PROGRAMS = sorted(name for name, tool in TOOLS.items() if isinstance(tool, RuffTool))
PYTHON = sorted(name for name, tool in TOOLS.items() if isinstance(tool, PythonTool))

CODE = """\
import os
import subprocess
from flask import request


class Shop:
    def total{0}(self, orders, seen=[]):
        text = ""
        for order in orders:
            for other in orders:
                if order in seen and other == None:
                    text += str(order)
            subprocess.run("bill " + request.args["name"], shell=True)
        try:
            return eval(text)
        except Exception:
            return open(os.path.join("/srv", text)).read()
"""
LONG = "".join(CODE.format(number) for number in range(12))
"""Something for every scan to walk, and more lines than a tool may have findings."""

MISBEHAVIOUR = {
    "crashed": "sys.exit(2)",
    "timeout": "time.sleep(600)",
    "flooded": "while True: print('x' * 65536)",
    "bad_answer": "print('[{')",
}
"""What a program may do instead of an answer, by the reason of the gap."""


@dataclass
class Witness:
    """A tool that always works: it finds one thing on the first line."""

    name: str = "witness"
    languages: frozenset[str] | None = frozenset({"python"})

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        return ToolReport((told(self.name, file, 1),), ToolRun(tool=self.name, version="1", duration_ms=0))


@dataclass
class Broken:
    """A tool in the place of one of the catalog, which does something else instead of its work."""

    tool: Tool
    instead: Callable[[Tool, ChangedFile], Any]

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def languages(self) -> frozenset[str] | None:
        # What passes on the results of others, or is for another language, would not run; here it does, to see it fail.
        understood = self.tool.languages
        return understood if understood and "python" in understood else None

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        report: ToolReport = await in_thread(lambda: self.instead(self.tool, file))
        return report


def told(source: str, file: ChangedFile, line: int) -> Candidate:
    text = file.hunks[0].body.split("\n")[line - 1]
    return Candidate(
        severity="warning",
        path=file.path,
        quote=text[1:],
        message=f"{source} has seen this on line {line}",
        confidence=95,
        source=source,
        category=source,
        line=line,
    )


def raises(tool: Tool, file: ChangedFile) -> None:
    raise RecursionError(f"{tool.name} went too deep into {file.hunks[0].body}")


def hangs(tool: Tool, file: ChangedFile) -> None:
    threading.Event().wait()


def floods(tool: Tool, file: ChangedFile) -> ToolReport:
    many = tuple(told(tool.name, file, 2) for _ in range(2_000))
    return ToolReport(many, ToolRun(tool=tool.name, version="1", duration_ms=0))


def new_file(path: str, text: str) -> bytes:
    lines = text.splitlines()
    head = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    )
    return (head + "".join(f"+{line}\n" for line in lines)).encode()


@dataclass
class RecordedReview:
    """A review, and everything that happened in it."""

    review: Review
    events: list[Event]
    rules: Rules

    def gaps_of(self, tool: str) -> list[str]:
        """Why a tool could not look."""
        return [gap.reason for gap in self.review.gaps if tool in (gap.tool or "").split(", ")]

    def found_by(self, source: str) -> int:
        findings = [*self.review.findings, *(entry.finding for entry in self.review.withheld)]
        return sum(source in finding.sources for finding in findings)


@pytest.fixture
def telling(clock: Any, a_card: Any, a_worker_set: Any) -> Callable[..., RecordedReview]:
    """A whole review by one worker that has the given tools and the witness."""

    def tell(
        *tools: Tool,
        diff: bytes | None = None,
        seconds: float = 60.0,
        listener: Callable[[Event], None] | None = None,
        mask: Mask = redact,
    ) -> RecordedReview:
        change = parse_diff(new_file("src/app.py", LONG) if diff is None else diff)
        every: Mapping[str, Tool] = {tool.name: tool for tool in (*tools, Witness())}
        worker_set = a_worker_set(a_card("logic", tools=tuple(every)))
        trace = Trace(clock, listener)
        engine = AnalyzersEngine(
            every, ChangeAnalysis(change, DiffSnapshot(change), every, limits=AnalysisLimits(seconds=seconds))
        )
        rules = Rules.of(worker_set.cards, 10)
        planner = RoutedPlanner(worker_set, engine.covers, DiffSnapshot(change).head, PlanLimits())
        executor = PlanExecutor(
            worker_set=worker_set,
            engine=engine,
            tools=every,
            snapshot=DiffSnapshot(change),
            journal=MemoryJournal(),
            clock=clock,
            trace=trace,
            run_id="failures",
            concurrency=2,
            deadline_s=60.0,
            mask=mask,
        )
        synthesizer = RuledSynthesizer(rules, ReviewFacts(engine.name))
        setup = Setup(planner, executor, synthesizer, clock, trace)
        return RecordedReview(asyncio.run(review(change, setup)), trace.events, rules)

    return tell


def check_the_rest_is_delivered(story: RecordedReview, tool: str, reason: str) -> None:
    """The failure is named, the review says that it is incomplete, and the other tool's finding is there."""
    assert story.gaps_of(tool) == [reason]
    assert story.review.incomplete
    assert exit_code(story.review, Settings(), story.rules) == ExitCode.INCOMPLETE
    assert story.found_by("witness") == 1
    readers = [(*file.models, *file.analyzers, *file.scans) for file in story.review.coverage]
    assert any("witness" in each and tool not in each for each in readers)


def test_without_any_failure_the_review_is_complete(telling: Callable[..., RecordedReview]) -> None:
    story = telling()

    assert not story.review.incomplete
    assert story.found_by("witness") == 1


def test_a_text_that_stands_often_in_an_answer_is_searched_for_secrets_once(
    telling: Callable[..., RecordedReview],
) -> None:
    searched: Counter[str] = Counter()

    def mask(text: str) -> str:
        searched[text] += 1
        return text

    telling(*TOOLS.values(), mask=mask)

    assert searched["witness"] == 1
    assert set(searched.values()) == {1}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_that_crashes_is_a_gap_beside_the_others(name: str, telling: Callable[..., RecordedReview]) -> None:
    story = telling(Broken(TOOLS[name], raises))

    check_the_rest_is_delivered(story, name, "crashed")
    assert [gap.message for gap in story.review.gaps] == [f"{name} could not be run (RecursionError)"]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_whose_thread_hangs_is_a_gap_and_the_review_ends(
    name: str, telling: Callable[..., RecordedReview]
) -> None:
    check_the_rest_is_delivered(telling(Broken(TOOLS[name], hangs), seconds=0.1), name, "timeout")


@pytest.mark.parametrize("name", one_fast(sorted(TOOLS)))
def test_a_tool_that_floods_is_a_gap_and_drowns_nobody(name: str, telling: Callable[..., RecordedReview]) -> None:
    check_the_rest_is_delivered(telling(Broken(TOOLS[name], floods)), name, "flooded")


@pytest.mark.parametrize("name", PYTHON)
def test_a_scan_that_runs_out_of_steps_is_a_gap(name: str, telling: Callable[..., RecordedReview]) -> None:
    tool: Any = TOOLS[name]
    tired = PythonTool(tool.name, tool._check, tool._rules, tool._reader, steps=0)

    check_the_rest_is_delivered(telling(tired), name, "timeout")


@pytest.mark.parametrize("name", one_fast(PROGRAMS))
@pytest.mark.parametrize("reason", MISBEHAVIOUR)
def test_a_program_that_misbehaves_is_a_gap(
    name: str, reason: str, telling: Callable[..., RecordedReview], fake_ruff: Callable[[str], Path]
) -> None:
    limits = ProgramLimits(seconds=seconds_until(reason), stdout_bytes=1 << 20, stderr_bytes=1 << 20)
    tools = all_tools(ruff=fake_ruff(MISBEHAVIOUR[reason]), limits=limits)

    check_the_rest_is_delivered(telling(tools[name]), name, reason)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_missing_is_a_gap(name: str, telling: Callable[..., RecordedReview], tmp_path: Path) -> None:
    check_the_rest_is_delivered(telling(all_tools(ruff=tmp_path / "ruff")[name]), name, "missing_program")


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_more_findings_than_anybody_reads_is_a_gap(
    name: str, telling: Callable[..., RecordedReview], fake_ruff: Callable[[str], Path]
) -> None:
    codes = sorted(packaged_rules("ruff_rules").of_tool(name))
    places = [{"row": row, "column": 1} for row in range(1, LONG.count("\n") + 1)]
    reports = [{"code": c, "message": "m", "location": at, "end_location": at} for at in places for c in codes]
    body = f"""
name = str(next(pathlib.Path(sys.argv[-1]).iterdir()))
print(json.dumps([dict(found, filename=name) for found in json.loads({json.dumps(reports)!r})]))
"""
    story = telling(all_tools(ruff=fake_ruff(body))[name])

    check_the_rest_is_delivered(story, name, "flooded")


def test_what_confined_a_program_is_in_the_trace(telling: Callable[..., RecordedReview]) -> None:
    story = telling(TOOLS["ruff-style"])

    (result,) = [event["outcome"] for event in story.events if event["event"] == "result"]
    runs = {run["tool"]: run["isolation"] for run in result["metadata"]["tool_runs"]}
    assert {"empty_folder", "scrubbed_environment", "time", "output"} <= set(runs["ruff-style"])
    assert runs["witness"] == []


def test_a_tool_that_is_slow_on_one_file_does_not_hold_up_the_result_of_another(
    telling: Callable[..., RecordedReview],
) -> None:
    other_is_there = threading.Event()

    def waits(tool: Tool, file: ChangedFile) -> ToolReport:
        if file.path == "src/slow.py" and not other_is_there.wait(60):
            raise AssertionError("the other file's result waited for this one")
        return ToolReport((), ToolRun(tool=tool.name, version="1", duration_ms=0))

    def listener(event: Event) -> None:
        if event["event"] == "task_finished" and "fast.py" in event["task_id"]:
            other_is_there.set()

    diff = new_file("src/slow.py", CODE.format("")) + new_file("src/fast.py", CODE.format(""))
    story = telling(Broken(TOOLS["secrets"], waits), diff=diff, listener=listener)

    assert story.review.gaps == ()
    ended = [event["task_id"] for event in story.events if event["event"] == "task_finished"]
    assert ["fast.py" in task_id for task_id in ended] == [True, False]
