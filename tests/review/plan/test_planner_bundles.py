"""Plans for engines with a model: the slices of a part in one task, workers spared a file, and what must not move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import ChangeSet, FileChange, Plan, WorkerCard
from reviewbot.domain.ports import WorkerSet
from reviewbot.review.plan.planner import PlanLimits, make_plan, retarget
from tests.make import MakeCard, MakeChange, MakeFile, MakeHunk, MakeWorkerSet

LOOP = "+for row in rows:\n+    send(row)"


def everything(_card: WorkerCard, _language: str) -> bool:
    return True


def unknown(_path: str) -> None:
    """No whole file is known, as with a bare diff."""


def ids(plan: Plan) -> list[str]:
    return [task.task_id for task in plan.tasks]


@pytest.fixture(name="shipped", scope="module")
def _shipped(a_worker_set: MakeWorkerSet, a_card: MakeCard) -> WorkerSet:
    """Workers like those that come with the package."""
    every = ("@code", "@config", "@prose")
    return a_worker_set(
        a_card("security", applies_to=every), a_card("logic"), a_card("performance"), a_card("style", applies_to=every)
    )


def planned(change: ChangeSet, worker_set: WorkerSet, limits: PlanLimits) -> Plan:
    return make_plan(change, worker_set, everything, unknown, limits)


# --- parts


def test_a_small_change_is_one_task_of_each_worker_whatever_its_folders_and_languages(
    a_worker_set: MakeWorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(*(a_file(path) for path in ("src/c.py", "src/a.py", "lib/d.py")), a_file("x.ts", language="ts"))

    [task] = planned(change, a_worker_set(), PlanLimits(part_lines=10)).tasks

    assert task.paths == ("lib/d.py", "src/a.py", "src/c.py", "x.ts")


def test_a_part_holds_no_more_changed_lines_than_its_limit(
    a_worker_set: MakeWorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    body = " seen\n+x = 1\n-y = 2\n+z = 3"
    change = a_change(*(a_file(f"{name}.py", a_hunk(body)) for name in "abcd"))

    assert ids(planned(change, a_worker_set(), PlanLimits(part_lines=6))) == ["logic:a.py#1+1", "logic:c.py#1+1"]
    assert len(planned(change, a_worker_set(), PlanLimits(part_lines=2)).tasks) == 4


def test_a_task_waits_for_the_task_of_its_own_part(
    a_worker_set: MakeWorkerSet, a_card: MakeCard, a_change: MakeChange, a_file: MakeFile
) -> None:
    worker_set = a_worker_set(a_card("tests", depends_on=("logic",), applies_to=("*a.py", "*c.py")), a_card("logic"))
    change = a_change(*(a_file(f"{name}.py") for name in "abc"))

    plan = planned(change, worker_set, PlanLimits(part_lines=2))

    logic = [task.task_id for task in plan.tasks if task.worker == "logic"]
    waiting = [task for task in plan.tasks if task.worker == "tests"]
    assert len(logic) == 2
    assert {task.paths: task.depends_on for task in waiting} == {("a.py",): (logic[0],), ("c.py",): (logic[1],)}


def test_a_bundle_that_moves_keeps_all_of_its_slices(
    a_worker_set: MakeWorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    worker_set = a_worker_set()
    [task] = planned(a_change(a_file("a.py"), a_file("b.py")), worker_set, PlanLimits(part_lines=10)).tasks

    moved = retarget(worker_set, task, "logic")

    assert moved is not None
    assert (moved.paths, moved.task_id) == (("a.py", "b.py"), "logic:a.py#1+1>logic")


# --- routing


def asked(plan: Plan) -> set[tuple[str, str]]:
    return {(task.worker, path) for task in plan.tasks if not task.programs_only for path in task.paths}


def scanned(plan: Plan) -> set[tuple[str, str]]:
    return {(task.worker, path) for task in plan.tasks if task.programs_only for path in task.paths}


def test_a_plain_change_asks_one_model_and_runs_all_programs(
    shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    plan = planned(a_change(a_file("src/app.py")), shipped, PlanLimits(route=True, part_lines=500))

    assert asked(plan) == {("logic", "src/app.py")}
    assert scanned(plan) == {(name, "src/app.py") for name in ("security", "performance", "style")}
    assert plan.reason.endswith("only the programs of a worker run: performance 1, security 1, style 1")


def test_each_worker_is_asked_about_what_its_job_can_be_in(
    shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    change = a_change(
        a_file("src/a.py", a_hunk(LOOP)),
        a_file("src/b.py"),
        a_file("tests/test_a.py", a_hunk(LOOP)),
        a_file("ci.yml", kind="config", language="yaml"),
        a_file("README.md", kind="prose", language="markdown"),
    )
    limits = PlanLimits(route=True, part_lines=500, has_conventions=lambda path: path == "src/b.py")

    plan = planned(change, shipped, limits)

    assert asked(plan) == {
        ("security", "src/a.py"), ("logic", "src/a.py"), ("performance", "src/a.py"),
        ("security", "src/b.py"), ("logic", "src/b.py"), ("style", "src/b.py"),
        ("logic", "tests/test_a.py"),
        ("security", "ci.yml"),
        ("security", "README.md"),
    }  # fmt: skip
    assert asked(plan) | scanned(plan) == asked(planned(change, shipped, PlanLimits()))
    assert not asked(plan) & scanned(plan)


def test_workers_that_were_asked_for_by_name_read_everything(
    shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    limits = PlanLimits(route=True, part_lines=500, workers=("performance",))

    plan = planned(a_change(a_file("src/app.py")), shipped, limits)

    assert (asked(plan), scanned(plan)) == ({("performance", "src/app.py")}, set())


def test_where_no_program_reads_the_language_there_is_nothing_to_run(
    shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    change = a_change(a_file("src/app.rb", language="ruby"))

    def programs(card: WorkerCard, language: str) -> bool:
        return card.name == "security" and language == "ruby"

    plan = planned(change, shipped, PlanLimits(route=True, part_lines=500, programs=programs))

    assert scanned(plan) == {("security", "src/app.rb")}


def test_results_that_were_handed_in_are_passed_on_in_any_language(
    shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile
) -> None:
    limits = PlanLimits(
        route=True, part_lines=9, programs=lambda _card, _language: False, handed_in={"style": {"src/app.rb"}}
    )

    assert scanned(planned(a_change(a_file("src/app.rb")), shipped, limits)) == {("style", "src/app.rb")}


# --- what must hold for every change

PATHS = st.sampled_from([f"{folder}{name}" for folder in ("", "src/", "tests/", "lib/x/") for name in ("a.py", "b.py")])
BODY = st.lists(st.sampled_from(("+x = 1", "-y = 2", " z = 3", "+for r in s:")), min_size=1, max_size=9).map("\n".join)
FILES = st.dictionaries(PATHS, st.lists(BODY, min_size=1, max_size=3), min_size=1, max_size=8)


def file_of(make: MakeFile, hunk: MakeHunk, path: str, bodies: Sequence[str]) -> FileChange:
    hunks = [hunk(body, start=1 + 50 * n) for n, body in enumerate(bodies)]
    lines = [line for body in bodies for line in body.split("\n")]
    counts = {"added": sum(line[0] == "+" for line in lines), "removed": sum(line[0] == "-" for line in lines)}
    return make(path, *hunks, **counts)


@pytest.mark.slow
@settings(max_examples=50)
@given(files=FILES, chunk=st.integers(1, 12), bundle=st.integers(0, 20), routed=st.booleans())
def test_every_worker_gets_every_hunk_of_its_files_exactly_once(
    files: dict[str, list[str]],
    chunk: int,
    bundle: int,
    routed: bool,  # noqa: FBT001 - drawn
    shipped: WorkerSet,
    a_change: MakeChange,
    a_file: MakeFile,
    a_hunk: MakeHunk,
) -> None:
    change = a_change(*(file_of(a_file, a_hunk, path, bodies) for path, bodies in files.items()))

    plan = planned(change, shipped, PlanLimits(chunk_lines=chunk, part_lines=bundle, route=routed))

    lines = Counter((file.path, line) for file in change.files for hunk in file.hunks for line in hunk.body.split("\n"))
    for card in shipped.cards:
        given_out = [one for task in plan.tasks if task.worker == card.name for one in task.slices]
        found = Counter(
            (one.file_path, line) for one in given_out for line in one.code.split("\n") if not line.startswith("@@")
        )
        assert found == lines
    read = {path for task in plan.tasks if not task.programs_only for path in task.paths}
    assert read == set(files)
    assert len(set(ids(plan))) == len(plan.tasks)


@pytest.mark.slow
@settings(max_examples=50)
@given(files=FILES, bundle=st.integers(0, 20))
def test_the_order_of_the_files_of_a_change_has_no_part_in_its_tasks(
    files: dict[str, list[str]],
    bundle: int,
    shipped: WorkerSet,
    a_change: MakeChange,
    a_file: MakeFile,
    a_hunk: MakeHunk,
) -> None:
    made = [file_of(a_file, a_hunk, path, bodies) for path, bodies in files.items()]
    limits = PlanLimits(part_lines=bundle, route=True)

    assert planned(a_change(*made), shipped, limits).tasks == planned(a_change(*made[::-1]), shipped, limits).tasks


@settings(max_examples=50)
@given(above=st.integers(1, 500))
def test_lines_that_moved_down_do_not_change_what_a_bundle_is_called_or_holds(
    above: int, shipped: WorkerSet, a_change: MakeChange, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    limits = PlanLimits(part_lines=20, route=True)
    near, far = (
        planned(a_change(a_file("a.py", a_hunk("+x = 1", start=at)), a_file("b.py")), shipped, limits)
        for at in (10, 10 + above)
    )

    assert ids(near) == ids(far)
    assert [[one.code for one in task.slices] for task in near.tasks] == [
        [one.code for one in task.slices] for task in far.tasks
    ]
