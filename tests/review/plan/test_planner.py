"""From a change to a plan: routing, slices, ids, dependencies, and requests that stay the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config.providers import KEY_HINT
from reviewbot.diff.rows import hunk_rows, payload_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Plan, PlannedFile, ReviewTask, SkippedWorkers, WorkerCard
from reviewbot.domain.ports import WorkerSet
from reviewbot.review.plan.planner import PlanLimits, make_plan, retarget, task_for
from reviewbot.review.plan.slices import enclosing, payloads
from tests.make import MakeCard, MakeChange, MakeFile, MakeHunk, MakeWorkerSet


def everything(_card: WorkerCard, _language: str) -> bool:
    return True


def unknown(path: str) -> None:
    """No whole file is known, as with a bare diff."""


def ids(plan: Plan) -> list[str]:
    return [task.task_id for task in plan.tasks]


@pytest.fixture(name="worker_set")
def _worker_set(a_worker_set: MakeWorkerSet, a_card: MakeCard) -> WorkerSet:
    return a_worker_set(
        a_card("security", applies_to=("@code", "@config", "@prose")),
        a_card("logic", applies_to=("@code",), tiers=("medium", "large")),
        a_card("licence", applies_to=("LICENSE", "*.lic"), task_type="style"),
    )


# --- slices


def test_a_slice_of_a_renamed_file_knows_its_old_name(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("new.py", old_path="old.py", status="renamed"), a_file("same.py", old_path="same.py"))

    plan = make_plan(change, worker_set, everything, unknown, PlanLimits())

    assert {(task.payload.file_path, task.payload.old_path) for task in plan.tasks} == {
        ("new.py", "old.py"),
        ("same.py", None),
    }


# --- routing


def test_each_file_goes_to_the_workers_whose_card_is_for_it(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file(), a_file("README.md", kind="prose"), a_file("x.lic", kind="prose"))

    plan = make_plan(change, worker_set, everything, unknown, PlanLimits())

    assert ids(plan) == [
        "security:src/app.py#1",
        "logic:src/app.py#1",
        "security:README.md#1",
        "security:x.lic#1",
        "licence:x.lic#1",
    ]
    assert plan.unlooked == ()


def test_only_the_workers_that_were_asked_for_get_tasks(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    plan = make_plan(a_change(a_file()), worker_set, everything, unknown, PlanLimits(workers=("logic",)))

    assert ids(plan) == ["logic:src/app.py#1"]


def test_what_the_engine_cannot_look_at_is_said_and_not_tasked(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    def covers(card: WorkerCard, language: str) -> bool:
        return language == "python" or card.name == "security"

    plan = make_plan(a_change(a_file(), a_file("a.cob", language="cobol")), worker_set, covers, unknown, PlanLimits())

    assert ids(plan) == ["security:a.cob#1", "security:src/app.py#1", "logic:src/app.py#1"]
    reason = f"no analyzer for that reads the language; models do, with a key (such as {KEY_HINT})"
    assert plan.unlooked == (SkippedWorkers(path="a.cob", workers=("logic",), reason=reason),)


def test_files_that_no_reader_gets_stand_in_the_plan_and_have_no_task(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    plan = make_plan(a_change(a_file("uv.lock")), worker_set, everything, unknown, PlanLimits())

    assert plan.tasks == ()
    assert plan.files == (PlannedFile(path="uv.lock", need="scan", reason="a lock file"),)


def test_files_that_no_reader_gets_are_scanned_last_by_the_workers_that_have_scans(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("uv.lock"), a_file("gen/a.py"), a_file("b.py"), a_file("c.py", status="deleted"))
    limits = PlanLimits(
        declared=lambda path: "declared" if path.startswith("gen/") else None,
        scans=lambda card: card.name == "security",
    )

    plan = make_plan(change, worker_set, everything, unknown, limits)

    assert ids(plan) == ["security:b.py#1", "logic:b.py#1", "security:uv.lock#1", "security:gen/a.py#1"]
    assert [(task.programs_only, task.scans_only) for task in plan.tasks] == [(False, False)] * 2 + [(True, True)] * 2
    only_logic = make_plan(change, worker_set, everything, unknown, replace(limits, workers=("logic",)))
    assert ids(only_logic) == ["logic:b.py#1"]


def test_what_looks_generated_comes_last_and_where_a_change_has_parts_in_parts_of_its_own(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("lib/a_pb2.py"), a_file("src/b.py"), a_file("src/c.py"))

    def parts(part_lines: int) -> list[tuple[str, ...]]:
        plan = make_plan(change, worker_set, everything, unknown, PlanLimits(part_lines=part_lines))
        return [task.paths for task in plan.tasks if task.worker == "logic"]

    assert parts(3) == [("src/b.py", "src/c.py", "lib/a_pb2.py")], "one reader sees a small change, that file last"
    assert parts(2) == [("src/b.py", "src/c.py"), ("lib/a_pb2.py",)]


def test_the_limits_on_files_and_the_ignored_names_reach_the_triage(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("a.py"), a_file("b.py"), a_file("c.py"))

    plan = make_plan(change, worker_set, everything, unknown, PlanLimits(ignore=("a.*",), max_files=1))

    assert {task.payload.file_path for task in plan.tasks} == {"b.py"}
    assert [(entry.path, entry.need, entry.over_cap) for entry in plan.files] == [
        ("a.py", "scan", False),
        ("b.py", "review", False),
        ("c.py", "review", True),
    ]


def test_the_only_paths_to_review_reach_the_triage(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("src/a.py"), a_file("lib/b.py"), a_file("docs/c.py"))

    plan = make_plan(change, worker_set, everything, unknown, PlanLimits(paths=("src/*", "lib/*")))

    assert {task.payload.file_path for task in plan.tasks} == {"src/a.py", "lib/b.py"}
    assert plan.files[2] == PlannedFile(path="docs/c.py", need="scan", reason="not among the paths to review")


def test_the_reason_counts_files_languages_and_workers(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("a.py"), a_file("b.py"), a_file("c.ts", language="typescript"), a_file("uv.lock"))

    plan = make_plan(change, worker_set, everything, unknown, PlanLimits())

    assert plan.reason == (
        "routed by rules: 3 files to read (2 python, 1 typescript), riskiest first; "
        "6 tasks (3 security, 3 logic); 1 file without a reader"
    )


def test_a_change_without_files_has_an_empty_plan(worker_set: WorkerSet, a_change: MakeChange) -> None:
    plan = make_plan(a_change(), worker_set, everything, unknown, PlanLimits())

    assert (plan.tasks, plan.origin) == ((), "rules")
    assert "0 files to read (none)" in plan.reason


@pytest.mark.parametrize(("title", "goal"), [("Faster orders", "Faster orders"), ("", "Review a change of 1 file")])
def test_the_goal_is_the_title_where_there_is_one(
    title: str, goal: str, worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    assert make_plan(a_change(a_file(), title=title), worker_set, everything, unknown, PlanLimits()).goal == goal


# --- one task


def test_a_task_takes_what_its_card_says(worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile) -> None:
    card = worker_set.cards[1]

    [task] = make_plan(a_change(a_file()), worker_set, everything, unknown, PlanLimits(workers=("logic",))).tasks

    assert (task.worker, task.type, task.success_criterion) == ("logic", card.task_type, card.success_criterion)
    assert task.instruction == card.description
    assert (task.constraints.tier, task.constraints.higher_tiers) == ("medium", ("large",))
    assert task.constraints.timeout_ms == card.budget.timeout_ms
    assert (task.failures, task.depends_on) == (0, ())


def test_a_task_that_moves_keeps_its_slice_and_its_failures(
    worker_set: WorkerSet, a_task: Callable[..., ReviewTask]
) -> None:
    task = a_task(failures=2)

    moved = retarget(worker_set, task, "security")

    assert moved is not None
    assert (moved.worker, moved.payload, moved.failures) == ("security", task.payload, 2)
    assert moved.task_id == "logic:src/app.py#1>security"


def test_a_task_cannot_move_to_a_worker_that_does_not_exist(
    worker_set: WorkerSet, a_task: Callable[..., ReviewTask]
) -> None:
    assert retarget(worker_set, a_task(), "janitor") is None
    assert retarget(worker_set, a_task(), "security", only=("logic",)) is None


@pytest.mark.parametrize("length", [200, 201, 1_024, 4_096])
def test_the_longest_name_that_git_allows_can_be_planned_moved_and_split(
    length: int, worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    paths = ["d/" + "x" * (length - 5) + end for end in ("1.py", "2.py")]

    plan = make_plan(a_change(*(a_file(path) for path in paths)), worker_set, everything, unknown, PlanLimits())

    assert len(set(ids(plan))) == 4
    assert {task.payload.file_path for task in plan.tasks} == set(paths)
    moved = plan.tasks[0]
    for worker in ("logic", "security", "logic"):
        again = retarget(worker_set, moved, worker)
        assert again is not None
        moved = again


# --- slices


def test_hunks_share_a_slice_up_to_the_limit_of_lines(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    hunks = [a_hunk("\n".join(["+x = 1"] * 4), start=100 * n) for n in range(1, 6)]

    found = payloads(a_file("a.py", *hunks), None, 8)

    assert [len(payload.starts) for payload in found] == [2, 2, 1]
    assert [start for payload in found for start in payload.starts] == [(100 * n, 100 * n) for n in range(1, 6)]


def test_a_file_without_hunks_has_no_slice(a_file: MakeFile) -> None:
    assert payloads(a_file(hunks=()), None, 10) == ()


def test_a_hunk_over_the_limit_is_cut_into_slices_that_keep_its_lines(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    hunks = [a_hunk("+x = 1", start=1), a_hunk("\n".join(["+x = 1"] * 50), start=100), a_hunk("+x = 1", start=300)]

    first, *middle, last = payloads(a_file("a.py", *hunks), None, 10)

    assert (first.starts, last.starts) == (((1, 1),), ((300, 300),))
    assert all(payload.code.count("+") <= 10 for payload in middle)
    assert [row.new for payload in middle for _, row in payload_rows(payload)] == list(range(100, 150))


@pytest.mark.parametrize(
    ("start", "found"),
    [
        (4, ["class Order:", "    def total(self):"]),
        (3, ["class Order:", "    def total(self):"]),
        (2, ["class Order:"]),
        (8, []),
        (0, []),
        (99, []),
    ],
)
def test_the_definitions_around_a_line_are_those_that_it_is_nested_in(start: int, found: list[str]) -> None:
    text = "class Order:\n    def total(self):\n        x = 1\n        return x\n    }\n\n\nx = Order()\n"

    assert enclosing(text.split("\n"), start) == found


def test_with_the_whole_file_at_hand_a_slice_knows_what_encloses_it(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    whole = "class Order:\n    def total(self):\n        return 2\n"
    change = a_change(a_file("a.py", a_hunk("-        return 1\n+        return 2", start=3)))

    bare = make_plan(change, worker_set, everything, unknown, PlanLimits(workers=("logic",)))
    known = make_plan(change, worker_set, everything, {"a.py": whole}.get, PlanLimits(workers=("logic",)))

    assert bare.tasks[0].payload.context == ""
    assert known.tasks[0].payload.context == "class Order:\n    def total(self):"


def test_the_larger_side_of_a_hunk_is_its_size(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    removed, added = (a_hunk("\n".join([f"{mark}x = 1"] * 6)) for mark in "-+")

    assert len(payloads(a_file("a.py", removed, added), None, 11)) == 2
    assert len(payloads(a_file("a.py", removed, added), None, 12)) == 1


def test_a_slice_names_its_file_and_language_and_holds_the_code(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    [payload] = payloads(a_file("a.py", a_hunk(" def f():\n+    return 1", start=7, heading="class A:")), None, 400)

    assert (payload.file_path, payload.language, payload.context) == ("a.py", "python", "")
    assert payload.code == "@@ class A:\n def f():\n+    return 1"
    assert payload.starts == ((7, 7),)


def test_two_sections_of_one_path_are_two_slices_with_ids_of_their_own(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    plan = make_plan(a_change(a_file(), a_file()), worker_set, everything, unknown, PlanLimits(workers=("logic",)))

    assert ids(plan) == ["logic:src/app.py#1", "logic:src/app.py#2"]


BODIES = st.lists(
    st.lists(st.sampled_from(("+x = 1", "-y = 2", " z = 3")), min_size=1, max_size=12).map("\n".join),
    min_size=1,
    max_size=8,
)


@given(bodies=BODIES, limit=st.integers(1, 30))
def test_every_line_is_in_exactly_one_slice_in_order(
    bodies: list[str], limit: int, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    hunks = [a_hunk(body, start=1 + 100 * n) for n, body in enumerate(bodies)]

    found = payloads(a_file("a.py", *hunks), None, limit)

    rows = [row for payload in found for _, row in payload_rows(payload)]
    assert rows == [row for hunk in hunks for row in hunk_rows(hunk)]


# --- dependencies


def test_a_worker_follows_those_that_it_waits_for_on_the_same_slice(
    a_worker_set: MakeWorkerSet, a_card: MakeCard, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    worker_set = a_worker_set(
        a_card("judge", depends_on=("logic", "style"), needs_dependencies=False),
        a_card("style", depends_on=("logic",)),
        a_card("logic"),
    )
    hunks = [a_hunk("+x = 1", start=start) for start in (1, 100)]

    plan = make_plan(a_change(a_file("a.py", *hunks)), worker_set, everything, unknown, PlanLimits(chunk_lines=1))

    assert ids(plan) == [f"{name}:a.py#{n}" for n in (1, 2) for name in ("logic", "style", "judge")]
    judge = plan.tasks[5]
    assert (judge.depends_on, judge.needs_dependencies) == (("logic:a.py#2", "style:a.py#2"), False)


def test_a_worker_that_needs_one_that_has_no_task_there_does_not_look_and_says_so(
    a_worker_set: MakeWorkerSet, a_card: MakeCard, a_change: MakeChange, a_file: MakeFile
) -> None:
    worker_set = a_worker_set(
        a_card("judge", depends_on=("style",)), a_card("style", depends_on=("logic",)), a_card("logic")
    )

    plan = make_plan(a_change(a_file()), worker_set, everything, unknown, PlanLimits(workers=("style", "judge")))

    assert plan.tasks == ()
    assert {(entry.workers, entry.reason) for entry in plan.unlooked} == {
        (("style",), "it needs the result of logic, which does not look at this file"),
        (("judge",), "it needs the result of style, which does not look at this file"),
    }


def test_a_worker_that_can_do_without_one_that_has_no_task_there_does_not_wait(
    a_worker_set: MakeWorkerSet, a_card: MakeCard, a_change: MakeChange, a_file: MakeFile
) -> None:
    worker_set = a_worker_set(a_card("style", depends_on=("logic",), needs_dependencies=False), a_card("logic"))

    [task] = make_plan(a_change(a_file()), worker_set, everything, unknown, PlanLimits(workers=("style",))).tasks

    assert task.depends_on == ()


# --- what must not change a request


def test_the_same_change_gives_the_same_plan(worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(*(a_file(f"{name}.py") for name in "dbca"))

    assert make_plan(change, worker_set, everything, unknown, PlanLimits()) == make_plan(
        change, worker_set, everything, unknown, PlanLimits()
    )


def test_the_order_of_the_files_does_not_change_the_tasks(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    files = [a_file(f"{name}.py") for name in "dbca"]

    one, other = (
        make_plan(a_change(*order), worker_set, everything, unknown, PlanLimits())
        for order in (files, list(reversed(files)))
    )

    assert one.tasks == other.tasks


def request(task: ReviewTask) -> dict[str, Any]:
    """What an engine may make a request of: everything but the task's name and where its lines stand."""
    return task.model_dump(exclude={"task_id": True, "depends_on": True, "payload": {"starts"}})


def requests(file: FileChange, worker_set: WorkerSet, change: ChangeSet) -> list[dict[str, Any]]:
    tasks = make_plan(change, worker_set, everything, unknown, PlanLimits(chunk_lines=10)).tasks
    return [request(task) for task in tasks if task.payload.file_path == file.path]


@given(above=st.integers(1, 5_000))
def test_lines_that_were_added_above_do_not_change_a_request(
    above: int, a_worker_set: MakeWorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    worker_set = a_worker_set()
    before = a_file("a.py", a_hunk("+x = 1", start=10))
    after = a_file("a.py", a_hunk("+x = 1", start=10 + above))

    assert requests(before, worker_set, a_change(before)) == requests(after, worker_set, a_change(after))


def test_a_hunk_that_fills_a_slice_above_does_not_change_the_request_below(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    below = a_hunk("\n".join(["+y = 2"] * 9), start=500)
    before = a_file("a.py", below)
    after = a_file("a.py", a_hunk("\n".join(["+x = 1"] * 9), start=1), below)

    first, second = (requests(file, worker_set, a_change(file)) for file in (before, after))

    assert first == second[len(worker_set.cards) - 1 :]


def test_a_change_of_another_file_does_not_change_a_request(
    worker_set: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    file, other = a_file("a.py"), a_file("auth.py")

    assert requests(file, worker_set, a_change(file)) == requests(file, worker_set, a_change(other, file))


def test_a_task_for_a_slice_says_nothing_of_its_place(
    worker_set: WorkerSet, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    near, far = (
        task_for(
            worker_set.cards[0], payloads(a_file("a.py", a_hunk("+x = 1", start=start)), None, 10)[0], "security:a.py#1"
        )
        for start in (1, 9_999)
    )

    assert request(near) == request(far)
    assert near.payload.starts != far.payload.starts
