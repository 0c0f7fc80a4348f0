"""Every program on real files: what it says is placed on added lines, and what it cannot read is no reading."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.preexisting import without_preexisting
from reviewbot.analyzers.core.rules import LateRules, packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.programs.answers import shellcheck
from reviewbot.analyzers.programs.rows import PROGRAMS
from reviewbot.analyzers.programs.tool import MAX_REPORT_ROWS, ProgramAnalyzer
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts.results import NOT_RUN
from tests.make import seconds_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot, Tool, ToolReport

    MakeFile = Callable[..., FileChange]
    MakeSnapshot = Callable[..., Snapshot]

WORKFLOW = ".github/workflows/build.yml"
STEPS = "on: issues\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"


class Case(NamedTuple):
    """A file with one defect: the row that it stands on and the rule."""

    path: str
    text: str
    row: int
    rule: str
    unreadable: str


CASES = {
    "actionlint": Case(WORKFLOW, f"{STEPS}      - runs: make", 7, "syntax-check", ""),
    "zizmor": Case(
        WORKFLOW, f"{STEPS}      - run: echo ${{{{ github.event.issue.title }}}}", 7, "template-injection", "a: 1"
    ),
    "shellcheck": Case("run.sh", "#!/bin/bash\nmake 2>&1 >log", 2, "SC2069", "#!/usr/bin/fish\nset -x a b"),
    "hadolint": Case("Dockerfile", "FROM debian:12\nEXPOSE 80800", 2, "DL3011", "FROM debian:12\nCOPPY a b"),
    "squawk": Case("migrations/1.sql", "SELECT 1;\nDROP DATABASE a;", 2, "ban-drop-database", "SELECT * FROM `a`;"),
    "yamllint": Case("a.yaml", "a: 1\na: 2", 2, "key-duplicates", "a: [1"),
}
TOOLS = all_tools()


def printing(**fields: object) -> str:
    """A program that says one thing of the first file, as shellcheck does, with other fields."""
    said = {"file": "f0.sh", "code": 2069, "message": "a", "line": 1, "endLine": 1, **fields}
    return f"print(json.dumps({{'comments': [{said}]}}))"


@pytest.fixture
def ask(file_of: MakeFile, snapshot_of: MakeSnapshot) -> Callable[..., ToolReport]:
    """What a tool says of a file of which the lines `added` are new (all, where that is None)."""

    def run(
        tool: Tool, path: str, text: str, added: range | None = None, *, base: str | None = None, change: str = ""
    ) -> ToolReport:
        lines = enumerate(text.split("\n"), 1)
        marked = change or "\n".join(f"{'+' if added is None or row in added else ' '}{line}" for row, line in lines)
        section = file_of(marked, path=path, language=language_of(path))
        snapshot = snapshot_of(text, base)
        file = changed_file([section], snapshot)

        async def review() -> ToolReport:
            return await without_preexisting(tool, file, await tool.run(file, snapshot), snapshot)

        return asyncio.run(review())

    return run


@pytest.mark.parametrize("name", CASES)
def test_a_defect_is_reported_on_its_added_line(name: str, ask: Callable[..., ToolReport]) -> None:
    case = CASES[name]

    report = ask(TOOLS[name], case.path, case.text)

    assert (case.rule, case.row) in [(found.rule, found.line) for found in report.candidates]
    assert report.gap is None
    assert report.run.parsed
    assert report.run.version not in ("unknown", NOT_RUN)
    assert {"empty_folder", "scrubbed_environment", "time", "output"} <= set(report.run.isolation)


@pytest.mark.parametrize("name", CASES)
def test_what_stands_on_an_unchanged_line_is_not_reported(name: str, ask: Callable[..., ToolReport]) -> None:
    case = CASES[name]
    others = range(1, case.row)

    report = ask(TOOLS[name], case.path, case.text, others)

    assert case.rule not in [found.rule for found in report.candidates]


@pytest.mark.parametrize("name", CASES)
def test_what_the_old_side_has_as_well_is_not_reported(name: str, ask: Callable[..., ToolReport]) -> None:
    case = CASES[name]
    lines = case.text.split("\n")
    change = "\n".join([*(f"-{line}" for line in lines), *(f"+{line}" for line in lines)])
    report = ask(TOOLS[name], case.path, case.text, change=change, base=case.text)

    assert report.candidates == ()
    assert report.run.preexisting


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.unreadable])
def test_what_it_cannot_read_is_no_reading_and_no_gap(name: str, ask: Callable[..., ToolReport]) -> None:
    report = ask(TOOLS[name], CASES[name].path, CASES[name].unreadable)

    assert not report.run.parsed
    assert report.gap is None


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("shellcheck", "a.fish"),
        ("squawk", "queries/report.sql"),
        ("squawk", "migrations/sqlite/up.sql"),
        ("yamllint", "Dockerfile"),
        ("zizmor", "a.yaml"),
    ],
)
def test_a_file_that_it_is_not_for_is_not_given_to_it(name: str, path: str, ask: Callable[..., ToolReport]) -> None:
    report = ask(TOOLS[name], path, "a\nb")

    assert report.run.version == NOT_RUN
    assert not report.run.parsed


def test_a_template_is_no_yaml(ask: Callable[..., ToolReport]) -> None:
    report = ask(TOOLS["yamllint"], "chart.yaml", "a: 1\n{{- if .b }}\na: 2\n{{- end }}")

    assert report.candidates == ()
    assert not report.run.parsed


def test_a_part_of_a_file_is_not_given_to_a_program(file_of: MakeFile, bare: Snapshot) -> None:
    change = file_of(" a=1\n+make 2>&1 >log", path="run.sh", language="shell", start=7)

    report = asyncio.run(TOOLS["shellcheck"].run(changed_file([change], bare), bare))

    assert report.run.version == NOT_RUN
    assert not report.run.parsed


def test_a_file_of_another_commit_is_not_given_to_a_program(file_of: MakeFile, snapshot_of: MakeSnapshot) -> None:
    change, snapshot = file_of("+make 2>&1 >log", path="run.sh", language="shell"), snapshot_of("something else\n")

    report = asyncio.run(TOOLS["shellcheck"].run(changed_file([change], snapshot), snapshot))

    assert report.run.version == NOT_RUN


def test_a_syntax_error_behind_the_end_is_reported_on_the_last_line(ask: Callable[..., ToolReport]) -> None:
    report = ask(TOOLS["shellcheck"], "run.sh", "#!/bin/bash\nif true; then\n  make")

    assert [(found.rule, found.line) for found in report.candidates] == [("SC1072", 3)]


def test_files_that_wait_are_read_by_one_run_and_keep_their_answers(
    file_of: MakeFile, snapshot_of: MakeSnapshot
) -> None:
    texts = [f"#!/bin/bash\n{'true' if number % 2 else 'make 2>&1 >log'}" for number in range(8)]

    async def review() -> list[ToolReport]:
        asked = []
        for text in texts:
            snapshot = snapshot_of(text)
            file = changed_file([file_of(text, path="run.sh", language="shell")], snapshot)
            asked.append(TOOLS["shellcheck"].run(file, snapshot))
        return list(await asyncio.gather(*asked))

    assert [len(report.candidates) for report in asyncio.run(review())] == [1, 0] * 4


def test_one_file_that_a_program_leaves_out_costs_the_others_nothing(
    file_of: MakeFile, snapshot_of: MakeSnapshot
) -> None:
    texts = [CASES["zizmor"].text, CASES["zizmor"].unreadable]

    async def review() -> list[ToolReport]:
        asked = []
        for text in texts:
            snapshot = snapshot_of(text)
            file = changed_file([file_of(text, path=WORKFLOW, language="workflow")], snapshot)
            asked.append(TOOLS["zizmor"].run(file, snapshot))
        return list(await asyncio.gather(*asked))

    read, left_out = asyncio.run(review())

    assert [found.rule for found in read.candidates] == ["template-injection"]
    assert (read.run.parsed, left_out.run.parsed) == (True, False)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit(9)", "crashed"),
        ("print('{')", "bad_answer"),
        (printing(file="f9.sh"), "bad_answer"),
        (printing(message=2), "bad_answer"),
        (printing(line="b"), "bad_answer"),
        ("time.sleep(60)", "timeout"),
        ("print('a' * 2_000_000)", "flooded"),
    ],
)
def test_a_program_that_fails_is_a_gap(
    body: str, reason: str, program: Callable[..., Path], ask: Callable[..., ToolReport]
) -> None:
    row = next(row for row in PROGRAMS if row.name == "shellcheck")
    limits = ProgramLimits(seconds=seconds_until(reason), stdout_bytes=1_000_000)
    tool = ProgramAnalyzer(replace(row, limits=limits), LateRules("shellcheck"), program(body))

    report = ask(tool, "run.sh", "make")

    assert report.gap is not None
    assert report.gap.reason == reason
    assert report.candidates == ()


def test_a_diagnostic_of_a_whole_block_counts_on_its_first_row_alone(
    program: Callable[..., Path], ask: Callable[..., ToolReport]
) -> None:
    last = MAX_REPORT_ROWS + 5
    body = printing(endLine=last)
    row = next(row for row in PROGRAMS if row.name == "shellcheck")
    tool = ProgramAnalyzer(row, LateRules("shellcheck"), program(body))
    text = "\n".join(["make"] * last)

    assert ask(tool, "run.sh", text, range(3, 4)).candidates == ()
    assert [found.line for found in ask(tool, "run.sh", text, range(1, 4)).candidates] == [1]


def test_a_program_that_is_not_installed_understands_nothing(ask: Callable[..., ToolReport]) -> None:
    row = next(row for row in PROGRAMS if row.name == "shellcheck")
    tool = ProgramAnalyzer(row, LateRules("shellcheck"), None)

    report = ask(tool, "run.sh", "make 2>&1 >log")

    assert tool.languages == frozenset()
    assert report.candidates == ()
    assert report.run.version == NOT_RUN


@pytest.mark.parametrize("row", PROGRAMS, ids=[row.name for row in PROGRAMS])
def test_the_rules_of_a_row_belong_to_its_tool_and_its_program_is_pinned(row: object) -> None:
    named = next(each for each in PROGRAMS if each is row)
    table = packaged_rules(named.name)

    assert {rule.tool for rule in table.rules.values()} == {named.name}
    assert named.file() is not None


def test_an_answer_of_another_form_is_refused() -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        list(shellcheck(b"[]"))
