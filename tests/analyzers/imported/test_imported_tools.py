from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.imported import imported_tools
from reviewbot.domain.contracts import Candidate, FileChange
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Snapshot, Tool, ToolReport
from tests.make import MakeFile

Log = dict[str, Any]
Make = Callable[..., Log]
MakeLog = Callable[..., bytes]

NAMES = ["imported-security", "imported-performance", "imported-style", "imported-logic"]

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3  # put together, so that no scanner takes this file for a leak


class ImportRunner:
    """Reads logs, runs all four tools on one slice, and keeps what they say."""

    def __init__(self, bare: Snapshot, log_of: MakeLog, run_of: Make) -> None:
        self._bare, self._log_of, self._run_of = bare, log_of, run_of
        self.tools: list[Tool] = []
        self.notes: list[str] = []

    def __call__(self, change: FileChange, *results: Log, **fields: Any) -> list[Candidate]:
        logs = [("x.sarif", self._log_of(self._run_of(*results, **fields)))]
        tools, self.notes = imported_tools(logs, [change.path])
        self.tools = [*tools]
        return [found for report in self.reports(change) for found in report.candidates]

    def reports(self, change: FileChange) -> Sequence[ToolReport]:
        return [asyncio.run(tool.run(changed_file([change], self._bare), self._bare)) for tool in self.tools]


@pytest.fixture
def runner(bare: Snapshot, log_of: MakeLog, run_of: Make) -> ImportRunner:
    return ImportRunner(bare, log_of, run_of)


def test_there_is_one_tool_for_each_worker(log_of: MakeLog, run_of: Make, result_of: Make) -> None:
    tools, _ = imported_tools([("x", log_of(run_of(result_of())))], ["src/app.py"])

    assert [tool.name for tool in tools] == NAMES


def test_a_tool_with_nothing_to_tell_is_never_run(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    runner(file_of("a\nb\nc"), result_of())

    languages = {tool.name: tool.languages for tool in runner.tools}
    assert languages["imported-logic"] is None
    assert [languages[name] for name in NAMES[:3]] == [frozenset()] * 3


def test_without_logs_no_tool_is_ever_run() -> None:
    tools, notes = imported_tools([], ["src/app.py"])

    assert [tool.languages for tool in tools] == [frozenset()] * 4
    assert notes == []


def test_a_result_becomes_a_candidate_of_its_worker(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    change = file_of(" a = 1\n+db.execute('...' + name)\n b = 2", start=2)

    (found,) = runner(change, result_of("S608", level="error"), tool="ruff")

    assert found == Candidate(
        severity="warning",
        path="src/app.py",
        quote="db.execute('...' + name)",
        message="It is wrong.",
        confidence=65,
        source="imported:ruff",
        category="sql-injection",
        rule="S608",
        line=3,
        end_line=3,
        cwe=89,
    )


@pytest.mark.parametrize(
    ("rule", "confidence"), [("S608", 65), ("PERF401", 65), ("E501", 60), ("B006", 65), ("F999", 65)]
)
def test_every_worker_starts_below_what_is_posted(
    runner: ImportRunner, file_of: MakeFile, result_of: Make, rule: str, confidence: int
) -> None:
    (found,) = runner(file_of("a\nb\nc"), result_of(rule), tool="ruff")

    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("level", "score", "severity"),
    [
        ("error", "7.0", "critical"),
        ("error", "6.9", "warning"),
        ("error", "", "warning"),
        ("warning", "9.9", "warning"),
        ("note", "9.9", "info"),
        ("none", "9.9", "info"),
    ],
)
def test_severity_follows_level_and_score(
    runner: ImportRunner, file_of: MakeFile, result_of: Make, level: str, score: str, severity: str
) -> None:
    rules = [{"id": "R1", "properties": {"tags": ["security"], "security-severity": score}}]

    (found,) = runner(file_of("a\nb\nc"), result_of(level=level), rules=rules)

    assert found.severity == severity


def test_only_added_lines_are_told(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    change = file_of(" kept\n+added\n-gone\n kept")
    results = [result_of(f"R{line}", line=line) for line in range(1, 8)]

    assert [found.rule for found in runner(change, *results)] == ["R2"]


def test_a_result_over_lines_is_told_on_the_first_added_one(
    runner: ImportRunner, file_of: MakeFile, result_of: Make
) -> None:
    result = result_of(line=1)
    result["locations"][0]["physicalLocation"]["region"]["endLine"] = 400

    (found,) = runner(file_of(" run(\n     cmd,\n+    shell=True,\n )\n other()"), result)

    assert (found.line, found.end_line, found.quote) == (3, 5, "shell=True,")


def test_a_result_about_a_whole_class_is_not_about_its_last_line(
    runner: ImportRunner, file_of: MakeFile, result_of: Make
) -> None:
    result = result_of(line=1)
    result["locations"][0]["physicalLocation"]["region"]["endLine"] = 400

    assert runner(file_of("late", start=100), result) == []


def test_other_files_are_not_told(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    assert runner(file_of("a\nb\nc"), result_of(uri="src/other.py")) == []
    runner(file_of("a\nb\nc"), result_of())
    assert [report.candidates for report in runner.reports(file_of("a\nb\nc", path="src/more.py"))] == [()] * 4


def test_a_result_that_stands_twice_is_told_once(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    assert len(runner(file_of("a\nb\nc"), result_of(), result_of(), result_of("R2"))) == 2


def test_a_secret_of_the_log_or_the_line_is_shown_nowhere(
    runner: ImportRunner, file_of: MakeFile, result_of: Make
) -> None:
    change = file_of(f"a\nb\ntoken = '{TOKEN}'")

    (found,) = runner(change, result_of(message={"text": f"found {TOKEN}\nin it"}), tool="gitleaks")

    assert TOKEN[4:] not in found.model_dump_json()
    assert found.message == "found ghp_**** in it"
    assert (found.category, found.cwe) == ("secret", 798)


def test_a_flood_is_cut_and_named(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    change = file_of("\n".join("x" for _ in range(300)))
    runner(change, *(result_of(line=line) for line in range(1, 301)))

    report = runner.reports(change)[NAMES.index("imported-logic")]

    assert len(report.candidates) == 100
    assert report.gap is not None
    assert report.gap.reason == "flooded"
    assert (report.run.tool, report.run.exit_code) == ("imported-logic", None)


def test_a_note_says_what_became_of_each_run(runner: ImportRunner, file_of: MakeFile, result_of: Make) -> None:
    runner(
        file_of("a\nb\nc"),
        result_of(),
        result_of(uri="other.py"),
        result_of(line=None),
        result_of(suppressions=[{"kind": "inSource"}]),
        result_of(kind="pass"),
        result_of(kind="pass"),
        tool="Semgrep\nOSS",
    )

    (note,) = runner.notes
    assert note == (
        "Semgrep OSS (x.sarif): 1 of its results are about files of this change; "
        "not read: 1 about other files, 2 no problem, 1 suppressed, 1 without a line"
    )


def test_several_logs_are_read_together(log_of: MakeLog, run_of: Make, result_of: Make) -> None:
    one = log_of(run_of(result_of("S608"), tool="ruff"), run_of(tool="eslint"))
    two = log_of(run_of(result_of("B006"), tool="ruff"))

    tools, notes = imported_tools([("one", one), ("two", two)], ["src/app.py"])

    assert [tool.name for tool in tools if tool.languages is None] == ["imported-security", "imported-logic"]
    assert [note.split(":")[0] for note in notes] == ["ruff (one)", "eslint (one)", "ruff (two)"]


def test_file_of_that_is_no_log_is_named(log_of: MakeLog, run_of: Make) -> None:
    with pytest.raises(InputError, match="'two' is a plain log without"):
        imported_tools([("one", log_of(run_of())), ("two", b"?")], [])


@pytest.mark.slow
@given(text=st.text(max_size=50), rule=st.text(max_size=120), tool=st.text(max_size=120))
def test_any_text_makes_a_candidate_that_contracts_take(
    file_of: Callable[..., FileChange],
    no_snapshot: Snapshot,
    log_of: MakeLog,
    run_of: Make,
    result_of: Make,
    **texts: str,
) -> None:
    text, rule, tool = texts["text"], texts["rule"], texts["tool"]
    runner = ImportRunner(no_snapshot, log_of, run_of)

    (found,) = runner(file_of("+a\n+b\n+c"), result_of(rule, message={"text": text}), tool=tool)

    assert found.source.startswith("imported:")
    assert "\n" not in found.message + runner.notes[0]
