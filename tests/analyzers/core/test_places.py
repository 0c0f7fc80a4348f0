"""What is said of copied files: tools of quality are held back, holes are not."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.places import hold_by_place
from reviewbot.analyzers.patterns.tool import PatternTool
from reviewbot.domain.contracts import ChangeSet, Hunk
from reviewbot.domain.ports import ChangedFile, ToolReport
from reviewbot.sources.memory import DiffSnapshot
from reviewbot.tables import words_in

SLIP = "if (total > 3 || total > 3) { go(); }\n"
HOLE = "import { exec } from 'child_process';\napp.get('/', (req, res) => { exec('ls ' + req.query.dir); });\n"
LOCK = "import threading\n\ndef total(items):\n    lock = threading.Lock()\n    with lock:\n        return sum(items)\n"
BANNER = "/*! Tabs v2.4.1 | MIT */\n"
REPORTED = {
    "actionlint", "dependencies", "diff-semantics", "hadolint", "hidden-text", "imported-security",
    "merge-conflicts", "message-keys", "migrations", "patterns-security", "repository-rules", "review-manipulation",
    "ruff-security", "secrets", "security-checks", "taint", "weakened-lines", "zizmor",
}  # fmt: skip
"""Tools whose reports on copied files stand: holes, secrets, kinds of files that are not copied, and both sides."""


def a_new_file(
    path: str, text: str, first: int = 1, *, whole: bool = True, language: str = "javascript"
) -> ChangedFile:
    lines = text.removesuffix("\n").split("\n")
    body = "\n".join(f"+{line}" for line in lines)
    hunk = Hunk(old_start=0, old_count=0, new_start=first, new_count=len(lines), body=body)
    return ChangedFile(path, path, language, (hunk,), head=text if whole else None)


def said_of(tool: str, file: ChangedFile) -> ToolReport:
    report = asyncio.run(PatternTool(tool).run(file, DiffSnapshot(ChangeSet())))
    assert report.candidates
    return hold_by_place(file, report)


def test_a_slip_in_a_file_of_ones_own_is_posted() -> None:
    [found] = said_of("patterns-logic", a_new_file("src/a.js", SLIP)).candidates

    assert found.confidence >= 80


@pytest.mark.parametrize(
    ("path", "text"),
    [("third_party/a.js", SLIP), ("web/jstree/a.js", SLIP), ("web/jquery.a.js", SLIP), ("src/a.js", BANNER + SLIP)],
)
def test_a_slip_in_a_copied_file_is_held_back(path: str, text: str) -> None:
    [found] = said_of("patterns-logic", a_new_file(path, text)).candidates

    assert (found.confidence, found.rule) == (70, "js-condition-twice")


def test_a_slip_on_a_minified_line_is_held_back_in_any_file() -> None:
    line = "if(total>3||total>3){b()}" + "c(1);" * 50
    [found] = said_of("patterns-logic", a_new_file("src/a.js", line + "\n")).candidates

    assert found.confidence == 70


def test_a_hole_in_a_copied_file_is_reported_like_any_other() -> None:
    own, copied = (
        said_of("patterns-security", a_new_file(path, BANNER + HOLE)).candidates
        for path in ("src/a.js", "vendor/jquery/a.js")
    )

    assert [(found.rule, found.confidence) for found in own] == [(found.rule, found.confidence) for found in copied]


def test_a_slip_of_another_tool_than_those_of_quality_is_held_back_in_a_copied_file_too() -> None:
    files = [a_new_file(path, LOCK, language="python") for path in ("src/axel.py", "libs/axl/axel.py")]
    tool, snapshot = all_tools()["security-checks"], DiffSnapshot(ChangeSet())
    [own, copied] = [hold_by_place(file, asyncio.run(tool.run(file, snapshot))) for file in files]

    assert [found.rule for found in own.candidates] == ["lock-of-one-call"]
    assert (own.candidates[0].confidence >= 80, copied.candidates[0].confidence) == (True, 70)


def test_the_head_is_read_from_the_hunk_where_the_file_is_not_at_hand() -> None:
    at_the_top, below = (
        said_of("patterns-logic", a_new_file("src/a.js", BANNER + SLIP, first, whole=False)).candidates
        for first in (1, 200)
    )

    assert at_the_top[0].confidence == 70
    assert below[0].confidence >= 80


@pytest.mark.parametrize("path", ["tools/a.js", "examples/a.js", "e2e/a.js"])
def test_a_hole_outside_of_the_product_is_held_back_and_is_not_critical(path: str) -> None:
    for found in said_of("patterns-security", a_new_file(path, HOLE)).candidates:
        assert (found.confidence < 80, found.severity) == (True, "warning")


def test_of_each_tool_it_is_declared_whether_it_is_held_back_on_copied_files() -> None:
    held = words_in("names/vendored", "quality_tools")

    assert not held & REPORTED
    assert held | REPORTED == set(all_tools())
