"""From results to one review: words, gaps, people, usage and time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from reviewbot.domain.contracts import (
    ChangeSet,
    Gap,
    HumanItem,
    Plan,
    PlannedFile,
    Review,
)
from reviewbot.domain.ports import TaskResult
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.plan.triage import TriageRules, triage
from tests.make import MakeChange, MakeFile, MakeFinding, MakePlan, MakeResult, MakeTask

RULES = Rules({"security": 80, "logic": 80, "style": 90}, max_findings=50)


def review_of(plan: Plan, *ends: TaskResult, change: ChangeSet, notes: Sequence[str] = ()) -> Review:
    settled = {end.task.task_id: end for end in ends}
    return asyncio.run(RuledSynthesizer(RULES, ReviewFacts("scripted", notes)).synthesize(change, plan, settled))


def test_a_review_with_nothing_to_say_is_clean(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_change: MakeChange, a_file: MakeFile
) -> None:
    task = a_task()

    review = review_of(a_plan(task), TaskResult(task, (a_result(),)), change=a_change(a_file()), notes=["a note"])

    assert review.verdict == "clean"
    assert review.headline == "No issues found; 1 of 1 file reviewed"
    assert review.summary == "1 file, +1 -0: nothing to report"
    assert (review.engine, review.notes) == ("scripted", ("a note",))
    assert [entry.analyzers for entry in review.coverage] == [("ruff",)]


def test_findings_of_all_tasks_meet_in_one_list(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    logic, security = a_task("logic:src/app.py#1"), a_task("security:src/app.py#1")
    same = [a_finding(type="logic", sources=("ruff",)), a_finding(sources=("secrets",))]
    ends = [TaskResult(task, (a_result(findings=(f,)),)) for task, f in zip((logic, security), same, strict=True)]

    review = review_of(a_plan(logic, security), *ends, change=a_change(a_file()))

    assert [finding.sources for finding in review.findings] == [("ruff", "secrets")]
    assert review.verdict == "issues"
    assert review.headline == "1 issue found; 1 of 1 file reviewed"


def test_the_headline_counts_what_the_cap_hides(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    task = a_task("security:src/app.py#1")
    found = a_result(findings=tuple(a_finding(line=n) for n in range(1, 61)))

    review = review_of(a_plan(task), TaskResult(task, (found,)), change=a_change(a_file()))

    assert len(review.findings) == RULES.max_findings
    assert review.headline.startswith("60 issues found")
    assert review.summary == "1 file, +1 -0: 50 warning, 10 withheld"


def test_gaps_of_tasks_of_tools_and_of_the_reader_are_all_named(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_change: MakeChange, a_file: MakeFile
) -> None:
    task = a_task()
    of_task = Gap(path="src/app.py", worker="logic", reason="breaker", message="three times")
    of_tool = Gap(path="src/app.py", worker="logic", reason="timeout", message="30 s", tool="ruff")
    change = a_change(a_file(), a_file("cut.py"), states={"cut.py": "malformed"})
    plan = a_plan(task)

    review = review_of(plan, TaskResult(task, (a_result(gaps=(of_tool,)),), (of_task,)), change=change)

    assert [gap.message for gap in review.gaps] == ["as parsed", "three times", "30 s"]
    assert review.verdict == "not_reviewed"
    assert review.summary == "2 files, +2 -0: 2 files not looked at in full"


def test_what_a_worker_hands_to_a_person_is_said_once_and_its_file_is_not_clean(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_change: MakeChange, a_file: MakeFile
) -> None:
    tasks = [a_task("logic:src/app.py#1"), a_task("logic:src/app.py#2")]
    item = HumanItem(path="src/app.py", reason="logic could not settle this")

    review = review_of(
        a_plan(*tasks), *(TaskResult(task, human=(item,)) for task in tasks), change=a_change(a_file(), a_file("b.py"))
    )

    assert review.human == (item,)
    assert review.verdict == "needs_person"
    assert [entry.state for entry in review.coverage] == ["not_reviewed", "not_reviewed"]


@pytest.mark.parametrize(
    ("fields", "state", "words"),
    [
        ({"mode": "120000"}, "reviewed", "a symbolic link is added or changed; check where it points"),
        ({"mode": "160000"}, "reviewed", "a submodule is added or moved; its code is not in this diff"),
        ({}, "binary", "the diff calls this python file binary (.gitattributes can do that); it was not read"),
        (
            {"kind": "config", "language": "yaml"},
            "binary",
            "the diff calls this yaml file binary (.gitattributes can do that); it was not read",
        ),
    ],
)
def test_a_person_looks_at_what_no_worker_reads(
    fields: dict[str, str], state: str, words: str, a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    file = a_file(**fields)

    review = review_of(a_plan(), change=a_change(file, states={} if state == "reviewed" else {file.path: state}))

    assert [(item.path, item.reason) for item in review.human] == [("src/app.py", words)]
    assert review.verdict == "needs_person"


@pytest.mark.parametrize(
    ("fields", "states"),
    [
        ({"mode": "120000", "status": "deleted"}, {}),
        ({"kind": "prose", "language": "markdown"}, {"src/app.py": "binary"}),
        ({"path": "logo.png", "language": "text"}, {"logo.png": "binary"}),
        ({"path": "uv.lock", "kind": "config", "language": "lockfile"}, {"uv.lock": "binary"}),
        ({"path": "gen/app.js", "language": "javascript"}, {"gen/app.js": "binary"}),
        ({"mode": "100644"}, {}),
    ],
)
def test_a_person_is_not_asked_for_nothing(
    fields: dict[str, str], states: dict[str, str], a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file(**fields), states=states)
    rules = TriageRules(declared=lambda path: "declared" if path.startswith("gen/") else None)

    assert review_of(a_plan(files=triage(change, rules).files), change=change).human == ()


def test_a_change_without_files_has_nothing_to_review(a_plan: MakePlan, a_change: MakeChange) -> None:
    review = review_of(a_plan(), change=a_change())

    assert (review.verdict, review.workers, review.timings.critical_path_ms) == ("nothing_to_review", (), 0)


def test_the_summary_counts_each_place(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    findings = (
        a_finding(line=1, severity="critical"),
        a_finding(line=2),
        a_finding(line=3),
        a_finding(line=4, confidence=10),
        a_finding(line=5, confidence=60, severity="critical"),
        a_finding(line=6, suggestion="a()"),
        a_finding(line=6, suggestion="b()", type="logic"),
    )
    task = a_task()

    review = review_of(
        a_plan(task),
        TaskResult(task, (a_result(findings=findings),)),
        change=a_change(a_file(added=6, removed=2)),
    )

    assert review.summary == "1 file, +6 -2: 1 critical, 2 warning, 1 in conflict, 1 for a person, 1 withheld"
    assert review.headline == "4 issues found; 1 of 1 file reviewed"


# --- usage and time


def test_usage_is_summed_per_worker_and_over_all(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    tasks = [a_task(f"{name}:src/app.py#{n}") for n in (1, 2) for name in ("logic", "style")]
    spent = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 2, "cost_usd": 0.25}
    ends = [
        TaskResult(task, (a_result(usage=spent, duration_ms=7, findings=(a_finding(),)), a_result(usage=spent)))
        for task in tasks
    ]

    review = review_of(a_plan(*tasks), *ends, change=a_change(a_file()))

    assert [(entry.worker, entry.tasks, entry.findings, entry.duration_ms) for entry in review.workers] == [
        ("logic", 2, 2, 14),
        ("style", 2, 2, 14),
    ]
    assert [entry.usage.input_tokens for entry in review.workers] == [40, 40]
    assert review.usage.model_dump(exclude_defaults=True) == {
        "input_tokens": 80,
        "output_tokens": 40,
        "cached_tokens": 16,
        "cost_usd": 2.0,
    }


def test_the_critical_path_is_the_longest_chain_of_tasks_that_wait_for_each_other(
    a_task: MakeTask, a_plan: MakePlan, a_result: MakeResult, a_change: MakeChange, a_file: MakeFile
) -> None:
    first, second = a_task("logic:src/app.py#1"), a_task("style:src/app.py#1")
    third = a_task("security:src/app.py#1", depends_on=(first.task_id, second.task_id))
    alone = a_task("performance:src/app.py#1")
    spent = {first: 30, second: 50, third: 20, alone: 60}
    ends = [TaskResult(task, (a_result(duration_ms=ms),)) for task, ms in spent.items()]

    timings = review_of(a_plan(*spent), *ends, change=a_change(a_file())).timings

    assert (timings.wall_ms, timings.critical_path_ms, timings.sequential_ms) == (0, 70, 160)


def test_a_task_that_never_answered_took_no_time(
    a_task: MakeTask, a_plan: MakePlan, a_change: MakeChange, a_file: MakeFile
) -> None:
    task = a_task()
    gap = Gap(path="src/app.py", worker="logic", reason="deadline", message="too late")

    review = review_of(a_plan(task), TaskResult(task, gaps=(gap,)), change=a_change(a_file()))

    assert review.timings.sequential_ms == 0
    assert [(entry.worker, entry.tasks, entry.duration_ms) for entry in review.workers] == [("logic", 1, 0)]


def test_a_review_made_of_the_same_values_is_the_same(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    tasks = [a_task(f"{name}:src/app.py#1") for name in ("logic", "security", "style")]
    ends = [TaskResult(task, (a_result(findings=(a_finding(type=task.type, category=task.type),)),)) for task in tasks]
    files = (PlannedFile(path="src/app.py"), PlannedFile(path="uv.lock", need="scan", reason="a lock file"))
    change, plan = a_change(a_file(), a_file("uv.lock")), a_plan(*tasks, files=files)

    assert review_of(plan, *ends, change=change) == review_of(plan, *ends, change=change)
