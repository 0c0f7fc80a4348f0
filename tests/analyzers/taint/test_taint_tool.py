"""The analysis as a tool: findings on added lines, in whole files and in hunks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.taint import check
from reviewbot.review.calibration import Calibration

if TYPE_CHECKING:
    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot, ToolReport

    Slices = Callable[..., FileChange]

FILE = """import os
from flask import request


def view():
    name = request.args["name"]
    line = "ls " + name
    os.system(line)
"""


@pytest.fixture
def tool() -> PythonTool:
    return PythonTool("taint", check, packaged_rules("taint", Calibration()).of_tool("taint"), PythonReader())


def ran(tool: PythonTool, change: FileChange, snapshot: Snapshot) -> ToolReport:
    return asyncio.run(tool.run(changed_file([change], snapshot), snapshot))


def test_a_new_file_is_followed_and_the_flow_is_shown(
    tool: PythonTool, file_of: Slices, snapshot_of: Callable[..., Snapshot]
) -> None:
    report = ran(tool, file_of(FILE.rstrip("\n")), snapshot_of(FILE))
    (found,) = report.candidates
    assert (found.line, found.rule, found.severity, found.cwe) == (8, "command-external", "critical", 78)
    assert found.confidence >= 80
    assert found.quote == "os.system(line)"
    assert "line 6: `request.args` comes from outside -> line 6: `name` -> line 7: `line`" in found.trigger
    assert report.gap is None


def test_a_finding_is_told_on_the_last_step_that_was_added(
    tool: PythonTool, file_of: Slices, snapshot_of: Callable[..., Snapshot]
) -> None:
    change = file_of(' def view():\n+    name = request.args["name"]\n     line = "ls " + name', start=5)
    (found,) = ran(tool, change, snapshot_of(FILE)).candidates
    assert (found.line, found.quote) == (6, 'name = request.args["name"]')


def test_what_the_change_did_not_touch_is_not_told(
    tool: PythonTool, file_of: Slices, snapshot_of: Callable[..., Snapshot]
) -> None:
    change = file_of("+import os\n from flask import request", start=1)
    assert ran(tool, change, snapshot_of(FILE)).candidates == ()


def test_a_hunk_alone_shows_enough(tool: PythonTool, file_of: Slices, bare: Snapshot) -> None:
    change = file_of('     name = request.args["name"]\n+    os.system("ls " + name)\n     return name', start=40)
    (found,) = ran(tool, change, bare).candidates
    assert (found.line, found.rule) == (41, "command-external")


def test_a_hunk_with_a_statement_alone_tells_nothing(tool: PythonTool, file_of: Slices, bare: Snapshot) -> None:
    change = file_of('+    os.system("ls " + name)\n+    cur.execute("select " + column)', start=40)
    assert ran(tool, change, bare).candidates == ()


def test_in_tests_a_parameter_is_no_news(
    tool: PythonTool, file_of: Slices, snapshot_of: Callable[..., Snapshot]
) -> None:
    text = 'import os\ndef run(name):\n    os.system("ls " + name)'
    told = ran(tool, file_of(text), snapshot_of(text))
    silent = ran(tool, file_of(text, path="tests/test_app.py"), snapshot_of(text))
    assert [found.rule for found in told.candidates] == ["command-parameter"]
    assert silent.candidates == ()


def test_code_that_takes_too_long_is_a_gap(file_of: Slices, snapshot_of: Callable[..., Snapshot]) -> None:
    rules = packaged_rules("taint", Calibration()).of_tool("taint")
    tired = PythonTool("taint", check, rules, PythonReader(), steps=50)
    report = ran(tired, file_of(FILE.rstrip("\n")), snapshot_of(FILE))
    assert report.candidates == ()
    assert report.gap is not None
    assert report.gap.reason == "timeout"
