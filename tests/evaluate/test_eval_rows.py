"""What of a review stands in a row of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Conflict,
    Escalation,
    Failure,
    Gap,
    HumanItem,
    Metadata,
    Plan,
    PlannedFile,
    Review,
    ReviewTask,
    SkippedWorkers,
    Timings,
    ToolRun,
    Usage,
    Withheld,
    WorkerResult,
)
from reviewbot.domain.contracts.results import NOT_RUN
from reviewbot.evaluate.rows import finding_row, plan_fields, review_fields, worker_fields
from tests.make import MakeFinding
from tests.reading_cases import read


def a_review(**fields: Any) -> Review:
    known = {"engine": "analyzers", "verdict": "issues", "headline": "1 issue", "summary": "", "timings": NO_TIME}
    return Review(**{**known, **fields})


NO_TIME = Timings(wall_ms=0, critical_path_ms=0, sequential_ms=0)


def event(outcome: WorkerResult | Escalation | Failure) -> dict[str, Any]:
    """As the trace has it."""
    return {"event": "result", "at_ms": 3, "attempt": 1, "outcome": outcome.model_dump(mode="json")}


def test_a_finding_has_the_fields_that_scorers_read(a_finding: MakeFinding) -> None:
    finding = a_finding(line=4, end_line=6, trigger="when it is empty", cwe=78, rule="S605", sources=("ruff-security",))

    assert finding_row(finding) == {
        "file": "src/app.py",
        "line": 4,
        "end_line": 6,
        "also": [],
        "type": "security",
        "category": "injection",
        "severity": "medium",
        "confidence": 90,
        "judged": 90,
        "text": "user input reaches a shell command when it is empty",
        "cwe": "CWE-78",
        "rule": "S605",
        "sources": ["ruff-security"],
        "place": "worker",
        "stated": [],
    }


@pytest.mark.parametrize("place", ["minor", "over_cap"])
def test_what_is_set_aside_does_not_count_as_shown(a_finding: MakeFinding, place: str) -> None:
    row = finding_row(a_finding(), place)

    assert (row["confidence"], row["judged"], row["place"]) == (79, 90, place)


def test_a_finding_without_a_kind_of_weakness_has_none(a_finding: MakeFinding) -> None:
    assert finding_row(a_finding())["cwe"] is None
    assert finding_row(a_finding())["text"] == "user input reaches a shell command"


@pytest.mark.parametrize(("ours", "theirs"), [("critical", "critical"), ("warning", "medium"), ("info", "low")])
def test_severities_are_in_the_words_of_scorers(a_finding: MakeFinding, ours: str, theirs: str) -> None:
    assert finding_row(a_finding(severity=ours))["severity"] == theirs


def test_a_secret_in_a_text_is_masked(a_finding: MakeFinding) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"

    assert key not in finding_row(a_finding(message=f"the key {key} is in the code"))["text"]


def test_every_finding_of_a_review_stands_in_its_row_once(a_finding: MakeFinding) -> None:
    finding = {n: a_finding(line=n) for n in range(1, 8)}
    review = a_review(
        findings=(finding[1],),
        withheld=(
            Withheld(finding=finding[2], reason="below_threshold", message=""),
            Withheld(finding=finding[3], reason="over_cap", message=""),
            Withheld(finding=finding[1], reason="over_cap", message=""),
        ),
        human=(
            HumanItem(path="a", reason="", finding=finding[4]),
            HumanItem(path="a", reason="a symbolic link"),
            HumanItem(path="a", reason="again", finding=finding[4]),
        ),
        conflicts=(Conflict(findings=(finding[5], finding[6]), reason=""),),
    )

    rows = review_fields(review, [])["findings"]

    assert sorted((row["line"], row["place"]) for row in rows) == [
        (1, "shown"),
        (2, "below_threshold"),
        (3, "over_cap"),
        (4, "person"),
        (5, "conflict"),
        (6, "conflict"),
    ]


def test_a_review_says_how_it_ended_and_what_it_cost() -> None:
    gap = Gap(path="a", worker="logic", reason="timeout", message="")
    usage = Usage(input_tokens=70, output_tokens=5, cached_tokens=60)

    row = review_fields(a_review(gaps=(gap,), usage=usage, verdict="incomplete"), [])

    assert (row["verdict"], row["gaps"], row["tokens"], row["findings"]) == ("incomplete", 1, 75, [])


def test_the_versions_are_those_of_the_tools_that_looked() -> None:
    runs = tuple(ToolRun(tool=name, version=version, duration_ms=1) for name, version in (("b", "2"), ("a", "unknown")))
    unasked = ToolRun(tool="b", version=NOT_RUN, duration_ms=0)
    half = WorkerResult(task_id="t", metadata=Metadata(tool_runs=runs, readings=(read(analyzers=("b",)),)))
    other = WorkerResult(
        task_id="u",
        metadata=Metadata(
            tool_runs=(runs[0], ToolRun(tool="a", version="1", duration_ms=1)), readings=(read(analyzers=("a", "b")),)
        ),
    )

    idle = half.model_copy(update={"metadata": half.metadata.model_copy(update={"tool_runs": (unasked,)})})

    assert review_fields(a_review(), [event(half), event(idle)])["tool_versions"] == {"b": "2"}
    assert review_fields(a_review(), [event(other), event(half)])["tool_versions"] == {"a": "1", "b": "2"}


def test_of_the_workers_come_all_findings_unmerged(a_finding: MakeFinding) -> None:
    two = WorkerResult(task_id="t", findings=(a_finding(rule="A"), a_finding(rule="B")))
    more = WorkerResult(task_id="u", findings=(a_finding(rule="A", sources=("taint",)),))
    events = [{"event": "plan_made", "at_ms": 0}, event(two), event(more)]

    row = worker_fields(a_review(findings=(a_finding(rule="merged"),)), events)

    assert [(f["rule"], f["sources"]) for f in row["findings"]] == [("A", ["ruff"]), ("B", ["ruff"]), ("A", ["taint"])]
    assert row["verdict"] == "issues"


def test_what_an_escalation_brought_and_a_later_answer_repeats_comes_once(a_finding: MakeFinding) -> None:
    part = WorkerResult(task_id="t", findings=(a_finding(rule="A"),))
    first = Escalation(task_id="t", reason="timeout", message="", partial_result=part)
    empty = Escalation(task_id="t", reason="timeout", message="")
    failed = Failure(task_id="t", reason="crashed", message="")
    whole = WorkerResult(task_id="t", findings=(a_finding(rule="A"), a_finding(rule="B")))

    row = worker_fields(a_review(), [event(outcome) for outcome in (first, empty, failed, whole)])

    assert [f["rule"] for f in row["findings"]] == ["A", "B"]


def test_a_plan_stands_in_its_row_without_the_code(a_task: Callable[..., ReviewTask]) -> None:
    plan = Plan(
        goal="g",
        tasks=(a_task("logic:src/app.py#1"),),
        reason="by rules",
        files=(PlannedFile(path="src/app.py"), PlannedFile(path="b.lock", need="scan", reason="a lock file")),
        unlooked=(SkippedWorkers(path="src/app.py", workers=("style",), reason="no tool"),),
    )

    assert plan_fields(plan) == {
        "findings": [],
        "plan": {
            "origin": "rules",
            "reason": "by rules",
            "tasks": [{"id": "logic:src/app.py#1", "worker": "logic", "file": "src/app.py"}],
            "unlooked": [{"path": "src/app.py", "workers": ["style"], "reason": "no tool"}],
            "files": [{"path": "b.lock", "need": "scan", "reason": "a lock file", "over_cap": False}],
        },
    }
