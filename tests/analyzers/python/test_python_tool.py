"""A check as a tool: what it sees, on which line it is told, how sure, and what becomes of one that gives up."""

from __future__ import annotations

import ast
import asyncio
import re
import threading
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.reports import OWN_VERSION
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.python.views import Budget, FlowStep, Found, OutOfSteps, View
from reviewbot.review.finding_limits import MAX_PER_RULE
from reviewbot.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reviewbot.analyzers.python.views import Check
    from reviewbot.domain.contracts import Candidate, FileChange
    from reviewbot.domain.ports import Snapshot, ToolReport

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]

RULE = Rule("bad-name", "own", "warning", "names", 70, cwe=1, message="a bad name", trigger="Always.")
WORD = Rule("word", "own", "info", "names", 60, words=("token",), words_confidence=85, tests=False, unless=("noqa",))
WHOLE = Rule("whole", "own", "info", "names", 60, message="in a whole file", fragments=False)
RULES = {rule.code: rule for rule in (RULE, WORD, WHOLE)}


def bad_names(view: View, budget: Budget) -> Iterator[Found]:
    """Every name that is called `bad`."""
    for node in ast.walk(view.tree):
        budget.spend()
        if isinstance(node, ast.Name) and node.id == "bad":
            yield Found("bad-name", node.lineno)


def told(*found: Found) -> Check:
    """A check that always finds the same, on rows of the whole file."""
    return lambda _view, _budget: found


class Recorder:
    """A check that finds nothing and keeps what it saw."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def __call__(self, view: View, budget: Budget) -> Sequence[Found]:
        self.views.append(view)
        return ()


def run(check: Check, change: FileChange, snapshot: Snapshot, **options: int) -> ToolReport:
    tool = PythonTool("own", check, RULES, PythonReader(), **options)
    return asyncio.run(tool.run(changed_file([change], snapshot), snapshot))


def only(report: ToolReport) -> Candidate:
    (candidate,) = report.candidates
    return candidate


def test_a_candidate_says_all_that_is_known(file_of: FileOf, bare: Snapshot) -> None:
    report = run(bad_names, file_of(" x = 1\n+y = bad", start=12), bare)

    assert only(report).model_dump(exclude_defaults=True) == {
        "severity": "warning",
        "path": "src/app.py",
        "quote": "y = bad",
        "message": "a bad name",
        "confidence": 70,
        "source": "own",
        "category": "names",
        "rule": "bad-name",
        "line": 13,
        "end_line": 13,
        "trigger": "Always.",
        "cwe": 1,
    }
    assert (report.run.tool, report.run.version, report.run.exit_code) == ("own", OWN_VERSION, None)
    assert report.gap is None
    assert PythonTool.languages == frozenset({"python"})


def test_a_check_sees_the_whole_file_and_what_was_added(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    check = Recorder()

    run(check, file_of(" x = 1\n+y = 2\n z = 3", start=2), snapshot_of("w = 0\r\nx = 1\ny = 2\nz = 3"))

    (view,) = check.views
    assert (view.path, view.whole, view.added) == ("src/app.py", True, frozenset({3}))
    assert view.rows == ["w = 0", "x = 1", "y = 2", "z = 3"]
    assert [view.row(number) for number in (0, 1, 4, 5)] == ["", "w = 0", "z = 3", ""]


def test_a_row_is_a_row_of_python(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    check = Recorder()

    run(check, file_of("x = 1\ry = 2\nz = 3"), snapshot_of("x = 1\ry = 2\nz = 3\n"))

    (view,) = check.views
    assert [node.lineno for node in view.tree.body] == [1, 2, 3]
    assert view.row(2) == "y = 2"
    assert view.added == {1, 2, 3}


def test_a_check_sees_each_hunk_of_a_bare_diff_with_imports_in_front(file_of: FileOf, bare: Snapshot) -> None:
    check = Recorder()

    run(check, file_of("+x = 1\n y = 2", "+z = 3"), bare)

    assert [view.whole for view in check.views] == [False, False]
    assert [view.row(min(view.added)) for view in check.views] == ["x = 1", "z = 3"]
    assert all(view.row(1).startswith("import os") for view in check.views)


def test_a_piece_of_which_nothing_was_added_is_not_looked_at(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    check = Recorder()

    report = run(check, file_of(" x = 1\n-y = 2"), snapshot_of("x = 1\n"))

    assert (check.views, report.candidates, report.gap) == ([], (), None)


def test_only_added_lines_are_told(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "a = bad\nb = bad\nc = bad\n"

    assert only(run(bad_names, file_of(" a = bad\n+b = bad\n c = bad"), snapshot_of(head))).line == 2


@pytest.mark.parametrize(
    ("code", "found", "line", "end"),
    [
        ("+f(\n+    1,\n+)", Found("bad-name", 1, 3), 1, 3),
        (" f(\n+    1,\n )", Found("bad-name", 1, 3), 2, 3),
        (" f(\n+    1,\n )", Found("bad-name", 2), 2, 2),
    ],
    ids=["all of it", "a line in it", "one row"],
)
def test_a_finding_is_told_from_its_first_added_line_to_its_end(
    file_of: FileOf, snapshot_of: SnapshotOf, code: str, found: Found, line: int, end: int
) -> None:
    candidate = only(run(told(found), file_of(code), snapshot_of("f(\n    1,\n)\n")))

    assert (candidate.line, candidate.end_line) == (line, end)


def test_a_finding_ends_where_the_slice_does(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "f(\n    1,\n    2,\n    3,\n)\n"

    candidate = only(run(told(Found("bad-name", 1, 5)), file_of("f(\n    1,"), snapshot_of(head)))

    assert (candidate.line, candidate.end_line) == (1, 2)


FLOW = (FlowStep(1, "from a request"), FlowStep(2, "joined"), FlowStep(3, "run"))
THREE = "a = ask()\nb = a + x\nrun(b)\n"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("+a = ask()\n+b = a + x\n+run(b)", 3),
        ("+a = ask()\n+b = a + x\n run(b)", 2),
        ("+a = ask()\n b = a + x\n run(b)", 1),
        (" a = ask()\n+b = a + x\n run(b)", 2),
    ],
    ids=["the row itself", "the last step", "the first step", "the step in between"],
)
def test_a_flow_is_told_on_the_row_itself_or_on_its_last_added_step(
    file_of: FileOf, snapshot_of: SnapshotOf, code: str, line: int
) -> None:
    candidate = only(run(told(Found("bad-name", 3, flow=FLOW)), file_of(code), snapshot_of(THREE)))

    assert candidate.line == line
    assert candidate.also == tuple(number for number in (1, 2, 3) if number != line)
    assert candidate.trigger == "Always. Flow: line 1: from a request -> line 2: joined -> line 3: run."


def test_a_flow_that_the_change_did_not_touch_is_not_told(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    found = Found("bad-name", 3, flow=FLOW)

    assert run(told(found), file_of("x = 1", start=4), snapshot_of(THREE + "x = 1\n")).candidates == ()


def test_a_step_on_a_row_of_ours_has_no_line(file_of: FileOf, bare: Snapshot) -> None:
    def check(view: View, budget: Budget) -> Iterator[Found]:
        yield Found("bad-name", max(view.added), flow=(FlowStep(1, "imported"), FlowStep(max(view.added), "used")))

    candidate = only(run(check, file_of("x = os", start=7), bare))

    assert candidate.trigger == "Always. Flow: imported -> line 7: used."


def test_a_long_flow_fits_a_candidate(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    flow = tuple(FlowStep(number % 3 + 1, "x" * 50) for number in range(100))

    candidate = only(run(told(Found("bad-name", 3, flow=flow)), file_of(THREE.rstrip("\n")), snapshot_of(THREE)))

    assert 900 < len(candidate.trigger) <= 1_000


def test_a_check_may_bring_its_own_words_and_secrets_in_them_are_masked(
    file_of: FileOf, snapshot_of: SnapshotOf
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    found = Found("bad-name", 1, message=f"two\nlines {token}", flow=(FlowStep(1, f"it is {token}"),))

    candidate = only(run(told(found), file_of(f"x = '{token}'"), snapshot_of(f"x = '{token}'\n")))

    assert candidate.message == "two lines ghp_****"
    assert candidate.quote == "x = 'ghp_****'"
    assert token not in candidate.model_dump_json()


def test_the_same_on_the_same_line_is_told_once(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    found = (Found("bad-name", 1), Found("bad-name", 1, message="again"), Found("word", 1))

    report = run(told(*found), file_of("x = 1"), snapshot_of("x = 1\n"))

    assert [(candidate.rule, candidate.message) for candidate in report.candidates] == [
        ("bad-name", "a bad name"),
        ("word", "no message"),
    ]


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("x = 1", "src/app.py", [("word", 60)]),
        ("x = token", "src/app.py", [("word:named", 85)]),
        ("x = 1  # noqa", "src/app.py", []),
        ("x = 1", "tests/test_app.py", []),
    ],
    ids=["plain", "with a word", "an idiom", "in a test"],
)
def test_the_rule_decides_whether_and_how_a_line_is_told(
    file_of: FileOf, snapshot_of: SnapshotOf, line: str, path: str, expected: list[tuple[str, int]]
) -> None:
    report = run(told(Found("word", 1)), file_of(line, path=path), snapshot_of(f"{line}\n"))

    assert [(candidate.rule, candidate.confidence) for candidate in report.candidates] == expected


def test_a_rule_that_is_about_the_file_is_told_once(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    once = Rule("once", "own", "info", "names", 60, message="said once", once=True)
    tool = PythonTool(
        "own", told(Found("once", 1), Found("once", 2), Found("bad-name", 2)), {**RULES, "once": once}, PythonReader()
    )
    snapshot = snapshot_of("a = 1\nb = 2\n")

    report = asyncio.run(tool.run(changed_file([file_of("a = 1\nb = 2")], snapshot), snapshot))

    assert [(found.rule, found.line) for found in report.candidates] == [("once", 1), ("bad-name", 2)]


def test_a_rule_for_whole_files_is_silent_on_a_hunk(file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf) -> None:
    def check(view: View, budget: Budget) -> Iterator[Found]:
        yield Found("whole", min(view.added))

    assert run(check, file_of("x = 1"), bare).candidates == ()
    assert only(run(check, file_of("x = 1"), snapshot_of("x = 1\n"))).rule == "whole"


def test_a_check_that_has_used_up_its_steps_is_a_gap_and_what_it_found_counts(
    file_of: FileOf, snapshot_of: SnapshotOf
) -> None:
    text = "\n".join(["bad"] + ["x"] * 1_000)

    report = run(bad_names, file_of(text), snapshot_of(text), steps=1_500)

    assert only(report).line == 1
    assert report.gap is not None
    assert (report.gap.reason, report.gap.tool) == ("timeout", "own")
    assert report.gap.message == "own gave up on code that takes too long to follow"


def test_each_piece_has_its_own_steps(file_of: FileOf, bare: Snapshot) -> None:
    long = "\n".join(["x"] * 1_000)

    report = run(bad_names, file_of(long, "bad", long), bare, steps=500)

    assert only(report).quote == "bad"
    assert report.gap is not None


def test_a_budget_is_spent_to_the_last_step() -> None:
    budget = Budget(3)
    budget.spend()
    budget.spend(2)

    with pytest.raises(OutOfSteps):
        budget.spend()


def test_code_that_is_too_deep_for_a_check_is_a_gap(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    def deep(view: View, budget: Budget) -> list[Found]:
        return deep(view, budget)

    report = run(deep, file_of("x = 1"), snapshot_of("x = 1\n"))

    assert report.candidates == ()
    assert report.gap is not None
    assert report.gap.reason == "timeout"


def test_a_hunk_that_cannot_be_read_is_a_gap_that_says_what_helps(file_of: FileOf, bare: Snapshot) -> None:
    prose = "\n".join(f"no python here, line {number} of it" for number in range(20))

    report = run(bad_names, file_of(prose, "y = bad"), bare)

    assert only(report).line == 1001
    assert report.gap is not None
    assert (report.gap.reason, report.gap.message) == (
        "unreadable",
        "1 of 2 hunks could not be read in full on their own; with --repo or --git the whole file is read",
    )


@pytest.mark.parametrize("text", ['x = f"{y["a"]}" + bad +', "def f(:\n    bad"], ids=["newer syntax", "no Python"])
def test_a_file_that_does_not_parse_is_a_gap_and_no_finding(
    file_of: FileOf, snapshot_of: SnapshotOf, text: str
) -> None:
    report = run(bad_names, file_of("y = bad", text), snapshot_of("y = bad\n" + "\n" * 999 + f"{text}\n"))

    assert 1 in {candidate.line for candidate in report.candidates}
    assert report.gap is not None
    assert report.gap.reason == "unreadable"
    assert report.gap.message.startswith("it does not parse with Python 3.")
    assert re.search(
        r"; (?:only its hunks were read, on their own|\d of 2 hunks could not be read .*)$", report.gap.message
    )


def test_of_a_broken_file_whose_hunks_all_parse_no_hunk_is_said_to_be_unread(
    file_of: FileOf, snapshot_of: SnapshotOf
) -> None:
    report = run(bad_names, file_of("y = bad"), snapshot_of("y = bad\n\nprint 'old'\n"))

    assert report.gap is not None
    assert report.gap.message.endswith("at line 3; only its hunks were read, on their own")


def test_a_flood_is_cut_and_counted(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    text = "\n".join(["bad"] * (MAX_PER_RULE + 1))

    report = run(bad_names, file_of(text), snapshot_of(text))

    assert len(report.candidates) == MAX_PER_RULE
    assert report.gap is not None
    assert report.gap.reason == "flooded"


def test_a_check_whose_result_is_not_waited_for_any_more_stops() -> None:
    steps: list[int] = []

    async def give_up() -> None:
        begun, cancelled, ended = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            budget = Budget()
            begun.set()
            cancelled.wait(60)
            try:
                while True:
                    budget.spend()
                    steps.append(1)
            finally:
                ended.set()

        waiting = asyncio.ensure_future(in_thread(work))
        await in_thread(begun.wait)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        cancelled.set()
        assert await in_thread(lambda: ended.wait(60))

    asyncio.run(give_up())
    assert len(steps) < 2_000
