"""What became of each file, and the verdict table row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import pytest

from reviewbot.contracts import (
    ChangeSet,
    CoverageState,
    FileChange,
    FileCoverage,
    Gap,
    Plan,
    ReviewTask,
    Unlooked,
    Verdict,
)
from reviewbot.supervisor.coverage import (
    HEADLINES,
    ONLY_REMOVED,
    UNREAD_STATES,
    decide,
    final_coverage,
    headline,
    parse_gaps,
)

MakeChange = Callable[..., ChangeSet]
MakeFile = Callable[..., FileChange]
MakeTask = Callable[..., ReviewTask]
MakePlan = Callable[..., Plan]

GAP = Gap(path="src/app.py", worker="logic", reason="crashed", message="it broke")


def states(*names: CoverageState) -> list[FileCoverage]:
    return [
        FileCoverage(path=f"f{n}.py", state=name, looked=("x",) if name == "reviewed" else ())
        for n, name in enumerate(names)
    ]


RENAMED = FileCoverage(path="new.py", state="reviewed", reason="renamed, content unchanged")
"""It has nothing to read."""


@pytest.fixture(name="read_by_logic")
def _read_by_logic(a_task: MakeTask, a_plan: MakePlan) -> Plan:
    plan: Plan = a_plan(a_task())
    return plan


@pytest.mark.parametrize(
    ("sentence", "coverage", "gaps", "issues", "people", "verdict"),
    [
        ("no file at all", [], [], 0, 0, "nothing_to_review"),
        ("everything read, nothing found", states("reviewed", "reviewed"), [], 0, 0, "clean"),
        ("generated files do not count as unread", states("reviewed", "generated"), [], 0, 0, "clean"),
        ("binary files do not count as unread", states("reviewed", "binary"), [], 0, 0, "clean"),
        ("ignored files do not count as unread", states("reviewed", "ignored"), [], 0, 0, "clean"),
        ("one gap", states("reviewed", "reviewed"), [GAP], 0, 0, "incomplete"),
        ("one file read in part", states("reviewed", "partial"), [], 0, 0, "limited"),
        ("one file read in part, with a gap", states("reviewed", "partial"), [GAP], 0, 0, "incomplete"),
        ("one file malformed", states("reviewed", "malformed"), [], 0, 0, "incomplete"),
        ("one file refused", states("reviewed", "refused"), [], 0, 0, "incomplete"),
        ("one file over budget", states("reviewed", "over_budget"), [], 0, 0, "incomplete"),
        ("no file read in full", states("partial", "malformed"), [GAP], 0, 0, "not_reviewed"),
        ("only generated files", states("generated"), [], 0, 0, "nothing_to_review"),
        ("only files left out", states("ignored", "binary"), [], 0, 0, "nothing_to_review"),
        ("a partial file among files left out", states("ignored", "partial"), [], 0, 0, "not_reviewed"),
        ("a renamed file beside one that nobody could read", [RENAMED, *states("partial")], [], 0, 0, "not_reviewed"),
        ("a renamed file alone", [RENAMED], [], 0, 0, "clean"),
        ("something for a person", states("reviewed"), [], 0, 1, "needs_person"),
        ("something for a person, and a gap", states("partial"), [GAP], 0, 1, "needs_person"),
        ("an issue", states("reviewed"), [], 1, 0, "issues"),
        ("an issue beside everything else", states("partial"), [GAP], 1, 1, "issues"),
    ],
)
def test_the_verdict_table(
    sentence: str, coverage: list[FileCoverage], gaps: list[Gap], issues: int, people: int, verdict: Verdict
) -> None:
    assert decide(coverage, gaps, issues, people) == verdict, sentence


@pytest.mark.parametrize("state", get_args(CoverageState))
def test_a_review_is_never_clean_while_a_file_that_should_be_read_was_not(state: CoverageState) -> None:
    verdict = decide(states("reviewed", state), [], 0, 0)

    assert (verdict == "clean") == (state not in UNREAD_STATES)


def test_every_verdict_has_its_words() -> None:
    assert set(HEADLINES) == set(get_args(Verdict))


@pytest.mark.parametrize(
    ("verdict", "coverage", "issues", "people", "words"),
    [
        ("issues", states("reviewed"), 1, 0, "1 issue found; 1 of 1 file reviewed in full"),
        (
            "issues",
            states("reviewed", "over_budget", "over_budget"),
            12,
            0,
            "12 issues found; 1 of 3 files reviewed in full (2 over budget)",
        ),
        (
            "needs_person",
            states("reviewed"),
            0,
            2,
            "No certain issue, 2 things for a person; 1 of 1 file reviewed in full",
        ),
        ("clean", states("reviewed", "generated"), 0, 0, "No issues found in 1 of 2 files (1 generated)"),
        (
            "incomplete",
            states("reviewed", "partial", "malformed"),
            0,
            0,
            "Incomplete: no issues found in 1 of 3 files (1 malformed, 1 partial)",
        ),
        ("not_reviewed", states("partial"), 0, 0, "No review: 0 of 1 file reviewed in full (1 partial)"),
        ("nothing_to_review", [], 0, 0, "Nothing to review in 0 files"),
        ("nothing_to_review", states("generated"), 0, 0, "Nothing to review in 1 file (1 generated)"),
    ],
)
def test_the_headline_says_how_many_files_of_how_many(
    verdict: Verdict, coverage: Sequence[FileCoverage], issues: int, people: int, words: str
) -> None:
    assert headline(verdict, coverage, issues, people) == words


def test_a_file_that_was_read_names_its_readers_in_order(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile
) -> None:
    [entry] = final_coverage(a_change(a_file()), read_by_logic, {"src/app.py": ["ruff", "ast", "ruff"]}, [])

    assert (entry.state, entry.reason, entry.looked) == ("reviewed", "", ("ast", "ruff"))


def test_a_gap_makes_its_file_partial_and_says_why_once(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile
) -> None:
    [entry] = final_coverage(a_change(a_file()), read_by_logic, {"src/app.py": ["ruff"]}, [GAP, GAP])

    assert (entry.state, entry.reason, entry.looked) == ("partial", "logic: it broke", ("ruff",))


def test_a_file_of_which_lines_were_only_removed_was_read_by_nobody(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile
) -> None:
    [entry] = final_coverage(a_change(a_file(added=0, removed=2)), read_by_logic, {}, [])

    assert (entry.state, entry.reason) == ("partial", ONLY_REMOVED)


def test_workers_that_could_not_look_make_their_file_partial(
    a_task: MakeTask, a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    unlooked = Unlooked(path="src/app.py", workers=("logic", "style"), reason="nothing here reads cobol")

    [entry] = final_coverage(a_change(a_file()), a_plan(a_task(), unlooked=(unlooked,)), {}, [])

    assert (entry.state, entry.reason) == ("partial", "logic, style: nothing here reads cobol")


def test_a_file_that_nobody_read_to_its_end_is_not_reviewed(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile
) -> None:
    [entry] = final_coverage(a_change(a_file()), read_by_logic, {}, [])

    assert (entry.state, entry.reason) == ("partial", "nobody read it to its end")


def test_a_file_that_no_worker_wanted_says_so(a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile) -> None:
    [entry] = final_coverage(a_change(a_file()), a_plan(), {}, [])

    assert (entry.state, entry.reason) == ("partial", "no worker of this run reads such a file")


def test_a_file_that_was_cut_while_parsing_stays_partial_with_that_reason(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file(), states={"src/app.py": "partial"})

    [entry] = final_coverage(change, read_by_logic, {"src/app.py": ["ruff"]}, [GAP])

    assert (entry.state, entry.reason) == ("partial", "as parsed; logic: it broke")


def test_a_file_that_was_left_out_keeps_what_the_plan_said(
    a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    lock = FileCoverage(path="uv.lock", state="generated", reason="a lock file")

    assert final_coverage(a_change(a_file("uv.lock")), a_plan(left_out=(lock,)), {}, [GAP]) == [lock]


def test_two_sections_of_one_path_have_two_states(
    read_by_logic: Plan, a_change: MakeChange, a_file: MakeFile, a_plan: MakePlan
) -> None:
    change = a_change(a_file(status="deleted"), a_file(status="added"))
    gone = FileCoverage(path="src/app.py", state="reviewed", reason="deleted")
    plan = a_plan(*read_by_logic.tasks, left_out=(gone,))

    first, second = final_coverage(change, plan, {"src/app.py": ["ruff"]}, [GAP])

    assert first == gone
    assert (second.state, second.looked) == ("partial", ("ruff",))


def test_the_coverage_stands_in_the_order_of_the_change(
    a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(*(a_file(path) for path in ("b.py", "a.py", "c.py")))

    assert [entry.path for entry in final_coverage(change, a_plan(), {}, [])] == ["b.py", "a.py", "c.py"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [("malformed", "unreadable"), ("refused", "unreadable"), ("partial", "unreadable"), ("over_budget", "deadline")],
)
def test_a_file_that_should_have_been_read_and_was_not_is_a_gap(
    state: CoverageState, reason: str, a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    left_out = FileCoverage(path="src/app.py", state=state, reason="too odd")

    [gap] = parse_gaps(a_plan(left_out=(left_out,)), a_change(a_file()))

    assert (gap.path, gap.worker, gap.reason, gap.message) == ("src/app.py", "reader", reason, "too odd")


@pytest.mark.parametrize("state", ["generated", "binary", "ignored", "reviewed"])
def test_what_is_left_out_on_purpose_is_no_gap(
    state: CoverageState, a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    left_out = FileCoverage(path="src/app.py", state=state)

    assert parse_gaps(a_plan(left_out=(left_out,)), a_change(a_file())) == []


def test_a_lock_file_that_was_cut_while_parsing_is_no_gap(
    a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    lock = FileCoverage(path="uv.lock", state="generated", reason="a lock file")
    change = a_change(a_file("uv.lock"), states={"uv.lock": "partial"})

    assert parse_gaps(a_plan(left_out=(lock,)), change) == []


def test_a_file_that_was_cut_while_parsing_is_one_gap_and_not_two(
    a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file(), states={"src/app.py": "partial"})

    [read_in_part] = parse_gaps(a_plan(), change)
    [left_out] = parse_gaps(a_plan(left_out=change.coverage), change)

    assert read_in_part == left_out
    assert read_in_part.message == "as parsed"
