"""The state of each file: what was read of it, by whom, and what failed."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.coverage.states import READER, file_gaps, final_coverage
from reviewbot.domain.contracts import (
    ChangeSet,
    FileChange,
    FileCoverage,
    Gap,
    ParseState,
    Plan,
    PlannedFile,
    Reading,
    Span,
)
from tests.make import MakeChange, MakeFile, MakeHunk
from tests.reading_cases import read

PATH = "src/app.py"
GAP = Gap(path=PATH, worker="logic", reason="crashed", message="it broke")
PART = Span(old_start=1, old_count=1, new_start=1, new_count=1)
TWO_LINES = "+a\n+b"


def a_plan(*files: PlannedFile) -> Plan:
    return Plan(goal="g", reason="r", tasks=(), files=files)


def state_of(
    file: FileChange, *readings: Reading, gaps: tuple[Gap, ...] = (), parsed: ParseState = "read", **planned: Any
) -> FileCoverage:
    """The coverage of a change of one file."""
    states = {} if parsed == "read" else {file.path: parsed}
    parsed_files = tuple({"path": file.path, "state": states.get(file.path, "read")} for _ in range(1))
    change = ChangeSet.model_validate({"files": (file,), "parsed": parsed_files})
    plan = a_plan(PlannedFile(path=file.path, **planned))
    [entry] = final_coverage(change, plan, readings, gaps)
    return entry


def test_a_file_that_an_analyzer_of_its_language_read_is_reviewed_and_names_its_readers(a_file: MakeFile) -> None:
    entry = state_of(a_file(), read(analyzers=("ruff",), scans=("secrets",)), read(analyzers=("ast", "ruff")))

    assert entry == FileCoverage(path=PATH, state="reviewed", analyzers=("ast", "ruff"), scans=("secrets",), added=1)


def test_a_file_that_only_scans_saw_is_scanned_and_says_what_was_missing(a_file: MakeFile) -> None:
    entry = state_of(a_file("ci.yml", language="yaml"), read("ci.yml", scans=("secrets",)))

    assert (entry.state, entry.need) == ("scanned", "review")
    assert entry.reason == "nothing in this run understands its lines"


def test_where_models_read_only_what_a_model_read_is_reviewed(a_file: MakeFile) -> None:
    by_program, by_model = read(analyzers=("ruff",)), read(models=("m",))

    assert state_of(a_file(), by_program, by_model).state == "reviewed"
    entry = state_of(a_file(), by_program, read("other.py", models=("m",)))
    assert (entry.state, entry.reason) == ("partial", "analyzers read it, and no model")
    assert state_of(a_file("a.md"), read("a.md", scans=("s",)), by_model).state == "scanned"


def test_a_file_of_which_a_reader_saw_a_part_is_partial(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    file = a_file(PATH, a_hunk(TWO_LINES))
    part = Reading(path=PATH, spans=(PART,), models=("m",))

    assert state_of(file, part).state == "partial"
    assert state_of(file, part).reason == "not all of its hunks were read"
    rest = Reading(path=PATH, spans=(PART.model_copy(update={"new_start": 2}),), models=("n",))
    assert state_of(file, part, rest).state == "reviewed", "several readers may share a file"


def test_scans_of_a_part_are_partial_as_well(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    entry = state_of(
        a_file("uv.lock", a_hunk(TWO_LINES)),
        Reading(path="uv.lock", spans=(PART,), scans=("secrets",)),
        need="scan",
        reason="a lock file",
    )

    assert (entry.state, entry.reason) == ("partial", "a lock file; not all of its hunks were read")


@pytest.mark.parametrize("kind", ["models", "analyzers", "scans"])
def test_a_failure_in_a_file_makes_it_partial_whoever_else_read_it(kind: str, a_file: MakeFile) -> None:
    entry = state_of(a_file(), read(PATH, **{kind: ("x",)}), gaps=(GAP, GAP))

    assert (entry.state, entry.reason) == ("partial", "a part of its review failed")


def test_what_an_earlier_head_read_is_said_with_that_head_and_is_no_reading_of_now(a_file: MakeFile) -> None:
    before = read(models=("m",)).model_copy(update={"head": "e" * 40})
    alone, both = state_of(a_file(), before), state_of(a_file(), before, read(models=("m",)))
    failed = state_of(a_file(), before, gaps=(GAP,))

    assert (alone.models, both.models) == ((), ("m",))
    assert (alone.state, alone.earlier, alone.reason) == ("earlier", "e" * 40, f"by the review of {'e' * 10}")
    assert (both.state, both.earlier, both.reason) == ("reviewed", "e" * 40, "")
    assert (failed.state, failed.earlier) == ("partial", "")


def test_a_failure_in_another_file_changes_nothing(a_file: MakeFile) -> None:
    assert state_of(a_file(), read(models=("m",)), gaps=(GAP.model_copy(update={"path": "b.py"}),)).state == "reviewed"


def test_a_file_that_nothing_read_says_so(a_file: MakeFile) -> None:
    entry = state_of(a_file())

    assert (entry.state, entry.reason) == ("not_reviewed", "no worker of this run reads such a file")
    assert state_of(a_file(), gaps=(GAP,)).reason == "a part of its review failed"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("renamed", "renamed, content unchanged"),
        ("copied", "copied, content unchanged"),
        ("modified", "no line changed"),
    ],
)
def test_a_file_without_changed_lines_is_reviewed_only_where_a_reader_was_told_of_it(
    status: str, reason: str, a_file: MakeFile
) -> None:
    file = a_file(status=status, hunks=())

    assert (state_of(file).state, state_of(file).reason) == ("not_reviewed", reason)
    assert state_of(file, Reading(path=PATH, spans=(), models=("m",))).state == "reviewed"


@pytest.mark.parametrize("parsed", ["read", "partial", "binary", "over_budget"])
def test_a_deleted_file_is_removed_and_never_reviewed(parsed: ParseState, a_file: MakeFile) -> None:
    entry = state_of(a_file(status="deleted"), parsed=parsed, need="nothing")

    assert (entry.state, entry.reason, entry.need) == ("removed", "deleted", "nothing")


def test_a_file_of_which_lines_were_only_removed_is_reviewed_by_models_alone(a_file: MakeFile) -> None:
    file = a_file(added=0, removed=2)

    entry = state_of(file, read(analyzers=("ruff",), scans=("secrets",)))

    assert entry.state == "scanned"
    assert entry.reason == "lines were only removed, and analyzers report on added lines"
    assert state_of(file, read(models=("m",))).state == "reviewed"


def test_a_line_that_was_cut_keeps_its_file_partial(a_file: MakeFile) -> None:
    entry = state_of(a_file(minified=True), read(models=("m",), scans=("secrets",)))

    assert (entry.state, entry.reason) == (
        "partial",
        "a line of it is too long and was cut, so that its rest was not read",
    )


def test_a_file_that_the_diff_cuts_off_stays_partial_with_that_reason(a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(a_file(), states={PATH: "partial"})

    [entry] = final_coverage(change, a_plan(), [read(models=("m",))], file_gaps(a_plan(), change))

    assert (entry.state, entry.reason) == ("partial", "as parsed")


@pytest.mark.parametrize("state", ["binary", "malformed", "refused", "over_budget"])
def test_what_parsing_could_not_read_is_not_reviewed(state: ParseState, a_change: MakeChange, a_file: MakeFile) -> None:
    [entry] = final_coverage(a_change(a_file(hunks=()), states={PATH: state}), a_plan(), [], [])

    assert (entry.state, entry.reason) == ("not_reviewed", "as parsed")


def test_a_lock_file_that_was_scanned_has_what_it_needs(a_file: MakeFile) -> None:
    entry = state_of(a_file("uv.lock"), read("uv.lock", scans=("secrets",)), need="scan", reason="a lock file")

    assert (entry.state, entry.need, entry.reason) == ("scanned", "scan", "a lock file")


def test_a_lock_file_that_nothing_scanned_has_not(a_file: MakeFile) -> None:
    entry = state_of(a_file("uv.lock"), need="scan", reason="a lock file")

    assert (entry.state, entry.reason) == ("not_reviewed", "a lock file")


def test_an_empty_file_has_no_line_to_scan(a_file: MakeFile) -> None:
    entry = state_of(a_file(status="added", hunks=()), need="scan", reason="an empty file")

    assert (entry.state, entry.reason) == ("scanned", "an empty file")


def test_two_sections_of_one_path_have_two_states(a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(a_file(status="deleted"), a_file(status="added"))
    plan = a_plan(PlannedFile(path=PATH, need="nothing"), PlannedFile(path=PATH))

    first, second = final_coverage(change, plan, [read(analyzers=("ruff",))], [])

    assert (first.state, first.need, second.state, second.need) == ("removed", "nothing", "reviewed", "review")


def test_the_coverage_stands_in_the_order_of_the_change(a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(*(a_file(path) for path in ("b.py", "a.py", "c.py")))

    assert [entry.path for entry in final_coverage(change, a_plan(), [], [])] == ["b.py", "a.py", "c.py"]


# --- gaps before any worker


@pytest.mark.parametrize(
    ("state", "reason"),
    [("malformed", "unreadable"), ("refused", "unreadable"), ("partial", "unreadable"), ("over_budget", "budget")],
)
def test_a_file_that_should_have_been_read_and_could_not_be_is_a_gap(
    state: ParseState, reason: str, a_change: MakeChange, a_file: MakeFile
) -> None:
    [gap] = file_gaps(a_plan(), a_change(a_file(), states={PATH: state}))

    assert (gap.path, gap.worker, gap.reason, gap.message) == (PATH, READER, reason, "as parsed")


@pytest.mark.parametrize("need", ["scan", "nothing"])
def test_a_file_that_needs_no_review_is_no_gap_though_it_was_cut(
    need: Any, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file(), states={PATH: "partial"})

    assert file_gaps(a_plan(PlannedFile(path=PATH, need=need)), change) == []


def test_a_file_over_the_cap_is_a_gap_with_the_plans_words(a_change: MakeChange, a_file: MakeFile) -> None:
    [gap] = file_gaps(a_plan(PlannedFile(path=PATH, reason="too many", over_cap=True)), a_change(a_file()))

    assert (gap.reason, gap.message) == ("budget", "too many")


def test_a_file_over_the_cap_that_was_scanned_says_so(a_file: MakeFile) -> None:
    entry = state_of(a_file(), read(scans=("secrets",)), reason="too many", over_cap=True)

    assert (entry.state, entry.reason) == ("scanned", "too many")


def test_gaps_of_parsing_stand_in_the_order_of_the_change(a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(*(a_file(path) for path in "cab"), states={"c": "partial", "a": "malformed", "b": "refused"})

    assert [gap.path for gap in file_gaps(a_plan(), change)] == ["c", "a", "b"]
