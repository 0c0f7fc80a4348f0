from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.both_sides import DiffSemantics
from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.analyzers.both_sides.tool import Places
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.domain.contracts import FileChange, Hunk
from reviewbot.domain.ports import Tool, ToolReport

OLD = "LIMIT = 1\n\n\ndef first(a):\n    return LIMIT\n"
NEW = "MAX = 1\n\n\ndef first(a, b):\n    return MAX\n"
LINES = (
    "", "def f(a):", "    return a", "    if a:", "        raise E", "    with lock:", "x = 1", "class A:",
    "    def m(self):", "        await self.m()", "from app import f",
)  # fmt: skip
OTHERS = {"src/b.py": "from app import LIMIT, first\n\nfirst(1)\n"}


def run(tool: Tool, change: FileChange, snapshot: Any) -> ToolReport:
    return asyncio.run(tool.run(changed_file([change], snapshot), snapshot))


def test_the_tool_says_what_it_is(rules: Any) -> None:
    tool: Tool = DiffSemantics(rules)

    assert (tool.name, tool.languages) == ("diff-semantics", frozenset({"python", *TABLES}))


def test_a_report_holds_everything_a_finding_needs(report_of: Any, rules: Any) -> None:
    report = report_of(OLD, NEW, OTHERS)

    assert [each.rule for each in report.candidates] == ["removed-symbol", "signature-changed"]
    assert {each.source for each in report.candidates} == {"diff-semantics"}
    assert all(each.trigger and each.line == each.end_line and each.path == "src/app.py" for each in report.candidates)
    assert (report.run.tool, report.run.exit_code, report.gap) == ("diff-semantics", None, None)


def test_every_rule_is_of_this_tool_and_serious_ones_are_proved(rules: Any) -> None:
    proved = {code for code, rule in rules.items() if rule.confidence >= 80}

    assert proved == {
        "access-check-dropped", "access-condition-dropped", "access-scope-dropped", "overload-removed",
        "parameters-swapped", "removed-symbol", "signature-changed", "stale-override", "test-focused",
    }  # fmt: skip
    assert all(rule.trigger for rule in rules.values())


def test_each_hunk_tells_what_it_shows_and_no_name_is_searched_for_twice(
    file_of: Any, repository: Any, rules: Any
) -> None:
    between = "".join(f"\n\nx{n} = {n}\n" for n in range(9))
    old, new = (text.replace("\n\n\ndef", f"{between}\n\ndef") for text in (OLD, NEW))
    snapshot = repository("src/app.py", (old, new), OTHERS)

    report = run(DiffSemantics(rules), file_of(old, new), snapshot)

    assert [each.rule for each in report.candidates] == ["removed-symbol", "signature-changed"]
    assert len(snapshot.searches) == len(set(snapshot.searches))


def test_code_that_takes_too_long_is_a_gap_and_keeps_what_was_found(file_of: Any, repository: Any, rules: Any) -> None:
    snapshot = repository("src/app.py", (OLD, NEW), OTHERS)

    report = run(DiffSemantics(rules, steps=9_000), file_of(OLD, NEW), snapshot)

    assert [each.rule for each in report.candidates] == ["removed-symbol"]
    assert report.gap is not None
    assert (report.gap.reason, report.gap.tool) == ("timeout", "diff-semantics")


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("x = (", "y = 1\n"),
        ("x = 1\n", "y = ("),
        ("x = 1\r\n", "y = 1\ry = 2\n"),
    ],
)
def test_what_does_not_parse_is_for_others_to_tell(report_of: Any, base: str, head: str) -> None:
    report = report_of(base, head)

    assert (report.candidates, report.gap) == ((), None)


def test_deep_code_ends_in_a_gap_and_never_in_an_error(file_of: Any, repository: Any, rules: Any) -> None:
    deep = "x = " + "-" * 900 + "1\n"
    old, new = f"def f():\n    {deep}", f"def f():\n    {deep}    y = 1\n"

    report = run(DiffSemantics(rules), file_of(old, new), repository("src/app.py", (old, new), {}))

    assert report.candidates == ()
    assert report.gap is None or report.gap.reason == "timeout"


def test_a_new_file_takes_nothing_away(file_of: Any, repository: Any, rules: Any) -> None:
    report = run(DiffSemantics(rules), file_of("", NEW), repository("src/app.py", (None, NEW), OTHERS))

    assert report.candidates == ()


def test_a_file_of_another_commit_is_not_compared(file_of: Any, repository: Any, rules: Any) -> None:
    snapshot = repository("src/app.py", (OLD, "# shifted\n" + NEW), OTHERS)

    assert run(DiffSemantics(rules), file_of(OLD, NEW), snapshot).candidates == ()


def test_what_is_only_removed_is_looked_for_on_the_old_side(said: Any) -> None:
    guarded = "def f(a):\n    if a is None:\n        raise E\n    a.go()\n    return a.x\n"

    found = said(guarded, "def f(a):\n    a.go()\n    return a.x\n")["removed-guard"]

    assert (found.side, found.line, found.near, found.quote) == ("old", None, 2, "if a is None:")


# --- places ---------------------------------------------------------------------------------------------------------

HUNK = " a\n-b\n-c\n d\n+e\n f\n+g\n+  "


def a_change(*texts: str) -> FileChange:
    hunks = tuple(
        Hunk(old_start=1 + 100 * n, old_count=0, new_start=1 + 100 * n, new_count=0, body=text)
        for n, text in enumerate(texts)
    )
    return FileChange(path="a.py", status="modified", language="python", kind="code", hunks=hunks)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (SideFinding("r", "m", gone=(2, 2)), 3),
        (SideFinding("r", "m", gone=(2, 2), spot=(5, 5)), 5),
        (SideFinding("r", "m", gone=(2, 2), within=(5, 9)), 5),
        (SideFinding("r", "m", gone=(2, 2), within=(90, 99)), 3),
        (SideFinding("r", "m", gone=(50, 60), within=(3, 3)), None),
        (SideFinding("r", "m", gone=(102, 102), within=(3, 3)), 3),
        (SideFinding("r", "m", gone=(102, 102)), None),
        (SideFinding("r", "m"), None),
    ],
)
def test_a_place_is_an_added_line_near_what_is_gone(told: SideFinding, line: int | None) -> None:
    row = Places(a_change(HUNK, " x\n-y\n z").hunks).of(told)

    assert (row.new if row else None) == line


# --- a bare diff ----------------------------------------------------------------------------------------------------


def bare(rules: Any, repository: Any, *hunks: str) -> dict[str, int | None]:
    report = run(DiffSemantics(rules), a_change(*hunks), repository("a.py", (None, None), {}))
    return {each.rule: each.line for each in report.candidates}


@pytest.mark.parametrize(
    ("hunk", "rule", "line"),
    [
        (" async def f():\n-    x = await g()\n+    x = g()", "removed-await-by-name", 2),
        ("-    with self._lock:\n-        self.n += 1\n+    self.n += 1", "removed-lock-by-name", 1),
        ("-@login_required\n def view(request):\n+    x = 1", "removed-authorization-by-name", 2),
        (
            "-@auth.permission_required('x')\n @cached\n async def view(request):\n+    x",
            "removed-authorization-by-name",
            3,
        ),
    ],
)
def test_a_hunk_shows_what_came_back_without_one_thing(
    rules: Any, repository: Any, hunk: str, rule: str, line: int
) -> None:
    assert bare(rules, repository, hunk) == {rule: line}


@pytest.mark.parametrize(
    "hunk",
    [
        "-async def f():\n-    x = await g()\n+def f():\n+    x = g()",
        "-    x = await g()\n+    x = h()",
        "-    with self._lock:\n-        self.n += 1\n+    with self.mutex:\n+        self.n += 1",
        "-    with self._lock:\n-        self.n += 1\n+    self.n += 2",
        "-    with self._lock:\n+    self.n += 2",
        "-    with open(x) as f:\n-        self.n += 1\n+    self.n += 1",
        "-@login_required\n-def view(request):\n+def other(request):",
        "-@login_required\n+@staff_only\n def view(request):\n+    x = 1",
        "-@login_required\n x = 1\n+y = 1",
        "-@cached\n def view(request):\n+    x = 1",
        "-@login_required\n def view(request):",
        "+x = 1",
    ],
)
def test_a_hunk_that_shows_another_way_is_not_told(rules: Any, repository: Any, hunk: str) -> None:
    assert bare(rules, repository, hunk) == {}


@given(st.lists(st.sampled_from(LINES), max_size=12), st.randoms(use_true_random=False))
def test_any_change_is_answered_on_added_lines(report_of: Any, lines: list[str], random: Any) -> None:
    base = "\n".join(lines) + "\n"
    random.shuffle(lines)
    head = "\n".join(lines) + "\n"

    report = report_of(base, head, {"src/b.py": "from app import f, x, A\n\nf()\nA().m()\n"})

    added = {number for number, line in enumerate(head.split("\n"), 1)}
    assert all(each.line in added and each.quote for each in report.candidates)
