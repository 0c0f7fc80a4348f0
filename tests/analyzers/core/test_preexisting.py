"""A finding that the old side of the file has as well was not introduced by the change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.preexisting import MAX_TOKEN, SideLines, token_of
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.core.run import ChangeAnalysis
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.python.views import Budget, FlowStep, Found, View
from reviewbot.domain.contracts import Candidate, Hunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reviewbot.domain.contracts import ChangeSet, FileChange
    from reviewbot.domain.ports import Snapshot, Tool, ToolReport

    AChange = Callable[..., ChangeSet]
    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]
    Report = Callable[..., ToolReport]

TOOLS = all_tools()


@pytest.fixture
def report_of(a_change: AChange, file_of: FileOf, snapshot_of: SnapshotOf) -> Report:
    """What a tool says of one changed hunk, given with markers; the whole sides are made of it, or not at hand."""

    def report(tool: str | Tool, code: str, *, bare: bool = False, above: str = "", **more: str) -> ToolReport:
        lines = code.split("\n")
        old, new = (
            above + "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", side)) for side in ("-", "+")
        )
        snapshot = snapshot_of() if bare else snapshot_of(more.pop("head", new), more.pop("base", old))
        change = a_change(file_of(code, start=above.count("\n") + 1, **more))
        used = TOOLS[tool] if isinstance(tool, str) else tool
        return asyncio.run(ChangeAnalysis(change, snapshot, {used.name: used}).report(used.name, change.files[0].path))

    return report


def told(report: ToolReport) -> list[tuple[str, int | None, int]]:
    return [(found.rule, found.line, found.confidence) for found in report.candidates]


KEY = "AK" + "IA" + "Q3EGRIT5W2LMB7ZD"

FETCH = """ import aiohttp
 async def fetch(session, url, user):
     return await session.get(
-        url,
+        f"{url}/{user}",
         ssl=False,
     )"""

REFACTORINGS = {
    "an argument beside the one that switches checks off": ("security-checks", FETCH),
    "the same in one row": (
        "security-checks",
        " import requests\n-requests.get(url, verify=False)\n+requests.get(f'{url}/a', timeout=3, verify=False)",
    ),
    "the same for ruff": (
        "ruff-security",
        " import requests\n-requests.get(url, timeout=9, verify=False)\n+requests.get(link, timeout=3, verify=False)",
    ),
    "a comment that silences a linter": ("ruff-security", "-exec(text)\n+exec(text)  # noqa: S102"),
    "a comment behind a command": (
        "ruff-security",
        " import os\n-os.system(a + b)\n+os.system(a + b)  # nosec, checked",
    ),
    "another depth": ("ruff-security", " import os\n-os.system(a + b)\n+if a:\n+    os.system(a + b)"),
    "another layout": ("ruff-security", " import os\n-os.system(a + b)\n+os.system(\n+    a + b\n+)"),
    "code that moved": ("ruff-logic", "+def f(x=[]): x.append(1)\n x = 1\n-def f(x=[]): x.append(1)"),
    "a hash of something else": ("ruff-security", " import hashlib\n-x = hashlib.md5(a)\n+x = hashlib.md5(b)"),
    "a flow at another depth": (
        "taint",
        (
            " from flask import request\n import os\n def f():\n-    os.system(request.args['a'])\n"
            "+    if True:\n+        os.system(request.args['a'])"
        ),
    ),
    "a query in a loop, with a comment": (
        "loop-costs",
        (
            " from shop.models import Order\n def f(ids):\n     for n in ids:\n-        o = Order.objects.get(pk=n)\n"
            "+        o = Order.objects.get(pk=n)  # one\n         print(o.total)"
        ),
    ),
    "a secret at another depth": ("secrets", f"-key = '{KEY}'\n+    key = '{KEY}'"),
    "an output at another depth": ("debug-leftovers", '-print("here")\n+    print("here")'),
    "hidden text at another depth": ("hidden-text", '-a = "x\u202ey"\n+  a = "x\u202ey"'),
}


@pytest.mark.parametrize("bare", [False, True], ids=["whole files", "a bare diff"])
@pytest.mark.parametrize(("tool", "code"), REFACTORINGS.values(), ids=REFACTORINGS)
def test_what_was_there_before_is_not_told(report_of: Report, tool: str, code: str, *, bare: bool) -> None:
    report = report_of(tool, code, bare=bare)

    assert told(report) == []
    assert report.run.preexisting == 1


INTRODUCED = {
    "a check that is switched off": (
        "security-checks",
        FETCH.replace("         ssl=False,", "+        ssl=False,"),
        ["tls-not-verified"],
    ),
    "a second one": ("ruff-security", " exec(a)\n+exec(a)", ["S102"]),
    "another one": ("ruff-security", " import os\n exec(a)\n+os.system(b)", ["S605"]),
    "a shell for an old command": (
        "ruff-security",
        " import subprocess\n subprocess.run(\n     a,\n+    shell=True,\n )",
        ["S602"],
    ),
    "a debugger without its switch": (
        "ruff-logic",
        "-if debug:\n-    breakpoint()\n+breakpoint()",
        ["T100"],
    ),
    "a new flow to an old call": (
        "taint",
        " from flask import request as r\n import os\n def f():\n-    a = ''\n+    a = r.args['a']\n     os.system(a)",
        ["command-external"],
    ),
    "another secret": ("secrets", f"-key = '{KEY}'\n+key = '{KEY[:-1]}Z'", ["aws-access-key-id"]),
}


@pytest.mark.parametrize("bare", [False, True], ids=["whole files", "a bare diff"])
@pytest.mark.parametrize(("tool", "code", "rules"), INTRODUCED.values(), ids=INTRODUCED)
def test_what_the_change_brings_is_told(
    report_of: Report, tool: str, code: str, rules: list[str], *, bare: bool
) -> None:
    assert [found.rule for found in report_of(tool, code, bare=bare).candidates] == rules


TOUCHED = {
    "another command in its place": ("ruff-security", " import os\n-os.system(a)\n+os.system(b)"),
    "another source of an old flow": (
        "taint",
        (
            " from flask import request as r\n import os\n def f():\n-    a = r.args['a']\n+    a = r.form['a']\n"
            "     os.system(a)"
        ),
    ),
}


@pytest.mark.parametrize(("tool", "code"), TOUCHED.values(), ids=TOUCHED)
def test_what_the_change_only_touches_is_neither_posted_nor_critical(report_of: Report, tool: str, code: str) -> None:
    (found,) = report_of(tool, code).candidates

    assert found.confidence <= 75
    assert found.severity == "warning"


def test_of_a_new_file_everything_is_new(report_of: Report) -> None:
    assert told(report_of("ruff-security", "+exec(a)", bare=True)) == [("S102", 1, 62)]


def test_one_old_finding_stands_for_one_new_one(report_of: Report) -> None:
    report = report_of("ruff-security", "-exec(a)\n-exec(a)\n+for a in b:\n+    exec(a)\n+    exec(a)\n+    exec(a)")

    assert [(found.rule, found.line) for found in report.candidates] == [("S102", 4)]
    assert report.run.preexisting == 2


def test_an_old_side_of_another_name_is_asked_for(report_of: Report) -> None:
    assert told(report_of("ruff-security", "-exec(a)\n+exec(a)  # noqa", path="src/new.py")) == []


THREE = "a = ask()\nb = a + x\nrun(b)\n"


def runs_of(view: View, budget: Budget) -> Iterator[Found]:
    """Each `run(b)`, with the rows above it that it has its value from; `safe` on one of them is the end of it."""
    for row, text in enumerate(view.rows, 1):
        budget.spend()
        way = range(row - 2, row + 1)
        if text.strip() == "run(b)" and not any("safe" in view.row(step) for step in way):
            yield Found("runs", row, flow=tuple(FlowStep(step, view.row(step)) for step in way))


RUNS = PythonTool("own", runs_of, {"runs": Rule("runs", "own", "critical", "code", 90)}, PythonReader(), steps=1_000)


@pytest.mark.parametrize(
    ("code", "base", "expected"),
    [
        (" a = ask()\n-b = a\n+b = a + x\n run(b)", "a = ask()\nb = a\nrun(b)\n", []),
        (" a = ask()\n-b = a\n+b = a + x\n run(b)", "a = ask()\nb = safe(a)\nrun(b)\n", [(2, 90)]),
        (" a = ask()\n-b = a\n-run(b)\n+b = a + x\n+run(b)", "a = ask()\nb = a\nrun(b)\n", []),
        ("-a = safe()\n+a = ask()\n b = a + x\n run(b)", "a = safe()\nb = a + x\nrun(b)\n", [(1, 90)]),
        ("-a = beg()\n+a = ask()\n b = a + x\n run(b)", "a = beg()\nb = a + x\nrun(b)\n", [(1, 75)]),
        (" a = ask()\n-b = a\n+b = a + x\n run(b)", "a = ask()\nb = a\n  run(b)\n", [(2, 75)]),
        (" a = ask()\n-b = a\n-run(b)\n+b = a + x\n+run(b)", "a = ask()\nb = a\n  run(b)\n", [(3, 90)]),
        (" a = ask()\n-b = a\n+b = a + x\n run(b)", "\n" * 2_000 + THREE, [(2, 75)]),
        (" a = ask()\n-b = a\n+b = a + x\n run(b)", THREE + "\n" * 1_000_000, []),
    ],
    ids=[
        "a step of an old flow",
        "a step that was safe",
        "the row itself, written again",
        "a source that was safe",
        "another source of an old flow",
        "an old side that does not parse",
        "the row itself, beside an old side that does not parse",
        "an old side that takes too long",
        "an old side that is too large, read where the hunks show it",
    ],
)
def test_a_flow_is_held_against_the_old_side(
    report_of: Report, code: str, base: str, expected: list[tuple[int, int]]
) -> None:
    report = report_of(RUNS, code, head=THREE, base=base)

    assert [(found.line, found.confidence) for found in report.candidates] == expected


def test_of_two_flows_alike_the_one_that_is_new_counts(report_of: Report) -> None:
    head, base = THREE + THREE, THREE + THREE.replace("a + x", "safe(a)")

    report = report_of(RUNS, " a = ask()\n+b = a + x\n run(b)", above=THREE, head=head, base=base)

    assert [(found.line, found.confidence) for found in report.candidates] == [(5, 90)]


def test_a_token_has_no_layout_and_no_comment_and_an_end() -> None:
    assert token_of("f( a,\n   'b' )  # c") == token_of("f(a, 'b')")
    assert token_of("f(a) '''") == "f(a) '''"
    assert token_of("f(a)", "`a`") == "f ( a ) <- `a`"
    assert len(token_of("f" * 1_000, "g" * 1_000)) == 2 * MAX_TOKEN


def test_what_a_tool_knows_a_flaw_by_never_leaves_the_process() -> None:
    found = Candidate(
        severity="info", path="a", quote="a", message="m", confidence=1, source="s", category="c", token="hunter2"
    )

    assert "hunter2" not in f"{found!r}{found.model_dump_json()}"
    assert "brought" not in found.model_dump()


HUNKS = {
    "above all hunks": (1, 1),
    "context": (3, 3),
    "an added line": (4, None),
    "between hunks": (8, 6),
    "behind lines that were only added": (12, 8),
    "behind lines that were only removed": (13, 11),
}


@pytest.mark.parametrize(("line", "before"), HUNKS.values(), ids=HUNKS)
def test_a_line_that_stayed_is_found_on_the_old_side(line: int, before: int | None) -> None:
    hunks = [
        Hunk(old_start=3, old_count=2, new_start=3, new_count=4, body=" a\n+b\n+c\n d"),
        Hunk(old_start=7, old_count=0, new_start=10, new_count=2, body="+e\n+f"),
        Hunk(old_start=9, old_count=2, new_start=12, new_count=0, body="-g\n-h"),
    ]

    assert SideLines(hunks).before(line) == before
